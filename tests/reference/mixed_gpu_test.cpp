// FP32 operands through 16-bit tensor cores: the result is that of the rounded operands.
#include <gtest/gtest.h>

#include "product.hpp"
#include "support/gpu.hpp"

namespace tenon::reference {
namespace {

void round_through(Type type, std::vector<float>& values) {
  std::vector<unsigned char> elements(values.size() * bytes(type));
  encode(type, values.data(), values.size(), elements.data());
  decode(type, elements.data(), values.size(), values.data());
}

class Mixed : public test::GpuTest {};

TEST_F(Mixed, EqualsTheProductOfTheRoundedOperands) {
  const struct { std::int64_t m, n, k; } shapes[] = {{97, 65, 131}, {128, 64, 256}, {1, 5, 3}, {10, 10, 0}};
  for (Algorithm algorithm : {Algorithm::wmma_basic, Algorithm::wmma_shared, Algorithm::tiled_f32}) {
    for (Type through : {Type::f16, Type::bf16}) {
      for (const auto& shape : shapes) {
        for (int layout = 0; layout < 4; ++layout) {
          Case what;
          what.type = Type::f32, what.out = Type::f32;
          what.m = shape.m, what.n = shape.n, what.k = shape.k;
          what.a_order = layout % 2 == 0 ? row_major : column_major;
          what.b_order = layout / 2 == 0 ? row_major : column_major;
          what.a_pad = 1, what.b_pad = 4, what.c_pad = 1, what.alpha = 1.5F, what.beta = 0.5F;
          Product product(what);
          product.upload();
          Gemm problem = product.problem();
          const DeviceBuffer workspace(mixed_workspace_size(problem) + 1);  // never of size 0
          problem.workspace = workspace.data();
          problem.workspace_bytes = mixed_workspace_size(problem);
          const Status status = gemm_mixed(algorithm, through, problem);
          ASSERT_TRUE(status) << status.message();
          const std::vector<float> found = product.result();
          round_through(through, product.a);
          round_through(through, product.b);
          expect_close(found, product.expected(), what.n, what.k, what.out);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_F(Mixed, IsFarMoreAccurateThanItsInputFormat) {
  // Operands that 16 bits represent exactly lose nothing: the result is that of FP32 accumulation.
  Case what;
  what.type = Type::f32, what.m = 33, what.n = 40, what.k = 2000;
  Product product(what);
  round_through(Type::bf16, product.a);
  round_through(Type::bf16, product.b);
  product.upload();
  Gemm problem = product.problem();
  const DeviceBuffer workspace(mixed_workspace_size(problem));
  problem.workspace = workspace.data();
  problem.workspace_bytes = workspace.size();
  ASSERT_TRUE(gemm_mixed(Algorithm::wmma_shared, Type::bf16, problem));
  expect_close(product.result(), product.expected(), what.n, what.k, what.out);
}

}  // namespace
}  // namespace tenon::reference
