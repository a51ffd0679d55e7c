// A linear layer as an operator of PyTorch in C++: gelu(x weight^T + bias) in one kernel of the C API
// (tenon/tenon.h), on the current stream. torch_extension.py loads it and gives it gradients. torch is the
// folder of the installed package, lib that of tenon's shared library (BUILD_SHARED_LIBS=ON):
//
//   headers="-I tenon/include -I $CUDA_HOME/include -isystem $torch/include"
//   g++ -std=c++20 -O2 -fPIC -c $headers torch_extension.cpp
//   libraries="-L $torch/lib -ltorch_cpu -lc10 -lc10_cuda -L $lib -ltenon"
//   g++ -shared -o libtenon_torch.so torch_extension.o $libraries
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "tenon/tenon.h"

#ifndef TENON_TORCH_DEVICE  // the test without a GPU has another one
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#define TENON_TORCH_DEVICE CUDA

// The stream of a device, which is the current device meanwhile.
class CurrentStream {
 public:
  explicit CurrentStream(c10::Device device) : guard_(device) {}
  CUstream_st* get() const { return c10::cuda::getCurrentCUDAStream(); }

 private:
  c10::cuda::CUDAGuard guard_;
};
#endif

namespace {

using at::Tensor;

tenon_type type_of(const Tensor& x) {
  TORCH_CHECK(x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16, "a tensor is of ",
              x.scalar_type(), " but must be of Half or BFloat16");
  return x.scalar_type() == at::kHalf ? TENON_F16 : TENON_BF16;
}

// Whether dimension `inner` is contiguous, and the other one does not repeat elements as expand() does.
bool is_matrix(const Tensor& x, int inner) {
  return x.stride(inner) == 1 && (x.size(1 - inner) == 1 || x.stride(1 - inner) >= x.size(inner));
}
// What the library can read: the tensor, or a copy of it.
Tensor readable(const Tensor& x) {
  return is_matrix(x, 1) || is_matrix(x, 0) ? x : x.contiguous();
}
tenon_const_matrix operand(const Tensor& x) {
  const int inner = is_matrix(x, 1) ? 1 : 0;
  // Where the other dimension is 1, its stride may be anything.
  return {x.data_ptr(),
          std::max(x.stride(1 - inner), x.size(inner)),
          inner == 1 ? TENON_ROW_MAJOR : TENON_COLUMN_MAJOR,
          type_of(x),
          {}};
}

// a b, or gelu(a b + bias) with a b + bias in *before.
Tensor multiply(const Tensor& given_a, const Tensor& given_b, const Tensor* given_bias,
                const Tensor* before) {
  TORCH_CHECK(given_a.dim() == 2 && given_b.dim() == 2 && given_a.size(1) == given_b.size(0),
              "the operands are ", given_a.sizes(), " and ", given_b.sizes(), " but must be m x k and k x n");
  TORCH_CHECK(
      given_a.device() == given_b.device() && (!given_bias || given_bias->device() == given_a.device()),
      "the operands must be on one device");
  const Tensor a = readable(given_a), b = readable(given_b),
               c = at::empty({a.size(0), b.size(1)}, a.options());
  tenon_gemm_problem p = tenon_gemm_problem_default();
  p.m = c.size(0), p.n = c.size(1), p.k = a.size(1);
  p.a = operand(a), p.b = operand(b);
  p.c = {c.data_ptr(), p.n, type_of(c), {}};
  Tensor bias;
  if (given_bias != nullptr) {
    bias = given_bias->contiguous();
    p.epilogue.bias = {bias.data_ptr(), type_of(bias), {}};
    p.epilogue.activation = TENON_GELU;
    p.epilogue.aux = {before->data_ptr(), p.n, type_of(*before), {}};
  }
  const CurrentStream stream(a.device());
  constexpr std::size_t alignment = 256;  // of a workspace, which not every allocator has
  Tensor workspace;
  if (const std::size_t bytes = tenon_gemm_workspace_size(&p); bytes != 0) {
    std::size_t space = bytes + alignment - 1;
    workspace = at::empty({static_cast<std::int64_t>(space)}, a.options().dtype(at::kByte));
    p.workspace = workspace.data_ptr(), p.workspace_bytes = bytes;
    std::align(alignment, bytes, p.workspace, space);
  }
  const tenon_status status = tenon_gemm(&p, stream.get());
  TORCH_CHECK(status.code == TENON_OK, status.message);
  return c;
}
Tensor matmul(const Tensor& a, const Tensor& b) {
  return multiply(a, b, nullptr, nullptr);
}

// The layer, and what gelu was applied to, which the gradients need.
std::tuple<Tensor, Tensor> linear_gelu(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  TORCH_CHECK(x.dim() >= 1 && weight.dim() == 2 && x.size(-1) == weight.size(1) && bias.dim() == 1 &&
                  bias.size(0) == weight.size(0),
              "x, weight and bias are ", x.sizes(), ", ", weight.sizes(), " and ", bias.sizes(),
              " but must be [..., k], [n, k] and [n]");
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape.back() = weight.size(0);
  const Tensor rows = x.dim() == 1 ? x.unsqueeze(0) : x.flatten(0, -2);
  const Tensor before = at::empty({rows.size(0), weight.size(0)}, x.options());
  const Tensor y = multiply(rows, weight.t(), &bias, &before);
  return {y.view(shape), before.view(shape)};
}

// Shapes alone, which may be symbols: for torch.compile.
Tensor shape_of_matmul(const Tensor& a, const Tensor& b) {
  return a.new_empty_symint({a.sym_size(0), b.sym_size(1)});
}
std::tuple<Tensor, Tensor> shape_of_linear_gelu(const Tensor& x, const Tensor& weight,
                                                const Tensor& /*bias*/) {
  std::vector<c10::SymInt> shape = x.sym_sizes().vec();
  shape.back() = weight.sym_size(0);
  return {x.new_empty_symint(shape), x.new_empty_symint(shape)};
}

}  // namespace

TORCH_LIBRARY(tenon_cpp, m) {
  m.def("matmul(Tensor a, Tensor b) -> Tensor");
  m.def("linear_gelu(Tensor x, Tensor weight, Tensor bias) -> (Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(tenon_cpp, TENON_TORCH_DEVICE, m) {
  m.impl("matmul", matmul);
  m.impl("linear_gelu", linear_gelu);
}
TORCH_LIBRARY_IMPL(tenon_cpp, Meta, m) {
  m.impl("matmul", shape_of_matmul);
  m.impl("linear_gelu", shape_of_linear_gelu);
}
