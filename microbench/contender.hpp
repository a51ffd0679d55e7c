// What is timed, and how contenders are put together from others.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "tenon/status.hpp"

struct CUstream_st;  // cudaStream_t points to one

namespace tenon::microbench {

struct Contender {
  std::string name;
  double flop = 0;  // of one launch
  // Enqueues one launch on the stream. The iteration counts up: a contender that rotates buffers takes it
  // modulo their number.
  std::function<Status(CUstream_st* stream, int iteration)> enqueue;
  int rotation = 1;  // number of buffer sets: a graph uses each equally often
};

// The contender with `second` enqueued after each of its launches: one launch is now both, in this order.
inline Contender followed_by(const Contender& first, std::function<Status(CUstream_st* stream)> second) {
  Contender both = first;
  both.enqueue = [enqueue = first.enqueue, second = std::move(second)](CUstream_st* stream, int iteration) {
    if (Status status = enqueue(stream, iteration); !status) return status;
    return second(stream);
  };
  return both;
}

// The contender with iterations from 0 to sets - 1, over and over.
inline Contender rotating(const Contender& contender, int sets) {
  Contender result = contender;
  result.rotation = sets;
  result.enqueue = [enqueue = contender.enqueue, sets](CUstream_st* stream, int iteration) {
    return enqueue(stream, iteration % sets);
  };
  return result;
}

}  // namespace tenon::microbench
