// Links the installed libraries and reaches both APIs and the layouts; needs no GPU.
#include <cstdio>

#include "tenon/fragment/catalogue.hpp"
#include "tenon/gemm.hpp"
#include "tenon/tenon.h"
#include "tenon/tuning.hpp"

int main() {
  tenon::Gemm problem;
  problem.m = -1;
  const tenon::Status status = tenon::can_implement(problem);
  tenon::Tuning tuning;
  const tenon::Status loaded = tuning.load("no such file");
  const tenon_gemm_problem c_problem = tenon_gemm_problem_default();
  std::printf("%s\n", status.message());
  return status.code() == tenon::StatusCode::invalid_argument &&
                 loaded.code() == tenon::StatusCode::invalid_argument &&
                 tenon_gemm(&c_problem, nullptr).code == TENON_OK &&
                 tenon::find_layout("m16n8k16", "f16", "a") != nullptr
             ? 0
             : 1;
}
