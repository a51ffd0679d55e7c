// The entry points of attention.hpp: checks, then the launcher of the algorithm.
#include "reference/attention.hpp"

#include "tenon/attention/check_problem.hpp"

namespace tenon::reference {

Status can_implement(AttentionAlgorithm algorithm, const AttentionProblem& problem) noexcept {
  if (Status s = check_problem(problem); !s) return s;
  if (has_variable_lengths(problem) || problem.sinks != nullptr)
    return {StatusCode::unsupported, "offsets, lengths, pages or sinks are given but this kernel has none"};
  if (problem.type == Type::e4m3)
    return {StatusCode::unsupported, "type is e4m3 but the reference kernels take f16 and bf16"};
  const int head = problem.head_dimension, value = problem.value_dimension;
  if (algorithm == AttentionAlgorithm::wmma && (head != 64 || value != 64))
    return {StatusCode::unsupported, "the head dimensions are %d and %d but the WMMA kernel needs 64", head,
            value};
  if (head > largest_scalar_head_dimension || value > largest_scalar_head_dimension)
    return {StatusCode::unsupported, "the head dimensions are %d and %d but the scalar kernel needs <= %d",
            head, value, largest_scalar_head_dimension};
  return {};
}

Status attention(AttentionAlgorithm algorithm, const AttentionProblem& problem,
                 CUstream_st* stream) noexcept {
  if (Status s = can_implement(algorithm, problem); !s) return s;
  if (is_empty(problem)) return {};
  return algorithm == AttentionAlgorithm::wmma ? launch_attention_wmma(problem, stream)
                                               : launch_attention_scalar_f32(problem, stream);
}

}  // namespace tenon::reference
