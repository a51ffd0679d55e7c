// Calls the C++ API; needs no GPU.
#include "tenon/gemm.hpp"

int main() {
  tenon::Gemm problem;
  problem.m = -1;
  return tenon::can_implement(problem).code() == tenon::StatusCode::invalid_argument ? 0 : 1;
}
