// Links the installed library and reaches both APIs; needs no GPU.
#include <cstdio>

#include "tenon/gemm.hpp"
#include "tenon/tenon.h"

int main() {
  tenon::Gemm problem;
  problem.m = -1;
  const tenon::Status status = tenon::can_implement(problem);
  const tenon_gemm_problem c_problem = tenon_gemm_problem_default();
  std::printf("%s\n", status.message());
  return status.code() == tenon::StatusCode::invalid_argument &&
                 tenon_gemm(&c_problem, nullptr).code == TENON_OK
             ? 0
             : 1;
}
