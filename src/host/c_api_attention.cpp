// tenon.h on top of attention.hpp and attention_backward.hpp: each function converts the struct field by
// field.
#include "host/c_api_read.hpp"
#include "host/c_api_types.hpp"
#include "tenon/attention.hpp"
#include "tenon/attention_backward.hpp"
#include "tenon/tenon.h"

using tenon::c_api::initialise;
using tenon::c_api::read;
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

// A backward problem and its forward one, as the program has them.
struct Backward {
  tenon_attention_backward_problem problem;
  tenon_attention_problem forward;
};
tenon::Status read_backward(const tenon_attention_backward_problem* from, Backward* to) noexcept {
  const tenon::Status s = read(from, &to->problem);
  return s ? read(to->problem.forward, &to->forward, "problem->forward") : s;
}

tenon::AttentionBackwardProblem problem_of(const Backward& given) noexcept {
  const auto output = [](const tenon_attention_tensor& x) -> tenon::AttentionTensor<void*> {
    return {x.data, x.row_stride, x.head_stride, x.batch_stride};
  };
  const tenon_attention_backward_problem& p = given.problem;
  tenon::AttentionBackwardProblem problem;
  problem.forward = problem_of(given.forward);
  problem.d_o = tensor_of(p.d_o);
  problem.dq = output(p.dq);
  problem.dk = output(p.dk);
  problem.dv = output(p.dv);
  problem.workspace = p.workspace;
  problem.workspace_bytes = p.workspace_bytes;
  problem.deterministic = p.deterministic != 0;
  return problem;
}

}  // namespace

extern "C" {

void tenon_attention_problem_init(tenon_attention_problem* problem, size_t struct_bytes) {
  tenon_attention_problem defaults{};
  defaults.left = defaults.right = -1;
  defaults.output_type = TENON_BF16;
  initialise(problem, struct_bytes, defaults);
}

tenon_status tenon_attention_can_implement(const tenon_attention_problem* problem) {
  tenon_attention_problem p;
  const tenon::Status s = read(problem, &p);
  return status_of(s ? tenon::can_implement(problem_of(p), p.kernel) : s);
}

size_t tenon_attention_workspace_size(const tenon_attention_problem* problem) {
  tenon_attention_problem p;
  return read(problem, &p) ? tenon::workspace_size(problem_of(p), p.kernel) : 0;
}

const char* tenon_attention_kernel_name(const tenon_attention_problem* problem) {
  tenon_attention_problem p;
  return read(problem, &p) ? tenon::kernel_name(problem_of(p), p.kernel) : nullptr;
}

tenon_status tenon_attention(const tenon_attention_problem* problem, struct CUstream_st* stream) {
  tenon_attention_problem p;
  const tenon::Status s = read(problem, &p);
  return status_of(s ? tenon::attention(problem_of(p), stream, p.kernel) : s);
}

void tenon_attention_backward_problem_init(tenon_attention_backward_problem* problem, size_t struct_bytes) {
  initialise(problem, struct_bytes, tenon_attention_backward_problem{});
}

size_t tenon_attention_backward_workspace_size(const tenon_attention_backward_problem* problem) {
  Backward b;
  return read_backward(problem, &b) ? tenon::workspace_size(problem_of(b), b.forward.kernel) : 0;
}

tenon_status tenon_attention_backward_can_implement(const tenon_attention_backward_problem* problem) {
  Backward b;
  const tenon::Status s = read_backward(problem, &b);
  return status_of(s ? tenon::can_implement(problem_of(b), b.forward.kernel) : s);
}

const char* tenon_attention_backward_kernel_name(const tenon_attention_backward_problem* problem) {
  Backward b;
  return read_backward(problem, &b) ? tenon::kernel_name(problem_of(b), b.forward.kernel) : nullptr;
}

tenon_status tenon_attention_backward(const tenon_attention_backward_problem* problem,
                                      struct CUstream_st* stream) {
  Backward b;
  const tenon::Status s = read_backward(problem, &b);
  return status_of(s ? tenon::attention_backward(problem_of(b), stream, b.forward.kernel) : s);
}
}
