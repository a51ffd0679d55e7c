// The problems that the reference kernels refuse, and the messages. Uses no device: addresses are mere
// numbers.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <string>

#include "reference/reference.hpp"
#include "support/gpu.hpp"

namespace tenon::reference {
namespace {

void* at(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}  // NOLINT(performance-no-int-to-ptr)

Gemm valid_problem() {
  Gemm problem;
  problem.m = 64, problem.n = 32, problem.k = 128;
  problem.a = {at(0x100000), 128, row_major, Type::f16};
  problem.b = {at(0x200000), 128, column_major, Type::f16};
  problem.c = {at(0x300000), 32, Type::f32};
  return problem;
}

TEST(ReferenceValidate, AcceptsAValidProblem) {
  for (const AlgorithmInfo& info : algorithms()) {
    const Status status = can_implement(info.algorithm, valid_problem());
    EXPECT_TRUE(status) << info.name << ": " << status.message();
  }
}

TEST(ReferenceValidate, NamesTheFoundAndTheNeeded) {
  const struct {
    std::function<void(Gemm&)> spoil;
    StatusCode code;
    const char* sentence;
  } cases[] = {
      {[](Gemm& p) { p.m = -1; }, StatusCode::invalid_argument, "m is -1 but must be >= 0"},
      {[](Gemm& p) { p.n = -2; }, StatusCode::invalid_argument, "n is -2 but must be >= 0"},
      {[](Gemm& p) { p.k = -3; }, StatusCode::invalid_argument, "k is -3 but must be >= 0"},
      {[](Gemm& p) { p.a.ld = 100; }, StatusCode::invalid_argument,
       "the leading dimension of A is 100 but must be >= 128: it is row-major, 64 x 128"},
      {[](Gemm& p) { p.b.ld = 127; }, StatusCode::invalid_argument,
       "the leading dimension of B is 127 but must be >= 128: it is column-major, 128 x 32"},
      {[](Gemm& p) { p.c.ld = 31; }, StatusCode::invalid_argument,
       "the leading dimension of C is 31 but must be >= 32: it is row-major, 64 x 32"},
      {[](Gemm& p) { p.c.ld = -32; }, StatusCode::invalid_argument,
       "the leading dimension of C is -32 but must be"},
      {[](Gemm& p) { p.a.data = nullptr; }, StatusCode::invalid_argument,
       "A is null but has 64 x 128 elements"},
      {[](Gemm& p) { p.b.data = nullptr; }, StatusCode::invalid_argument,
       "B is null but has 128 x 32 elements"},
      {[](Gemm& p) { p.c.data = nullptr; }, StatusCode::invalid_argument,
       "C is null but has 64 x 32 elements"},
      {[](Gemm& p) { p.a.data = at(0x100001); }, StatusCode::invalid_argument,
       "A is at 0x100001 but its f16 elements need an address that is a multiple of 2"},
      {[](Gemm& p) { p.c.data = at(0x300002); }, StatusCode::invalid_argument,
       "C is at 0x300002 but its f32 elements need an address that is a multiple of 4"},
      // The last byte of C (64 * 32 * 4 of them) on the first of A, and the first of C on the last of B.
      {[](Gemm& p) { p.c.data = at(0x100000 - 64 * 32 * 4 + 4); }, StatusCode::invalid_argument,
       "C (8192 bytes from 0xfe004) overlaps A (16384 bytes from 0x100000)"},
      {[](Gemm& p) { p.c.data = at(0x200000 + 32 * 128 * 2 - 4); }, StatusCode::invalid_argument,
       "overlaps B"},
      {[](Gemm& p) { p.a.ld = std::numeric_limits<std::int64_t>::max() / 8; }, StatusCode::invalid_argument,
       "spans more than 2^63 bytes"},
      {[](Gemm& p) { p.a.type = static_cast<Type>(7); }, StatusCode::invalid_argument, "the type of A is 7"},
      {[](Gemm& p) { p.b.order = static_cast<Order>(2); }, StatusCode::invalid_argument,
       "the order of B is 2"},
      {[](Gemm& p) { p.b.type = Type::bf16; }, StatusCode::unsupported, "A is f16 and B is bf16"},
      {[](Gemm& p) { p.accumulate = Type::f16; }, StatusCode::unsupported, "accumulate is f16"},
  };
  for (const auto& spoiled : cases) {
    for (const AlgorithmInfo& info : algorithms()) {
      Gemm problem = valid_problem();
      spoiled.spoil(problem);
      const Status status = can_implement(info.algorithm, problem);
      EXPECT_EQ(status.code(), spoiled.code) << spoiled.sentence;
      EXPECT_NE(std::strstr(status.message(), spoiled.sentence), nullptr)
          << "found:  " << status.message() << "\nwanted: " << spoiled.sentence;
      EXPECT_EQ(gemm(info.algorithm, problem).code(), spoiled.code);
    }
  }
}

TEST(ReferenceValidate, MatricesMayTouch) {
  Gemm problem = valid_problem();
  problem.c.data = at(0x100000 - 64 * 32 * 4);  // ends where A begins
  EXPECT_TRUE(can_implement(Algorithm::naive_f32, problem));
  problem.c.data = at(0x200000 + 32 * 128 * 2);  // begins where B ends
  EXPECT_TRUE(can_implement(Algorithm::naive_f32, problem));
  problem.b = {problem.a.data, 128, column_major, Type::f16};  // both only read
  EXPECT_TRUE(can_implement(Algorithm::naive_f32, problem));
}

TEST(ReferenceValidate, NothingToDoNeedsNoPointerAndNoDevice) {
  for (const AlgorithmInfo& info : algorithms()) {
    EXPECT_TRUE(gemm(info.algorithm, Gemm{})) << info.name;
    Gemm no_rows = valid_problem();
    no_rows.m = 0, no_rows.a.data = nullptr, no_rows.c.data = nullptr;
    EXPECT_TRUE(gemm(info.algorithm, no_rows)) << info.name;
    Gemm no_depth = valid_problem();
    no_depth.k = 0, no_depth.a.data = nullptr, no_depth.b.data = nullptr;
    EXPECT_TRUE(can_implement(info.algorithm, no_depth)) << info.name;
  }
}

TEST(ReferenceValidate, WmmaTakes16BitTypesOnly) {
  Gemm problem = valid_problem();
  problem.a.type = problem.b.type = Type::f32;
  for (const AlgorithmInfo& info : algorithms()) {
    const StatusCode wanted = info.tensor_cores ? StatusCode::unsupported : StatusCode::ok;
    EXPECT_EQ(can_implement(info.algorithm, problem).code(), wanted) << info.name;
  }
}

TEST(ReferenceValidate, AlgorithmsOfOtherTypesTakeTheirsOnly) {
  for (const AlgorithmOfType& info : algorithms_of_other_types()) {
    Gemm problem = valid_problem();
    problem.c.data = at(0x900000);
    EXPECT_EQ(can_implement(info.algorithm, problem).code(), StatusCode::unsupported) << info.name;
    problem.a.type = problem.b.type = info.operand;
    problem.accumulate = problem.c.type = info.accumulate;
    const Status status = can_implement(info.algorithm, problem);
    EXPECT_TRUE(status) << info.name << ": " << status.message();
    problem.c.type = Type::e4m3;
    EXPECT_EQ(can_implement(info.algorithm, problem).code(), StatusCode::unsupported) << info.name;
    problem.c.type = info.accumulate;
    problem.accumulate = Type::f16;
    EXPECT_EQ(can_implement(info.algorithm, problem).code(), StatusCode::unsupported) << info.name;
    problem.accumulate = info.accumulate;
    problem.a.ld = 100;
    EXPECT_EQ(can_implement(info.algorithm, problem).code(), StatusCode::invalid_argument) << info.name;
  }
}

TEST(ReferenceValidate, UnknownAlgorithm) {
  const Status status = gemm(static_cast<Algorithm>(9), valid_problem());
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_STREQ(status.message(), "algorithm is 9 but must be 0 to 8");
}

TEST(ReferenceValidate, AlgorithmsAreFoundByName) {
  ASSERT_EQ(algorithms().size(), 6U);
  for (const AlgorithmInfo& info : algorithms()) EXPECT_EQ(find_algorithm(info.name), &info);
  EXPECT_EQ(find_algorithm("wmma"), nullptr);
}

TEST(ReferenceValidate, TooManyBlocksForAGrid) {
  Gemm problem;
  problem.m = problem.n = std::int64_t{1} << 29;  // C alone would be 2^59 bytes
  problem.a = {nullptr, 0, row_major, Type::f16};
  problem.b = {nullptr, problem.n, row_major, Type::f16};
  problem.c = {at(0x1000), problem.n, Type::f16};
  for (const AlgorithmInfo& info : algorithms()) {
    const Status status = gemm(info.algorithm, problem);
    EXPECT_EQ(status.code(), StatusCode::unsupported) << info.name;
    EXPECT_NE(std::strstr(status.message(), "but a grid holds 2147483647"), nullptr) << status.message();
  }
}

TEST(ReferenceValidate, SaysSoWithoutADevice) {
  if (test::gpu_sm() != 0) GTEST_SKIP() << "this machine has a device";
  for (const AlgorithmInfo& info : algorithms()) {
    const Status status = gemm(info.algorithm, valid_problem());
    EXPECT_EQ(status.code(), StatusCode::device_unsupported) << status.message();
    EXPECT_NE(std::strstr(status.message(), "need a CUDA device of sm_80 or newer"), nullptr)
        << status.message();
  }
}

TEST(ConvertValidate, NamesTheFoundAndTheNeeded) {
  const ConstMatrix f32(at(0x100000), 64, row_major, Type::f32);
  const ConstMatrix f16(at(0x100000), 64, row_major, Type::f16);
  const ConstMatrix columns(at(0x100000), 64, column_major, Type::f32);
  const Matrix to_f16(at(0x200000), 64, Type::f16);
  const auto expect = [](const Status& status, StatusCode code, const char* sentence) {
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_NE(std::strstr(status.message(), sentence), nullptr) << status.message();
  };
  expect(convert(-1, 64, f32, to_f16), StatusCode::invalid_argument, "rows x columns is -1 x 64");
  expect(convert(64, 65, f32, to_f16), StatusCode::invalid_argument,
         "the leading dimension of the source is 64");
  expect(convert(64, 64, {}, to_f16), StatusCode::invalid_argument,
         "the leading dimension of the source is 0");
  expect(convert(64, 64, f32, {nullptr, 64, Type::f16}), StatusCode::invalid_argument,
         "the destination is null");
  expect(convert(64, 64, f32, {at(0x100100), 64, Type::f16}), StatusCode::invalid_argument,
         "the destination (8192 bytes from 0x100100) overlaps the source");
  expect(convert(64, 64, columns, to_f16), StatusCode::unsupported, "the source is column-major");
  expect(convert(64, 64, f16, to_f16), StatusCode::unsupported, "cannot convert f16 to f16");
  EXPECT_TRUE(convert(0, 64, f32, to_f16));
}

TEST(MixedValidate, NamesTheFoundAndTheNeeded) {
  Gemm problem = valid_problem();
  problem.a.type = problem.b.type = Type::f32;
  const std::size_t needed = mixed_workspace_size(problem);
  EXPECT_EQ(needed, (64U * 128 + 128 * 32) * 2);
  problem.workspace = at(0x400000), problem.workspace_bytes = needed;
  const auto expect = [](const Gemm& p, Type through, Algorithm algorithm, StatusCode code,
                         const char* sentence) {
    const Status status = gemm_mixed(algorithm, through, p);
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_NE(std::strstr(status.message(), sentence), nullptr) << status.message();
  };
  constexpr Algorithm wmma = Algorithm::wmma_shared;
  Gemm spoiled = problem;
  spoiled.workspace_bytes -= 1;
  expect(spoiled, Type::f16, wmma, StatusCode::workspace_too_small,
         "the workspace has 24575 bytes but the 16-bit copies of A and B need 24576");
  spoiled = problem, spoiled.workspace = nullptr;
  expect(spoiled, Type::f16, wmma, StatusCode::workspace_too_small, "the workspace has 0 bytes");
  spoiled = problem, spoiled.workspace = at(0x400080);
  expect(spoiled, Type::f16, wmma, StatusCode::invalid_argument, "must be 256-byte aligned");
  spoiled = problem, spoiled.workspace = problem.c.data;
  expect(spoiled, Type::f16, wmma, StatusCode::invalid_argument, "C (8192 bytes from 0x300000) overlaps A");
  spoiled = problem, spoiled.workspace = at(0x200000);
  expect(spoiled, Type::f16, wmma, StatusCode::invalid_argument,
         "the workspace (24576 bytes from 0x200000) overlaps B");
  spoiled = problem, spoiled.a.type = spoiled.b.type = Type::f16;
  expect(spoiled, Type::f16, wmma, StatusCode::unsupported, "starts from f32");
  expect(problem, Type::f32, wmma, StatusCode::unsupported, "cannot go through f32");
  spoiled = problem, spoiled.m = -1;
  expect(spoiled, Type::f16, wmma, StatusCode::invalid_argument, "m is -1");
  EXPECT_EQ(mixed_workspace_size(spoiled), 0U);
}

}  // namespace
}  // namespace tenon::reference
