// The launches of a backward pass of attention. Plain C++17. Below: gemm/launch_plan.hpp.
#pragma once

#include "tenon/gemm/launch_plan.hpp"

namespace tenon {

// Launches that run one after the other.
struct BackwardLaunches {
  static constexpr int most = 3;
  Launch launch[most];
  int count = 0;
  Launch& add() { return launch[count++]; }
};

}  // namespace tenon
