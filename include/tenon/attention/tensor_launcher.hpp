// A launcher that also makes tensor maps of four dimensions, as the wgmma kernel of attention needs them.
// Below: gemm/launch_plan.hpp, pipeline/tensor_in_memory.hpp.
#pragma once

#include "tenon/gemm/launch_plan.hpp"
#include "tenon/pipeline/tensor_in_memory.hpp"

namespace tenon {

class TensorLauncher : public Launcher {
 public:
  // As make_tensor_map_4d() of tenon/pipeline/make_tensor_map.hpp.
  virtual Status make_tensor_map_4d(const TensorInMemory& tensor, int box_rows, int box_columns,
                                    TensorMap* map) noexcept = 0;

 protected:
  ~TensorLauncher() = default;
};

}  // namespace tenon
