// The split of f32 operands on a device, bit for bit against split_parts.hpp on the host.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gemm/split.hpp"
#include "support/device.hpp"

namespace tenon {
namespace {

using test::Buffer;
using Split = test::DeviceTest;

constexpr unsigned char poison = 0xab;
constexpr std::size_t guard = 256;  // bytes after the parts, which must not change

// Numbers of all exponents, and some that are special.
std::vector<float> numbers(std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(count));
  const float specials[] = {0.0F,
                            -0.0F,
                            std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::denorm_min(),
                            -std::numeric_limits<float>::min(),
                            65504.0F,
                            65520.0F};
  std::vector<float> values(count);
  for (float& v : values) {
    v = random() % 8 == 0 ? specials[random() % 10] : float_of(static_cast<std::uint32_t>(random()));
    if (std::isnan(v)) v = std::numeric_limits<float>::quiet_NaN();
  }
  return values;
}

// The bits of a part in its type. NaN: any.
template <Type type>
std::uint32_t bits_as(float part) {
  return type == Type::f16    ? pack_f16x2(part, 0.0F)
         : type == Type::bf16 ? bits_of(part) >> 16
                              : bits_of(part);
}
template <Type type>
bool is_nan(std::uint32_t bits) {
  return type == Type::f16    ? (bits & 0x7fffU) > 0x7c00U
         : type == Type::bf16 ? (bits & 0x7fffU) > 0x7f80U
                              : (bits & 0x7fffffffU) > 0x7f800000U;
}

// An operand in memory, in either order, from `offset` elements past an aligned address on. It ends with its
// last element, so that the emulator and compute-sanitizer see a read beyond. Between its rows is NaN.
struct Source {
  Source(std::int64_t rows_, std::int64_t k_, bool k_contiguous_, std::int64_t offset_, std::int64_t gap)
      : rows(rows_),
        k(k_),
        ld((k_contiguous_ ? k_ : rows_) + gap),
        offset(offset_),
        k_contiguous(k_contiguous_),
        values(numbers(static_cast<std::size_t>(rows_ * k_))),
        memory(static_cast<std::size_t>(offset_ + ((k_contiguous_ ? rows_ : k_) - 1) * ld +
                                        (k_contiguous_ ? k_ : rows_)),
               std::numeric_limits<float>::quiet_NaN()) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t p = 0; p < k; ++p) {
        memory[static_cast<std::size_t>(offset + (k_contiguous ? i * ld + p : p * ld + i))] = at(i, p);
      }
    }
    buffer = std::make_unique<Buffer<float>>(memory);
  }
  float at(std::int64_t i, std::int64_t p) const { return values[static_cast<std::size_t>(i * k + p)]; }

  std::int64_t rows, k, ld, offset;
  bool k_contiguous;
  std::vector<float> values, memory;
  std::unique_ptr<Buffer<float>> buffer;
};

template <Precision precision>
void expect_parts(const Source& source, bool is_b, const std::vector<unsigned char>& found) {
  constexpr Type type = part_type(precision);
  const std::int64_t ld = split_ld(source.k, precision), depth = block_depth(source.k);
  const auto element = static_cast<std::int64_t>(bytes(type));
  ASSERT_EQ(ld * element % 128, 0);
  ASSERT_EQ(depth * element % 16, 0);
  for (std::int64_t i = 0; i < source.rows; ++i) {
    for (std::int64_t column = 0; column < ld; ++column) {
      const std::int64_t p = column % depth, product = column / depth;
      std::uint32_t bits = 0;
      std::memcpy(&bits, &found[static_cast<std::size_t>((i * ld + column) * element)], bytes(type));
      if (product >= products_of(precision)) {
        ASSERT_EQ(bits, type == Type::tf32 ? 0xababababU : 0xababU) << "written after the last block";
        continue;
      }
      const float part = p >= source.k ? 0.0F
                                       : select(parts_of<precision>(source.at(i, p)),
                                                part_of(precision, is_b, static_cast<int>(product)));
      const std::uint32_t wanted = bits_as<type>(part);
      if (std::isnan(part)) {
        ASSERT_TRUE(is_nan<type>(bits)) << "row " << i << ", k " << p << ", product " << product;
      } else {
        ASSERT_EQ(bits, wanted) << "row " << i << ", k " << p << ", product " << product << ", of "
                                << source.at(i, p);
      }
    }
  }
  for (std::size_t i = split_bytes(source.rows, source.k, precision); i < found.size(); ++i)
    ASSERT_EQ(found[i], poison) << i;
}

template <Precision precision>
void check(const Source& a, const Source& b) {
  SCOPED_TRACE(std::string(name(precision)) + ", A " + std::to_string(a.rows) + " x " + std::to_string(a.k) +
               (a.k_contiguous ? "" : " transposed") + ", B " + std::to_string(b.rows) +
               (b.k_contiguous ? "" : " transposed") + ", offsets " + std::to_string(a.offset) + " " +
               std::to_string(b.offset) + ", lds " + std::to_string(a.ld) + " " + std::to_string(b.ld));
  const Buffer<unsigned char> parts_a(
      std::vector<unsigned char>(split_bytes(a.rows, a.k, precision) + guard, poison)),
      parts_b(std::vector<unsigned char>(split_bytes(b.rows, b.k, precision) + guard, poison));
  const Status s =
      split_operands(test::launcher(), precision,
                     {a.buffer->get() + a.offset, a.rows, a.k, a.ld, a.k_contiguous, parts_a.get()},
                     {b.buffer->get() + b.offset, b.rows, b.k, b.ld, b.k_contiguous, parts_b.get()});
  ASSERT_TRUE(s) << s.message();
  expect_parts<precision>(a, false, parts_a.read());
  if (!::testing::Test::HasFatalFailure()) expect_parts<precision>(b, true, parts_b.read());
}

void check_all(const Source& a, const Source& b) {
  check<Precision::tf32>(a, b);
  check<Precision::f16>(a, b);
  check<Precision::bf16>(a, b);
  check<Precision::bf16x3>(a, b);
  check<Precision::bf16x6>(a, b);
  check<Precision::tf32x3>(a, b);
}

TEST_F(Split, EveryPrecisionInEveryOrder) {
  for (const bool a_contiguous : {true, false}) {
    for (const bool b_contiguous : {true, false}) {
      check_all({33, 75, a_contiguous, 0, 0}, {41, 75, b_contiguous, 0, 0});
      if (HasFailure()) return;
    }
  }
}

TEST_F(Split, EveryAlignmentAndGap) {
  for (const bool k_contiguous : {true, false}) {
    for (const std::int64_t offset : {0, 1, 2, 3}) {
      for (const std::int64_t gap : {0, 1, 2, 4, 5}) {
        check<Precision::bf16x3>({9, 67, k_contiguous, offset, gap}, {3, 67, !k_contiguous, 3 - offset, gap});
        if (HasFailure()) return;
      }
    }
  }
}

// Around a thread's 8 elements, a CTA's 64 x 32, and one element.
TEST_F(Split, SizesAroundTheTiles) {
  for (const std::int64_t k : {1, 2, 7, 8, 9, 63, 64, 65, 129}) {
    for (const std::int64_t rows : {1, 31, 32, 33, 65}) {
      check<Precision::bf16x6>({rows, k, true, 1, 0}, {66 - rows, k, false, 0, 3});
      check<Precision::tf32x3>({rows, k, false, 0, 0}, {66 - rows, k, true, 2, 1});
      if (HasFailure()) return;
    }
  }
}

// More rows than the grid has CTAs: each CTA splits several tiles.
TEST_F(Split, ManyRows) {
  if (test::emulated()) GTEST_SKIP() << "too many rows for the emulator";
  check<Precision::bf16>({32 * 32768 + 77, 3, true, 1, 0}, {5, 3, false, 0, 0});
  check<Precision::bf16x3>({5, 9, true, 0, 0}, {32 * 32768 + 77, 9, false, 3, 1});
}

}  // namespace
}  // namespace tenon
