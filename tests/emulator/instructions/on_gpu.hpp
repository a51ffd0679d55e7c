// Runs a test's kernel on the GPU of this machine, which must give the emulator's results: for tests of
// correct kernels. The environment variable TENON_TEST_DEVICE=cuda selects it.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "emulator/machine/tensor_map.hpp"
#include "tenon/emulator/types.hpp"

namespace tenon::emulator::testing {

inline bool on_gpu() {
  const char* const device = std::getenv("TENON_TEST_DEVICE");
  return device != nullptr && std::strcmp(device, "cuda") == 0;
}
inline bool there_is_a_gpu() {
  int count = 0;
  const bool found = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
  cudaGetLastError();
  return found;
}

// Memory of the emulator with a copy on the GPU.
struct MirroredBuffer {
  std::uint64_t address = 0;  // in the emulator
  std::uint8_t* host = nullptr;
  std::size_t size = 0;
  std::uint8_t* device = nullptr;
};

struct GpuParameter {
  std::vector<std::uint8_t> bytes;
};

// Translates addresses and tensor maps of the emulator to those of the GPU.
class GpuLaunch {
 public:
  explicit GpuLaunch(std::vector<MirroredBuffer> buffers) : buffers_(std::move(buffers)) {
    for (MirroredBuffer& buffer : buffers_) {
      check(cudaMalloc(&buffer.device, buffer.size), "cudaMalloc");
      check(cudaMemcpy(buffer.device, buffer.host, buffer.size, cudaMemcpyHostToDevice), "cudaMemcpy");
    }
  }
  ~GpuLaunch() {
    for (const MirroredBuffer& buffer : buffers_) cudaFree(buffer.device);
    if (library_ != nullptr) cudaLibraryUnload(library_);
  }
  GpuLaunch(const GpuLaunch&) = delete;
  GpuLaunch& operator=(const GpuLaunch&) = delete;

  // Runs the entry and copies the memory back. Empty: done; otherwise the error.
  std::string run(const std::string& text, const char* entry, std::vector<GpuParameter> parameters,
                  const Dim3& grid, const Dim3& block, const Dim3& cluster, std::uint32_t dynamic_shared) {
    cudaKernel_t kernel = nullptr;
    check(cudaLibraryLoadData(&library_, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
          "loading the PTX");
    if (failed_.empty()) check(cudaLibraryGetKernel(&kernel, library_, entry), "finding the entry");
    std::vector<void*> pointers;
    for (GpuParameter& parameter : parameters) {
      translate(parameter.bytes);
      pointers.push_back(parameter.bytes.data());
    }
    if (!failed_.empty()) return failed_;
    const void* const function = reinterpret_cast<const void*>(kernel);
    check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(dynamic_shared)),
          "cudaFuncSetAttribute");
    cudaLaunchConfig_t config{};
    config.gridDim = {grid.x, grid.y, grid.z};
    config.blockDim = {block.x, block.y, block.z};
    config.dynamicSmemBytes = dynamic_shared;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {cluster.x, cluster.y, cluster.z};
    config.attrs = &attribute;
    config.numAttrs = cluster.count() > 1 ? 1 : 0;
    check(cudaLaunchKernelExC(&config, function, pointers.data()), "the launch");
    check(cudaDeviceSynchronize(), "the kernel");
    for (const MirroredBuffer& buffer : buffers_) {
      check(cudaMemcpy(buffer.host, buffer.device, buffer.size, cudaMemcpyDeviceToHost), "cudaMemcpy");
    }
    return failed_;
  }

 private:
  void check(cudaError_t error, const char* doing) {
    if (error != cudaSuccess && failed_.empty())
      failed_ = std::string(doing) + ": " + cudaGetErrorString(error);
  }

  std::uint64_t on_device(std::uint64_t address) const {
    for (const MirroredBuffer& buffer : buffers_) {
      if (address >= buffer.address && address - buffer.address <= buffer.size)
        return reinterpret_cast<std::uint64_t>(buffer.device) + (address - buffer.address);
    }
    return address;
  }

  void translate(std::vector<std::uint8_t>& bytes) {
    if (bytes.size() == 8) {
      std::uint64_t value = 0;
      std::memcpy(&value, bytes.data(), 8);
      value = on_device(value);
      std::memcpy(bytes.data(), &value, 8);
    } else if (bytes.size() == 128) {
      std::uint8_t opaque[128];
      std::memcpy(opaque, bytes.data(), 128);
      MappedTensor tensor;
      if (!decode(opaque, tensor) || !problem(tensor).empty()) return;
      alignas(64) CUtensorMap map{};
      tensor.is_im2col ? encode_im2col_on_gpu(tensor, &map) : encode_on_gpu(tensor, &map);
      std::memcpy(bytes.data(), &map, 128);
    }
  }

  void encode_on_gpu(const MappedTensor& tensor, CUtensorMap* map) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    check(
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result),
        "cuTensorMapEncodeTiled");
    if (found == nullptr) return;
    const auto encode_tiled = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
    cuuint64_t dimensions[max_tensor_rank], strides[max_tensor_rank];
    cuuint32_t box[max_tensor_rank], steps[max_tensor_rank];
    for (int i = 0; i < tensor.rank; ++i) {
      dimensions[i] = tensor.dimensions[i];
      box[i] = tensor.box[i];
      steps[i] = tensor.element_strides[i];
      if (i > 0) strides[i - 1] = tensor.strides[i];
    }
    const CUresult status =
        encode_tiled(map, static_cast<CUtensorMapDataType>(tensor.type), static_cast<cuuint32_t>(tensor.rank),
                     reinterpret_cast<void*>(on_device(tensor.address)), dimensions, strides, box, steps,
                     static_cast<CUtensorMapInterleave>(tensor.interleave),
                     static_cast<CUtensorMapSwizzle>(tensor.swizzle),
                     static_cast<CUtensorMapL2promotion>(tensor.l2_promotion),
                     static_cast<CUtensorMapFloatOOBfill>(tensor.fill));
    if (status != CUDA_SUCCESS && failed_.empty())
      failed_ = "cuTensorMapEncodeTiled answers " + std::to_string(static_cast<int>(status));
  }

  void encode_im2col_on_gpu(const MappedTensor& tensor, CUtensorMap* map) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &found, 12000, cudaEnableDefault,
                                           &result),
          "cuTensorMapEncodeIm2col");
    if (found == nullptr) return;
    const auto encode_im2col = reinterpret_cast<decltype(&cuTensorMapEncodeIm2col)>(found);
    const CUresult status = encode_im2col(
        map, static_cast<CUtensorMapDataType>(tensor.type), static_cast<cuuint32_t>(tensor.rank),
        reinterpret_cast<void*>(on_device(tensor.address)),
        reinterpret_cast<const cuuint64_t*>(tensor.dimensions),
        reinterpret_cast<const cuuint64_t*>(tensor.strides + 1), tensor.lower_corner, tensor.upper_corner,
        tensor.box[0], tensor.box[1], tensor.element_strides,
        static_cast<CUtensorMapInterleave>(tensor.interleave),
        static_cast<CUtensorMapSwizzle>(tensor.swizzle),
        static_cast<CUtensorMapL2promotion>(tensor.l2_promotion),
        static_cast<CUtensorMapFloatOOBfill>(tensor.fill));
    if (status != CUDA_SUCCESS && failed_.empty())
      failed_ = "cuTensorMapEncodeIm2col answers " + std::to_string(static_cast<int>(status));
  }

  std::vector<MirroredBuffer> buffers_;
  cudaLibrary_t library_ = nullptr;
  std::string failed_;
};

}  // namespace tenon::emulator::testing
