// The memory of plan_memory.hpp: a table in which the hash of a problem determines the entry.
#include "host/plan_memory.hpp"

#include <cstdint>
#include <tuple>

namespace tenon {
namespace {

bool is_remembered(const Gemm& p) noexcept {
  return p.kernel == nullptr && p.tuning == nullptr;
}

// Null, or an address from 256 to 511 that ends as the pointer does.
template <class T>
void keep_alignment(T*& pointer) noexcept {
  if (pointer == nullptr) return;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): compared, and never read
  pointer = reinterpret_cast<T*>(std::uintptr_t{256} | (reinterpret_cast<std::uintptr_t>(pointer) % 256));
}

// The problem as far as a plan depends on it.
Gemm essence_of(const Gemm& problem) noexcept {
  Gemm p = problem;
  keep_alignment(p.a.data), keep_alignment(p.b.data), keep_alignment(p.c.data), keep_alignment(p.d.data);
  keep_alignment(p.scale_a), keep_alignment(p.scale_b), keep_alignment(p.workspace);
  EpilogueOptions& e = p.epilogue;
  keep_alignment(e.bias.data), keep_alignment(e.row_bias.data), keep_alignment(e.row_scale);
  keep_alignment(e.column_scale), keep_alignment(e.aux.data), keep_alignment(e.scale_d);
  keep_alignment(e.absmax), keep_alignment(e.bias_gradient);
  return p;
}

auto members(const ConstMatrix& x) noexcept {
  return std::tie(x.data, x.ld, x.order, x.type);
}
auto members(const Matrix& x) noexcept {
  return std::tie(x.data, x.ld, x.type);
}
auto members(const ConstVector& x) noexcept {
  return std::tie(x.data, x.type);
}
auto members(const EpilogueOptions& x) noexcept {
  static_assert(sizeof(EpilogueOptions) == 120, "a new member must be compared here");
  return std::tuple_cat(std::tie(x.activation, x.row_scale, x.column_scale, x.lower, x.upper, x.gated,
                                 x.scale_d, x.absmax, x.bias_gradient),
                        members(x.bias), members(x.row_bias), members(x.aux));
}
auto members(const DeviceDescription& x) noexcept {
  static_assert(sizeof(DeviceDescription) == 32, "a new member must be compared here");
  return std::tie(x.sm, x.multiprocessors, x.all_multiprocessors, x.shared_bytes_per_block_optin, x.l2_bytes,
                  x.memory_bytes_per_clock);
}
// Without what is_remembered() refuses, and what does not change a plan of a device: its multiprocessors are
// in its description.
auto members(const Gemm& x) noexcept {
  static_assert(sizeof(Gemm) == 328, "a new member must be compared here");
  return std::tuple_cat(std::tie(x.m, x.n, x.k, x.alpha, x.beta, x.accumulate, x.promote, x.precision,
                                 x.scale_a, x.scale_b, x.workspace, x.workspace_bytes),
                        members(x.a), members(x.b), members(x.c), members(x.d), members(x.epilogue));
}

struct Entry {
  Gemm problem;
  DeviceDescription device;
  Plan plan;  // of no kernel: nothing is remembered here
};
constexpr std::size_t entries = 64;
thread_local Entry memory[entries];

// Of the sizes and the leading dimensions, in which the problems of a program differ.
Entry& entry_of(const Gemm& p) noexcept {
  std::uint64_t hash = 0;
  for (const std::int64_t x : {p.m, p.n, p.k, p.a.ld, p.b.ld, p.c.ld, static_cast<std::int64_t>(p.a.order),
                               static_cast<std::int64_t>(p.b.order), static_cast<std::int64_t>(p.a.type)})
    hash = (hash ^ static_cast<std::uint64_t>(x)) * 0x9E3779B97F4A7C15U;
  return memory[hash >> 58U];
}
static_assert(entries == std::size_t{1} << (64U - 58U));

}  // namespace

bool recall_plan(const Gemm& problem, const DeviceDescription& device, Plan* plan) noexcept {
  if (!is_remembered(problem)) return false;
  const Entry& entry = entry_of(problem);
  if (entry.plan.kernel == nullptr || members(entry.device) != members(device) ||
      members(entry.problem) != members(essence_of(problem)))
    return false;
  *plan = entry.plan;
  return true;
}

void remember_plan(const Gemm& problem, const DeviceDescription& device, const Plan& plan) noexcept {
  if (is_remembered(problem)) entry_of(problem) = {essence_of(problem), device, plan};
}

}  // namespace tenon
