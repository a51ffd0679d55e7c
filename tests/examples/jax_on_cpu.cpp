// The custom call of jax_linear.cpp for a machine without a GPU, where XLA has no stream to pass: for the
// test alone.
#include <optional>

#include "tenon/tenon.h"
#include "xla/ffi/api/ffi.h"

struct NoStream {};
template <>
struct xla::ffi::CtxDecoding<NoStream> {
  using Type = CUstream_st*;
  static std::optional<Type> Decode(const XLA_FFI_Api*, XLA_FFI_ExecutionContext*, DiagnosticEngine&) {
    return Type{nullptr};
  }
};
#define TENON_JAX_STREAM NoStream
#include "jax_linear.cpp"
