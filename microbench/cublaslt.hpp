// cuBLASLt as the reference: the best of its first eight heuristic answers.
//
// The library is loaded at run time, so that the program starts on machines without it and uses the copy that
// is installed: $TENON_CUBLASLT (a file), the loader's path, the toolkit, or the wheels that PyTorch depends
// on.
#pragma once

#include <string>
#include <vector>

#include "microbench/cases.hpp"
#include "microbench/cublas_declarations.hpp"
#include "microbench/cuda_check.hpp"

namespace tenon::microbench {

// The functions of libcublasLt that this folder calls. Throws Failure, with the places searched, if it is not
// found.
class CublasLt {
 public:
  CublasLt();
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  std::size_t version() const { return get_version(); }  // 130100 is 13.1.0

  decltype(&cublasLtMatmul) matmul = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&cublasLtMatmulDescCreate) matmul_create = nullptr;
  decltype(&cublasLtMatmulDescDestroy) matmul_destroy = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) matmul_set = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) algorithm_get = nullptr;
  decltype(&cublasLtGetStatusString) status_string = nullptr;
  cublasLtHandle_t handle = nullptr;

  void require(cublasStatus_t status, const char* what) const;

 private:
  decltype(&cublasLtGetVersion) get_version = nullptr;
  decltype(&cublasLtDestroy) destroy_ = nullptr;
  void* library_ = nullptr;
};

// One product as cuBLASLt sees it. alpha = 1 and beta = 0; the problem need not have a workspace. f32 inputs
// run as SGEMM (CUBLAS_COMPUTE_32F), tf32 inputs with CUBLAS_COMPUTE_32F_FAST_TF32. fp8 runs with scales of 1
// and fast accumulation (the accumulators stay in the tensor core), promoted without it. Throws Failure for
// products that cuBLASLt does not have: e5m2 by e5m2, fp8 and s8 in a layout other than tn.
class CublasLtGemm {
 public:
  static constexpr int max_answers = 8;
  static constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

  // scale_a, scale_b: of block-scaled e4m3 (VEC128_32F, whose ld is m, and BLK128x128_32F), or null.
  CublasLtGemm(const CublasLt& library, const Gemm& problem, void* workspace, const float* scale_a = nullptr,
               const float* scale_b = nullptr);
  ~CublasLtGemm();
  CublasLtGemm(const CublasLtGemm&) = delete;
  CublasLtGemm& operator=(const CublasLtGemm&) = delete;

  int answers() const { return static_cast<int>(answers_.size()); }

  // Enqueues the given heuristic answer on other matrices of the same shape.
  Status run(int answer, const void* a, const void* b, void* c, cudaStream_t stream) const;

  // "cuBLASLt 13.1.0 #2 (algorithm 66, tile 128x256, ...)"
  std::string describe(int answer) const;

 private:
  void destroy();

  const CublasLt& library_;
  void* workspace_;
  Type scale_;  // of alpha and beta
  cublasLtMatmulDesc_t operation_ = nullptr;
  const void* addend_;  // C where it is apart from D; with beta 1
  cublasLtMatrixLayout_t first_ = nullptr, second_ = nullptr, result_ = nullptr, addend_layout_ = nullptr;
  std::vector<cublasLtMatmulHeuristicResult_t> answers_;
};

}  // namespace tenon::microbench
