// The checks of validate_attention.hpp.
#include "host/validate_attention.hpp"

#include "host/validate.hpp"
#include "tenon/attention/check_problem.hpp"

namespace tenon {
namespace {

// The memory of a tensor: its rows as equal ranges where heads lie within a row and batches follow each
// other, else all from the first to the last element.
template <class Pointer>
ByteRanges memory_of(const AttentionTensor<Pointer>& x, std::int64_t batch, std::int64_t heads,
                     std::int64_t rows, int dimension, Type type) noexcept {
  const auto base = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(x.data));
  const std::int64_t in_row = (heads - 1) * x.head_stride + dimension;
  const auto u64 = [type](std::int64_t elements) {
    return bytes(type) * static_cast<std::uint64_t>(elements);
  };
  if (in_row <= x.row_stride && (batch == 1 || x.batch_stride == rows * x.row_stride))
    return {base, static_cast<std::uint64_t>(batch * rows), u64(in_row), u64(x.row_stride)};
  return {base, 1, u64(elements_spanned(x, batch, heads, rows, dimension)), 0};
}

struct Named {
  const char* name = "";
  const void* data = nullptr;  // null: there is none
  ByteRanges memory{};
};

Status check_apart(const Named& output, const Named& other) noexcept {
  if (!overlap(output.memory, other.memory)) return {};
  return Status(StatusCode::invalid_argument,
                "%s (from 0x%llx) %s %s (from 0x%llx) but needs memory of its own", output.name,
                static_cast<unsigned long long>(output.memory.base),
                overlap_is_exact(output.memory, other.memory) ? "overlaps" : "may overlap", other.name,
                static_cast<unsigned long long>(other.memory.base));
}

}  // namespace

Status validate(const AttentionProblem& p) noexcept {
  if (Status s = check_problem(p); !s) return s;
  if (is_empty(p)) return {};
  // Of 4 bytes each.
  const auto scalars = [](const void* data, std::int64_t count) {
    return ByteRanges{reinterpret_cast<std::uintptr_t>(data), 1, static_cast<std::uint64_t>(4 * count), 0};
  };
  const AttentionExtents of_queries = query_extents(p), of_keys = key_extents(p);
  const Type output = type_of_output(p);
  const Named outputs[] = {
      {"o", p.o.data, memory_of(p.o, of_queries.batch, p.heads, of_queries.rows, p.value_dimension, output)},
      {"log_sum_exp", p.log_sum_exp, scalars(p.log_sum_exp, p.batch * p.heads * p.queries)},
      {"error", p.error, scalars(p.error, 1)},
      {"the workspace",
       p.workspace_bytes == 0 ? nullptr : p.workspace,
       {reinterpret_cast<std::uintptr_t>(p.workspace), 1, p.workspace_bytes, 0}}};
  const auto keys = [&](const char* name, const AttentionTensor<const void*>& tensor, int dimension) {
    return has_no_keys(p)
               ? Named{}
               : Named{name, tensor.data,
                       memory_of(tensor, of_keys.batch, p.key_heads, of_keys.rows, dimension, p.type)};
  };
  const auto scales = [&](const char* name, const AttentionScales& x) {
    const std::int64_t over_heads = p.key_heads > 1 ? (p.key_heads - 1) * x.head_stride : 0;
    const std::int64_t over_batches = p.batch > 1 ? (p.batch - 1) * x.batch_stride : 0;
    return Named{name, x.data, scalars(x.data, over_heads + over_batches + 1)};
  };
  const std::int64_t pages =
      p.pages.table == nullptr ? 0 : (p.keys + p.pages.page_size - 1) / p.pages.page_size;
  const Named inputs[] = {
      {"q", p.q.data, memory_of(p.q, of_queries.batch, p.heads, of_queries.rows, p.head_dimension, p.type)},
      keys("k", p.k, p.head_dimension),
      keys("v", p.v, p.value_dimension),
      scales("q_scales", p.q_scales),
      scales("k_scales", p.k_scales),
      scales("v_scales", p.v_scales),
      {"alibi_slopes", p.alibi_slopes, scalars(p.alibi_slopes, p.heads)},
      {"sinks", p.sinks, scalars(p.sinks, p.heads)},
      {"query_offsets", p.query_offsets, scalars(p.query_offsets, p.batch + 1)},
      {"key_offsets", p.key_offsets, scalars(p.key_offsets, p.batch + 1)},
      {"key_lengths", p.key_lengths, scalars(p.key_lengths, p.batch)},
      {"pages.table", p.keys == 0 ? nullptr : p.pages.table,
       scalars(p.pages.table, (p.batch - 1) * p.pages.table_stride + pages)}};
  for (const Named& output : outputs) {
    if (output.data == nullptr) continue;
    for (const Named& input : inputs) {
      if (input.data == nullptr) continue;
      if (Status s = check_apart(output, input); !s) return s;
    }
  }
  for (int i = 1; i < 4; ++i) {
    for (int j = 0; j < i; ++j) {
      if (outputs[i].data == nullptr || outputs[j].data == nullptr) continue;
      if (Status s = check_apart(outputs[i], outputs[j]); !s) return s;
    }
  }
  return {};
}

Status validate_workspace(const AttentionProblem& p, std::size_t needed) noexcept {
  if (p.workspace == nullptr || needed == 0) return {};
  if (p.workspace_bytes < needed)
    return Status(StatusCode::workspace_too_small,
                  "workspace_bytes is %zu but the splits of the keys need >= %zu (or a null workspace)",
                  p.workspace_bytes, needed);
  const auto beyond = static_cast<int>(reinterpret_cast<std::uintptr_t>(p.workspace) % 256);
  if (beyond != 0)
    return Status(StatusCode::invalid_argument, "workspace is %d bytes past a multiple of 256 but needs 0",
                  beyond);
  return {};
}

Status validate(const AttentionBackwardProblem& problem, std::size_t workspace_bytes) noexcept {
  const AttentionProblem& p = problem.forward;
  const auto bytes = [](const void* data, std::int64_t count) {
    return ByteRanges{reinterpret_cast<std::uintptr_t>(data), 1, static_cast<std::uint64_t>(count), 0};
  };
  const auto tensor = [&](const char* name, const auto& x, std::int64_t heads, std::int64_t rows,
                          int dimension) {
    return rows == 0 ? Named{} : Named{name, x.data, memory_of(x, p.batch, heads, rows, dimension, p.type)};
  };
  const int depth = p.head_dimension, width = p.value_dimension;
  const Named outputs[] = {tensor("dq", problem.dq, p.heads, p.queries, depth),
                           tensor("dk", problem.dk, p.key_heads, p.keys, depth),
                           tensor("dv", problem.dv, p.key_heads, p.keys, width),
                           {"the workspace", workspace_bytes == 0 ? nullptr : problem.workspace,
                            bytes(problem.workspace, static_cast<std::int64_t>(workspace_bytes))}};
  const Named inputs[] = {tensor("q", p.q, p.heads, p.queries, depth),
                          tensor("k", p.k, p.key_heads, p.keys, depth),
                          tensor("v", p.v, p.key_heads, p.keys, width),
                          tensor("o", p.o, p.heads, p.queries, width),
                          tensor("d_o", problem.d_o, p.heads, p.queries, width),
                          {"log_sum_exp", p.queries == 0 ? nullptr : p.log_sum_exp,
                           bytes(p.log_sum_exp, 4 * p.batch * p.heads * p.queries)},
                          {"alibi_slopes", p.alibi_slopes, bytes(p.alibi_slopes, 4 * p.heads)}};
  for (const Named& output : outputs) {
    if (output.data == nullptr) continue;
    for (const Named& input : inputs) {
      if (input.data == nullptr) continue;
      if (Status s = check_apart(output, input); !s) return s;
    }
    for (const Named* other = outputs; other != &output; ++other) {
      if (other->data == nullptr) continue;
      if (Status s = check_apart(output, *other); !s) return s;
    }
  }
  return {};
}

}  // namespace tenon
