// Makes tensor maps (tensor_map.hpp), on the host. cuTensorMapEncodeTiled is reached through the runtime, so
// that nobody has to link libcuda. Below: tensor_map.hpp, status.hpp; the CUDA Toolkit 12.5 or newer.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>

#include "tenon/pipeline/tensor_map.hpp"
#include "tenon/status.hpp"

namespace tenon {

// A map of the matrix, read (or written) in boxes of box_lines x box_columns: 128, 64 or 32 bytes wide and
// with the swizzle of that width, or of another width and without one. So boxes of Tile::lines x
// Tile::panel_columns are what a SharedTile holds. What lies outside of the matrix reads as zero.
//
// device_unsupported, and *map as it was: a base or a distance of lines (in bytes) that is no multiple of 16,
// a box of more than 256 lines or columns or of a width that is no multiple of 16 bytes, sizes below 1, a
// driver without tensor maps, and what else the driver refuses. CUDA Driver API, "Tensor Map Object
// Management".
inline Status make_tensor_map(const MatrixInMemory& matrix, int box_lines, int box_columns, TensorMap* map) {
  static_assert(sizeof(TensorMap) == sizeof(CUtensorMap), "TensorMap stands for a CUtensorMap");
  constexpr StatusCode refused = StatusCode::device_unsupported;
  const int bytes = matrix.element_bytes;
  const auto distance = static_cast<unsigned long long>(matrix.ld) * static_cast<unsigned>(bytes);
  if (bytes != 1 && bytes != 2 && bytes != 4)
    return Status(refused, "elements have %d bytes but tensor maps are made of 1, 2 or 4", bytes);
  if (matrix.lines < 1 || matrix.columns < 1)
    return Status(refused, "the matrix has %d lines of %d elements but a tensor map needs 1 or more of both",
                  matrix.lines, matrix.columns);
  if (reinterpret_cast<std::uintptr_t>(matrix.data) % 16 != 0)
    return Status(refused, "the matrix begins at %p but the TMA unit reads from multiples of 16 bytes on",
                  matrix.data);
  if (matrix.ld < 1 || distance % 16 != 0)
    return Status(refused,
                  "lines are %lld elements of %d bytes apart but the TMA unit needs a multiple of 16 bytes",
                  static_cast<long long>(matrix.ld), bytes);
  const int width = box_columns * bytes;
  if (box_lines < 1 || box_lines > 256 || box_columns < 1 || box_columns > 256 || width % 16 != 0)
    return Status(
        refused,
        "a box has %d lines of %d elements of %d bytes but may have 1 to 256 lines, of 256 elements "
        "at most and a multiple of 16 bytes",
        box_lines, box_columns, bytes);
  static const auto encode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                               cudaEnableDefault, &found);
    const bool usable = error == cudaSuccess && found == cudaDriverEntryPointSuccess;
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(usable ? function : nullptr);
  }();
  if (encode == nullptr)
    return Status(refused, "the driver has no cuTensorMapEncodeTiled: it needs CUDA 12.0 or newer");
  const cuuint64_t extents[2] = {static_cast<cuuint64_t>(matrix.columns),
                                 static_cast<cuuint64_t>(matrix.lines)};
  const cuuint64_t strides[1] = {distance};
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(box_columns), static_cast<cuuint32_t>(box_lines)};
  const cuuint32_t element_strides[2] = {1, 1};
  // Elements are copied as bits; types differ only in the fill, and zero is zero in all.
  const CUtensorMapDataType type = bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                   : bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                                : CU_TENSOR_MAP_DATA_TYPE_UINT32;
  const CUtensorMapSwizzle swizzle = width == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : width == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                     : width == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                   : CU_TENSOR_MAP_SWIZZLE_NONE;
  // Promoted to 256 bytes, the 60 products of the suite `models` took 1.0 % longer in the mean, 9 % at most,
  // and 16176 x 288 x 4504, whose lines begin between those of the L2, 18 %.
  constexpr CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  CUtensorMap encoded;
  const CUresult result =
      encode(&encoded, type, 2, const_cast<void*>(matrix.data), extents, strides, box, element_strides,
             CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    return Status(
        refused,
        "cuTensorMapEncodeTiled refused (error %d) a matrix of %d lines of %d elements of %d bytes, "
        "%lld apart, at %p",
        static_cast<int>(result), matrix.lines, matrix.columns, bytes, static_cast<long long>(matrix.ld),
        matrix.data);
  }
  std::memcpy(map, &encoded, sizeof encoded);
  return {};
}

}  // namespace tenon
