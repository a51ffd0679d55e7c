// Not a program: ctest compiles it with one MISUSE_... defined and checks the sentence that nvcc prints.
#include <cuda_fp16.h>

#include "tenon/jit/launch_sm90.hpp"

using namespace tenon;

struct Gain {
  float factor;
};
using Config = sm90::Config<half, float, 128, 64>;
using Plain = sm90::JitGemmKernel<Config, half>;
using Biased = sm90::JitGemmKernel<Config, half, EpilogueOperands<ColumnVector<float>>>;

Status call(const Plain& plain, const Biased& biased, const float* bias) {
#if defined(MISUSE_without_operands)
  return biased.launch({}, Gain{1.0F});
#elif defined(MISUSE_operands_of_none)
  return plain.launch({}, Gain{1.0F}, StoredOperands<jit::NoOperands>{});
#elif defined(MISUSE_operands_beside_bytes)
  return biased.launch({}, jit::OperationBytes{}, {bias});
#else
  const Status status = plain.launch({}, Gain{1.0F});
  return status ? biased.launch({}, Gain{1.0F}, {bias}) : status;
#endif
}
