// FP32 in, tensor cores, FP32 out: rounds A and B to 16 bits in the workspace, multiplies, accumulates in
// FP32.
#include <cstdint>

#include "reference/reference.hpp"
#include "reference/validate.hpp"

namespace tenon::reference {
namespace {

// The 16-bit copy of an operand: the same order, with rows (columns of a column-major operand) padded to 16
// bytes, so that the product can load 8 elements at once.
struct Copy {
  std::int64_t lines, length, ld;
  std::size_t bytes;  // a multiple of 256: the next copy starts aligned

  Copy(Order order, std::int64_t rows, std::int64_t columns) noexcept
      : lines(order == Order::row_major ? rows : columns),
        length(order == Order::row_major ? columns : rows),
        ld((length + 7) / 8 * 8),
        bytes((static_cast<std::size_t>(lines) * static_cast<std::size_t>(ld) * 2 + 255) / 256 * 256) {}
};

}  // namespace

std::size_t mixed_workspace_size(const Gemm& problem) noexcept {
  if (!check_gemm(problem)) return 0;
  return Copy(problem.a.order, problem.m, problem.k).bytes +
         Copy(problem.b.order, problem.k, problem.n).bytes;
}

Status gemm_mixed(Algorithm algorithm, Type through, const Gemm& problem, CUstream_st* stream) noexcept {
  if (Status status = check_gemm(problem); !status) return status;
  if (problem.a.type != Type::f32) {
    return {StatusCode::unsupported, "A and B are %s but the mixed pipeline starts from f32",
            name(problem.a.type)};
  }
  if (through != Type::f16 && through != Type::bf16) {
    return {StatusCode::unsupported, "cannot go through %s: must be f16 or bf16", name(through)};
  }
  const std::size_t needed = mixed_workspace_size(problem);
  if (problem.workspace_bytes < needed || (problem.workspace == nullptr && needed != 0)) {
    return {StatusCode::workspace_too_small,
            "the workspace has %zu bytes but the 16-bit copies of A and B need %zu",
            problem.workspace == nullptr ? std::size_t{0} : problem.workspace_bytes, needed};
  }
  if (reinterpret_cast<std::uintptr_t>(problem.workspace) % 256 != 0) {
    return {StatusCode::invalid_argument, "the workspace is at %p but must be 256-byte aligned",
            problem.workspace};
  }
  // A copy must not overlap an operand that is still to be read. The check of the rounded problem covers
  // overlap with C.
  const auto elements = static_cast<std::int64_t>(needed / 2);
  const Extent copies{"the workspace", problem.workspace, 1, elements, elements, Order::row_major, Type::f16};
  const Extent operands[] = {
      {"A", problem.a.data, problem.m, problem.k, problem.a.ld, problem.a.order, Type::f32},
      {"B", problem.b.data, problem.k, problem.n, problem.b.ld, problem.b.order, Type::f32},
  };
  for (const Extent& operand : operands) {
    if (Status status = check_disjoint(copies, operand); !status) return status;
  }
  const Copy a(problem.a.order, problem.m, problem.k);
  const Copy b(problem.b.order, problem.k, problem.n);
  char* const a_data = static_cast<char*>(problem.workspace);
  char* const b_data = a_data == nullptr ? nullptr : a_data + a.bytes;

  Gemm rounded = problem;
  rounded.a = {a_data, a.ld, problem.a.order, through};
  rounded.b = {b_data, b.ld, problem.b.order, through};
  if (Status status = can_implement(algorithm, rounded); !status) return status;
  if (problem.m == 0 || problem.n == 0) return {};
  // Converts rows of a row-major operand, columns of a column-major one.
  Status status = convert(a.lines, a.length, {problem.a.data, problem.a.ld, Order::row_major, Type::f32},
                          {a_data, a.ld, through}, stream);
  if (!status) return status;
  status = convert(b.lines, b.length, {problem.b.data, problem.b.ld, Order::row_major, Type::f32},
                   {b_data, b.ld, through}, stream);
  if (!status) return status;
  return gemm(algorithm, rounded, stream);
}

}  // namespace tenon::reference
