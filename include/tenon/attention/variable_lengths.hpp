// Batches of variable lengths and paged keys as arguments of a kernel: batch_sequence.hpp reads them. Plain
// C++17. Below: problem.hpp, gemm/divisor.hpp.
#pragma once

#include "tenon/attention/problem.hpp"
#include "tenon/gemm/divisor.hpp"

namespace tenon {

// The fields of AttentionProblem of the same names.
struct VariableLengths {
  const std::int32_t *query_offsets = nullptr, *key_offsets = nullptr, *key_lengths = nullptr;
  int query_rows = 0, key_rows = 0;
  const std::int32_t* pages = nullptr;  // the table
  int table_stride = 0, page_size = 1, page_count = 0;
  Divisor by_page;
  std::int32_t* error = nullptr;
};

inline VariableLengths variable_lengths(const AttentionProblem& p) noexcept {
  VariableLengths x;
  x.query_offsets = p.query_offsets, x.key_offsets = p.key_offsets, x.key_lengths = p.key_lengths;
  x.query_rows = static_cast<int>(p.query_rows), x.key_rows = static_cast<int>(p.key_rows);
  x.error = p.error;
  if (p.pages.table == nullptr || p.keys == 0) return x;
  x.pages = p.pages.table;
  x.table_stride = p.batch > 1 ? static_cast<int>(p.pages.table_stride) : 0;
  x.page_size = p.pages.page_size, x.page_count = static_cast<int>(p.pages.count);
  x.by_page = Divisor(p.pages.page_size);
  return x;
}

}  // namespace tenon
