#include "microbench/cublaslt.hpp"

#include <cuda_fp16.h>

#include <utility>

#include "microbench/cublas_library.hpp"

namespace tenon::microbench {
namespace {

template <typename Function>
void load(void* library, Function& function, const char* name) {
  load_function(library, "libcublasLt", function, name);
}

cublasComputeType_t compute_type(const Gemm& problem) {
  if (problem.accumulate == Type::s32) return CUBLAS_COMPUTE_32I;
  if (problem.accumulate == Type::f64) return CUBLAS_COMPUTE_64F;
  if (problem.accumulate == Type::f16) return CUBLAS_COMPUTE_16F;
  return problem.a.type == Type::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

// Throws for products of 8-bit types that cuBLASLt does not have (cublasLtMatmul() in its documentation): its
// own answer would be a bare error number.
void require_offered(const Gemm& problem) {
  const Type a = problem.a.type, b = problem.b.type;
  if (bytes(a) != 1) return;
  const std::string product = std::string(name(a)) + " by " + name(b);
  if (a == Type::e5m2 && b == Type::e5m2) throw Failure("cuBLASLt does not multiply " + product);
  if (problem.a.order != row_major || problem.b.order != column_major) {
    throw Failure("cuBLASLt multiplies " + product + " in the layout tn only, but A is " +
                  (problem.a.order == row_major ? "row" : "column") + "-major and B " +
                  (problem.b.order == row_major ? "row" : "column") + "-major");
  }
}

// The name that cuBLASLt has for an epilogue. Throws Failure where it has no such epilogue.
cublasLtEpilogue_t epilogue_of(const EpilogueOptions& options) {
  const bool bias = options.bias.data != nullptr, aux = options.aux.data != nullptr;
  const bool others =
      options.row_bias.data != nullptr || options.row_scale != nullptr || options.column_scale != nullptr;
  if (!others && aux && options.activation == Activation::relu)
    return bias ? CUBLASLT_EPILOGUE_RELU_AUX_BIAS : CUBLASLT_EPILOGUE_RELU_AUX;
  if (!others && aux && options.activation == Activation::gelu)
    return bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
  if (!others && !bias && options.activation == Activation::dgelu) return CUBLASLT_EPILOGUE_DGELU;
  if (aux)
    throw Failure(std::string("cuBLASLt has no such epilogue with aux and ") + name(options.activation));
  if (!others && options.activation == Activation::none)
    return bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  if (!others && options.activation == Activation::relu)
    return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  if (!others && options.activation == Activation::gelu)
    return bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  throw Failure(std::string("cuBLASLt has no such epilogue with the activation ") + name(options.activation));
}

}  // namespace

CublasLt::CublasLt() : library_(open_cublas_library("libcublasLt", "TENON_CUBLASLT")) {
  tenon::microbench::require(cudaFree(nullptr), "starting CUDA");
  decltype(&cublasLtCreate) create = nullptr;
  load(library_, create, "cublasLtCreate");
  load(library_, destroy_, "cublasLtDestroy");
  load(library_, get_version, "cublasLtGetVersion");
  load(library_, status_string, "cublasLtGetStatusString");
  load(library_, matmul, "cublasLtMatmul");
  load(library_, heuristic, "cublasLtMatmulAlgoGetHeuristic");
  load(library_, matmul_create, "cublasLtMatmulDescCreate");
  load(library_, matmul_destroy, "cublasLtMatmulDescDestroy");
  load(library_, matmul_set, "cublasLtMatmulDescSetAttribute");
  load(library_, layout_create, "cublasLtMatrixLayoutCreate");
  load(library_, layout_destroy, "cublasLtMatrixLayoutDestroy");
  load(library_, preference_create, "cublasLtMatmulPreferenceCreate");
  load(library_, preference_destroy, "cublasLtMatmulPreferenceDestroy");
  load(library_, preference_set, "cublasLtMatmulPreferenceSetAttribute");
  load(library_, algorithm_get, "cublasLtMatmulAlgoConfigGetAttribute");
  require(create(&handle), "starting cuBLASLt");
}

// The library itself stays loaded: it registers CUDA code that outlives its handles.
CublasLt::~CublasLt() {
  destroy_(handle);
}

void CublasLt::require(cublasStatus_t status, const char* what) const {
  if (status != CUBLAS_STATUS_SUCCESS) throw Failure(std::string(what) + ": " + status_string(status));
}

// cuBLASLt is column-major. It sees the row-major C as the transpose of C and computes C' = B' A', so its
// first operand is our B. It sees a row-major B as the n x k matrix B' and takes it as it is; a column-major
// B is k x n there and must be transposed.
CublasLtGemm::CublasLtGemm(const CublasLt& library, const Gemm& problem, void* workspace,
                           const float* scale_a, const float* scale_b)
    : library_(library),
      workspace_(workspace),
      scale_(problem.accumulate),
      addend_(problem.d.data != nullptr && problem.beta != 0.0F ? problem.c.data : nullptr) {
  require_offered(problem);
  const auto m = static_cast<std::uint64_t>(problem.m);
  const auto n = static_cast<std::uint64_t>(problem.n);
  const auto k = static_cast<std::uint64_t>(problem.k);
  const bool transpose_first = problem.b.order == column_major;
  const bool transpose_second = problem.a.order == column_major;
  const cublasOperation_t first_op = transpose_first ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t second_op = transpose_second ? CUBLAS_OP_T : CUBLAS_OP_N;
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulHeuristicResult_t results[max_answers];
  int found = 0;
  const auto check = [&](cublasStatus_t status) {
    library_.require(status, "describing the product to cuBLASLt");
  };
  try {
    check(library_.matmul_create(&operation_, compute_type(problem), data_type(scale_)));
    check(library_.matmul_set(operation_, CUBLASLT_MATMUL_DESC_TRANSA, &first_op, sizeof first_op));
    check(library_.matmul_set(operation_, CUBLASLT_MATMUL_DESC_TRANSB, &second_op, sizeof second_op));
    if (is_fp8(problem.a.type)) {
      const std::int8_t fast = problem.promote ? 0 : 1;
      check(library_.matmul_set(operation_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast));
    }
    if (scale_a != nullptr) {
      const cublasLtMatmulMatrixScale_t first_mode = CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F,
                                        second_mode = CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F;
      check(
          library_.matmul_set(operation_, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, &first_mode, sizeof first_mode));
      check(library_.matmul_set(operation_, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, &second_mode,
                                sizeof second_mode));
      check(library_.matmul_set(operation_, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &scale_b, sizeof scale_b));
      check(library_.matmul_set(operation_, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &scale_a, sizeof scale_a));
    }
    check(library_.layout_create(&first_, data_type(problem.b.type), transpose_first ? k : n,
                                 transpose_first ? n : k, problem.b.ld));
    check(library_.layout_create(&second_, data_type(problem.a.type), transpose_second ? m : k,
                                 transpose_second ? k : m, problem.a.ld));
    const Matrix& result = problem.d.data != nullptr ? problem.d : problem.c;
    check(library_.layout_create(&result_, data_type(result.type), n, m, result.ld));
    if (addend_ != nullptr)
      check(library_.layout_create(&addend_layout_, data_type(problem.c.type), n, m, problem.c.ld));
    const cublasLtEpilogue_t epilogue = epilogue_of(problem.epilogue);
    check(library_.matmul_set(operation_, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
    if (const ConstVector& bias = problem.epilogue.bias; bias.data != nullptr) {
      const cudaDataType_t type = data_type(bias.type);
      check(library_.matmul_set(operation_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias.data, sizeof bias.data));
      check(library_.matmul_set(operation_, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &type, sizeof type));
    }
    if (const Matrix& aux = problem.epilogue.aux; aux.data != nullptr) {
      check(library_.matmul_set(operation_, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aux.data,
                                sizeof aux.data));
      check(library_.matmul_set(operation_, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &aux.ld, sizeof aux.ld));
    }
    check(library_.preference_create(&preference));
    check(library_.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                  sizeof workspace_bytes));
    const cublasStatus_t asked = library_.heuristic(library_.handle, operation_, first_, second_,
                                                    addend_ != nullptr ? addend_layout_ : result_, result_,
                                                    preference, max_answers, results, &found);
    // For a product without an algorithm some versions return an error, others no answer.
    if (asked == CUBLAS_STATUS_NOT_SUPPORTED) {
      found = 0;
    } else {
      check(asked);
    }
  } catch (...) {
    if (preference != nullptr) library_.preference_destroy(preference);
    destroy();
    throw;
  }
  library_.preference_destroy(preference);
  for (int i = 0; i < found; ++i) {
    if (results[i].state == CUBLAS_STATUS_SUCCESS) answers_.push_back(results[i]);
  }
  if (answers_.empty()) {
    destroy();
    throw Failure("cuBLASLt offers no algorithm for this product");
  }
}

CublasLtGemm::~CublasLtGemm() {
  destroy();
}

void CublasLtGemm::destroy() {
  if (operation_ != nullptr) library_.matmul_destroy(operation_);
  for (cublasLtMatrixLayout_t layout : {first_, second_, result_, addend_layout_}) {
    if (layout != nullptr) library_.layout_destroy(layout);
  }
}

Status CublasLtGemm::run(int answer, const void* a, const void* b, void* c, cudaStream_t stream) const {
  const float one = 1.0F, zero = addend_ != nullptr ? 1.0F : 0.0F;
  const __half half_one = __float2half(1.0F), half_zero = __float2half(0.0F);
  const std::int32_t whole_one = 1, whole_zero = 0;
  const double wide_one = 1.0, wide_zero = 0.0;
  const void* alpha = &one;
  const void* beta = &zero;
  if (scale_ == Type::f16) {
    alpha = &half_one;
    beta = &half_zero;
  } else if (scale_ == Type::s32) {
    alpha = &whole_one;
    beta = &whole_zero;
  } else if (scale_ == Type::f64) {
    alpha = &wide_one;
    beta = &wide_zero;
  }
  const cublasStatus_t status = library_.matmul(
      library_.handle, operation_, alpha, b, first_, a, second_, beta, addend_ != nullptr ? addend_ : c,
      addend_ != nullptr ? addend_layout_ : result_, c, result_,
      &answers_[static_cast<std::size_t>(answer)].algo, workspace_, workspace_bytes, stream);
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  return {StatusCode::cuda_error, "cublasLtMatmul: %s", library_.status_string(status)};
}

std::string CublasLtGemm::describe(int answer) const {
  const cublasLtMatmulAlgo_t& algorithm = answers_[static_cast<std::size_t>(answer)].algo;
  std::string text = versioned("cuBLASLt", library_.version()) + " #" + std::to_string(answer);
  const std::pair<cublasLtMatmulAlgoConfigAttributes_t, const char*> attributes[] = {
      {CUBLASLT_ALGO_CONFIG_ID, "algorithm"},
      {CUBLASLT_ALGO_CONFIG_TILE_ID, "tile"},
      {CUBLASLT_ALGO_CONFIG_STAGES_ID, "stages"},
      {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, "split-k"},
      {CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, "swizzle"}};
  const char* separator = " (";
  const auto append = [&](const char* label, std::uint32_t value) {
    text += std::string(separator) + label + " " + std::to_string(value);
    separator = ", ";
  };
  std::size_t written = 0;
  for (const auto& [attribute, label] : attributes) {
    std::uint32_t value = 0;
    if (library_.algorithm_get(&algorithm, attribute, &value, sizeof value, &written) ==
        CUBLAS_STATUS_SUCCESS) {
      append(label, value);
    }
  }
  std::uint16_t cluster = 0;
  if (library_.algorithm_get(&algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, &cluster, sizeof cluster,
                             &written) == CUBLAS_STATUS_SUCCESS) {
    append("cluster", cluster);
  }
  return text + (*separator == ',' ? ")" : "");
}

}  // namespace tenon::microbench
