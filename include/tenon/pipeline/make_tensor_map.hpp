// Makes tensor maps (tensor_map.hpp), on the host. cuTensorMapEncodeTiled is reached through the runtime, so
// that programs need not link libcuda. Below: tensor_map.hpp, status.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>

#include "tenon/pipeline/tensor_in_memory.hpp"
#include "tenon/pipeline/tensor_map.hpp"
#include "tenon/status.hpp"

namespace tenon {

// Encodes a map of `rank` dimensions, the contiguous one first; strides in bytes, of dimensions 1 and up.
// Swizzle and fill as make_tensor_map() says. Fails where the driver has no tensor maps or refuses this one.
inline Status encode_tensor_map(const void* data, int element_bytes, int rank, const std::uint64_t* extents,
                                const std::uint64_t* strides, const std::uint32_t* box, TensorMap* map) {
  static_assert(sizeof(TensorMap) == sizeof(CUtensorMap), "TensorMap stands for a CUtensorMap");
  constexpr StatusCode refused = StatusCode::device_unsupported;
  static const auto encode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                               cudaEnableDefault, &found);
#else  // which has no other version of it
    const cudaError_t error =
        cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
    const bool usable = error == cudaSuccess && found == cudaDriverEntryPointSuccess;
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(usable ? function : nullptr);
  }();
  if (encode == nullptr)
    return Status(refused, "the driver has no cuTensorMapEncodeTiled: it needs CUDA 12.0 or newer");
  constexpr int most = 5;
  cuuint64_t extent[most] = {}, stride[most] = {};
  cuuint32_t sides[most] = {}, element_strides[most] = {1, 1, 1, 1, 1};
  for (int i = 0; i < rank; ++i) {
    extent[i] = extents[i];
    sides[i] = box[i];
    if (i > 0) stride[i - 1] = strides[i - 1];
  }
  // Elements are copied as bits; types differ only in the fill, and zero is zero in all.
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  if (element_bytes == 1) type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  if (element_bytes == 2) type = CU_TENSOR_MAP_DATA_TYPE_UINT16;
  const std::uint32_t width = box[0] * static_cast<unsigned>(element_bytes);
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  if (width == 32) swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
  if (width == 64) swizzle = CU_TENSOR_MAP_SWIZZLE_64B;
  if (width == 128) swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  // With a promotion to 256 bytes the 60 products of the suite `models` took 1.0 % longer on average and 9 %
  // at most; 16176 x 288 x 4504, whose rows do not begin on L2 lines, took 18 % longer.
  constexpr CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  CUtensorMap encoded;
  const CUresult result = encode(&encoded, type, static_cast<cuuint32_t>(rank), const_cast<void*>(data),
                                 extent, stride, sides, element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                 swizzle, promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    return Status(refused,
                  "cuTensorMapEncodeTiled refused (error %d) %lld rows of %lld elements of %d bytes, %lld "
                  "bytes apart, at %p",
                  static_cast<int>(result), static_cast<long long>(extents[1]),
                  static_cast<long long>(extents[0]), element_bytes, static_cast<long long>(strides[0]),
                  data);
  }
  std::memcpy(map, &encoded, sizeof encoded);
  return {};
}

// Makes a map that reads (or writes) the matrix in boxes of box_rows x box_columns. Boxes 128, 64 or 32 bytes
// wide have the swizzle of that width; others have none. A box of Tile::rows x Tile::panel_columns is one
// panel of a SharedTile. Elements outside the matrix read as zero.
//
// Returns device_unsupported and leaves *map as it was if the base or ld (in bytes) is no multiple of 16, if
// a box has more than 256 rows or columns or a width that is no multiple of 16 bytes, if a size is below 1,
// or if the driver has no tensor maps or refuses this one. CUDA Driver API, "Tensor Map Object Management".
inline Status make_tensor_map(const MatrixInMemory& matrix, int box_rows, int box_columns, TensorMap* map) {
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
  const std::uint64_t extents[2] = {static_cast<std::uint64_t>(matrix.columns),
                                    static_cast<std::uint64_t>(matrix.rows)};
  const std::uint64_t strides[1] = {distance};
  const std::uint32_t box[2] = {static_cast<std::uint32_t>(box_columns),
                                static_cast<std::uint32_t>(box_rows)};
  return encode_tensor_map(matrix.data, bytes, 2, extents, strides, box, map);
}

// The same for a tensor of four dimensions: a box lies in one of its matrices, and rows beyond the matrix
// read as zero. The strides of an outer dimension of size 1 are not used.
inline Status make_tensor_map_4d(const TensorInMemory& tensor, int box_rows, int box_columns,
                                 TensorMap* map) {
  constexpr StatusCode refused = StatusCode::device_unsupported;
  const auto element = static_cast<std::uint64_t>(tensor.element_bytes);
  if (tensor.rows < 1 || tensor.columns < 1 || tensor.outer[0] < 1 || tensor.outer[1] < 1)
    return Status(refused,
                  "the tensor has %d x %d matrices of %d rows of %d elements but a tensor map needs 1 or "
                  "more of each",
                  tensor.outer[1], tensor.outer[0], tensor.rows, tensor.columns);
  if (reinterpret_cast<std::uintptr_t>(tensor.data) % 16 != 0)
    return Status(refused, "the tensor begins at %p but TMA needs an address that is a multiple of 16 bytes",
                  tensor.data);
  const std::int64_t counts[3] = {tensor.rows, tensor.outer[0], tensor.outer[1]};
  const std::int64_t given[3] = {tensor.row_stride, tensor.outer_stride[0], tensor.outer_stride[1]};
  std::uint64_t extents[4] = {static_cast<std::uint64_t>(tensor.columns)}, strides[3] = {};
  for (int i = 0; i < 3; ++i) {
    extents[i + 1] = static_cast<std::uint64_t>(counts[i]);
    strides[i] = counts[i] == 1 ? 16 : static_cast<std::uint64_t>(given[i]) * element;
    if (given[i] < 0 || strides[i] % 16 != 0)
      return Status(refused, "a stride is %lld elements of %d bytes but TMA needs a multiple of 16 bytes",
                    static_cast<long long>(given[i]), tensor.element_bytes);
  }
  const std::uint32_t box[4] = {static_cast<std::uint32_t>(box_columns), static_cast<std::uint32_t>(box_rows),
                                1, 1};
  return encode_tensor_map(tensor.data, tensor.element_bytes, 4, extents, strides, box, map);
}

}  // namespace tenon
