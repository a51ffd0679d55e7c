// The lengths of a batch's sequences, and where its rows and pages lie. A kernel checks each entry of device
// memory before it uses it; what is out of range sets the error word. Below: arguments_mma.hpp,
// variable_lengths.hpp.
#pragma once

#include <type_traits>

#include "tenon/attention/arguments_mma.hpp"

namespace tenon {

// Whether all batches have the lengths of the problem, or what VariableLengths says.
enum class Sequences { equal, variable };

__device__ __forceinline__ void report_out_of_range(const VariableLengths& x) {
  if (x.error != nullptr) atomicExch(x.error, 1);
}

// Rows of a batch: where they begin in memory, beside the batch's stride, and how many they are.
struct BatchRows {
  int first, count;
};

// rows: of all batches; most: of a batch.
__device__ __forceinline__ BatchRows rows_from_offsets(const VariableLengths& x, const std::int32_t* offsets,
                                                       int batch, int rows, int most) {
  const int first = offsets[batch], end = offsets[batch + 1];
  if (first >= 0 && end >= first && end <= rows && end - first <= most) return {first, end - first};
  report_out_of_range(x);
  return {0, 0};
}
// queries, keys: of the problem.
__device__ __forceinline__ BatchRows queries_of_batch(const VariableLengths& x, int batch, int queries) {
  if (x.query_offsets == nullptr) return {0, queries};
  return rows_from_offsets(x, x.query_offsets, batch, x.query_rows, queries);
}
__device__ __forceinline__ BatchRows keys_of_batch(const VariableLengths& x, int batch, int keys) {
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
__device__ __forceinline__ KeyPlace place_of_key(const VariableLengths& x, int batch, int key) {
  const int entry = x.by_page.quotient(key);
  const int page = x.pages[static_cast<std::int64_t>(batch) * x.table_stride + entry];
  return {page < 0 || page >= x.page_count ? -1 : page, key - entry * x.page_size};
}

// Of a batch of equal lengths: they are read where the arguments are, and take no registers.
class EqualSequence {
 public:
  struct Shared {};
  __device__ __forceinline__ EqualSequence(const AttentionArguments& a, int, Shared&) : arguments_(a) {}
  __device__ __forceinline__ int queries() const { return arguments_.queries; }
  __device__ __forceinline__ int keys() const { return arguments_.keys; }
  __device__ __forceinline__ static int first_query() { return 0; }
  __device__ __forceinline__ static int first_key() { return 0; }

 private:
  const AttentionArguments& arguments_;
};

// Of a batch of variable lengths: one thread reads and checks them, and they take no registers either.
class BatchSequence {
 public:
  struct Shared {
    BatchRows queries, keys;
  };
  // By a whole CTA.
  __device__ __forceinline__ BatchSequence(const AttentionArguments& a, int batch, Shared& shared)
      : shared_(shared) {
    if (threadIdx.x == 0) {
      shared.queries = queries_of_batch(a.lengths, batch, a.queries);
      shared.keys = keys_of_batch(a.lengths, batch, a.keys);
    }
    __syncthreads();
  }
  __device__ __forceinline__ int queries() const { return shared_.queries.count; }
  __device__ __forceinline__ int keys() const { return shared_.keys.count; }
  // Rows of the tensors, whose batch strides are 0 where there are offsets.
  __device__ __forceinline__ int first_query() const { return shared_.queries.first; }
  __device__ __forceinline__ int first_key() const { return shared_.keys.first; }

 private:
  const Shared& shared_;
};

template <Sequences sequences>
using SequenceOf = std::conditional_t<sequences == Sequences::equal, EqualSequence, BatchSequence>;

}  // namespace tenon
