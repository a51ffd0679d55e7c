// The C API, through functions compiled as C99 (c_api_test.c).
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tenon/tenon.h"

extern "C" {
tenon_status c_multiply(int64_t m, int64_t n, int64_t k, const void* a, const void* b, void* c, int64_t lda);
tenon_status c_null(void);
int c_defaults_are_right(void);
}

namespace {

const void* const some_a = reinterpret_cast<const void*>(std::uintptr_t{1} << 40);
const void* const some_b = reinterpret_cast<const void*>(std::uintptr_t{2} << 40);
void* const some_c = reinterpret_cast<void*>(std::uintptr_t{3} << 40);

TEST(CApi, Defaults) {
  EXPECT_TRUE(c_defaults_are_right());
}

TEST(CApi, CarriesCodeAndSentence) {
  const tenon_status s = c_multiply(16, 16, 128, some_a, some_b, some_c, 100);
  EXPECT_EQ(s.code, TENON_INVALID_ARGUMENT);
  EXPECT_STREQ(s.message, "lda is 100 but row-major A with k = 128 needs lda >= 128");
}

TEST(CApi, OkHasNoSentence) {
  const tenon_status s = c_multiply(0, 16, 128, nullptr, some_b, nullptr, 128);
  EXPECT_EQ(s.code, TENON_OK);
  EXPECT_STREQ(s.message, "");
}

TEST(CApi, NullProblem) {
  EXPECT_EQ(c_null().code, TENON_INVALID_ARGUMENT);
  EXPECT_EQ(tenon_gemm_can_implement(nullptr).code, TENON_INVALID_ARGUMENT);
  EXPECT_EQ(tenon_gemm_workspace_size(nullptr), 0U);
  EXPECT_EQ(tenon_gemm_kernel_name(nullptr), nullptr);
}

// Library and header have the version of the project, which find_package() compares.
TEST(CApi, Version) {
  EXPECT_STREQ(tenon_version(), TENON_PROJECT_VERSION);
  EXPECT_EQ(std::to_string(TENON_VERSION_MAJOR) + "." + std::to_string(TENON_VERSION_MINOR) + "." +
                std::to_string(TENON_VERSION_PATCH),
            TENON_PROJECT_VERSION);
}

// The sentence names the wrong field. (c_api_calls_test.cpp shows that every field arrives.)
TEST(CApi, SentencesNameTheField) {
  const auto message = [](auto change) {
    tenon_gemm_problem p = tenon_gemm_problem_default();
    p.m = p.n = p.k = 64;
    p.a = {some_a, 64, TENON_ROW_MAJOR, TENON_F16, {}};
    p.b = {some_b, 64, TENON_COLUMN_MAJOR, TENON_F16, {}};
    p.c = {some_c, 64, TENON_F32, {}};
    change(p);
    return std::string(tenon_gemm_can_implement(&p).message);
  };
  using P = tenon_gemm_problem;
  EXPECT_EQ(message([](P& p) { p.m = -1; }), "m is -1 but must be >= 0");
  EXPECT_EQ(message([](P& p) { p.n = -1; }), "n is -1 but must be >= 0");
  EXPECT_EQ(message([](P& p) { p.k = -1; }), "k is -1 but must be >= 0");
  EXPECT_EQ(message([](P& p) { p.a.type = TENON_BF16; }),
            "A is bf16 and B is f16 but they must have the same type, or be e4m3 and e5m2");
  EXPECT_EQ(message([](P& p) { p.b.ld = 1; }), "ldb is 1 but column-major B with k = 64 needs ldb >= 64");
  EXPECT_EQ(message([](P& p) {
              p.b.order = TENON_ROW_MAJOR;
              p.b.ld = 1;
            }),
            "ldb is 1 but row-major B with n = 64 needs ldb >= 64");
  EXPECT_EQ(message([](P& p) { p.c.ld = 1; }), "ldc is 1 but row-major C with n = 64 needs ldc >= 64");
  EXPECT_EQ(message([](P& p) { p.c.data = nullptr; }),
            "C is a null pointer but must point to 64 rows of 64 f32 elements in device memory");
  EXPECT_EQ(message([](P& p) { p.accumulate = TENON_BF16; }),
            "accumulate is bf16 with f16 inputs but must be f32 or f16");
  EXPECT_EQ(message([](P& p) { p.promote = 1; }),
            "promote is given but A and B are f16: only bf16, tf32, e4m3 and e5m2 have it");
  EXPECT_EQ(message([](P& p) { p.precision = TENON_PRECISION_BF16X6; }),
            "A is f16 but must be f32 with precision bf16x6");
  static const float factor = 1.0F;
  EXPECT_EQ(message([](P& p) { p.scale_a = &factor; }),
            "scale_a is given but A and B are f16: only e4m3 and e5m2 have it");
  EXPECT_EQ(message([](P& p) { p.scale_b = &factor; }),
            "scale_b is given but A and B are f16: only e4m3 and e5m2 have it");
  EXPECT_EQ(message([](P& p) {
              p.a.type = p.b.type = TENON_S8;
              p.c.type = p.accumulate = TENON_S32;
              p.beta = 0.25F;
            }),
            "beta is 0.25 but with C in s32 must be a whole number between -2^31 and 2^31");
  EXPECT_EQ(message([](P& p) { p.kernel = "nobody"; }),
            "no kernel has the name 'nobody': `tenon list` prints the names that exist");
  EXPECT_EQ(message([](P& p) { p.workspace_bytes = 9; }),
            "workspace is a null pointer but workspace_bytes is 9, not 0");
  EXPECT_EQ(message([](P& p) { p.workspace = reinterpret_cast<void*>(std::uintptr_t{1}); }),
            "workspace is at an address 1 past a multiple of 256 but needs a multiple of 256");
}

}  // namespace
