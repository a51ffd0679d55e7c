// Launches on the current CUDA device: the launcher behind tenon/gemm.hpp.
#pragma once

#include "tenon/attention/tensor_launcher.hpp"

struct CUstream_st;

namespace tenon {

// Enqueues on a stream, without synchronisation. It holds the stream and nothing else.
class CudaLauncher final : public TensorLauncher {
 public:
  explicit CudaLauncher(CUstream_st* stream) noexcept : stream_(stream) {}

  Status describe(DeviceDescription* device) noexcept override;
  Status make_tensor_map(const MatrixInMemory& matrix, int box_rows, int box_columns,
                         TensorMap* map) noexcept override;
  Status make_tensor_map_4d(const TensorInMemory& tensor, int box_rows, int box_columns,
                            TensorMap* map) noexcept override;
  Status launch(const Launch& launch) noexcept override;

 private:
  CUstream_st* stream_;
};

}  // namespace tenon
