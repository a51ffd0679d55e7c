// The current CUDA device for prepared products.
#pragma once

#include "host/cuda_launcher.hpp"
#include "host/loading_launcher.hpp"

namespace tenon {

class CudaLoadingLauncher final : public LoadingLauncher {
 public:
  explicit CudaLoadingLauncher(CUstream_st* stream) noexcept : launcher_(stream), stream_(stream) {}

  Status describe(DeviceDescription* device) noexcept override { return launcher_.describe(device); }
  Status make_tensor_map(const MatrixInMemory& matrix, int box_rows, int box_columns,
                         TensorMap* map) noexcept override {
    return launcher_.make_tensor_map(matrix, box_rows, box_columns, map);
  }
  Status launch(const Launch& launch) noexcept override { return launcher_.launch(launch); }

  Status identify(DeviceIdentity* identity) noexcept override;
  Status load(const Launch& launch) noexcept override;
  Status launch_loaded(const Launch& launch) noexcept override;
  Status replace_address(const void* data, TensorMap* map) noexcept override;

 private:
  CudaLauncher launcher_;
  CUstream_st* stream_;
  unsigned long long context_ = 0;  // of identify(); 0: not asked for
};

}  // namespace tenon
