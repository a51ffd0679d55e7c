// Gradients of attention against float64 on the host.
#pragma once

#include <vector>

#include "command_line/attention_run.hpp"
#include "tenon/attention/backward_problem.hpp"

namespace tenon::command {

// The gradients that a device found for a request, dense, against those of the problem, which is that of the
// request with pointers to its inputs on the host.
BackwardCheck check_gradients(const AttentionBackwardProblem& on_host, const AttentionRequest& request,
                              const std::vector<float>& dq, const std::vector<float>& dk,
                              const std::vector<float>& dv);

}  // namespace tenon::command
