// The gradients of attention by their definition, in f32 on the GPU: what the kernels of the backward pass
// are compared with before they are timed.
#pragma once

#include <cuda_runtime.h>

#include "tenon/attention/backward_problem.hpp"

namespace tenon::microbench {

// Dense, batch x rows x heads x head dimension; delta: batch x heads x queries.
struct Gradients {
  float *dq, *dk, *dv, *delta;
};

// Of a problem in bf16 with head dimensions of up to 128, windows and grouped heads, without soft cap and
// slopes. A warp for each query, then one for each key. Enqueued on the stream; throws Failure.
void compute_gradients(const AttentionBackwardProblem& problem, const Gradients& gradients,
                       cudaStream_t stream);

}  // namespace tenon::microbench
