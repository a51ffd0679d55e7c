// Tensor maps of the row-interleaved (stride-8) views of a matrix with any leading dimension. Host code.
// Below: launch_plan.hpp, problem.hpp, pipeline/tensor_map.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <algorithm>
#include <cstdint>

#include "tenon/gemm/launch_plan.hpp"
#include "tenon/gemm/problem.hpp"

namespace tenon {

// Makes the maps of `rows` rows of `length` 16-bit elements. view[i] has rows i, i + 8, ..., each from the
// last multiple of 16 bytes on: it begins with the elements that lie between that address and the row.
inline Status make_row_interleaved_maps(Launcher& launcher, const ConstMatrix& matrix, int rows, int length,
                                        int box_rows, int box_columns, RowInterleavedMaps* maps) {
  for (int i = 0; i < 8; ++i) {
    const int rows_of_view = std::max(1, (rows - i + 7) / 8);  // at least one, never read
    const auto* const first = static_cast<const std::uint16_t*>(matrix.data) + (i < rows ? i * matrix.ld : 0);
    const int shift = static_cast<int>(reinterpret_cast<std::uintptr_t>(first) % 16 / 2);
    if (Status s = launcher.make_tensor_map({first - shift, 2, rows_of_view, length + shift, 8 * matrix.ld},
                                            box_rows, box_columns, &maps->view[i]);
        !s) {
      return s;
    }
  }
  return {};
}

}  // namespace tenon
