// Tensor maps of a matrix whose lines begin anywhere: of every eighth of them, which lie equally.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gemm/launch.hpp"
#include "tenon/gemm.hpp"
#include "tenon/pipeline/tensor_map.hpp"

namespace tenon {

// Elements of 16 bits between the last multiple of 16 bytes and the place.
inline int halves_beyond_16_bytes(const void* place) noexcept {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(place) % 16 / 2);
}

// Maps of `lines` lines of `length` elements of 16 bits, matrix.ld elements apart: of[i] has lines i, i + 8,
// ..., which begin with as many elements of what is before them as there are since a multiple of 16 bytes.
inline Status make_maps_of_eighths(Launcher& launcher, const ConstMatrix& matrix, int lines, int length,
                                   int box_lines, int box_columns, TensorMapsOfEighths* maps) {
  for (int i = 0; i < 8; ++i) {
    const int of_these = std::max(1, (lines - i + 7) / 8);  // one that is never read
    const auto* const line = static_cast<const std::uint16_t*>(matrix.data) + (i < lines ? i * matrix.ld : 0);
    const int shift = halves_beyond_16_bytes(line);
    if (Status s = launcher.make_tensor_map({line - shift, 2, of_these, length + shift, 8 * matrix.ld},
                                            box_lines, box_columns, &maps->of[i]);
        !s) {
      return s;
    }
  }
  return {};
}

}  // namespace tenon
