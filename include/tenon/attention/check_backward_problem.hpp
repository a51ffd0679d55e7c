// Whether a problem of the backward pass of attention makes sense by itself. Plain C++17. Below:
// backward_problem.hpp, check_problem.hpp.
#pragma once

#include "tenon/attention/backward_problem.hpp"
#include "tenon/attention/check_problem.hpp"

namespace tenon {

// Whether there is no gradient to compute. Without queries those of K and V are 0, without keys that of Q.
inline bool is_empty(const AttentionBackwardProblem& problem) noexcept {
  const AttentionProblem& p = problem.forward;
  return p.batch == 0 || p.heads == 0 || (p.queries == 0 && p.keys == 0);
}

inline Status check_problem(const AttentionBackwardProblem& problem) noexcept {
  constexpr StatusCode invalid = StatusCode::invalid_argument, no = StatusCode::unsupported;
  const AttentionProblem& p = problem.forward;
  if (Status s = check_problem(p); !s) return s;
  if (p.type == Type::e4m3)
    return Status(no, "type is e4m3 but the backward pass of attention needs f16 or bf16");
  const struct {
    const char* name;
    const void* given;
  } fields[] = {{"query_offsets", p.query_offsets},
                {"key_offsets", p.key_offsets},
                {"key_lengths", p.key_lengths},
                {"pages.table", p.pages.table},
                {"sinks", p.sinks}};
  for (const auto& field : fields) {
    if (field.given != nullptr)
      return Status(no, "%s is given but the backward pass of attention needs a null pointer there",
                    field.name);
  }
  if (is_empty(problem)) return {};
  if (p.queries > 0) {
    if (p.log_sum_exp == nullptr)
      return Status(invalid,
                    "log_sum_exp is a null pointer but the backward pass needs that of the forward pass");
    if (Status s = check_attention_tensor("d_o", problem.d_o, p.batch, p.heads, p.queries, p.value_dimension,
                                          p.type);
        !s)
      return s;
  } else if (Status s = check_keys_and_values(p); !s) {  // which is_empty(p) passed over, and kernels read
    return s;
  }
  const struct {
    const char* name;
    const AttentionTensor<void*>& tensor;
    std::int64_t heads, rows;
    int dimension;
  } outputs[] = {{"dq", problem.dq, p.heads, p.queries, p.head_dimension},
                 {"dk", problem.dk, p.key_heads, p.keys, p.head_dimension},
                 {"dv", problem.dv, p.key_heads, p.keys, p.value_dimension}};
  for (const auto& x : outputs) {
    if (x.rows == 0) continue;
    if (Status s = check_attention_tensor(x.name, x.tensor, p.batch, x.heads, x.rows, x.dimension, p.type);
        !s)
      return s;
    if (Status s = check_attention_output(x.name, x.tensor, p.batch, x.heads, x.rows, x.dimension); !s)
      return s;
  }
  return {};
}

}  // namespace tenon
