#include "microbench/cublas_batched.hpp"

#include <cuda_fp16.h>

#include "microbench/cublas_library.hpp"

namespace tenon::microbench {

CublasBatched::CublasBatched(cudaStream_t stream, void* workspace) {
  constexpr const char* name = "libcublas";
  void* const library = open_cublas_library(name, "TENON_CUBLAS");
  require(cudaFree(nullptr), "starting CUDA");
  decltype(&cublasCreate_v2) create = nullptr;
  load_function(library, name, create, "cublasCreate_v2");
  load_function(library, name, destroy_, "cublasDestroy_v2");
  load_function(library, name, get_version_, "cublasGetVersion_v2");
  load_function(library, name, set_stream_, "cublasSetStream_v2");
  load_function(library, name, set_workspace_, "cublasSetWorkspace_v2");
  load_function(library, name, status_string_, "cublasGetStatusString");
  load_function(library, name, strided_, "cublasGemmStridedBatchedEx");
  load_function(library, name, pointers_, "cublasGemmBatchedEx");
  load_function(library, name, hgemm_strided_, "cublasHgemmStridedBatched");
  if (create(&handle_) != CUBLAS_STATUS_SUCCESS) throw Failure("cuBLAS does not start");
  // With a workspace of the caller's, calls can be captured. Setting the stream resets it.
  if (set_stream_(handle_, stream) != CUBLAS_STATUS_SUCCESS ||
      set_workspace_(handle_, workspace, workspace_bytes) != CUBLAS_STATUS_SUCCESS) {
    destroy_(handle_);
    throw Failure("cuBLAS does not take the stream or the workspace");
  }
}

CublasBatched::~CublasBatched() {
  destroy_(handle_);
}

std::string CublasBatched::version() const {
  int version = 0;
  get_version_(handle_, &version);
  return versioned("cuBLAS", static_cast<std::size_t>(version));
}

const char* CublasBatched::name(Entry entry) {
  switch (entry) {
    case Entry::strided:
      return "cublasGemmStridedBatchedEx";
    case Entry::strided_f16:
      return "cublasGemmStridedBatchedEx accumulating in f16";
    case Entry::pointers:
      return "cublasGemmBatchedEx";
    case Entry::hgemm_strided:
      return "cublasHgemmStridedBatched";
  }
  return "";
}

bool CublasBatched::offers(Entry entry, const Gemm& problem) {
  const bool all_f16 = problem.a.type == Type::f16 && problem.c.type == Type::f16;
  return all_f16 || entry == Entry::strided || entry == Entry::pointers;
}

Status CublasBatched::run(Entry entry, const BatchedGemm& batch, const void* const* a, const void* const* b,
                          void* const* c) const {
  // cuBLAS's matrices are column-major: it computes the transpose of C from B^T and A^T.
  const Gemm& p = batch.problem;
  const cublasOperation_t op_b = p.b.order == row_major ? CUBLAS_OP_N : CUBLAS_OP_T,
                          op_a = p.a.order == row_major ? CUBLAS_OP_N : CUBLAS_OP_T;
  const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
  const int lda = static_cast<int>(p.a.ld), ldb = static_cast<int>(p.b.ld), ldc = static_cast<int>(p.c.ld);
  const int count = static_cast<int>(batch.count);
  const cudaDataType in = data_type(p.a.type), out = data_type(p.c.type);
  const float one = 1.0F, zero = 0.0F;
  const __half half_one = __float2half(1.0F), half_zero = __float2half(0.0F);
  const bool halves = entry == Entry::strided_f16;
  const void* const alpha = halves ? static_cast<const void*>(&half_one) : &one;
  const void* const beta = halves ? static_cast<const void*>(&half_zero) : &zero;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  switch (entry) {
    case Entry::strided:
    case Entry::strided_f16:
      status = strided_(handle_, op_b, op_a, n, m, k, alpha, p.b.data, in, ldb, batch.stride_b, p.a.data, in,
                        lda, batch.stride_a, beta, p.c.data, out, ldc, batch.stride_c, count,
                        halves ? CUBLAS_COMPUTE_16F : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
      break;
    case Entry::pointers:
      status = pointers_(handle_, op_b, op_a, n, m, k, alpha, b, in, ldb, a, in, lda, beta, c, out, ldc,
                         count, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
      break;
    case Entry::hgemm_strided:
      status = hgemm_strided_(handle_, op_b, op_a, n, m, k, &half_one, static_cast<const __half*>(p.b.data),
                              ldb, batch.stride_b, static_cast<const __half*>(p.a.data), lda, batch.stride_a,
                              &half_zero, static_cast<__half*>(p.c.data), ldc, batch.stride_c, count);
      break;
  }
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  return {StatusCode::cuda_error, "%s: %s", name(entry), status_string_(status)};
}

}  // namespace tenon::microbench
