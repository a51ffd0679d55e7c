// The gradients of attention on the host, in double precision: the reference for every backward kernel.
#pragma once

#include <vector>

#include "tenon/attention/backward_problem.hpp"

namespace tenon::reference {

struct HostAttentionGradients {
  std::vector<double> dq;  // batch x queries x heads x head dimension, dense
  std::vector<double> dk;  // batch x keys x key heads x head dimension
  std::vector<double> dv;  // batch x keys x key heads x value dimension
};

// The problem with pointers to host memory. O and the log-sum-exp are computed anew, in double; those of the
// problem, the outputs and the workspace are not used. Uses every core. Throws std::bad_alloc. Does not check
// the problem, which must be valid.
HostAttentionGradients attention_backward(const AttentionBackwardProblem& problem);

}  // namespace tenon::reference
