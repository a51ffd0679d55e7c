// cuBLASLt for each of the types, with small whole numbers, so that every result is exact.
#include "microbench/cublaslt.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "reference/cpu.hpp"
#include "support/gpu.hpp"

namespace tenon::microbench {
namespace {

constexpr std::int64_t m = 64, n = 48, k = 160;

struct Asked {
  Type a, b, accumulate, c;
  bool promote;
};

void fill(DeviceBuffer& buffer, Type type, const std::vector<float>& values) {
  std::vector<unsigned char> elements(values.size() * bytes(type));
  reference::encode(type, values.data(), values.size(), elements.data());
  require(
      cudaMemcpy(buffer.reserve(elements.size()), elements.data(), elements.size(), cudaMemcpyHostToDevice),
      "copying");
}

class CublasLtTest : public test::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    try {
      library_ = std::make_unique<CublasLt>();
    } catch (const Failure& failure) {
      GTEST_SKIP() << failure.what();
    }
    workspace_.reserve(CublasLtGemm::workspace_bytes);
  }

  // A is i % 4 in row i, B 1 + j % 2 in column j.
  Gemm problem(const Asked& asked, Order a_order, Order b_order) {
    std::vector<float> a(m * k), b(n * k);
    for (std::int64_t at = 0; at < m * k; ++at)
      a[static_cast<std::size_t>(at)] = static_cast<float>((a_order == row_major ? at / k : at % m) % 4);
    for (std::int64_t at = 0; at < n * k; ++at)
      b[static_cast<std::size_t>(at)] = static_cast<float>(1 + (b_order == row_major ? at % n : at / k) % 2);
    fill(a_, asked.a, a);
    fill(b_, asked.b, b);
    Gemm p;
    p.m = m;
    p.n = n;
    p.k = k;
    p.a = {a_.data(), a_order == row_major ? k : m, a_order, asked.a};
    p.b = {b_.data(), b_order == row_major ? n : k, b_order, asked.b};
    p.c = {c_.reserve(m * n * bytes(asked.c)), n, asked.c};
    p.accumulate = asked.accumulate;
    p.promote = asked.promote;
    return p;
  }

  void expect_product(const Gemm& p) {
    const std::string what = std::string(name(p.a.type)) + " by " + name(p.b.type) + " to " + name(p.c.type);
    const CublasLtGemm gemm(*library_, p, workspace_.data());
    for (int answer = 0; answer < gemm.answers(); ++answer) {
      const std::size_t size = m * n * bytes(p.c.type);
      require(cudaMemset(p.c.data, 0xff, size), "poisoning");
      const Status status = gemm.run(answer, p.a.data, p.b.data, p.c.data, nullptr);
      ASSERT_TRUE(status) << what << ": " << status.message();
      std::vector<unsigned char> elements(size);
      require(cudaMemcpy(elements.data(), p.c.data, size, cudaMemcpyDeviceToHost), "copying");
      std::vector<float> c(m * n);
      reference::decode(p.c.type, elements.data(), c.size(), c.data());
      for (std::int64_t at = 0; at < m * n; ++at) {
        const std::int64_t expected = k * (at / n % 4) * (1 + at % n % 2);
        ASSERT_EQ(c[static_cast<std::size_t>(at)], static_cast<float>(expected))
            << what << " at " << at / n << ", " << at % n << ", " << gemm.describe(answer);
      }
    }
  }

  std::string refusal(const Gemm& p) {
    try {
      const CublasLtGemm gemm(*library_, p, workspace_.data());
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "";
  }

  std::unique_ptr<CublasLt> library_;
  DeviceBuffer a_, b_, c_, workspace_;
};

TEST_F(CublasLtTest, MultipliesEveryTypeInTn) {
  const bool has_fp8 = test::gpu_sm() >= 89;
  for (const Asked& asked : {Asked{Type::f16, Type::f16, Type::f32, Type::f16, false},
                             {Type::f16, Type::f16, Type::f16, Type::f16, false},
                             {Type::bf16, Type::bf16, Type::f32, Type::bf16, false},
                             {Type::f32, Type::f32, Type::f32, Type::f32, false},
                             {Type::tf32, Type::tf32, Type::f32, Type::f32, false},
                             {Type::s8, Type::s8, Type::s32, Type::s32, false},
                             {Type::f64, Type::f64, Type::f64, Type::f64, false},
                             {Type::e4m3, Type::e4m3, Type::f32, Type::bf16, false},
                             {Type::e4m3, Type::e4m3, Type::f32, Type::bf16, true},
                             {Type::e4m3, Type::e5m2, Type::f32, Type::bf16, false},
                             {Type::e5m2, Type::e4m3, Type::f32, Type::bf16, true}}) {
    if (!is_fp8(asked.a) || has_fp8) expect_product(problem(asked, row_major, column_major));
  }
}

TEST_F(CublasLtTest, Multiplies16BitTypesAndTf32InEveryLayout) {
  for (const Order a : {row_major, column_major}) {
    for (const Order b : {row_major, column_major}) {
      expect_product(problem({Type::bf16, Type::bf16, Type::f32, Type::bf16, false}, a, b));
      expect_product(problem({Type::tf32, Type::tf32, Type::f32, Type::f32, false}, a, b));
    }
  }
}

TEST_F(CublasLtTest, AProductThatItLacksIsASentence) {
  const Asked e4m3{Type::e4m3, Type::e4m3, Type::f32, Type::bf16, false};
  const Asked s8{Type::s8, Type::s8, Type::s32, Type::s32, false};
  EXPECT_EQ(refusal(problem({Type::e5m2, Type::e5m2, Type::f32, Type::bf16, false}, row_major, column_major)),
            "cuBLASLt does not multiply e5m2 by e5m2");
  EXPECT_EQ(refusal(problem(e4m3, row_major, row_major)),
            "cuBLASLt multiplies e4m3 by e4m3 in the layout tn only, but A is row-major and B row-major");
  EXPECT_EQ(refusal(problem(s8, column_major, column_major)),
            "cuBLASLt multiplies s8 by s8 in the layout tn only, but A is column-major and B column-major");
}

}  // namespace
}  // namespace tenon::microbench
