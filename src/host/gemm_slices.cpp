// The host API of tenon/gemm_f64_slices.hpp on any launcher: validate, then the steps of gemm/slices.hpp.
#include "tenon/gemm_f64_slices.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "gemm/slices.hpp"
#include "host/cuda_launcher.hpp"
#include "host/gemm_slices_on.hpp"
#include "host/validate.hpp"
#include "tenon/gemm/problem.hpp"

namespace tenon {
namespace {

static_assert(least_slices == slices::least_moduli && most_slices == slices::most_moduli,
              "gemm_f64_slices.hpp must name the slices that there are moduli for");

constexpr StatusCode invalid = StatusCode::invalid_argument;

// 128 bits, in which the bytes of a matrix cannot wrap.
__extension__ using Wide = unsigned __int128;

// A matrix as it lies in memory: `count` rows (columns) of `length` elements.
struct InMemory {
  const char* name;
  const void* data;
  std::int64_t ld, count, length;
};

bool has_product(const SlicedGemm& p) noexcept {
  return p.m > 0 && p.n > 0 && p.k > 0 && p.alpha != 0.0;
}

slices::Layout layout_of(const SlicedGemm& p) noexcept {
  return slices::layout_of(p.m, p.n, std::min(p.k, slices::most_k), p.slices);
}

Status check_sizes(const SlicedGemm& p) noexcept {
  const struct {
    char name;
    std::int64_t size;
  } sizes[] = {{'m', p.m}, {'n', p.n}, {'k', p.k}};
  for (const auto& [name, size] : sizes) {
    if (size < 0 || size > largest_dimension)
      return Status(invalid, "%c is %lld but must be 0 to %lld", name, static_cast<long long>(size),
                    static_cast<long long>(largest_dimension));
  }
  if (p.slices < least_slices || p.slices > most_slices)
    return Status(invalid, "slices is %d but must be %d to %d", p.slices, least_slices, most_slices);
  if (!has_product(p)) return {};
  const std::int64_t most = slices::most_rows(p.slices);
  for (const auto& [name, size] : {sizes[0], sizes[1]}) {
    if (size > most)
      return Status(StatusCode::unsupported, "%c is %lld but with %d slices must be at most %lld", name,
                    static_cast<long long>(size), p.slices, static_cast<long long>(most));
  }
  const slices::Layout layout = layout_of(p);
  const Wide tiles = Wide(layout.rows_a / slices::cluster_rows) *
                     Wide(layout.rows_b / slices::cluster_columns) * Wide(p.slices);
  if (tiles > Wide{std::numeric_limits<int>::max()})
    return Status(StatusCode::unsupported,
                  "m = %lld and n = %lld with %d slices make more than 2^31 tiles of %d x %d",
                  static_cast<long long>(p.m), static_cast<long long>(p.n), p.slices, slices::cluster_rows,
                  slices::cluster_columns);
  return {};
}

Status check_matrix(const InMemory& x) noexcept {
  if (x.data == nullptr) return Status(invalid, "%s is a null pointer", x.name);
  const auto base = reinterpret_cast<std::uintptr_t>(x.data);
  if (base % sizeof(double) != 0)
    return Status(invalid, "%s is at %p but its elements of type f64 lie on multiples of 8 bytes", x.name,
                  x.data);
  if (x.ld < x.length)
    return Status(invalid, "the leading dimension of %s is %lld but needs >= %lld here", x.name,
                  static_cast<long long>(x.ld), static_cast<long long>(x.length));
  const Wide end = Wide{base} + (Wide(x.count - 1) * Wide(x.ld) + Wide(x.length)) * sizeof(double);
  if (end > Wide{std::numeric_limits<std::uintptr_t>::max()})
    return Status(invalid, "the leading dimension of %s is %lld: its last row ends beyond the address space",
                  x.name, static_cast<long long>(x.ld));
  return {};
}

ByteRanges ranges_of(const InMemory& x) noexcept {
  const auto bytes = [](std::int64_t elements) { return static_cast<std::uint64_t>(elements) * 8; };
  return {reinterpret_cast<std::uintptr_t>(x.data), static_cast<std::uint64_t>(x.count), bytes(x.length),
          x.count == 1 ? bytes(x.length) : bytes(x.ld)};
}

Status check_apart(const char* one, const ByteRanges& x, const char* other, const ByteRanges& y) noexcept {
  if (!overlap(x, y)) return {};
  return Status(invalid, "%s (from 0x%llx) %s %s (from 0x%llx) but needs memory of its own", one,
                static_cast<unsigned long long>(x.base), overlap_is_exact(x, y) ? "overlaps" : "may overlap",
                other, static_cast<unsigned long long>(y.base));
}

InMemory operand(const char* name, const SlicedGemm::Operand& x, Order k_contiguous, std::int64_t rows,
                 std::int64_t k) noexcept {
  return x.order == k_contiguous ? InMemory{name, x.data, x.ld, rows, k}
                                 : InMemory{name, x.data, x.ld, k, rows};
}

Status check_workspace(const SlicedGemm& p) noexcept {
  const std::size_t needed = workspace_size(p);
  if (p.workspace_bytes < needed)
    return Status(StatusCode::workspace_too_small,
                  "workspace_bytes is %zu but the slices of A, B and C need >= %zu", p.workspace_bytes,
                  needed);
  if (p.workspace == nullptr) return Status(invalid, "workspace is a null pointer");
  const auto beyond = static_cast<int>(reinterpret_cast<std::uintptr_t>(p.workspace) % 256);
  if (beyond != 0) return Status(invalid, "workspace is %d bytes past a multiple of 256 but needs 0", beyond);
  return {};
}

Status validate(const SlicedGemm& p) noexcept {
  if (Status s = check_sizes(p); !s) return s;
  for (const auto& [letter, order] : {std::pair('A', p.a.order), std::pair('B', p.b.order)}) {
    if (order != row_major && order != column_major)
      return Status(invalid, "the order of %c is %d but is 0 (row-major) or 1 (column-major)", letter,
                    static_cast<int>(order));
  }
  if (p.m == 0 || p.n == 0) return {};
  const InMemory c{"C", p.c.data, p.c.ld, p.m, p.n};
  if (Status s = check_matrix(c); !s) return s;
  if (!has_product(p)) return {};
  const InMemory a = operand("A", p.a, row_major, p.m, p.k), b = operand("B", p.b, column_major, p.n, p.k);
  if (Status s = check_matrix(a); !s) return s;
  if (Status s = check_matrix(b); !s) return s;
  if (Status s = check_workspace(p); !s) return s;
  const ByteRanges workspace{reinterpret_cast<std::uintptr_t>(p.workspace), 1, workspace_size(p), 0};
  for (const InMemory* x : {&a, &b}) {
    if (Status s = check_apart("C", ranges_of(c), x->name, ranges_of(*x)); !s) return s;
    if (Status s = check_apart("the workspace", workspace, x->name, ranges_of(*x)); !s) return s;
  }
  return check_apart("the workspace", workspace, "C", ranges_of(c));
}

// Checks everything; the launch of the product, if there is one.
Status prepare(Launcher& launcher, const SlicedGemm& p, Launch* product) noexcept {
  if (Status s = validate(p); !s) return s;
  DeviceDescription device;
  if (p.m == 0 || p.n == 0) return {};
  if (Status s = launcher.describe(&device); !s) return s;
  if (device.sm != 90)
    return Status(StatusCode::device_unsupported,
                  "products of f64 by slices need sm_90 but the device is sm_%d", device.sm);
  if (!has_product(p)) return {};
  return slices::plan_product(launcher, device, layout_of(p), static_cast<unsigned char*>(p.workspace),
                              product);
}

}  // namespace

int slices_for(int bits, std::int64_t k) noexcept {
  if (bits < 1 || bits > 62) return 0;
  const std::int64_t of_product = std::clamp<std::int64_t>(k, 1, slices::most_k);
  for (int count = least_slices; count <= most_slices; ++count) {
    if (slices::bits_of(count, static_cast<int>(of_product)) >= bits) return count;
  }
  return 0;
}

Status can_implement(Launcher& launcher, const SlicedGemm& problem) noexcept {
  Launch product;
  return prepare(launcher, problem, &product);
}

std::size_t workspace_size(const SlicedGemm& problem) noexcept {
  return check_sizes(problem) && has_product(problem) ? layout_of(problem).bytes : 0;
}

Status gemm(Launcher& launcher, const SlicedGemm& problem) noexcept {
  Launch product;
  if (Status s = prepare(launcher, problem, &product); !s) return s;
  if (problem.m == 0 || problem.n == 0) return {};
  slices::Destination c{problem.c.data, problem.c.ld, problem.alpha, problem.beta};
  if (!has_product(problem)) return slices::scale(launcher, problem.m, problem.n, c);
  const slices::Layout layout = layout_of(problem);
  auto* const workspace = static_cast<unsigned char*>(problem.workspace);
  for (std::int64_t k = 0; k < problem.k; k += slices::most_k) {
    const auto depth = static_cast<int>(std::min(problem.k - k, slices::most_k));
    const auto part = [&](const SlicedGemm::Operand& x, Order k_contiguous, std::int64_t rows) {
      const bool contiguous = x.order == k_contiguous;
      return slices::Operand{x.data + (contiguous ? k : k * x.ld), x.ld, static_cast<int>(rows), depth,
                             contiguous};
    };
    const slices::Operand a = part(problem.a, row_major, problem.m),
                          b = part(problem.b, column_major, problem.n);
    if (Status s = slices::find_shifts(launcher, a, b, layout, workspace); !s) return s;
    if (Status s = slices::find_residues(launcher, a, b, layout, workspace); !s) return s;
    if (Status s = launcher.launch(product); !s) return s;
    if (Status s = slices::combine(launcher, problem.m, problem.n, layout, c, workspace); !s) return s;
    c.beta = 1.0;
  }
  return {};
}

Status can_implement(const SlicedGemm& problem) noexcept {
  CudaLauncher launcher(nullptr);
  return can_implement(launcher, problem);
}

Status gemm(const SlicedGemm& problem, CUstream_st* stream) noexcept {
  CudaLauncher launcher(stream);
  return gemm(launcher, problem);
}

}  // namespace tenon
