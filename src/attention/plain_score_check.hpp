// Which problems the kernels with plain scores take.
#pragma once

#include "tenon/attention/problem.hpp"
#include "tenon/status.hpp"

namespace tenon {

// Without a soft cap and slopes, and with a scale above 0.
inline Status takes_plain_score(const AttentionProblem& p) {
  if (p.soft_cap > 0 || p.alibi_slopes != nullptr)
    return Status(StatusCode::unsupported,
                  "soft_cap or alibi_slopes is given but the kernel has plain scores");
  if (!(p.scale > 0))
    return Status(StatusCode::unsupported, "scale is %g but the kernel needs a scale above 0",
                  static_cast<double>(p.scale));
  return {};
}

}  // namespace tenon
