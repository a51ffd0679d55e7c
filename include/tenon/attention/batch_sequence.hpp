// The lengths of a batch's sequences in the mma.sync kernels: those of the problem, or read by the kernel.
// Below: arguments_mma.hpp, variable_lengths.hpp.
#pragma once

#include "tenon/attention/arguments_mma.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// Whether all batches have the lengths of the problem, or what VariableLengths says.
enum class Sequences { equal, variable };

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
