// Tensor maps: what the copy engine is told about a matrix. Made on the host, passed to kernels by value.
#pragma once

#include <cstdint>

#include "tenon/status.hpp"

namespace tenon {

struct TensorMap;  // tenon/pipeline/tma_ring.hpp

// A map over `lines` lines of `columns` contiguous 16-bit elements, `ld` elements apart, read in boxes of
// box_lines x box_columns (128 bytes wide: 64) with the 128-byte swizzle; what lies outside reads as zero.
// Refused: a base or a leading dimension that is no multiple of 16 bytes, a driver without tensor maps.
Status make_tensor_map(const void* data, int lines, int columns, std::int64_t ld, int box_lines,
                       int box_columns, TensorMap* map);

}  // namespace tenon
