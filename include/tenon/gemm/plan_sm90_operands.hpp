// The launch plan of sm_90a kernels whose operation has operands: that of a wgmma kernel, and the map of a
// matrix that TMA can load. Host code. Below: plan_sm90.hpp, store_tma_operands.hpp.
#pragma once

#include "tenon/gemm/plan_sm90.hpp"
#include "tenon/gemm/store_tma_operands.hpp"

namespace tenon {

// Makes the map of the matrix among the operands, where kernels of Config load it by TMA.
template <class Config, class Op, class Operands>
Status make_matrix_map(const Product& product, Launcher& launcher, WithOperands<Op, Operands>* op) {
  using T = typename MatrixElement<Operands>::type;
  Status made;
  if constexpr (loads_matrix_by_tma<Config, T>()) {
    const Output c = output_of(product);
    op->operands.for_matrix([&](const auto& matrix) {
      const Output as_output{const_cast<T*>(matrix.data), matrix.ld, c.m, c.n, TypeOf<T>::value};
      if (c.type != TypeOf<T>::value || !tma_can_store(c) || !tma_can_store(as_output)) return;
      made = make_epilogue_map(launcher, matrix.data, matrix.ld, c.m, c.n, &op->matrix_map);
      op->matrix_has_map = true;
    });
  }
  return made;
}

// As plan_wgmma() for any other operation.
template <class Config, class Op>
Status plan_wgmma(const Product& product, const WithOperands<Op>& op, const DeviceDescription& device,
                  Launcher& launcher, Launch* launch) {
  WithOperands<Op> with_map = op;
  if (Status s = make_matrix_map<Config>(product, launcher, &with_map); !s) return s;
  WgmmaArguments<Config> kernel;
  if (Status s = prepare_wgmma<Config, WithOperands<Op>>(product, device, launcher, launch, &kernel); !s)
    return s;
  launch->arguments.set(kernel.map_a, kernel.map_b, kernel.map_c, kernel.arguments, with_map);
  return {};
}

}  // namespace tenon
