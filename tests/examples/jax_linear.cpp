// The product of the C API (tenon/tenon.h) as a custom call of XLA, which jax_linear.py registers. xla is the
// folder of jaxlib's headers, jax.ffi.include_dir(), lib that of tenon's shared library
// (BUILD_SHARED_LIBS=ON):
//
//   g++ -std=c++17 -O2 -fPIC -c -I tenon/include -isystem "$xla" jax_linear.cpp
//   g++ -shared -o libtenon_jax.so jax_linear.o -L "$lib" -ltenon
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <sstream>
#include <string>

#include "tenon/tenon.h"
#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

#ifndef TENON_JAX_STREAM  // the test without a GPU has another one
#define TENON_JAX_STREAM ffi::PlatformStream<CUstream_st*>
#endif

namespace {

// An operand with so many rows and columns in the product. XLA's arrays are row-major; a transposed one is
// stored with the rows as columns.
tenon_const_matrix operand(const void* data, int64_t rows, int64_t columns, bool transposed,
                           tenon_type type) {
  return {data, transposed ? rows : columns, transposed ? TENON_COLUMN_MAJOR : TENON_ROW_MAJOR, type, {}};
}

tenon_gemm_problem problem_of(int64_t m, int64_t n, int64_t k, tenon_type type, bool transpose_a,
                              bool transpose_b, bool gelu) {
  tenon_gemm_problem p = tenon_gemm_problem_default();
  p.m = m, p.n = n, p.k = k;
  p.a = operand(nullptr, m, k, transpose_a, type);
  p.b = operand(nullptr, k, n, transpose_b, type);
  p.c = {nullptr, n, type, {}};
  p.epilogue.activation = gelu ? TENON_GELU : TENON_NONE;
  return p;
}

std::string text_of(ffi::DataType type) {
  std::ostringstream text;
  text << type;
  return text.str();
}

template <class Sizes>
std::string text_of(const Sizes& sizes) {
  std::string text;
  for (const int64_t size : sizes) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text.empty() ? "a scalar" : text;
}

// Whether an array has the element type of a, and the shape that follows from the others.
ffi::Error check(const std::string& name, const ffi::AnyBuffer& x, ffi::DataType type,
                 std::initializer_list<int64_t> shape) {
  const auto found = x.dimensions();
  if (x.element_type() != type)
    return ffi::Error::InvalidArgument(name + " is of " + text_of(x.element_type()) + " but must be of " +
                                       text_of(type) + ", as a is");
  if (!std::equal(found.begin(), found.end(), shape.begin(), shape.end()))
    return ffi::Error::InvalidArgument(name + " is " + text_of(found) + " but must be " + text_of(shape));
  return ffi::Error::Success();
}

constexpr std::size_t alignment = 256;  // of a workspace, which XLA does not promise

// y = a b + bias, or its gelu. bias: none or one vector; before: none, or where a b + bias goes as well.
ffi::Error gemm(CUstream_st* stream, ffi::AnyBuffer a, ffi::AnyBuffer b, ffi::RemainingArgs bias,
                ffi::Result<ffi::AnyBuffer> y, ffi::Result<ffi::Buffer<ffi::U8>> workspace,
                ffi::RemainingRets before, bool transpose_a, bool transpose_b, bool gelu) {
  if (a.element_type() != ffi::F16 && a.element_type() != ffi::BF16)
    return ffi::Error::InvalidArgument("a is of " + text_of(a.element_type()) +
                                       " but must be of F16 or BF16");
  if (a.dimensions().size() != 2)
    return ffi::Error::InvalidArgument("a is " + text_of(a.dimensions()) + " but must have two dimensions");
  if (y->dimensions().size() != 2)
    return ffi::Error::InvalidArgument("y is " + text_of(y->dimensions()) + " but must have two dimensions");
  const tenon_type type = a.element_type() == ffi::F16 ? TENON_F16 : TENON_BF16;
  const int64_t m = a.dimensions()[transpose_a ? 1 : 0], k = a.dimensions()[transpose_a ? 0 : 1],
                n = y->dimensions()[1];
  tenon_gemm_problem p = problem_of(m, n, k, type, transpose_a, transpose_b, gelu);
  if (auto e = check("b", b, a.element_type(), {transpose_b ? n : k, transpose_b ? k : n}); e.failure())
    return e;
  if (auto e = check("y", *y, a.element_type(), {m, n}); e.failure()) return e;
  p.a.data = a.untyped_data(), p.b.data = b.untyped_data(), p.c.data = y->untyped_data();
  if (bias.size() > 0) {
    const auto vector = bias.get<ffi::AnyBuffer>(0);
    if (vector.has_error()) return vector.error();
    if (auto e = check("bias", *vector, a.element_type(), {n}); e.failure()) return e;
    p.epilogue.bias = {vector->untyped_data(), type, {}};
  }
  if (before.size() > 0) {
    auto matrix = before.get<ffi::AnyBuffer>(0);
    if (matrix.has_error()) return matrix.error();
    if (auto e = check("before", **matrix, a.element_type(), {m, n}); e.failure()) return e;
    p.epilogue.aux = {(*matrix)->untyped_data(), n, type, {}};
  }
  p.workspace = workspace->untyped_data(), p.workspace_bytes = workspace->element_count();
  if (std::align(alignment, 1, p.workspace, p.workspace_bytes) == nullptr)
    p.workspace = nullptr, p.workspace_bytes = 0;
  const tenon_status status = tenon_gemm(&p, stream);
  return status.code == TENON_OK ? ffi::Error::Success() : ffi::Error::Internal(status.message);
}

}  // namespace

// The bytes of workspace to give to the custom call, on the current device.
extern "C" std::size_t tenon_jax_workspace(int64_t m, int64_t n, int64_t k, int bf16, int transpose_a,
                                           int transpose_b, int gelu) {
  const tenon_type type = bf16 != 0 ? TENON_BF16 : TENON_F16;
  const tenon_gemm_problem p = problem_of(m, n, k, type, transpose_a != 0, transpose_b != 0, gelu != 0);
  const std::size_t bytes = tenon_gemm_workspace_size(&p);
  return bytes == 0 ? 0 : bytes + alignment - 1;
}

// It only enqueues on the stream, and all memory is XLA's: a CUDA graph (XLA's command buffer) may replay it.
XLA_FFI_DEFINE_HANDLER_SYMBOL(tenon_jax_gemm, gemm,
                              ffi::Ffi::Bind()
                                  .Ctx<TENON_JAX_STREAM>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .RemainingArgs()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::Buffer<ffi::U8>>()
                                  .RemainingRets()
                                  .Attr<bool>("transpose_a")
                                  .Attr<bool>("transpose_b")
                                  .Attr<bool>("gelu"),
                              {ffi::Traits::kCmdBufferCompatible});
