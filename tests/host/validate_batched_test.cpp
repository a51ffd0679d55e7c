// validate(BatchedGemm): each refusal names the value found and the value needed; what is valid passes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "host/gemm_batched_on.hpp"
#include "host/refusing_launcher.hpp"
#include "host/validate_batched.hpp"

namespace tenon {
namespace {

template <class T = void>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr): never dereferenced
}

// 10 dense problems of 64^3 in f16, "tn".
BatchedGemm valid() {
  BatchedGemm batch;
  Gemm& p = batch.problem;
  p.m = p.n = p.k = 64;
  p.a = {at<const void>(0x1000000), 64, row_major, Type::f16};
  p.b = {at<const void>(0x2000000), 64, column_major, Type::f16};
  p.c = {at(0x3000000), 64, Type::f16};
  batch.count = 10;
  batch.stride_a = batch.stride_b = batch.stride_c = 64 * 64;
  return batch;
}

std::string sentence(const BatchedGemm& batch) {
  return validate(batch).message();
}

TEST(ValidateBatched, AValidBatchPasses) {
  EXPECT_EQ(sentence(valid()), "");
  BatchedGemm batch = valid();
  batch.stride_a = batch.stride_b = 0;
  EXPECT_EQ(sentence(batch), "") << "shared A and B";
}

TEST(ValidateBatched, Counts) {
  BatchedGemm batch = valid();
  batch.count = -1;
  EXPECT_EQ(sentence(batch), "count is -1 but must be >= 0");
  EXPECT_EQ(validate(batch).code(), StatusCode::invalid_argument);
  batch.count = std::int64_t{1} << 31;
  EXPECT_EQ(sentence(batch), "count is 2147483648 but must be <= 2147483647");
  EXPECT_EQ(validate(batch).code(), StatusCode::unsupported);
  batch = {};
  EXPECT_EQ(sentence(batch), "") << "no problems need no matrices";
}

TEST(ValidateBatched, TheShapeIsThatOfGemm) {
  BatchedGemm batch = valid();
  batch.problem.a.ld = 63;
  EXPECT_EQ(sentence(batch), "lda is 63 but row-major A with k = 64 needs lda >= 64");
  batch.count = 0;
  EXPECT_EQ(sentence(batch), "lda is 63 but row-major A with k = 64 needs lda >= 64")
      << "also of no problems";
}

TEST(ValidateBatched, Types) {
  BatchedGemm batch = valid();
  batch.problem.accumulate = Type::f16;
  EXPECT_EQ(sentence(batch), "accumulate is f16 but must be f32 in a batch");
  batch = valid();
  batch.problem.a.type = batch.problem.b.type = Type::e4m3;
  EXPECT_EQ(sentence(batch), "A and B are e4m3 but those of a batch must be f16 or bf16");
  EXPECT_EQ(validate(batch).code(), StatusCode::unsupported);
}

TEST(ValidateBatched, AlphaAndBetaAlone) {
  BatchedGemm batch = valid();
  batch.problem.d = {at(0x4000000), 64, Type::f16};
  EXPECT_EQ(sentence(batch), "d is given but a batch stores its results in C");
  batch = valid();
  batch.problem.epilogue.activation = Activation::relu;
  EXPECT_EQ(sentence(batch), "epilogue is given but a batch has alpha and beta only");
}

TEST(ValidateBatched, Strides) {
  BatchedGemm batch = valid();
  batch.stride_b = -64;
  EXPECT_EQ(sentence(batch), "stride_b is -64 but must be >= 0");
  batch = valid();
  batch.stride_a = std::int64_t{1} << 61;
  EXPECT_EQ(sentence(batch),
            "stride_a is 2305843009213693952: A of the last of 10 problems ends beyond the address space, "
            "stride_a <= 512409557603042645 is needed");
}

TEST(ValidateBatched, NullAndMisalignedPointers) {
  BatchedGemm batch = valid();
  batch.problem.b.data = nullptr;
  EXPECT_EQ(sentence(batch),
            "B is a null pointer but must point to 64 columns of 64 f16 elements in device memory");
  batch = valid();
  batch.problem.a.data = at<const void>(0x1000001);
  EXPECT_EQ(sentence(batch), "A is at an address 1 past a multiple of 2 but f16 needs a multiple of 2");
  batch = valid();
  batch.a_pointers = at<const void* const>(0x4000004);
  EXPECT_EQ(sentence(batch),
            "a_pointers is at an address 4 past a multiple of 8 but pointers need a multiple of 8");
  batch.a_pointers = at<const void* const>(0x4000008);
  batch.problem.a.data = nullptr;
  batch.stride_a = -1;
  EXPECT_EQ(sentence(batch), "") << "a list replaces pointer and stride";
  batch.list_alignment = 12;
  EXPECT_EQ(sentence(batch), "list_alignment is 12 but must be 0 or a power of two");
}

TEST(ValidateBatched, AlphaZeroReadsNeitherANorB) {
  BatchedGemm batch = valid();
  batch.problem.alpha = 0.0F;
  batch.problem.a.data = batch.problem.b.data = nullptr;
  EXPECT_EQ(sentence(batch), "");
}

TEST(ValidateBatched, OutputsThatOverlap) {
  BatchedGemm batch = valid();
  batch.stride_c = 64 * 64 - 1;
  EXPECT_EQ(
      sentence(batch),
      "stride_c is 4095 but the outputs of 10 problems, 64 x 64 with ldc = 64, must not overlap: stride_c "
      ">= 4096 keeps them apart");
  batch.stride_c = 0;
  EXPECT_EQ(validate(batch).code(), StatusCode::invalid_argument) << "all problems write one C";
  batch.count = 1;
  EXPECT_EQ(sentence(batch), "") << "a single problem has no stride";
}

// Side by side in the rows of one matrix, below each other between its rows, and along its diagonal.
TEST(ValidateBatched, InterleavedOutputs) {
  BatchedGemm batch = valid();
  batch.problem.c.ld = 640;
  batch.stride_c = 64;
  EXPECT_EQ(sentence(batch), "");
  batch.stride_c = 63;
  EXPECT_NE(sentence(batch), "");
  batch.stride_c = 64;
  batch.count = 11;  // the last one begins in the second row of the first
  EXPECT_NE(sentence(batch), "");
  batch.count = 5;
  batch.stride_c = 64 * 640 + 64;
  EXPECT_EQ(sentence(batch), "") << "blocks of the diagonal";
  batch.stride_c = 640;
  EXPECT_NE(sentence(batch), "") << "each begins in the second row of the one before";
  batch.problem.m = 1;
  EXPECT_EQ(sentence(batch), "") << "rows of one matrix";
}

// Against each pair of problems, element by element.
TEST(ValidateBatched, OverlapIsExact) {
  for (std::int64_t m = 1; m <= 3; ++m) {
    for (std::int64_t n = 1; n <= 3; ++n) {
      for (std::int64_t ld = n; ld <= 8; ++ld) {
        for (std::int64_t stride = 0; stride <= 25; ++stride) {
          BatchedGemm batch = valid();
          batch.problem.m = m, batch.problem.n = n;
          batch.problem.b.ld = 64;
          batch.problem.c.ld = ld;
          batch.stride_c = stride;
          batch.count = 4;
          std::set<std::int64_t> elements;
          for (std::int64_t p = 0; p < 4; ++p) {
            for (std::int64_t i = 0; i < m; ++i) {
              for (std::int64_t j = 0; j < n; ++j) elements.insert(p * stride + i * ld + j);
            }
          }
          const bool apart = elements.size() == static_cast<std::size_t>(4 * m * n);
          ASSERT_EQ(sentence(batch).empty(), apart)
              << m << " x " << n << ", ldc " << ld << ", stride " << stride << ": " << sentence(batch);
        }
      }
    }
  }
}

TEST(ValidateBatched, CNeedsMemoryOfItsOwn) {
  BatchedGemm batch = valid();
  batch.problem.c.data = at(0x1000000 + 9 * 8192);  // the last A
  EXPECT_EQ(sentence(batch),
            "C (from 0x1012000, all problems) overlaps A (from 0x1000000) but needs memory of its own");
  batch.problem.c.data = at(0x1000000 + 10 * 8192);
  EXPECT_EQ(sentence(batch), "");
  batch.b_pointers = at<const void* const>(0x1000000 + 10 * 8192 + 64);
  EXPECT_EQ(
      sentence(batch),
      "C (from 0x1014000, all problems) overlaps b_pointers (from 0x1014040) but needs memory of its own");
  // A and C of a problem one after the other.
  batch = valid();
  batch.stride_a = batch.stride_c = 2 * 4096;
  batch.problem.c.data = at(0x1000000 + 8192);
  EXPECT_EQ(sentence(batch), "");
  batch.problem.c.data = at(0x1000000 + 8190);
  EXPECT_NE(sentence(batch), "");
}

TEST(GemmBatched, NothingIsLaunchedForABadOrAnEmptyBatch) {
  test::RefusingLauncher launcher;
  BatchedGemm batch = valid();
  batch.stride_c = 1;
  EXPECT_EQ(gemm_batched(launcher, batch).code(), StatusCode::invalid_argument);
  batch = valid();
  batch.problem.kernel = "nobody";
  EXPECT_STREQ(gemm_batched(launcher, batch).message(), "no kernel for batches has the name 'nobody'");
  batch.count = 0;
  EXPECT_EQ(gemm_batched(launcher, batch).code(), StatusCode::invalid_argument) << "also of no problems";
  batch = valid();
  for (std::int64_t* zero : {&batch.count, &batch.problem.m, &batch.problem.n}) {
    const std::int64_t before = *zero;
    *zero = 0;
    EXPECT_TRUE(gemm_batched(launcher, batch));
    EXPECT_EQ(kernel_name(launcher, batch), nullptr);
    *zero = before;
  }
  batch.problem.k = 0;
  batch.problem.beta = 1.0F;
  EXPECT_TRUE(gemm_batched(launcher, batch)) << "C stays as it is";
  EXPECT_TRUE(launcher.launched.empty() && launcher.refused.empty());
}

TEST(GemmBatched, OneLaunchABatch) {
  test::RefusingLauncher launcher;
  BatchedGemm batch = valid();
  batch.count = 1000;
  ASSERT_TRUE(gemm_batched(launcher, batch));
  batch.problem.k = batch.problem.a.ld = batch.problem.b.ld = 128;
  batch.stride_a = batch.stride_b = 64 * 128;
  ASSERT_TRUE(gemm_batched(launcher, batch)) << gemm_batched(launcher, batch).message();
  EXPECT_EQ(launcher.launched.size(), 2U);
}

TEST(GemmBatched, TheSmallestTileThatHoldsAProblem) {
  test::RefusingLauncher launcher;
  const auto name = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    BatchedGemm batch = valid();
    batch.problem.m = m, batch.problem.n = n, batch.problem.k = k;
    batch.problem.a.ld = batch.problem.b.ld = std::max<std::int64_t>(k, 1), batch.problem.c.ld = n;
    batch.stride_a = m * k, batch.stride_b = n * k, batch.stride_c = m * n;
    const char* const found = kernel_name(launcher, batch);
    return std::string(found == nullptr ? "" : found);
  };
  EXPECT_EQ(name(16, 32, 16), "direct_f16_f32_tn_16x32x16_s1_batched");
  EXPECT_EQ(name(16, 32, 15), "small_f16_f32_tn_16x32x16_s4_unaligned_batched");
  EXPECT_EQ(name(64, 64, 64), "wgmma_f16_f32_tn_64x64x64_s10_pingpong_batched") << "stacked";
  EXPECT_EQ(name(17, 32, 16), "small_f16_f32_tn_32x32x32_s3_batched");
  EXPECT_EQ(name(1, 1, 24), "small_f16_f32_tn_32x32x32_s3_batched");
  EXPECT_EQ(name(1, 1, 17), "small_f16_f32_tn_32x32x32_s3_unaligned_batched");
  EXPECT_EQ(name(64, 33, 8), "small_f16_f32_tn_64x64x64_s3_batched");
  EXPECT_EQ(name(64, 33, 1), "small_f16_f32_tn_64x64x64_s3_unaligned_batched");
  EXPECT_EQ(name(64, 64, 65), "cp_async_f16_f32_tn_128x128x32_s2_unaligned_batched");
  EXPECT_EQ(name(64, 60, 72), "cp_async_f16_f32_tn_128x128x32_s4_batched");
  EXPECT_EQ(name(300, 300, 0), "small_f16_f32_tn_64x64x64_s3_batched") << "beta * C";
}

// On sm_90: m and n of whole tiles, and each matrix where the one before ends.
TEST(GemmBatched, StackedProblemsRunOnWgmma) {
  test::RefusingLauncher launcher;
  BatchedGemm batch = valid();
  Gemm& p = batch.problem;
  p.m = 128, p.n = 256, p.k = 72;
  p.a.ld = p.b.ld = 72, p.c.ld = 256;
  batch.stride_a = 128 * 72, batch.stride_b = 256 * 72, batch.stride_c = 128 * 256;
  batch.count = 200;
  const std::string wgmma = "wgmma_f16_f32_tn_128x256x64_s4_batched",
                    cp_async = "cp_async_f16_f32_tn_128x128x32_s4_batched";
  EXPECT_EQ(kernel_name(launcher, batch), wgmma);
  for (std::int64_t* stride : {&batch.stride_a, &batch.stride_b, &batch.stride_c}) {
    *stride += 8;
    EXPECT_EQ(kernel_name(launcher, batch), cp_async);
    batch.problem.kernel = wgmma.c_str();
    EXPECT_EQ(can_implement(launcher, batch).message(),
              wgmma +
                  " does not take this batch: m and n must be multiples of its tile's, and each matrix must "
                  "follow that of the problem before");
    batch.problem.kernel = nullptr;
    *stride -= 8;
  }
  batch.count = 100;
  EXPECT_STREQ(kernel_name(launcher, batch), "wgmma_f16_f32_tn_128x128x64_s6_pingpong_batched")
      << "larger tiles would leave multiprocessors idle";
  batch.count = 1;
  batch.stride_a = batch.stride_b = batch.stride_c = 0;
  EXPECT_STREQ(kernel_name(launcher, batch), "wgmma_f16_f32_tn_64x64x64_s10_pingpong_batched")
      << "a single problem is a stack";
}

TEST(GemmBatched, WithoutTensorMapsAnotherKernelRuns) {
  test::RefusingLauncher launcher;
  launcher.encodes_tensor_maps = false;
  BatchedGemm batch = valid();
  batch.problem.k = batch.problem.a.ld = batch.problem.b.ld = 128;
  batch.stride_a = batch.stride_b = 64 * 128;
  EXPECT_STREQ(kernel_name(launcher, batch), "cp_async_f16_f32_tn_128x128x32_s4_batched");
  batch.problem.kernel = "wgmma_f16_f32_tn_64x64x64_s10_pingpong_batched";
  EXPECT_EQ(gemm_batched(launcher, batch).code(), StatusCode::device_unsupported);
  EXPECT_TRUE(launcher.launched.empty());
}

TEST(GemmBatched, AlignedKernelsNeedAlignedProblems) {
  test::RefusingLauncher launcher;
  BatchedGemm batch = valid();
  batch.problem.k = 128;
  batch.problem.a.ld = batch.problem.b.ld = 128;
  batch.stride_a = 65 * 128, batch.stride_b = 64 * 128;  // no stack
  const std::string aligned = "cp_async_f16_f32_tn_128x128x32_s4_batched",
                    unaligned = "cp_async_f16_f32_tn_128x128x32_s2_unaligned_batched";
  EXPECT_EQ(kernel_name(launcher, batch), aligned);
  batch.stride_b += 1;
  EXPECT_EQ(kernel_name(launcher, batch), unaligned) << "B of the second problem";
  batch.problem.kernel = aligned.c_str();
  EXPECT_EQ(can_implement(launcher, batch).message(),
            aligned +
                " does not take this batch: rows (columns) of A and B must begin on multiples of 16 bytes in "
                "all problems");
  batch.problem.kernel = nullptr;
  batch.stride_b = 0;
  EXPECT_EQ(kernel_name(launcher, batch), aligned) << "one B";
  batch.a_pointers = at<const void* const>(0x4000000);
  EXPECT_EQ(kernel_name(launcher, batch), unaligned) << "pointers that nobody has promised anything of";
  batch.list_alignment = 16;
  EXPECT_EQ(kernel_name(launcher, batch), aligned);
}

}  // namespace
}  // namespace tenon
