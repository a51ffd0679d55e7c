// Every refusal of validate(): its code and its sentence, each reached by one change to a valid problem.
#include "host/validate.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>

namespace tenon {
namespace {

const void* at(std::uint64_t address) {
  return reinterpret_cast<const void*>(address);
}
void* writable(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

// 64 x 96 x 128, "tn", packed, the matrices far apart.
Gemm valid() {
  Gemm p;
  p.m = 64;
  p.n = 96;
  p.k = 128;
  p.a = {at(0x10000000), 128, row_major, Type::f16};
  p.b = {at(0x20000000), 128, column_major, Type::f16};
  p.c = {writable(0x30000000), 96, Type::f32};
  return p;
}

void expect_refusal(const Gemm& p, StatusCode code, const std::string& sentence) {
  const Status s = validate(p);
  EXPECT_EQ(s.code(), code);
  EXPECT_EQ(s.message(), sentence);
}

TEST(Validate, AcceptsAValidProblem) {
  EXPECT_TRUE(validate(valid())) << validate(valid()).message();
}

TEST(Validate, Sizes) {
  Gemm p = valid();
  p.m = -1;
  expect_refusal(p, StatusCode::invalid_argument, "m is -1 but must be >= 0");
  p = valid();
  p.n = -96;
  expect_refusal(p, StatusCode::invalid_argument, "n is -96 but must be >= 0");
  p = valid();
  p.k = INT64_MIN;
  expect_refusal(p, StatusCode::invalid_argument, "k is -9223372036854775808 but must be >= 0");
  p = valid();
  p.m = largest_dimension + 1;
  expect_refusal(p, StatusCode::unsupported, "m is 2147479553 but must be <= 2147479552");
}

TEST(Validate, LeadingDimensions) {
  Gemm p = valid();
  p.a.ld = 100;
  expect_refusal(p, StatusCode::invalid_argument, "lda is 100 but row-major A with k = 128 needs lda >= 128");
  p = valid();
  p.a = {p.a.data, 63, column_major, Type::f16};
  expect_refusal(p, StatusCode::invalid_argument, "lda is 63 but column-major A with m = 64 needs lda >= 64");
  p = valid();
  p.b.ld = -128;
  expect_refusal(p, StatusCode::invalid_argument,
                 "ldb is -128 but column-major B with k = 128 needs ldb >= 128");
  p = valid();
  p.b = {p.b.data, 95, row_major, Type::f16};
  expect_refusal(p, StatusCode::invalid_argument, "ldb is 95 but row-major B with n = 96 needs ldb >= 96");
  p = valid();
  p.c.ld = 95;
  expect_refusal(p, StatusCode::invalid_argument, "ldc is 95 but row-major C with n = 96 needs ldc >= 96");
}

TEST(Validate, NullPointers) {
  Gemm p = valid();
  p.a.data = nullptr;
  expect_refusal(p, StatusCode::invalid_argument,
                 "A is a null pointer but must point to 64 rows of 128 f16 elements in device memory");
  p = valid();
  p.b.data = nullptr;
  expect_refusal(p, StatusCode::invalid_argument,
                 "B is a null pointer but must point to 96 columns of 128 f16 elements in device memory");
  p = valid();
  p.c.data = nullptr;
  expect_refusal(p, StatusCode::invalid_argument,
                 "C is a null pointer but must point to 64 rows of 96 f32 elements in device memory");
}

TEST(Validate, EmptyMatricesMayBeNull) {
  EXPECT_TRUE(validate(Gemm{}));
  Gemm p = valid();
  p.k = 0;
  p.a.data = p.b.data = nullptr;
  EXPECT_TRUE(validate(p));
  p = valid();
  p.m = 0;
  p.a.data = nullptr;
  p.c.data = nullptr;
  EXPECT_TRUE(validate(p));
}

TEST(Validate, Types) {
  Gemm p = valid();
  p.b.type = Type::bf16;
  expect_refusal(p, StatusCode::unsupported,
                 "A is f16 and B is bf16 but they must have the same type, or be e4m3 and e5m2");
  p = valid();
  p.a.type = Type::f32;
  expect_refusal(p, StatusCode::unsupported,
                 "A is f32 but must be f16, bf16, tf32, e4m3, e5m2, s8 or f64: f32 needs a precision");
  p = valid();
  p.b.type = Type::s32;
  expect_refusal(p, StatusCode::unsupported, "B is s32 but must be f16, bf16, tf32, e4m3, e5m2, s8 or f64");
  p = valid();
  p.b.type = static_cast<Type>(9);
  expect_refusal(p, StatusCode::invalid_argument, "the type of B is 9 but a type is a number from 0 to 8");
  p = valid();
  p.c.type = static_cast<Type>(-1);
  expect_refusal(p, StatusCode::invalid_argument, "the type of C is -1 but a type is a number from 0 to 8");
  p = valid();
  p.a.order = static_cast<Order>(2);
  expect_refusal(p, StatusCode::invalid_argument,
                 "the order of A is 2 but must be row_major (0) or column_major (1)");
  p = valid();
  p.a.type = p.b.type = Type::bf16;
  p.accumulate = Type::f16;
  expect_refusal(p, StatusCode::unsupported, "accumulate is f16 with bf16 inputs but must be f32");
  p = valid();
  p.accumulate = Type::bf16;
  expect_refusal(p, StatusCode::unsupported, "accumulate is bf16 with f16 inputs but must be f32 or f16");
  p.accumulate = static_cast<Type>(9);
  expect_refusal(p, StatusCode::invalid_argument,
                 "the type of accumulate is 9 but a type is a number from 0 to 8");
  p.accumulate = Type::f16;
  EXPECT_TRUE(validate(p));
}

// A valid problem of other types: leading dimensions in elements are those of valid().
Gemm of_types(Type a, Type b, Type accumulate, Type c) {
  Gemm p = valid();
  p.a.type = a;
  p.b.type = b;
  p.accumulate = accumulate;
  p.c.type = c;
  return p;
}

// The table of gemm.hpp, and nothing else.
TEST(Validate, EveryCombinationOfTypes) {
  const auto in_the_table = [](Type a, Type b, Type accumulate, Type c) {
    // The fused epilogue rounds to 8 bits.
    const bool of_8_bits = (is_fp8(c) || c == Type::s8) && accumulate != Type::f16;
    const bool c_fits = c == Type::f16 || c == Type::bf16 || c == Type::f32 || of_8_bits;
    if (a == Type::s8) return b == Type::s8 && accumulate == Type::s32 && (c == Type::s32 || c_fits);
    if (a == Type::f64) return b == Type::f64 && accumulate == Type::f64 && c == Type::f64;
    const bool pair =
        (is_fp8(a) && is_fp8(b)) || (a == b && (a == Type::f16 || a == Type::bf16 || a == Type::tf32));
    return pair && c_fits && (accumulate == Type::f32 || (a == Type::f16 && accumulate == Type::f16));
  };
  int accepted = 0;
  for (const Type a : all_types) {
    for (const Type b : all_types) {
      for (const Type accumulate : all_types) {
        for (const Type c : all_types) {
          const Status s = validate(of_types(a, b, accumulate, c));
          EXPECT_EQ(static_cast<bool>(s), in_the_table(a, b, accumulate, c))
              << name(a) << ", " << name(b) << ", " << name(accumulate) << ", " << name(c) << ": "
              << s.message();
          EXPECT_EQ(s.code(), s ? StatusCode::ok : StatusCode::unsupported);
          accepted += s ? 1 : 0;
        }
      }
    }
  }
  EXPECT_EQ(accepted, (6 + 3) + 6 + 6 + 24 + 7 + 1);
}

TEST(Validate, WhatOtherTypesNeed) {
  expect_refusal(of_types(Type::s8, Type::s8, Type::f32, Type::s32), StatusCode::unsupported,
                 "accumulate is f32 with s8 inputs but must be s32");
  expect_refusal(of_types(Type::s8, Type::s8, Type::s32, Type::f64), StatusCode::unsupported,
                 "C is f64 with s8 inputs but must be s32, f16, bf16, f32, e4m3, e5m2 or s8");
  expect_refusal(of_types(Type::f64, Type::f64, Type::f32, Type::f64), StatusCode::unsupported,
                 "accumulate is f32 with f64 inputs but must be f64");
  expect_refusal(of_types(Type::f64, Type::f64, Type::f64, Type::f32), StatusCode::unsupported,
                 "C is f32 with f64 inputs but must be f64");
  expect_refusal(of_types(Type::f64, Type::f32, Type::f64, Type::f64), StatusCode::unsupported,
                 "B is f32 but must be f16, bf16, tf32, e4m3, e5m2, s8 or f64: f32 needs a precision");
  expect_refusal(of_types(Type::tf32, Type::tf32, Type::f16, Type::f32), StatusCode::unsupported,
                 "accumulate is f16 with tf32 inputs but must be f32");
  expect_refusal(of_types(Type::e4m3, Type::e5m2, Type::f32, Type::tf32), StatusCode::unsupported,
                 "C is tf32 with e4m3 inputs but must be f16, bf16, f32, e4m3, e5m2 or s8");
  expect_refusal(of_types(Type::f16, Type::f16, Type::f32, Type::s32), StatusCode::unsupported,
                 "C is s32 with f16 inputs but must be f16, bf16, f32, e4m3, e5m2 or s8");
  expect_refusal(of_types(Type::e4m3, Type::s8, Type::f32, Type::f32), StatusCode::unsupported,
                 "A is e4m3 and B is s8 but they must have the same type, or be e4m3 and e5m2");
}

TEST(Validate, APrecisionIsForOperandsOfF32) {
  for (const Precision precision : all_precisions) {
    Gemm p = of_types(Type::f32, Type::f32, Type::f32, Type::f32);
    p.precision = precision;
    EXPECT_TRUE(validate(p)) << validate(p).message();
    for (const Type c : {Type::f16, Type::bf16}) {
      p.c.type = c;
      EXPECT_TRUE(validate(p)) << validate(p).message();
    }
  }
  Gemm p = of_types(Type::f32, Type::f32, Type::f32, Type::f32);
  p.precision = Precision::bf16x6;
  Gemm q = p;
  q.b.type = Type::f16;
  expect_refusal(q, StatusCode::unsupported, "B is f16 but must be f32 with precision bf16x6");
  q = of_types(Type::tf32, Type::tf32, Type::f32, Type::f32);
  q.precision = Precision::tf32;
  expect_refusal(q, StatusCode::unsupported, "A is tf32 but must be f32 with precision tf32");
  q = p;
  q.accumulate = Type::f16;
  expect_refusal(q, StatusCode::unsupported, "accumulate is f16 with f32 inputs but must be f32");
  q = p;
  q.c.type = Type::s32;
  expect_refusal(q, StatusCode::unsupported,
                 "C is s32 with f32 inputs but must be f16, bf16, f32, e4m3, e5m2 or s8");
  q = p;
  q.promote = true;
  expect_refusal(q, StatusCode::unsupported,
                 "promote is given but A and B are f32: only bf16, tf32, e4m3 and e5m2 have it");
  q = p;
  q.scale_b = static_cast<const float*>(at(0x50000000));
  expect_refusal(q, StatusCode::unsupported,
                 "scale_b is given but A and B are f32: only e4m3 and e5m2 have it");
  for (const int number : {-1, 7}) {
    q = p;
    q.precision = static_cast<Precision>(number);
    expect_refusal(q, StatusCode::invalid_argument,
                   "the precision is " + std::to_string(number) + " but a precision is a number from 0 to 6");
  }
}

// The kernel counts the blocks of k as one long k.
TEST(Validate, ALongKLeavesRoomForTheProductsOfParts) {
  Gemm p = of_types(Type::f32, Type::f32, Type::f32, Type::f32);
  p.m = p.n = 1;
  p.c.ld = 1;
  p.precision = Precision::bf16x6;
  p.k = p.a.ld = p.b.ld = 357913256;
  EXPECT_TRUE(validate_shape(p)) << validate_shape(p).message();
  p.k = p.a.ld = p.b.ld = 357913257;
  const Status s = validate_shape(p);
  EXPECT_EQ(s.code(), StatusCode::unsupported);
  EXPECT_STREQ(s.message(),
               "k is 357913257 but precision bf16x6, which multiplies 6 blocks of k, needs k <= 357913256");
  p.precision = Precision::f16;
  EXPECT_TRUE(validate_shape(p)) << validate_shape(p).message();
}

TEST(Validate, PromotionAndFactorsBelongToSomeTypes) {
  const auto* const factor = static_cast<const float*>(at(0x50000000));
  for (const Type type : {Type::f16, Type::bf16, Type::tf32}) {
    Gemm p = of_types(type, type, Type::f32, Type::f32);
    const std::string types =
        std::string(" is given but A and B are ") + name(type) + ": only e4m3 and e5m2 have it";
    p.promote = true;
    if (type == Type::f16) {
      expect_refusal(p, StatusCode::unsupported,
                     "promote is given but A and B are f16: only bf16, tf32, e4m3 and e5m2 have it");
    } else {
      EXPECT_TRUE(validate(p)) << validate(p).message();
    }
    p.promote = false;
    p.scale_a = factor;
    expect_refusal(p, StatusCode::unsupported, "scale_a" + types);
    p.scale_a = nullptr;
    p.scale_b = factor;
    expect_refusal(p, StatusCode::unsupported, "scale_b" + types);
  }
  Gemm p = of_types(Type::e4m3, Type::e5m2, Type::f32, Type::bf16);
  p.promote = true;
  p.scale_a = p.scale_b = factor;
  EXPECT_TRUE(validate(p)) << validate(p).message();
  p.scale_b = static_cast<const float*>(at(0x50000002));
  expect_refusal(p, StatusCode::invalid_argument,
                 "scale_b is at an address 2 past a multiple of 4 but a float needs a multiple of 4");
  p.scale_a = static_cast<const float*>(at(0x50000001));
  expect_refusal(p, StatusCode::invalid_argument,
                 "scale_a is at an address 1 past a multiple of 4 but a float needs a multiple of 4");
}

TEST(Validate, FactorsOfIntegersAreWholeNumbers) {
  Gemm p = of_types(Type::s8, Type::s8, Type::s32, Type::s32);
  for (const float whole : {-3.0F, 0.0F, 16777216.0F, -2147483520.0F}) {
    p.alpha = p.beta = whole;
    EXPECT_TRUE(validate(p)) << whole;
  }
  p.beta = 0.0F;
  p.alpha = 0.5F;
  expect_refusal(p, StatusCode::unsupported,
                 "alpha is 0.5 but with C in s32 must be a whole number between -2^31 and 2^31");
  p.alpha = 1.0F;
  p.beta = 0x1p31F;
  expect_refusal(p, StatusCode::unsupported,
                 "beta is 2.14748e+09 but with C in s32 must be a whole number between -2^31 and 2^31");
  p.beta = 0x1p24 + 1;
  expect_refusal(p, StatusCode::unsupported,
                 "beta is 16777217 but with C in s32 must be a whole number that a float holds");
  p.beta = std::numeric_limits<float>::quiet_NaN();
  expect_refusal(p, StatusCode::unsupported,
                 "beta is nan but with C in s32 must be a whole number between -2^31 and 2^31");
}

TEST(Validate, ElementAlignment) {
  Gemm p = valid();
  p.a.data = at(0x10000001);
  expect_refusal(p, StatusCode::invalid_argument,
                 "A is at an address 1 past a multiple of 2 but f16 needs a multiple of 2");
  p = valid();
  p.c.data = writable(0x30000002);
  expect_refusal(p, StatusCode::invalid_argument,
                 "C is at an address 2 past a multiple of 4 but f32 needs a multiple of 4");
  p.c.type = Type::f16;
  EXPECT_TRUE(validate(p));
  p = of_types(Type::e4m3, Type::e4m3, Type::f32, Type::f32);
  p.a.data = at(0x10000001);
  EXPECT_TRUE(validate(p)) << "a byte is always aligned";
  p = of_types(Type::tf32, Type::tf32, Type::f32, Type::f32);
  p.b.data = at(0x20000002);
  expect_refusal(p, StatusCode::invalid_argument,
                 "B is at an address 2 past a multiple of 4 but tf32 needs a multiple of 4");
}

TEST(Validate, IndexOverflow) {
  Gemm p = valid();
  p.a.ld = INT64_MAX;
  expect_refusal(
      p, StatusCode::invalid_argument,
      "lda is 9223372036854775807: with 64 rows from 0x10000000 on A ends beyond the address space, lda <= "
      "73201365371863298 is needed");
  p.c.data = writable(0x8000000);
  p.a.ld = 73201365371863298;
  EXPECT_TRUE(validate(p)) << validate(p).message();
  p.a.ld += 1;
  EXPECT_EQ(validate(p).code(), StatusCode::invalid_argument);
  p = valid();
  p.c.ld = INT64_MAX / 63;  // the last byte fits 64 bits only if the product is formed in 64 bits and wraps
  EXPECT_EQ(validate(p).code(), StatusCode::invalid_argument);
  p = valid();
  p.b.data = at(UINT64_MAX - 0x1FF);
  expect_refusal(p, StatusCode::invalid_argument,
                 "B begins at 0xfffffffffffffe00: its 96 columns of 128 f16 elements end beyond the address "
                 "space, so it must begin at a lower address");
}

// The leading dimension of a single row is never used, however large it is, in elements or in bytes.
TEST(Validate, TheLeadingDimensionOfASingleRowMayBeAnything) {
  for (const std::int64_t ld : {std::int64_t{1} << 62, std::int64_t{INT64_MAX}}) {
    Gemm p = valid();
    p.m = 1;
    p.c.ld = ld;
    p.workspace = writable(0x40000000);
    p.workspace_bytes = 256;
    EXPECT_TRUE(validate(p)) << validate(p).message();
    p.workspace = writable(0x30000000);
    EXPECT_EQ(validate(p).code(), StatusCode::invalid_argument);

    p = valid();
    p.m = 1;
    p.a.type = p.b.type = Type::tf32;
    p.a.ld = ld;
    EXPECT_TRUE(validate(p)) << validate(p).message();
    p.c.data = writable(0x10000000);
    EXPECT_EQ(validate(p).code(), StatusCode::invalid_argument);
  }
}

TEST(Validate, OverlapWithC) {
  const std::uint64_t c_bytes = 64 * 96 * 4;
  Gemm p = valid();
  p.a.data = at(0x30000000 + c_bytes - 2);  // the last byte of C is A's first
  expect_refusal(p, StatusCode::invalid_argument,
                 "C (24576 bytes from 0x30000000) overlaps A (16384 bytes from 0x30005ffe) but needs memory "
                 "of its own");
  p.a.data = at(0x30000000 + c_bytes);
  EXPECT_TRUE(validate(p)) << "A starts where C ends";
  p = valid();
  p.b.data = at(0x30000000 - 96 * 128 * 2 + 2);
  expect_refusal(p, StatusCode::invalid_argument,
                 "C (24576 bytes from 0x30000000) overlaps B (24576 bytes from 0x2fffa002) but needs memory "
                 "of its own");
  p.b.data = at(0x30000000 - 96 * 128 * 2);
  EXPECT_TRUE(validate(p)) << "B ends where C starts";
  p = valid();
  p.b.data = p.a.data;
  p.n = 64;
  EXPECT_TRUE(validate(p)) << "A and B may be one matrix";
}

TEST(Validate, ColumnBlocksOfOneMatrixDoNotOverlap) {
  // One buffer of 64 rows of 1024 bytes: A in the first 256 bytes of a row, C in the next 384.
  Gemm p = valid();
  p.a = {at(0x30000000), 512, row_major, Type::f16};
  p.c = {writable(0x30000100), 256, Type::f32};
  EXPECT_TRUE(validate(p)) << validate(p).message();
  p.c.data = writable(0x300000FC);  // one element to the left
  EXPECT_EQ(validate(p).code(), StatusCode::invalid_argument);
  p.c.data = writable(0x30000300);  // 768 .. 1152: wraps into the next row's A
  EXPECT_EQ(validate(p).code(), StatusCode::invalid_argument);
  p.c.data = writable(0x30000280);  // 640 .. 1024: just not
  EXPECT_TRUE(validate(p)) << validate(p).message();
}

// A is part of every second row of a buffer with rows of 1024 bytes.
TEST(Validate, RowsOfTwiceThePitchDoNotOverlap) {
  Gemm p = valid();
  p.a = {at(0x30000000), 512, row_major, Type::f16};
  p.c = {writable(0x30000200), 512, Type::f32};
  EXPECT_TRUE(validate(p)) << validate(p).message();
  p.c.data = writable(0x300000FC);
  expect_refusal(
      p, StatusCode::invalid_argument,
      "C (129408 bytes from 0x300000fc) overlaps A (64768 bytes from 0x30000000) but needs memory of "
      "its own");
  // For other pitches only the intervals from the first to the last byte are compared.
  p.c = {writable(0x30000200), 500, Type::f32};
  expect_refusal(
      p, StatusCode::invalid_argument,
      "C (126384 bytes from 0x30000200) may overlap A (64768 bytes from 0x30000000) but needs memory "
      "of its own");
}

TEST(Validate, Workspace) {
  Gemm p = valid();
  p.workspace_bytes = 256;
  expect_refusal(p, StatusCode::invalid_argument,
                 "workspace is a null pointer but workspace_bytes is 256, not 0");
  p.workspace = writable(0x40000080);
  expect_refusal(p, StatusCode::invalid_argument,
                 "workspace is at an address 128 past a multiple of 256 but needs a multiple of 256");
  const struct {
    std::uint64_t address;
    const char* matrix;
  } others[] = {{0x10000000, "A (16384 bytes from 0x10000000)"},
                {0x20000000, "B (24576 bytes from 0x20000000)"},
                {0x30000000, "C (24576 bytes from 0x30000000)"}};
  for (const auto& other : others) {
    p.workspace = writable(other.address - 256);
    p.workspace_bytes = 256;
    EXPECT_TRUE(validate(p)) << "ends where the matrix begins: " << validate(p).message();
    p.workspace_bytes = 257;
    char begin[64];
    std::snprintf(begin, sizeof begin, "the workspace (257 bytes from 0x%llx) overlaps ",
                  static_cast<unsigned long long>(other.address - 256));
    expect_refusal(p, StatusCode::invalid_argument,
                   std::string(begin) + other.matrix + " but needs memory of its own");
  }
  p.workspace = writable(0x40000000);
  EXPECT_TRUE(validate(p));
  p.workspace_bytes = SIZE_MAX;
  expect_refusal(p, StatusCode::invalid_argument,
                 "workspace_bytes is 18446744073709551615: from 0x40000000 on the workspace ends beyond the "
                 "address space, workspace_bytes <= 18446744072635809791 is needed");
}

// Kernels read the factors while they write C and the workspace, so that factors there would change.
TEST(Validate, FactorsLieApartFromWhatIsWritten) {
  const auto factor = [](std::uint64_t address) { return static_cast<const float*>(at(address)); };
  Gemm p = of_types(Type::e4m3, Type::e4m3, Type::f32, Type::f32);
  p.workspace = writable(0x40000000);
  p.workspace_bytes = 4096;
  p.scale_a = factor(0x40000000 - 4);
  p.scale_b = factor(0x40001000);
  EXPECT_TRUE(validate(p)) << validate(p).message();
  p.scale_a = factor(0x40000000);
  expect_refusal(p, StatusCode::invalid_argument,
                 "the workspace (4096 bytes from 0x40000000) overlaps scale_a (4 bytes from 0x40000000) but "
                 "needs memory of its own");
  p.scale_a = nullptr;
  p.scale_b = factor(0x40000ffc);
  EXPECT_EQ(validate(p).code(), StatusCode::invalid_argument);
  p.scale_b = factor(0x30005ffc);
  expect_refusal(
      p, StatusCode::invalid_argument,
      "C (24576 bytes from 0x30000000) overlaps scale_b (4 bytes from 0x30005ffc) but needs memory "
      "of its own");
  p.scale_b = factor(0x30006000);
  EXPECT_TRUE(validate(p)) << validate(p).message();
  p.scale_a = factor(0x30000000);
  EXPECT_EQ(validate(p).code(), StatusCode::invalid_argument);
}

// The result is beta * C. A and B are not read, and may be null.
TEST(Validate, WithoutAlphaAAndBAreNotLookedAt) {
  Gemm p = valid();
  p.alpha = 0;
  p.a.data = p.b.data = nullptr;
  EXPECT_TRUE(validate(p)) << validate(p).message();
  p.a.data = p.c.data;
  p.b.data = at(1);
  EXPECT_TRUE(validate(p)) << validate(p).message();
  p.c.data = nullptr;
  EXPECT_EQ(validate(p).code(), StatusCode::invalid_argument);
}

// overlap() against the definition, byte by byte, over small strided sets.
// A valid problem with everything that an epilogue can have.
Gemm with_epilogue() {
  Gemm p = valid();
  p.beta = 1.0F;
  p.d = {writable(0x40000000), 100, Type::bf16};
  EpilogueOptions& e = p.epilogue;
  e.activation = Activation::gelu;
  e.bias = {at(0x50000000), Type::f16};
  e.row_bias = {at(0x51000000), Type::bf16};
  e.row_scale = static_cast<const float*>(at(0x52000000));
  e.column_scale = static_cast<const float*>(at(0x53000000));
  e.aux = {writable(0x60000000), 96, Type::f16};
  return p;
}

TEST(Validate, AcceptsAnEpilogueAndADApartFromC) {
  EXPECT_TRUE(validate(with_epilogue())) << validate(with_epilogue()).message();
  Gemm p = with_epilogue();
  p.beta = 0.0F;
  p.c = {};  // is not read
  EXPECT_TRUE(validate(p)) << validate(p).message();
  p = valid();
  p.beta = 1.0F;
  p.d = p.c;  // in place
  EXPECT_TRUE(validate(p)) << validate(p).message();
}

TEST(Validate, DAndCApart) {
  Gemm p = with_epilogue();
  p.d.ld = 95;
  expect_refusal(p, StatusCode::invalid_argument, "ldd is 95 but row-major D with n = 96 needs ldd >= 96");
  p = with_epilogue();
  p.c.ld = 95;
  expect_refusal(p, StatusCode::invalid_argument, "ldc is 95 but row-major C with n = 96 needs ldc >= 96");
  p = with_epilogue();
  p.d.type = Type::tf32;
  expect_refusal(p, StatusCode::unsupported,
                 "D is tf32 with f16 inputs but must be f16, bf16, f32, e4m3, e5m2 or s8");
  p = with_epilogue();
  p.c.type = Type::s8;
  expect_refusal(p, StatusCode::unsupported, "C is s8 but must be f32, f16 or bf16");
  p = with_epilogue();
  p.c.data = nullptr;
  expect_refusal(p, StatusCode::invalid_argument,
                 "C is a null pointer but must point to 64 rows of 96 f32 elements in device memory");
  p = with_epilogue();
  p.d.data = p.c.data;
  expect_refusal(
      p, StatusCode::invalid_argument,
      "D is where C is, with ldd = 100 and type bf16, but C has ldc = 96 and type f32: in place they "
      "must be the same");
  p = with_epilogue();
  p.d.data = writable(0x30000004);
  EXPECT_EQ(validate(p).code(), StatusCode::invalid_argument);
  EXPECT_NE(std::string(validate(p).message()).find("D (12792 bytes from 0x30000004) overlaps C"),
            std::string::npos)
      << validate(p).message();
}

TEST(Validate, Epilogues) {
  Gemm p = with_epilogue();
  p.epilogue.activation = static_cast<Activation>(8);
  expect_refusal(p, StatusCode::invalid_argument,
                 "the activation is 8 but an activation is a number from 0 to 7");
  p = with_epilogue();
  p.epilogue.activation = Activation::clamp;
  p.epilogue.lower = 2.0F, p.epilogue.upper = 1.0F;
  expect_refusal(p, StatusCode::invalid_argument,
                 "clamp has lower = 2 and upper = 1 but needs lower <= upper");
  p.epilogue.upper = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(validate(p).code(), StatusCode::invalid_argument);
  p = with_epilogue();
  p.epilogue.activation = Activation::drelu;
  p.epilogue.aux = {};
  expect_refusal(
      p, StatusCode::invalid_argument,
      "the activation is drelu, which reads the pre-activation from aux, but aux is a null pointer");
  p = with_epilogue();
  p.epilogue.bias.type = Type::tf32;
  expect_refusal(p, StatusCode::unsupported, "bias is tf32 but must be f32, f16 or bf16");
  p = with_epilogue();
  p.epilogue.row_bias.type = static_cast<Type>(-1);
  expect_refusal(p, StatusCode::invalid_argument,
                 "the type of row_bias is -1 but a type is a number from 0 to 8");
  p = with_epilogue();
  p.epilogue.aux.ld = 50;
  expect_refusal(p, StatusCode::invalid_argument,
                 "ld of aux is 50 but row-major AUX with n = 96 needs ld of aux >= 96");
  p = with_epilogue();
  p.epilogue.bias.data = at(0x50000001);
  expect_refusal(p, StatusCode::invalid_argument,
                 "bias is at an address 1 past a multiple of 2 but f16 needs a multiple of 2");
  p = with_epilogue();
  p.epilogue.column_scale = static_cast<const float*>(at(0x53000002));
  expect_refusal(p, StatusCode::invalid_argument,
                 "column_scale is at an address 2 past a multiple of 4 but a float needs a multiple of 4");
  p = with_epilogue();
  p.accumulate = Type::f16;
  expect_refusal(p, StatusCode::unsupported,
                 "an epilogue, or a D apart from C, is given with accumulators in f16 but needs plain f32");
}

TEST(Validate, GatedPairs) {
  Gemm gated = with_epilogue();
  gated.beta = 0.0F;
  gated.epilogue.gated = true;
  gated.d.ld = 48;  // D has half of the columns
  EXPECT_TRUE(validate(gated)) << validate(gated).message();
  Gemm p = gated;
  p.d.ld = 47;
  expect_refusal(p, StatusCode::invalid_argument,
                 "ldd is 47 but row-major D with n / 2 = 48 needs ldd >= 48");
  p = gated;
  p.n = 95;
  expect_refusal(p, StatusCode::invalid_argument, "n is 95 but gated pairs of columns need an even n");
  p = gated;
  p.beta = 2.0F;
  expect_refusal(p, StatusCode::unsupported, "beta is 2 but gated pairs take no C: it must be 0");
  p = gated;
  p.epilogue.activation = Activation::dgelu;
  expect_refusal(p, StatusCode::unsupported, "dgelu is given with gated pairs, which have no gradients");
  p = gated;
  p.epilogue.bias_gradient = static_cast<float*>(writable(0x70000000));
  expect_refusal(p, StatusCode::unsupported,
                 "bias_gradient is given with gated pairs, which have no gradients");
}

TEST(Validate, OutputsOf8Bits) {
  for (const Type type : {Type::e4m3, Type::e5m2, Type::s8}) {
    Gemm p = with_epilogue();
    p.d = {writable(0x40000001), 97, type};
    EXPECT_TRUE(validate(p)) << validate(p).message();
    p = valid();
    p.c.type = type;
    EXPECT_TRUE(validate(p)) << validate(p).message();
    p.beta = 1.0F;  // C would be read
    expect_refusal(p, StatusCode::unsupported,
                   "C is " + std::string(name(type)) + " but must be f32, f16 or bf16");
  }
}

TEST(Validate, WhatAnEpilogueWritesLiesApart) {
  Gemm p = with_epilogue();
  p.epilogue.absmax = static_cast<float*>(writable(0x40000000));
  expect_refusal(p, StatusCode::invalid_argument,
                 "D (12792 bytes from 0x40000000) overlaps absmax (4 bytes from 0x40000000) but needs memory "
                 "of its own");
  p = with_epilogue();
  p.epilogue.bias_gradient = static_cast<float*>(writable(0x52000000));
  expect_refusal(
      p, StatusCode::invalid_argument,
      "bias_gradient (384 bytes from 0x52000000) overlaps row_scale (256 bytes from 0x52000000) but needs "
      "memory of its own");
  p = with_epilogue();
  p.epilogue.scale_d = static_cast<const float*>(at(0x40000002));
  EXPECT_EQ(validate(p).code(), StatusCode::invalid_argument);
}

TEST(Validate, WhatAnEpilogueReadsLiesApartFromWhatIsWritten) {
  Gemm p = with_epilogue();
  p.epilogue.bias.data = at(0x40000002);
  expect_refusal(
      p, StatusCode::invalid_argument,
      "D (12792 bytes from 0x40000000) overlaps bias (192 bytes from 0x40000002) but needs memory of its "
      "own");
  p = with_epilogue();
  p.epilogue.row_scale = static_cast<const float*>(at(0x60000000));
  expect_refusal(
      p, StatusCode::invalid_argument,
      "AUX (12288 bytes from 0x60000000) overlaps row_scale (256 bytes from 0x60000000) but needs memory of "
      "its own");
  p = with_epilogue();
  p.epilogue.aux.data = writable(0x40000000);
  EXPECT_NE(std::string(validate(p).message()).find("D (12792 bytes from 0x40000000) overlaps AUX"),
            std::string::npos)
      << validate(p).message();
  p.epilogue.activation = Activation::dgelu;
  p.epilogue.aux.data = writable(0x20000000);  // B is read, and so is aux
  EXPECT_TRUE(validate(p)) << validate(p).message();
}

TEST(Overlap, AgreesWithTheDefinition) {
  const auto covers = [](const ByteRanges& x, std::uint64_t byte) {
    for (std::uint64_t range = 0; range < x.count; ++range) {
      const std::uint64_t start = x.base + range * x.pitch_bytes;
      if (byte >= start && byte < start + x.range_bytes) return true;
    }
    return false;
  };
  int compared = 0, disjoint = 0;
  const ByteRanges x{40, 3, 4, 10};
  for (std::uint64_t base = 20; base < 80; ++base) {
    for (std::uint64_t count = 1; count <= 4; ++count) {
      for (std::uint64_t width = 1; width <= 8; ++width) {
        for (const std::uint64_t pitch : {10, 7, 13}) {
          // Another pitch than that of x only for a single range, whose pitch is ignored.
          if (width > pitch || (pitch != 10 && count != 1)) continue;
          const ByteRanges y{base, count, width, pitch};
          bool intersect = false;
          for (std::uint64_t byte = 0; byte < 140; ++byte)
            intersect = intersect || (covers(x, byte) && covers(y, byte));
          EXPECT_EQ(overlap(x, y), intersect) << "base " << base << ", " << count << " ranges of " << width;
          EXPECT_EQ(overlap(y, x), intersect) << "base " << base << ", " << count << " ranges of " << width;
          ++compared;
          disjoint += !intersect;
        }
      }
    }
  }
  EXPECT_GT(disjoint, compared / 10);
}

TEST(Overlap, AgreesWithTheDefinitionWhereOnePitchIsAMultiple) {
  const auto intersect = [](const ByteRanges& x, const ByteRanges& y) {
    for (std::uint64_t i = 0; i < x.count; ++i) {
      for (std::uint64_t j = 0; j < y.count; ++j) {
        const std::uint64_t a = x.base + i * x.pitch_bytes, b = y.base + j * y.pitch_bytes;
        if (a < b + y.range_bytes && b < a + x.range_bytes) return true;
      }
    }
    return false;
  };
  int compared = 0, disjoint = 0;
  for (const std::uint64_t ratio : {1, 2, 3, 5}) {
    for (std::uint64_t count = 1; count <= 7; ++count) {
      for (const std::uint64_t width : {1, 4, 9, 10, 13, 20}) {
        if (width > 10 * ratio) continue;
        for (std::uint64_t base = 0; base < 300; ++base) {
          const ByteRanges x{150, count, 4, 10}, y{base, 3, width, 10 * ratio};
          EXPECT_TRUE(overlap_is_exact(x, y) && overlap_is_exact(y, x));
          EXPECT_EQ(overlap(x, y), intersect(x, y))
              << count << " ranges, base " << base << ", width " << width << ", ratio " << ratio;
          EXPECT_EQ(overlap(y, x), intersect(x, y))
              << count << " ranges, base " << base << ", width " << width << ", ratio " << ratio;
          ++compared;
          disjoint += !intersect(x, y);
        }
      }
    }
  }
  EXPECT_GT(disjoint, compared / 10);
}

// A pitch of 0 must not be divided by.
TEST(Overlap, ThePitchOfASingleRangeIsIgnored) {
  for (const std::uint64_t pitch : {std::uint64_t{0}, std::uint64_t{3}, UINT64_MAX}) {
    const ByteRanges x{100, 1, 8, pitch};
    EXPECT_TRUE(overlap(x, {107, 1, 1, pitch}));
    EXPECT_FALSE(overlap(x, {108, 1, 1, pitch}));
    EXPECT_FALSE(overlap(x, {92, 1, 8, pitch}));
    EXPECT_TRUE(overlap(x, {98, 3, 4, 10}) && overlap({98, 3, 4, 10}, x));
    EXPECT_FALSE(overlap(x, {88, 3, 4, 20}) || overlap({88, 3, 4, 20}, x));
  }
}

TEST(Overlap, OtherPitchesCompareTheIntervalsFromFirstToLastByte) {
  EXPECT_FALSE(overlap_is_exact({0, 3, 4, 10}, {24, 2, 4, 7}));
  EXPECT_FALSE(overlap({0, 3, 4, 10}, {24, 2, 4, 7}));  // x ends at 24
  EXPECT_TRUE(overlap({0, 3, 4, 10}, {23, 2, 4, 7}));
  EXPECT_FALSE(overlap({100, 3, 4, 10}, {89, 2, 4, 7}));  // y ends at 100
  EXPECT_TRUE(overlap({100, 3, 4, 10}, {90, 2, 4, 7}));
}

}  // namespace
}  // namespace tenon
