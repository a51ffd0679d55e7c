// Values, sizes and functions of microbench/cublas_declarations.hpp against the headers of the CUDA Toolkit.
#include "microbench/cublas_declarations.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#include <cublas_api.h>

namespace tenon::microbench {
namespace {

// Handles and enumerations are other types here than there, but must be passed in the same way.
template <typename A, typename B>
constexpr bool alike = sizeof(A) == sizeof(B) &&
                       std::is_pointer_v<A> == std::is_pointer_v<B>&& std::is_enum_v<A> == std::is_enum_v<B>;

template <typename R1, typename... A1, typename R2, typename... A2>
constexpr bool same_call(R1 (* /*ours*/)(A1...), R2 (* /*theirs*/)(A2...)) {
  if constexpr (sizeof...(A1) == sizeof...(A2)) {
    return alike<R1, R2> && (alike<A1, A2> && ...);
  } else {
    return false;
  }
}

TEST(CublasDeclarations, AreTheToolkits) {
  EXPECT_EQ(cublas_major, CUBLAS_VER_MAJOR);
#define EXPECT_SAME_VALUE(name) EXPECT_EQ(static_cast<int>(name), static_cast<int>(::name)) << #name
  EXPECT_SAME_VALUE(CUBLAS_STATUS_SUCCESS);
  EXPECT_SAME_VALUE(CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_SAME_VALUE(CUBLAS_OP_N);
  EXPECT_SAME_VALUE(CUBLAS_OP_T);
  EXPECT_SAME_VALUE(CUBLAS_GEMM_DEFAULT);
  EXPECT_SAME_VALUE(CUBLAS_COMPUTE_16F);
  EXPECT_SAME_VALUE(CUBLAS_COMPUTE_32F);
  EXPECT_SAME_VALUE(CUBLAS_COMPUTE_64F);
  EXPECT_SAME_VALUE(CUBLAS_COMPUTE_32I);
  EXPECT_SAME_VALUE(CUBLAS_COMPUTE_32F_FAST_TF32);
  EXPECT_SAME_VALUE(CUBLASLT_MATMUL_DESC_TRANSA);
  EXPECT_SAME_VALUE(CUBLASLT_MATMUL_DESC_TRANSB);
  EXPECT_SAME_VALUE(CUBLASLT_MATMUL_DESC_EPILOGUE);
  EXPECT_SAME_VALUE(CUBLASLT_MATMUL_DESC_BIAS_POINTER);
  EXPECT_SAME_VALUE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER);
  EXPECT_SAME_VALUE(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD);
  EXPECT_SAME_VALUE(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER);
  EXPECT_SAME_VALUE(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER);
  EXPECT_SAME_VALUE(CUBLASLT_MATMUL_DESC_FAST_ACCUM);
  EXPECT_SAME_VALUE(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
  EXPECT_SAME_VALUE(CUBLASLT_MATMUL_DESC_A_SCALE_MODE);
  EXPECT_SAME_VALUE(CUBLASLT_MATMUL_DESC_B_SCALE_MODE);
  EXPECT_SAME_VALUE(CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F);
  EXPECT_SAME_VALUE(CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F);
  EXPECT_SAME_VALUE(CUBLASLT_EPILOGUE_DEFAULT);
  EXPECT_SAME_VALUE(CUBLASLT_EPILOGUE_RELU);
  EXPECT_SAME_VALUE(CUBLASLT_EPILOGUE_BIAS);
  EXPECT_SAME_VALUE(CUBLASLT_EPILOGUE_RELU_BIAS);
  EXPECT_SAME_VALUE(CUBLASLT_EPILOGUE_GELU);
  EXPECT_SAME_VALUE(CUBLASLT_EPILOGUE_GELU_BIAS);
  EXPECT_SAME_VALUE(CUBLASLT_EPILOGUE_RELU_AUX);
  EXPECT_SAME_VALUE(CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
  EXPECT_SAME_VALUE(CUBLASLT_EPILOGUE_GELU_AUX);
  EXPECT_SAME_VALUE(CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
  EXPECT_SAME_VALUE(CUBLASLT_EPILOGUE_DGELU);
  EXPECT_SAME_VALUE(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
  EXPECT_SAME_VALUE(CUBLASLT_ALGO_CONFIG_ID);
  EXPECT_SAME_VALUE(CUBLASLT_ALGO_CONFIG_TILE_ID);
  EXPECT_SAME_VALUE(CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
  EXPECT_SAME_VALUE(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING);
  EXPECT_SAME_VALUE(CUBLASLT_ALGO_CONFIG_STAGES_ID);
  EXPECT_SAME_VALUE(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID);
#define EXPECT_SAME_CALL(name) EXPECT_TRUE(same_call(decltype(&name){}, decltype(&::name){})) << #name
  EXPECT_SAME_CALL(cublasCreate_v2);
  EXPECT_SAME_CALL(cublasDestroy_v2);
  EXPECT_SAME_CALL(cublasGetVersion_v2);
  EXPECT_SAME_CALL(cublasSetStream_v2);
  EXPECT_SAME_CALL(cublasSetWorkspace_v2);
  EXPECT_SAME_CALL(cublasGetStatusString);
  EXPECT_SAME_CALL(cublasDgemm_v2_64);
  EXPECT_SAME_CALL(cublasHgemmStridedBatched);
  EXPECT_SAME_CALL(cublasLtCreate);
  EXPECT_SAME_CALL(cublasLtDestroy);
  EXPECT_SAME_CALL(cublasLtGetVersion);
  EXPECT_SAME_CALL(cublasLtGetStatusString);
  EXPECT_SAME_CALL(cublasLtMatmul);
  EXPECT_SAME_CALL(cublasLtMatmulAlgoGetHeuristic);
  EXPECT_SAME_CALL(cublasLtMatmulDescCreate);
  EXPECT_SAME_CALL(cublasLtMatmulDescDestroy);
  EXPECT_SAME_CALL(cublasLtMatmulDescSetAttribute);
  EXPECT_SAME_CALL(cublasLtMatrixLayoutCreate);
  EXPECT_SAME_CALL(cublasLtMatrixLayoutDestroy);
  EXPECT_SAME_CALL(cublasLtMatmulPreferenceCreate);
  EXPECT_SAME_CALL(cublasLtMatmulPreferenceDestroy);
  EXPECT_SAME_CALL(cublasLtMatmulPreferenceSetAttribute);
  EXPECT_SAME_CALL(cublasLtMatmulAlgoConfigGetAttribute);
  using Ours = cublasLtMatmulHeuristicResult_t;
  using Theirs = ::cublasLtMatmulHeuristicResult_t;
  EXPECT_EQ(sizeof(cublasLtMatmulAlgo_t), sizeof(::cublasLtMatmulAlgo_t));
  EXPECT_EQ(sizeof(Ours), sizeof(Theirs));
  EXPECT_EQ(offsetof(Ours, workspaceSize), offsetof(Theirs, workspaceSize));
  EXPECT_EQ(offsetof(Ours, state), offsetof(Theirs, state));
}

}  // namespace
}  // namespace tenon::microbench
#else
TEST(CublasDeclarations, AreTheToolkits) {
  GTEST_SKIP() << "the CUDA Toolkit has no headers of cuBLAS";
}
#endif
