// Prints the kernels of the library, one per line, and then the library's sentences about products for which
// it has no kernel.
#include <cstdio>

#include "gemm/kernel.hpp"
#include "gemm/select.hpp"
#include "host/plan.hpp"
#include "tenon/gemm.hpp"
#include "tenon/gemm_scaled.hpp"

int main() {
  for (const tenon::Kernel& kernel : tenon::kernels()) std::printf("%s\n", kernel.name.c_str());
  tenon::Gemm problem;
  problem.m = problem.n = problem.k = 64;
  problem.a = {nullptr, 64, tenon::row_major, tenon::Type::bf16};
  problem.b = {nullptr, 64, tenon::column_major, tenon::Type::bf16};
  problem.c = {nullptr, 64, tenon::Type::f32};
  const tenon::DeviceDescription h200{90, 132, 227 * 1024, 50 << 20};
  tenon::Plan plan;
  const tenon::Status status = tenon::make_plan(tenon::kernels(), problem, h200, &plan);
  std::printf("bf16: %s\n", status.message());

  alignas(16) static const float scale = 1;
  tenon::ScaledGemm scaled;
  scaled.m = scaled.n = scaled.k = 128;
  scaled.mode = tenon::ScaleMode::block_1x128_128x128;
  scaled.a = {&scale, 128, tenon::row_major, tenon::Type::e4m3};
  scaled.b = {&scale, 128, tenon::column_major, tenon::Type::e4m3};
  scaled.c = {reinterpret_cast<void*>(0x1000), 128, tenon::Type::f32};
  scaled.scale_a = {&scale, 128};
  scaled.scale_b = {&scale, 4};
  std::printf("scaled: %s\n", tenon::can_implement(scaled).message());
}
