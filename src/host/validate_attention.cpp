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
                     std::int64_t rows, int dimension) noexcept {
  const auto base = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(x.data));
  const std::int64_t in_row = (heads - 1) * x.head_stride + dimension;
  const auto u64 = [](std::int64_t elements) { return static_cast<std::uint64_t>(2 * elements); };
  if (in_row <= x.row_stride && (batch == 1 || x.batch_stride == rows * x.row_stride))
    return {base, static_cast<std::uint64_t>(batch * rows), u64(in_row), u64(x.row_stride)};
  return {base, 1, u64(elements_spanned(x, batch, heads, rows, dimension)), 0};
}

Status check_apart(const char* what, const ByteRanges& output, const char* other_name,
                   const ByteRanges& other) noexcept {
  if (!overlap(output, other)) return {};
  return Status(StatusCode::invalid_argument,
                "%s (from 0x%llx) %s %s (from 0x%llx) but needs memory of its own", what,
                static_cast<unsigned long long>(output.base),
                overlap_is_exact(output, other) ? "overlaps" : "may overlap", other_name,
                static_cast<unsigned long long>(other.base));
}

}  // namespace

Status validate(const AttentionProblem& p) noexcept {
  if (Status s = check_problem(p); !s) return s;
  if (is_empty(p)) return {};
  struct Named {
    const char* name;
    ByteRanges memory;
  };
  const auto scalars = [](const float* data, std::int64_t count) {
    return ByteRanges{reinterpret_cast<std::uintptr_t>(data), 1, static_cast<std::uint64_t>(4 * count), 0};
  };
  const Named output = {"o", memory_of(p.o, p.batch, p.heads, p.queries, p.value_dimension)};
  const Named sums = {"log_sum_exp", scalars(p.log_sum_exp, p.batch * p.heads * p.queries)};
  const Named inputs[] = {{"q", memory_of(p.q, p.batch, p.heads, p.queries, p.head_dimension)},
                          {"k", memory_of(p.k, p.batch, p.key_heads, p.keys, p.head_dimension)},
                          {"v", memory_of(p.v, p.batch, p.key_heads, p.keys, p.value_dimension)},
                          {"alibi_slopes", scalars(p.alibi_slopes, p.heads)}};
  for (const Named& input : inputs) {
    if ((input.name[0] == 'k' || input.name[0] == 'v') && p.keys == 0) continue;
    if (input.name[0] == 'a' && p.alibi_slopes == nullptr) continue;
    if (Status s = check_apart(output.name, output.memory, input.name, input.memory); !s) return s;
    if (p.log_sum_exp == nullptr) continue;
    if (Status s = check_apart(sums.name, sums.memory, input.name, input.memory); !s) return s;
  }
  return p.log_sum_exp == nullptr ? Status()
                                  : check_apart(sums.name, sums.memory, output.name, output.memory);
}

}  // namespace tenon
