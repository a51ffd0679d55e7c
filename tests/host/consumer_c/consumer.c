// Calls the C API; needs no GPU.
#include <stdio.h>

#include "tenon/tenon.h"

int main(void) {
  tenon_gemm_problem problem = tenon_gemm_problem_default();
  const tenon_status nothing = tenon_gemm(&problem, NULL);
  problem.m = -1;
  const tenon_status refused = tenon_gemm(&problem, NULL);
  puts(refused.message);
  return nothing.code == TENON_OK && refused.code == TENON_INVALID_ARGUMENT ? 0 : 1;
}
