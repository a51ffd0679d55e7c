// The product of parts of precision.hpp.
#include "host/precision.hpp"

#include <algorithm>
#include <limits>

#include "gemm/select.hpp"
#include "gemm/split.hpp"
#include "host/plan.hpp"

namespace tenon {
namespace {

// Of a launch more, beside the bytes that it moves, in the unit of estimated_cost(), which leaves out what
// every launch takes: 10 us, by 256^3 and 512^3, which take 14.7 and 15.3 us in two launches and 4.9 and 6.8
// in one (H200).
constexpr double split_launch_cost = 1200.0 * 17600;

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
  product.b = ConstMatrix(is_there ? static_cast<const void*>(workspace + parts_of_b_at(problem)) : somewhere,
                          ld, column_major, type);
  product.promote = promotes(precision);
  product.precision = Precision::none;
  product.workspace = nullptr;
  product.workspace_bytes = 0;
  return product;
}

namespace {

// Two launches for one: what a smaller product gains would not pay for the choice.
bool may_be_divided(const Gemm& p) noexcept {
  return promotes(p.precision) && p.kernel == nullptr && p.c.type == Type::f32 && p.k >= 256 &&
         static_cast<double>(p.m) * static_cast<double>(p.n) >= 512.0 * 512.0;
}

// whole: product_of_parts() of the problem.
Products leading_and_others(const Gemm& problem, const Gemm& whole) noexcept {
  const std::int64_t depth = block_depth(problem.k), before = whole.k - depth;
  Products products{{whole, whole}, 2, Division::of_leading_parts_and_others};
  Gemm &leading = products.product[0], &others = products.product[1];
  const auto from_last_block = [&](ConstMatrix& x) {
    x.data = static_cast<const unsigned char*>(x.data) +
             static_cast<std::size_t>(before) * bytes(part_type(problem.precision));
  };
  leading.k = depth;
  from_last_block(leading.a);
  from_last_block(leading.b);
  others.k = before;
  others.promote = false;
  others.beta = 1.0;
  return products;
}

// Infinite if no kernel computes the product.
double cost_of(const Gemm& product, const DeviceDescription& device) {
  Plan plan;
  return make_plan(kernels(), product, device, &plan) ? planned_cost(product, plan, device)
                                                      : std::numeric_limits<double>::infinity();
}

// Of the launch that splits both operands, in the unit of estimated_cost().
double cost_of_split(const Gemm& p, const DeviceDescription& device) noexcept {
  const double elements = (static_cast<double>(p.m) + static_cast<double>(p.n)) * static_cast<double>(p.k);
  const auto written = static_cast<double>(bytes(part_type(p.precision)) * products_of(p.precision));
  return estimated_copy_cost(elements * (4 + written) / 2, false, device) + split_launch_cost;
}

}  // namespace

bool rounds_while_loading(const Gemm& problem, const DeviceDescription& device, bool any_workspace) {
  if (problem.precision == Precision::none || products_of(problem.precision) != 1) return false;
  if (problem.kernel != nullptr) {
    const Kernel* const named = find_kernel(problem.kernel);
    return named != nullptr && named->rounds_f32;
  }
  const Kernel* const kernel = select_kernel(problem, device);
  if (kernel == nullptr) return false;
  if (!any_workspace && problem.workspace_bytes < parts_bytes(problem)) return true;
  return estimated_cost(*kernel, problem, device) <=
         cost_of_split(problem, device) + cost_of(product_of_parts(problem), device);
}

Division choose_division(const Gemm& problem, const DeviceDescription& device) {
  if (problem.precision == Precision::none || rounds_while_loading(problem, device, false))
    return Division::itself;
  if (!may_be_divided(problem)) return Division::of_parts;
  const Gemm whole = product_of_parts(problem);
  const Products two = leading_and_others(problem, whole);
  const double reading_c = estimated_copy_cost(
      4.0 * static_cast<double>(problem.m) * static_cast<double>(problem.n), false, device);
  const double cost_of_two = cost_of(two.product[0], device) + cost_of(two.product[1], device) + reading_c;
  return cost_of_two < cost_of(whole, device) ? two.division : Division::of_parts;
}

Products divide(const Gemm& problem, Division division) noexcept {
  if (division == Division::itself) return {{problem, {}}, 1, division};
  const Gemm whole = product_of_parts(problem);
  if (division == Division::of_parts) return {{whole, {}}, 1, division};
  return leading_and_others(problem, whole);
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
