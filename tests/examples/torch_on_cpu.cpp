// The operators of torch_extension.cpp for a machine without a GPU, where there is no stream: for the test
// alone.
#include <c10/core/Device.h>

struct CUstream_st;

class CurrentStream {
 public:
  explicit CurrentStream(c10::Device /*device*/) {}
  CUstream_st* get() const { return nullptr; }
};
#define TENON_TORCH_DEVICE CPU
#include "torch_extension.cpp"
