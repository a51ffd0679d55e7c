// A launcher as an A100 would describe its device: gemm() then chooses among the kernels for sm_80.
#pragma once

#include "support/device.hpp"
#include "tenon/gemm/launch_plan.hpp"

namespace tenon::test {

class AsSm80 : public Launcher {
 public:
  Status describe(DeviceDescription* device) noexcept override {
    const Status status = launcher().describe(device);
    device->sm = 80;
    device->shared_bytes_per_block_optin = std::size_t{163} << 10;
    return status;
  }
  Status make_tensor_map(const MatrixInMemory& matrix, int rows, int columns,
                         TensorMap* map) noexcept override {
    return launcher().make_tensor_map(matrix, rows, columns, map);
  }
  Status launch(const Launch& launch) noexcept override { return launcher().launch(launch); }
};

}  // namespace tenon::test
