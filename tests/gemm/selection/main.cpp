// Prints the kernels of the library, one per line, and then the library's sentence about a product for which
// it has no kernel.
#include <cstdio>

#include "gemm/kernel.hpp"
#include "gemm/select.hpp"
#include "host/plan.hpp"
#include "tenon/gemm.hpp"

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
}
