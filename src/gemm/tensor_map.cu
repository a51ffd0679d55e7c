// cuTensorMapEncodeTiled, reached through the runtime so that the library does not link libcuda.
#include "gemm/tensor_map.hpp"

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstring>

#include "tenon/pipeline/tma_ring.hpp"

namespace tenon {

static_assert(sizeof(TensorMap) == sizeof(CUtensorMap), "TensorMap stands for a CUtensorMap");

Status make_tensor_map(const void* data, int lines, int columns, std::int64_t ld, int box_lines,
                       int box_columns, TensorMap* map) {
  // The 16-bit types are copied as bits; they differ only in the fill, and zero is zero in both.
  static const auto encode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                               cudaEnableDefault, &found);
    const bool usable = error == cudaSuccess && found == cudaDriverEntryPointSuccess;
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(usable ? function : nullptr);
  }();
  if (encode == nullptr) {
    return Status(StatusCode::device_unsupported,
                  "the driver has no cuTensorMapEncodeTiled: it needs CUDA 12.0 or newer");
  }
  const cuuint64_t extents[2] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(lines)};
  const cuuint64_t strides[1] = {static_cast<cuuint64_t>(ld) * 2};
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(box_columns), static_cast<cuuint32_t>(box_lines)};
  const cuuint32_t element_strides[2] = {1, 1};
  CUtensorMap encoded;
  const CUresult result =
      encode(&encoded, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, const_cast<void*>(data), extents, strides, box,
             element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    return Status(
        StatusCode::cuda_error,
        "cuTensorMapEncodeTiled refused (error %d) a matrix of %d lines of %d elements, %lld apart, at %p",
        static_cast<int>(result), lines, columns, static_cast<long long>(ld), data);
  }
  std::memcpy(map, &encoded, sizeof encoded);
  return {};
}

}  // namespace tenon
