// Attention on the host, in double precision: the reference for every kernel's result.
#pragma once

#include <vector>

#include "tenon/attention/problem.hpp"

namespace tenon::reference {

struct HostAttention {
  std::vector<double> value;        // batch x queries x heads x value dimension, dense
  std::vector<double> log_sum_exp;  // batch x heads x queries, dense
};                                  // NaN in the rows of queries that a batch does not have

// The problem with pointers to host memory, the scales' too; o and log_sum_exp are not used. The elements of
// Q, K and V are exact in double, so its only error is that of double. The maximum of each row is subtracted
// before the exponential. Uses every core. Throws std::bad_alloc. Does not check the problem, which must be
// valid, but for lengths and pages out of range: their result is that of problem.hpp, and the error word is
// not used.
HostAttention attention(const AttentionProblem& problem);

}  // namespace tenon::reference
