// Makes tensor maps (tensor_map.hpp), on the host. cuTensorMapEncodeTiled is reached through the runtime, so
// that programs need not link libcuda. Below: tensor_map.hpp, status.hpp; the CUDA Toolkit 12.5 or newer.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>

#include "tenon/pipeline/tensor_map.hpp"
#include "tenon/status.hpp"

namespace tenon {

// Makes a map that reads (or writes) the matrix in boxes of box_rows x box_columns. Boxes 128, 64 or 32 bytes
// wide have the swizzle of that width; others have none. A box of Tile::rows x Tile::panel_columns is one
// panel of a SharedTile. Elements outside the matrix read as zero.
//
// Returns device_unsupported and leaves *map as it was if the base or ld (in bytes) is no multiple of 16, if
// a box has more than 256 rows or columns or a width that is no multiple of 16 bytes, if a size is below 1,
// or if the driver has no tensor maps or refuses this one. CUDA Driver API, "Tensor Map Object Management".
inline Status make_tensor_map(const MatrixInMemory& matrix, int box_rows, int box_columns, TensorMap* map) {
  static_assert(sizeof(TensorMap) == sizeof(CUtensorMap), "TensorMap stands for a CUtensorMap");
  constexpr StatusCode refused = StatusCode::device_unsupported;
  const int bytes = matrix.element_bytes;
  const auto distance = static_cast<unsigned long long>(matrix.ld) * static_cast<unsigned>(bytes);
  if (bytes != 1 && bytes != 2 && bytes != 4)
    return Status(refused, "elements have %d bytes but tensor maps are made of 1, 2 or 4", bytes);
  if (matrix.rows < 1 || matrix.columns < 1)
    return Status(refused, "the matrix has %d rows of %d elements but a tensor map needs 1 or more of both",
                  matrix.rows, matrix.columns);
  if (reinterpret_cast<std::uintptr_t>(matrix.data) % 16 != 0)
    return Status(refused, "the matrix begins at %p but TMA needs an address that is a multiple of 16 bytes",
                  matrix.data);
  if (matrix.ld < 1 || distance % 16 != 0)
    return Status(refused, "rows are %lld elements of %d bytes apart but TMA needs a multiple of 16 bytes",
                  static_cast<long long>(matrix.ld), bytes);
  const int width = box_columns * bytes;
  if (box_rows < 1 || box_rows > 256 || box_columns < 1 || box_columns > 256 || width % 16 != 0)
    return Status(
        refused,
        "a box has %d rows of %d elements of %d bytes but may have 1 to 256 rows of at most 256 elements "
        "and of a multiple of 16 bytes",
        box_rows, box_columns, bytes);
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
                                 static_cast<cuuint64_t>(matrix.rows)};
  const cuuint64_t strides[1] = {distance};
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(box_columns), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t element_strides[2] = {1, 1};
  // Elements are copied as bits; types differ only in the fill, and zero is zero in all.
  const CUtensorMapDataType type = bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                   : bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                                : CU_TENSOR_MAP_DATA_TYPE_UINT32;
  const CUtensorMapSwizzle swizzle = width == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : width == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                     : width == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                   : CU_TENSOR_MAP_SWIZZLE_NONE;
  // With a promotion to 256 bytes the 60 products of the suite `models` took 1.0 % longer on average and 9 %
  // at most; 16176 x 288 x 4504, whose rows do not begin on L2 lines, took 18 % longer.
  constexpr CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  CUtensorMap encoded;
  const CUresult result =
      encode(&encoded, type, 2, const_cast<void*>(matrix.data), extents, strides, box, element_strides,
             CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    return Status(refused,
                  "cuTensorMapEncodeTiled refused (error %d) a matrix of %d rows of %d elements of %d bytes, "
                  "%lld apart, at %p",
                  static_cast<int>(result), matrix.rows, matrix.columns, bytes,
                  static_cast<long long>(matrix.ld), matrix.data);
  }
  std::memcpy(map, &encoded, sizeof encoded);
  return {};
}

}  // namespace tenon
