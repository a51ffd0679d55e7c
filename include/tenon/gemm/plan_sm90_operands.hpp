// The launch plan of sm_90a kernels whose operation has operands: that of a wgmma kernel, and the map of a
// matrix that TMA can load. Host code. Below: plan_sm90.hpp, store_tma_operands.hpp.
#pragma once

#include "tenon/gemm/plan_sm90.hpp"
#include "tenon/gemm/store_tma_operands.hpp"

namespace tenon {

// As plan_wgmma() for any other operation.
template <class Config, class Op>
Status plan_wgmma(const Product& product, const WithOperands<Op>& op, const DeviceDescription& device,
                  Launcher& launcher, Launch* launch) {
  WithOperands<Op> with_map = op;
  using T = typename MatrixElement<typename WithOperands<Op>::Operands>::type;
  if constexpr (loads_matrix_by_tma<Config, T>()) {
    const Output c = output_of(product);
    Status made;
    op.operands.for_matrix([&](const auto& matrix) {
      const Output as_output{const_cast<T*>(matrix.data), matrix.ld, c.m, c.n, TypeOf<T>::value};
      if (c.type != TypeOf<T>::value || !tma_can_store(c) || !tma_can_store(as_output)) return;
      made = make_epilogue_map(launcher, matrix.data, matrix.ld, c.m, c.n, &with_map.matrix_map);
      with_map.matrix_has_map = true;
    });
    if (!made) return made;
  }
  WgmmaArguments<Config> kernel;
  if (Status s = prepare_wgmma<Config, WithOperands<Op>>(product, device, launcher, launch, &kernel); !s)
    return s;
  launch->arguments.set(kernel.map_a, kernel.map_b, kernel.map_c, kernel.arguments, with_map);
  return {};
}

}  // namespace tenon
