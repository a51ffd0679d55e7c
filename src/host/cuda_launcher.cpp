// The launches of cuda_launcher.hpp: the public ones (tenon/gemm/cuda_launcher.hpp), and the hand-written
// module, which the driver loads.
#include "host/cuda_launcher.hpp"

#include "gemm/module/module.hpp"
#include "host/device.hpp"
#include "tenon/gemm/cuda_launcher.hpp"

namespace tenon {

Status CudaLauncher::describe(DeviceDescription* device) noexcept {
  return describe_current_device(device);
}

Status CudaLauncher::make_tensor_map(const MatrixInMemory& matrix, int box_rows, int box_columns,
                                     TensorMap* map) noexcept {
  return tenon::make_tensor_map(matrix, box_rows, box_columns, map);
}

Status CudaLauncher::make_tensor_map_4d(const TensorInMemory& tensor, int box_rows, int box_columns,
                                        TensorMap* map) noexcept {
  return tenon::make_tensor_map_4d(tensor, box_rows, box_columns, map);
}

Status CudaLauncher::launch(const Launch& launch) noexcept {
  if (launch.function != nullptr) return launch_on_stream(launch, stream_);
  const RelaxedCapture relaxed;  // the driver loads the module
  return launch_module(launch, stream_);
}

}  // namespace tenon
