// Whether a problem of attention makes sense by itself: sizes, pointers, strides and factors. Each kernel
// checks what it needs beyond that. Plain C++17. Below: problem.hpp, status.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <cmath>
#include <utility>

#include "tenon/attention/problem.hpp"
#include "tenon/status.hpp"

namespace tenon {

// The longest sequence of queries or keys: sums of two positions fit an int.
inline constexpr std::int64_t longest_sequence = (std::int64_t{1} << 29) - 1;
inline constexpr int largest_head_dimension = 1024;
inline constexpr int largest_page = 256;  // keys of it

// One of the dimensions of a tensor of attention.
struct AttentionExtent {
  const char* name;  // "row"
  std::int64_t count, stride;
};

// Elements from the first to behind the last, where the strides do not wrap.
template <class Pointer>
std::int64_t elements_spanned(const AttentionTensor<Pointer>& tensor, std::int64_t batch, std::int64_t heads,
                              std::int64_t rows, int dimension) noexcept {
  return (rows - 1) * tensor.row_stride + (heads - 1) * tensor.head_stride +
         (batch - 1) * tensor.batch_stride + dimension;
}

// A tensor with batch, heads, rows >= 1.
template <class Pointer>
Status check_attention_tensor(const char* name, const AttentionTensor<Pointer>& tensor, std::int64_t batch,
                              std::int64_t heads, std::int64_t rows, int dimension, Type type) noexcept {
  constexpr StatusCode invalid = StatusCode::invalid_argument;
  if (tensor.data == nullptr) return Status(invalid, "%s is a null pointer", name);
  if (bytes(type) == 2 && reinterpret_cast<std::uintptr_t>(tensor.data) % 2 != 0)
    return Status(invalid, "%s is at %p but its elements of 16 bits lie on multiples of 2 bytes", name,
                  static_cast<const void*>(tensor.data));
  const AttentionExtent extents[] = {{"row", rows, tensor.row_stride},
                                     {"head", heads, tensor.head_stride},
                                     {"batch", batch, tensor.batch_stride}};
  double end = dimension;
  for (const AttentionExtent& x : extents) {
    if (x.count > 1 && x.stride < 0)
      return Status(invalid, "the %s stride of %s is %lld but must be >= 0", x.name, name,
                    static_cast<long long>(x.stride));
    end += static_cast<double>(x.count - 1) * static_cast<double>(x.stride);
  }
  if (end >= 4e18)  // half of the address space: the bytes of it do not wrap
    return Status(invalid, "the strides of %s put its last element %.3g elements after its first", name, end);
  return {};
}

// Whether each element of an output lies at a place of its own: every stride steps over all that the smaller
// ones reach.
inline Status check_attention_output(const char* name, const AttentionTensor<void*>& tensor,
                                     std::int64_t batch, std::int64_t heads, std::int64_t rows,
                                     int dimension) noexcept {
  AttentionExtent extents[] = {{"row", rows, tensor.row_stride},
                               {"head", heads, tensor.head_stride},
                               {"batch", batch, tensor.batch_stride}};
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < 2; ++i) {
      if (extents[i].stride > extents[i + 1].stride) std::swap(extents[i], extents[i + 1]);
    }
  }
  std::int64_t reach = dimension;
  for (const AttentionExtent& x : extents) {
    if (x.count == 1) continue;
    if (x.stride < reach)
      return Status(StatusCode::invalid_argument,
                    "the %s stride of %s is %lld but must be >= %lld: its elements would overlap", x.name,
                    name, static_cast<long long>(x.stride), static_cast<long long>(reach));
    reach += (x.count - 1) * x.stride;
  }
  return {};
}

// Whether there is nothing to compute.
inline bool is_empty(const AttentionProblem& p) noexcept {
  return p.batch == 0 || p.heads == 0 || p.queries == 0 || (p.query_offsets != nullptr && p.query_rows == 0);
}

// Whether no batch has keys. K and V are then not read.
inline bool has_no_keys(const AttentionProblem& p) noexcept {
  return key_extents(p).rows == 0;
}

// The most rows that offsets of 32 bits describe.
inline constexpr std::int64_t most_offset_rows = (std::int64_t{1} << 31) - 1;

// Offsets, lengths and pages: what can be known without reading device memory.
inline Status check_variable_lengths(const AttentionProblem& p) noexcept {
  constexpr StatusCode invalid = StatusCode::invalid_argument;
  if (p.type == Type::e4m3 && has_variable_lengths(p))
    return Status(StatusCode::unsupported,
                  "offsets, lengths or pages are given but e4m3 needs batches of equal lengths");
  const struct {
    const char *rows_name, *offsets_name;
    std::int64_t rows;
    const std::int32_t* offsets;
  } sides[] = {{"query_rows", "query_offsets", p.query_rows, p.query_offsets},
               {"key_rows", "key_offsets", p.key_rows, p.key_offsets}};
  for (const auto& x : sides) {
    if (x.offsets == nullptr && x.rows != 0)
      return Status(invalid, "%s is %lld but must be 0 without %s", x.rows_name,
                    static_cast<long long>(x.rows), x.offsets_name);
    if (x.rows < 0 || x.rows > most_offset_rows)
      return Status(invalid, "%s is %lld but must be 0 to %lld", x.rows_name, static_cast<long long>(x.rows),
                    static_cast<long long>(most_offset_rows));
  }
  if (p.key_offsets != nullptr && p.key_lengths != nullptr)
    return Status(invalid, "key_offsets and key_lengths are given but only one of them can say the lengths");
  if (p.key_offsets != nullptr && p.pages.table != nullptr)
    return Status(invalid, "key_offsets is given but paged keys have their lengths from key_lengths");
  const struct {
    const char* name;
    const std::int32_t* data;
  } words[] = {{"query_offsets", p.query_offsets},
               {"key_offsets", p.key_offsets},
               {"key_lengths", p.key_lengths},
               {"pages.table", p.pages.table},
               {"error", p.error}};
  for (const auto& x : words) {
    if (reinterpret_cast<std::uintptr_t>(x.data) % alignof(std::int32_t) != 0)
      return Status(invalid, "%s is at %p but must lie on a multiple of 4 bytes", x.name,
                    static_cast<const void*>(x.data));
  }
  if (p.pages.table == nullptr) {
    if (p.pages.page_size == 0 && p.pages.count == 0) return {};
    return Status(invalid, "pages.table is a null pointer but there are %lld pages of %d keys",
                  static_cast<long long>(p.pages.count), p.pages.page_size);
  }
  if (p.pages.page_size < 1 || p.pages.page_size > largest_page)
    return Status(invalid, "pages.page_size is %d but must be 1 to %d", p.pages.page_size, largest_page);
  if (p.pages.count < 1 || p.pages.count > most_offset_rows)
    return Status(invalid, "pages.count is %lld but must be 1 to %lld", static_cast<long long>(p.pages.count),
                  static_cast<long long>(most_offset_rows));
  const std::int64_t needed = (p.keys + p.pages.page_size - 1) / p.pages.page_size;
  if (p.batch > 1 && (p.pages.table_stride < needed || p.pages.table_stride > most_offset_rows))
    return Status(invalid, "pages.table_stride is %lld but must be %lld, the pages of %lld keys, to %lld",
                  static_cast<long long>(p.pages.table_stride), static_cast<long long>(needed),
                  static_cast<long long>(p.keys), static_cast<long long>(most_offset_rows));
  return {};
}

// K and V, where a batch has keys.
inline Status check_keys_and_values(const AttentionProblem& p) noexcept {
  if (has_no_keys(p)) return {};
  const AttentionExtents of = key_extents(p);
  if (Status s = check_attention_tensor("k", p.k, of.batch, p.key_heads, of.rows, p.head_dimension, p.type);
      !s)
    return s;
  return check_attention_tensor("v", p.v, of.batch, p.key_heads, of.rows, p.value_dimension, p.type);
}

inline Status check_problem(const AttentionProblem& p) noexcept {
  constexpr StatusCode invalid = StatusCode::invalid_argument;
  const struct {
    const char* name;
    std::int64_t size, most;
  } sizes[] = {{"batch", p.batch, longest_sequence},
               {"heads", p.heads, longest_sequence},
               {"key_heads", p.key_heads, longest_sequence},
               {"queries", p.queries, longest_sequence},
               {"keys", p.keys, longest_sequence}};
  for (const auto& x : sizes) {
    if (x.size < 0 || x.size > x.most)
      return Status(invalid, "%s is %lld but must be 0 to %lld", x.name, static_cast<long long>(x.size),
                    static_cast<long long>(x.most));
  }
  if (p.type != Type::f16 && p.type != Type::bf16 && p.type != Type::e4m3)
    return Status(StatusCode::unsupported, "type is %s but Q, K and V must be f16, bf16 or e4m3",
                  name(p.type));
  const Type output = type_of_output(p);
  if (output != Type::f16 && output != Type::bf16)
    return Status(StatusCode::unsupported, "output_type is %s but O must be f16 or bf16", name(output));
  for (const auto& [dimension, what] : {std::pair<int, const char*>{p.head_dimension, "head_dimension"},
                                        {p.value_dimension, "value_dimension"}}) {
    if (dimension < 1 || dimension > largest_head_dimension)
      return Status(invalid, "%s is %d but must be 1 to %d", what, dimension, largest_head_dimension);
  }
  if (p.heads > 0 && (p.key_heads == 0 || p.heads % p.key_heads != 0))
    return Status(invalid, "heads is %lld but must be a multiple of key_heads, %lld",
                  static_cast<long long>(p.heads), static_cast<long long>(p.key_heads));
  if (!std::isfinite(p.scale))
    return Status(invalid, "scale is %g but must be finite", static_cast<double>(p.scale));
  if (!std::isfinite(p.soft_cap) || p.soft_cap < 0)
    return Status(invalid, "soft_cap is %g but must be 0 (no cap) or a finite number above",
                  static_cast<double>(p.soft_cap));
  for (const auto& [scales, what] : {std::pair<const AttentionScales&, const char*>{p.q_scales, "q_scales"},
                                     {p.k_scales, "k_scales"},
                                     {p.v_scales, "v_scales"}}) {
    if (scales.data == nullptr) continue;
    if (p.type != Type::e4m3)
      return Status(invalid, "%s is given but only e4m3 has scales, and type is %s", what, name(p.type));
    if (reinterpret_cast<std::uintptr_t>(scales.data) % alignof(float) != 0)
      return Status(invalid, "%s is at %p but its floats lie on multiples of 4 bytes", what,
                    static_cast<const void*>(scales.data));
    for (const AttentionExtent& x : {AttentionExtent{"head", p.key_heads, scales.head_stride},
                                     AttentionExtent{"batch", p.batch, scales.batch_stride}}) {
      constexpr std::int64_t most = std::int64_t{1} << 30;  // with 2^29 steps, the addresses do not wrap
      if (x.count > 1 && (x.stride < 0 || x.stride > most))
        return Status(invalid, "the %s stride of %s is %lld but must be 0 to %lld", x.name, what,
                      static_cast<long long>(x.stride), static_cast<long long>(most));
    }
  }
  if (reinterpret_cast<std::uintptr_t>(p.log_sum_exp) % alignof(float) != 0 ||
      reinterpret_cast<std::uintptr_t>(p.alibi_slopes) % alignof(float) != 0 ||
      reinterpret_cast<std::uintptr_t>(p.sinks) % alignof(float) != 0)
    return Status(invalid, "log_sum_exp, alibi_slopes and sinks must lie on multiples of 4 bytes");
  if (is_empty(p)) return {};
  if (static_cast<double>(p.batch) * static_cast<double>(p.heads) * static_cast<double>(p.queries) >= 1e18)
    return Status(invalid, "batch x heads x queries is %lld x %lld x %lld but must be less than 10^18",
                  static_cast<long long>(p.batch), static_cast<long long>(p.heads),
                  static_cast<long long>(p.queries));
  if (Status s = check_variable_lengths(p); !s) return s;
  const AttentionExtents of_queries = query_extents(p);
  if (Status s = check_attention_tensor("q", p.q, of_queries.batch, p.heads, of_queries.rows,
                                        p.head_dimension, p.type);
      !s)
    return s;
  if (Status s = check_keys_and_values(p); !s) return s;
  if (Status s = check_attention_tensor("o", p.o, of_queries.batch, p.heads, of_queries.rows,
                                        p.value_dimension, output);
      !s)
    return s;
  return check_attention_output("o", p.o, of_queries.batch, p.heads, of_queries.rows, p.value_dimension);
}

}  // namespace tenon
