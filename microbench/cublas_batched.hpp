// cuBLAS's entry points for batches as the reference, loaded at run time (cublas_library.hpp).
#pragma once

#include <string>
#include <vector>

#include "microbench/cublas_declarations.hpp"
#include "microbench/cuda_check.hpp"
#include "tenon/gemm_batched.hpp"

namespace tenon::microbench {

class CublasBatched {
 public:
  static constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

  // workspace: device memory of workspace_bytes. Throws Failure if the library is not found.
  CublasBatched(cudaStream_t stream, void* workspace);
  ~CublasBatched();
  CublasBatched(const CublasBatched&) = delete;
  CublasBatched& operator=(const CublasBatched&) = delete;

  // One way to call cuBLAS, and the type in which it accumulates.
  enum class Entry { strided, strided_f16, pointers, hgemm_strided };
  static constexpr Entry entries[] = {Entry::strided, Entry::strided_f16, Entry::pointers,
                                      Entry::hgemm_strided};
  static const char* name(Entry entry);
  std::string version() const;  // "cuBLAS 13.1.0"

  // Whether cuBLAS has the entry for these types.
  static bool offers(Entry entry, const Gemm& problem);

  // Enqueues the batch on the stream of the constructor. The batch is strided, and has alpha = 1 and beta =
  // 0. a, b, c: lists of the problems' matrices in device memory, for Entry::pointers.
  Status run(Entry entry, const BatchedGemm& batch, const void* const* a, const void* const* b,
             void* const* c) const;

 private:
  using Strided = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                     const void*, const void*, cudaDataType, int, long long, const void*,
                                     cudaDataType, int, long long, const void*, void*, cudaDataType, int,
                                     long long, int, cublasComputeType_t, cublasGemmAlgo_t);
  using Pointers = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                      const void*, const void* const*, cudaDataType, int, const void* const*,
                                      cudaDataType, int, const void*, void* const*, cudaDataType, int, int,
                                      cublasComputeType_t, cublasGemmAlgo_t);
  Strided strided_ = nullptr;
  Pointers pointers_ = nullptr;
  decltype(&cublasHgemmStridedBatched) hgemm_strided_ = nullptr;
  decltype(&cublasSetStream_v2) set_stream_ = nullptr;
  decltype(&cublasSetWorkspace_v2) set_workspace_ = nullptr;
  decltype(&cublasGetVersion_v2) get_version_ = nullptr;
  decltype(&cublasDestroy_v2) destroy_ = nullptr;
  decltype(&cublasGetStatusString) status_string_ = nullptr;
  cublasHandle_t handle_ = nullptr;
};

}  // namespace tenon::microbench
