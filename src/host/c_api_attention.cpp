// tenon.h on top of attention.hpp and attention_backward.hpp: each function converts the struct field by
// field.
#include "host/c_api_types.hpp"
#include "tenon/attention.hpp"
#include "tenon/attention_backward.hpp"
#include "tenon/tenon.h"

using tenon::c_api::status_of;

namespace {

tenon::AttentionTensor<const void*> tensor_of(const tenon_const_attention_tensor& x) noexcept {
  return {x.data, x.row_stride, x.head_stride, x.batch_stride};
}

tenon::AttentionScales scales_of(const tenon_attention_scales& x) noexcept {
  return {x.data, x.head_stride, x.batch_stride};
}

tenon::AttentionProblem problem_of(const tenon_attention_problem& p) noexcept {
  tenon::AttentionProblem problem;
  problem.batch = p.batch;
  problem.heads = p.heads;
  problem.key_heads = p.key_heads;
  problem.queries = p.queries;
  problem.keys = p.keys;
  problem.head_dimension = p.head_dimension;
  problem.value_dimension = p.value_dimension;
  problem.type = static_cast<tenon::Type>(p.type);
  problem.output_type = static_cast<tenon::Type>(p.output_type);
  problem.q = tensor_of(p.q);
  problem.k = tensor_of(p.k);
  problem.v = tensor_of(p.v);
  problem.o = {p.o.data, p.o.row_stride, p.o.head_stride, p.o.batch_stride};
  problem.log_sum_exp = p.log_sum_exp;
  problem.scale = p.scale;
  problem.window = {p.left, p.right};
  problem.soft_cap = p.soft_cap;
  problem.alibi_slopes = p.alibi_slopes;
  problem.sinks = p.sinks;
  problem.query_offsets = p.query_offsets;
  problem.key_offsets = p.key_offsets;
  problem.key_lengths = p.key_lengths;
  problem.query_rows = p.query_rows;
  problem.key_rows = p.key_rows;
  problem.pages = {p.pages.table, p.pages.table_stride, p.pages.page_size, p.pages.count};
  problem.error = p.error;
  problem.workspace = p.workspace;
  problem.workspace_bytes = p.workspace_bytes;
  problem.q_scales = scales_of(p.q_scales);
  problem.k_scales = scales_of(p.k_scales);
  problem.v_scales = scales_of(p.v_scales);
  return problem;
}

tenon::AttentionBackwardProblem problem_of(const tenon_attention_backward_problem& p) noexcept {
  const auto output = [](const tenon_attention_tensor& x) -> tenon::AttentionTensor<void*> {
    return {x.data, x.row_stride, x.head_stride, x.batch_stride};
  };
  tenon::AttentionBackwardProblem problem;
  problem.forward = problem_of(p.forward);
  problem.d_o = tensor_of(p.d_o);
  problem.dq = output(p.dq);
  problem.dk = output(p.dk);
  problem.dv = output(p.dv);
  problem.workspace = p.workspace;
  problem.workspace_bytes = p.workspace_bytes;
  problem.deterministic = p.deterministic != 0;
  return problem;
}

tenon_status null_backward_problem() noexcept {
  return status_of(
      tenon::Status(tenon::StatusCode::invalid_argument,
                    "problem is a null pointer but must point to a tenon_attention_backward_problem"));
}

tenon_status null_problem() noexcept {
  return status_of(tenon::Status(tenon::StatusCode::invalid_argument,
                                 "problem is a null pointer but must point to a tenon_attention_problem"));
}

}  // namespace

extern "C" {

tenon_attention_problem tenon_attention_problem_default(void) {
  tenon_attention_problem problem{};
  problem.left = problem.right = -1;
  problem.output_type = TENON_BF16;
  return problem;
}

tenon_status tenon_attention_can_implement(const tenon_attention_problem* problem) {
  return problem == nullptr ? null_problem()
                            : status_of(tenon::can_implement(problem_of(*problem), problem->kernel));
}

size_t tenon_attention_workspace_size(const tenon_attention_problem* problem) {
  return problem == nullptr ? 0 : tenon::workspace_size(problem_of(*problem), problem->kernel);
}

const char* tenon_attention_kernel_name(const tenon_attention_problem* problem) {
  return problem == nullptr ? nullptr : tenon::kernel_name(problem_of(*problem), problem->kernel);
}

tenon_status tenon_attention(const tenon_attention_problem* problem, struct CUstream_st* stream) {
  return problem == nullptr ? null_problem()
                            : status_of(tenon::attention(problem_of(*problem), stream, problem->kernel));
}

tenon_attention_backward_problem tenon_attention_backward_problem_default(void) {
  tenon_attention_backward_problem problem{};
  problem.forward = tenon_attention_problem_default();
  return problem;
}

size_t tenon_attention_backward_workspace_size(const tenon_attention_backward_problem* problem) {
  return problem == nullptr ? 0 : tenon::workspace_size(problem_of(*problem), problem->forward.kernel);
}

tenon_status tenon_attention_backward_can_implement(const tenon_attention_backward_problem* problem) {
  return problem == nullptr ? null_backward_problem()
                            : status_of(tenon::can_implement(problem_of(*problem), problem->forward.kernel));
}

const char* tenon_attention_backward_kernel_name(const tenon_attention_backward_problem* problem) {
  return problem == nullptr ? nullptr : tenon::kernel_name(problem_of(*problem), problem->forward.kernel);
}

tenon_status tenon_attention_backward(const tenon_attention_backward_problem* problem,
                                      struct CUstream_st* stream) {
  return problem == nullptr
             ? null_backward_problem()
             : status_of(tenon::attention_backward(problem_of(*problem), stream, problem->forward.kernel));
}
}
