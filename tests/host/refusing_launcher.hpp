// A launcher that refuses the launches that a test selects and records all of them: it shows what gemm() does
// after a refusal.
#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "host/kernel_list.hpp"
#include "tenon/gemm/launch_plan.hpp"

namespace tenon::test {

class RefusingLauncher final : public Launcher {
 public:
  // device: runs the launches that are not refused; null: an H200 that does nothing.
  explicit RefusingLauncher(Launcher* device = nullptr) noexcept : device_(device) {}

  // What launch() returns for a launch before it reaches the device.
  std::function<Status(const Launch&)> answer = [](const Launch&) { return Status(); };
  bool encodes_tensor_maps = true;
  // What make_tensor_map() returns for a matrix before it reaches the device.
  std::function<Status(const MatrixInMemory&)> answer_to_map = [](const MatrixInMemory&) { return Status(); };

  // Launches by what they are, in their order.
  std::vector<std::string> refused, launched;

  Status describe(DeviceDescription* device) noexcept override {
    if (device_ != nullptr) return device_->describe(device);
    *device = h200;
    return {};
  }
  Status make_tensor_map(const MatrixInMemory& matrix, int box_rows, int box_columns,
                         TensorMap* map) noexcept override {
    if (!encodes_tensor_maps) return Status(StatusCode::device_unsupported, "no map at %p", matrix.data);
    if (Status s = answer_to_map(matrix); !s || device_ == nullptr) return s;  // else nobody reads the map
    return device_->make_tensor_map(matrix, box_rows, box_columns, map);
  }
  Status launch(const Launch& launch) noexcept override {
    Status status = answer(launch);
    if (status && device_ != nullptr) status = device_->launch(launch);
    (status ? launched : refused).emplace_back(launch.what);
    return status;
  }

 private:
  Launcher* device_;
};

// An answer: refuses the first `count` launches of kernels of the list, by name.
inline std::function<Status(const Launch&)> refusing(int count,
                                                     StatusCode code = StatusCode::device_unsupported) {
  return [left = count, code](const Launch& launch) mutable {
    if (find_kernel(launch.what) == nullptr || left == 0) return Status();
    --left;
    return Status(code, "%s is refused", launch.what);
  };
}

}  // namespace tenon::test
