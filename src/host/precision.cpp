// The product of parts of precision.hpp.
#include "host/precision.hpp"

#include <algorithm>
#include <limits>

#include "gemm/split.hpp"

namespace tenon {
namespace {

// 128 bits, in which the bytes of two operands cannot wrap.
__extension__ using Wide = unsigned __int128;

// Bytes from the parts of A to those of B.
std::size_t parts_of_b_at(const Gemm& problem) noexcept {
  return (split_bytes(problem.m, problem.k, problem.precision) + 255) / 256 * 256;
}

unsigned char* workspace_of(const Gemm& problem) noexcept {
  return static_cast<unsigned char*>(problem.workspace);
}

}  // namespace

std::size_t parts_bytes(const Gemm& problem) noexcept {
  const Wide sum = Wide{parts_of_b_at(problem)} + split_bytes(problem.n, problem.k, problem.precision);
  return static_cast<std::size_t>(std::min(sum, Wide{std::numeric_limits<std::size_t>::max()}));
}

Status check_parts_workspace(const Gemm& problem) noexcept {
  const std::size_t needed = parts_bytes(problem);
  if (problem.workspace_bytes >= needed) return {};
  return Status(StatusCode::workspace_too_small,
                "workspace_bytes is %zu but precision %s needs >= %zu here to split A and B",
                problem.workspace_bytes, name(problem.precision), needed);
}

Gemm product_of_parts(const Gemm& problem) noexcept {
  const Precision precision = problem.precision;
  const std::int64_t ld = split_ld(problem.k, precision);
  const Type type = part_type(precision);
  alignas(256) static char somewhere[1];
  const bool is_there = problem.workspace_bytes >= parts_bytes(problem);
  unsigned char* const workspace = workspace_of(problem);
  Gemm product = problem;
  product.k = split_depth(problem.k, precision);
  product.a = ConstMatrix(is_there ? static_cast<const void*>(workspace) : somewhere, ld, row_major, type);
  product.b =
      ConstMatrix(is_there ? static_cast<const void*>(workspace + parts_of_b_at(problem)) : somewhere, ld,
                  column_major, type);
  product.promote = promotes(precision);
  product.precision = Precision::none;
  product.workspace = nullptr;
  product.workspace_bytes = 0;
  return product;
}

Status split_into_workspace(Launcher& launcher, const Gemm& problem) noexcept {
  unsigned char* const workspace = workspace_of(problem);
  return split_operands(
      launcher, problem.precision,
      {problem.a.data, problem.m, problem.k, problem.a.ld, problem.a.order == row_major, workspace},
      {problem.b.data, problem.n, problem.k, problem.b.ld, problem.b.order == column_major,
       workspace + parts_of_b_at(problem)});
}

}  // namespace tenon
