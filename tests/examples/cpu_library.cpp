// The product of the C API on the CPU: what the examples for other languages are linked with in tests without
// a GPU. It reads and checks a problem as the library does, and computes it with the reference. It has no use
// for the stream, nor for the workspace that it asks for.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "host/c_api_gemm.hpp"
#include "host/c_api_read.hpp"
#include "host/validate.hpp"
#include "reference/activation.hpp"
#include "reference/cpu.hpp"
#include "tenon/tenon.h"

namespace tenon {
namespace {

std::vector<float> decoded(Type type, const void* data, std::size_t count) {
  std::vector<float> values(count);
  reference::decode(type, data, count, values.data());
  return values;
}

// A matrix from its first element to its last, with its leading dimension.
std::vector<float> decoded(const ConstMatrix& x, std::int64_t rows, std::int64_t columns) {
  const std::int64_t ranges = x.order == row_major ? rows : columns;
  const std::int64_t length = x.order == row_major ? columns : rows;
  const bool is_empty = ranges == 0 || length == 0;
  return decoded(x.type, x.data, is_empty ? 0 : static_cast<std::size_t>((ranges - 1) * x.ld + length));
}

void store(const Matrix& to, std::int64_t row, std::int64_t column, float value) {
  const std::size_t bytes = to.type == Type::f32 ? 4 : 2;
  reference::encode(to.type, &value, 1,
                    static_cast<char*>(to.data) + static_cast<std::size_t>(row * to.ld + column) * bytes);
}

constexpr std::size_t workspace_bytes = 1000;

Status gemm_on_cpu(const Gemm& p) {
  if (Status s = validate(p); !s) return s;
  if (p.workspace_bytes < workspace_bytes)
    return Status(StatusCode::workspace_too_small, "workspace_bytes is %zu but must be >= %zu on the CPU",
                  p.workspace_bytes, workspace_bytes);
  std::memset(p.workspace, 0xff,
              workspace_bytes);  // to be seen in the results if it were the memory of something else
  const EpilogueOptions& e = p.epilogue;
  if ((p.a.type != Type::f16 && p.a.type != Type::bf16) || p.beta != 0 || p.d.data != nullptr || e.gated ||
      e.activation > Activation::silu || e.row_bias.data != nullptr || e.row_scale != nullptr ||
      e.column_scale != nullptr || e.scale_d != nullptr || e.absmax != nullptr ||
      e.bias_gradient != nullptr) {
    return Status(StatusCode::unsupported,
                  "on the CPU there are f16 and bf16 with bias, activation and aux only");
  }
  const std::vector<float> a = decoded(p.a, p.m, p.k), b = decoded(p.b, p.k, p.n);
  const std::vector<float> bias = decoded(e.bias.type, e.bias.data, e.bias.data == nullptr ? 0 : p.n);
  reference::HostGemm host;
  host.m = p.m, host.n = p.n, host.k = p.k, host.alpha = static_cast<float>(p.alpha);
  host.a = {a.data(), p.a.ld, p.a.order};
  host.b = {b.data(), p.b.ld, p.b.order};
  const reference::HostResult result = reference::gemm(host);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      const double pre = result.value[i * p.n + j] + (bias.empty() ? 0.0 : bias[j]);
      if (e.aux.data != nullptr) store(e.aux, i, j, static_cast<float>(pre));
      store(p.c, i, j, static_cast<float>(reference::activated(e.activation, pre)));
    }
  }
  return {};
}

}  // namespace
}  // namespace tenon

extern "C" {

void tenon_gemm_problem_init(tenon_gemm_problem* problem, std::size_t struct_bytes) {
  tenon_gemm_problem defaults{};
  defaults.alpha = 1.0;
  defaults.accumulate = TENON_F32;
  tenon::c_api::initialise(problem, struct_bytes, defaults);
}

std::size_t tenon_gemm_workspace_size(const tenon_gemm_problem* /*problem*/) {
  return tenon::workspace_bytes;
}

tenon_status tenon_gemm(const tenon_gemm_problem* problem, CUstream_st* /*stream*/) {
  tenon_gemm_problem p;
  const tenon::Status s = tenon::c_api::read(problem, &p);
  return tenon::c_api::status_of(s ? tenon::gemm_on_cpu(tenon::c_api::problem_of(p)) : s);
}
}
