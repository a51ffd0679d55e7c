// Batches of variable lengths and paged keys, as a kernel reads them: it checks each entry of device memory
// before it uses it, and what is out of range sets the error word. Host and device; plain C++17. Below:
// problem.hpp, gemm/divisor.hpp.
#pragma once

#include "tenon/attention/problem.hpp"
#include "tenon/fragment/host_device.hpp"
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

TENON_HOST_DEVICE inline void report_out_of_range(const VariableLengths& x) {
  if (x.error == nullptr) return;
#ifdef __CUDA_ARCH__
  atomicExch(x.error, 1);
#else
  *x.error = 1;
#endif
}

// Rows of a batch: where they begin in memory, beside the batch's stride, and how many they are.
struct BatchRows {
  int first, count;
};

// rows: of all batches; most: of a batch.
TENON_HOST_DEVICE inline BatchRows rows_from_offsets(const VariableLengths& x, const std::int32_t* offsets,
                                                     int batch, int rows, int most) {
  const int first = offsets[batch], end = offsets[batch + 1];
  if (first >= 0 && end >= first && end <= rows && end - first <= most) return {first, end - first};
  report_out_of_range(x);
  return {0, 0};
}
// queries, keys: of the problem.
TENON_HOST_DEVICE inline BatchRows queries_of_batch(const VariableLengths& x, int batch, int queries) {
  if (x.query_offsets == nullptr) return {0, queries};
  return rows_from_offsets(x, x.query_offsets, batch, x.query_rows, queries);
}
TENON_HOST_DEVICE inline BatchRows keys_of_batch(const VariableLengths& x, int batch, int keys) {
  if (x.key_offsets != nullptr) return rows_from_offsets(x, x.key_offsets, batch, x.key_rows, keys);
  if (x.key_lengths == nullptr) return {0, keys};
  const int length = x.key_lengths[batch];
  if (length >= 0 && length <= keys) return {0, length};
  report_out_of_range(x);
  return {0, 0};
}

// A key's page, and its row there. page < 0: the pool has no such page.
struct KeyPlace {
  int page, row;
};
// key: below the length of the batch. Paged keys only.
TENON_HOST_DEVICE inline KeyPlace place_of_key(const VariableLengths& x, int batch, int key) {
  const int entry = x.by_page.quotient(key);
  const int page = x.pages[static_cast<std::int64_t>(batch) * x.table_stride + entry];
  return {page < 0 || page >= x.page_count ? -1 : page, key - entry * x.page_size};
}

}  // namespace tenon
