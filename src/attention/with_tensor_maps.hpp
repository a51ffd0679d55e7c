// What the wgmma kernels of attention are planned with: tensor maps of four dimensions, which not every
// launcher makes.
#pragma once

#include "tenon/attention/tensor_launcher.hpp"

namespace tenon {

// plan(make_map), where make_map(TensorInMemory, box_rows, box_columns, TensorMap*) makes maps by the
// launcher.
template <class Plan>
Status with_tensor_maps(Launcher& launcher, const Plan& plan) {
  auto* const tensors = dynamic_cast<TensorLauncher*>(&launcher);
  if (tensors == nullptr)
    return Status(StatusCode::device_unsupported,
                  "the launcher makes no tensor maps of four dimensions (TensorLauncher)");
  return plan([&](const TensorInMemory& tensor, int box_rows, int box_columns, TensorMap* map) {
    return tensors->make_tensor_map_4d(tensor, box_rows, box_columns, map);
  });
}

}  // namespace tenon
