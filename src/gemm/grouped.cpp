// The list of the kernels for grouped products, and the choice among them.
#include "gemm/grouped.hpp"

#include <algorithm>

namespace tenon {
namespace {

std::int64_t tiles_of(std::int64_t size, int tile) {
  return size / tile + (size % tile != 0);
}

// The time that a kernel takes, in columns of a row tile. Only the device knows the rows of each group: all
// are assumed to have as many.
double estimated_cost(const GroupedKernel& kernel, const GroupedGemm& p, const DeviceDescription& device) {
  const std::int64_t rows =
      p.layout == GroupLayout::contiguous ? tiles_of(p.m, static_cast<int>(p.groups)) : p.m;
  const std::int64_t tiles = p.groups * tiles_of(rows, kernel.tile_m) * tiles_of(p.n, kernel.tile_n);
  const std::int64_t at_once = std::max(1, device.multiprocessors / kernel.cluster * kernel.cluster);
  return static_cast<double>(tiles_of(tiles, static_cast<int>(at_once))) * kernel.tile_m * kernel.tile_n /
         kernel.efficiency;
}

}  // namespace

const std::vector<GroupedKernel>& grouped_kernels() {
  static const std::vector<GroupedKernel> all = [] {
    std::vector<GroupedKernel> list;
// Which sources this build has: src/gemm/CMakeLists.txt.
#ifdef TENON_GROUPED_F16
    append_grouped_f16(list);
#endif
#ifdef TENON_GROUPED_BF16
    append_grouped_bf16(list);
#endif
#ifdef TENON_GROUPED_E4M3
    append_grouped_e4m3(list);
#endif
    return list;
  }();
  return all;
}

const GroupedKernel* choose_grouped(const std::vector<GroupedKernel>& list, const GroupedGemm& p,
                                    const DeviceDescription& device, Status* why) {
  const auto takes = [&](const GroupedKernel& kernel) {
    return kernel.type == p.a.type && kernel.a_order == p.a.order && kernel.b_order == p.b.order &&
           kernel.divides_k == (p.layout == GroupLayout::divides_k);
  };
  const auto fits = [&](const GroupedKernel& kernel) {
    return !device.is_limited() || kernel.cluster <= device.multiprocessors;
  };
  if (p.kernel != nullptr) {
    const auto named =
        std::find_if(list.begin(), list.end(), [&](const GroupedKernel& x) { return x.name == p.kernel; });
    if (named == list.end()) {
      *why = Status(StatusCode::invalid_argument, "no kernel for grouped products has the name '%.100s'",
                    p.kernel);
      return nullptr;
    }
    if (takes(*named) && !fits(*named)) {
      *why = Status(StatusCode::unsupported,
                    "'%.100s' runs in clusters of %d CTAs but the call may use %d multiprocessors", p.kernel,
                    named->cluster, device.multiprocessors);
      return nullptr;
    }
    if (takes(*named)) return &*named;
    *why = Status(
        StatusCode::unsupported,
        "'%.100s' does not take this problem: its name has the type, the layout (here %s, %c%c), and "
        "dividesk if groups divide k",
        p.kernel, name(p.a.type), p.a.order == row_major ? 't' : 'n', p.b.order == row_major ? 't' : 'n');
    return nullptr;
  }
  const GroupedKernel* best = nullptr;
  int smallest_cluster = 0;  // of the kernels that take the problem
  for (const GroupedKernel& kernel : list) {
    if (!takes(kernel)) continue;
    smallest_cluster = smallest_cluster == 0 ? kernel.cluster : std::min(smallest_cluster, kernel.cluster);
    if (fits(kernel) &&
        (best == nullptr || estimated_cost(kernel, p, device) < estimated_cost(*best, p, device)))
      best = &kernel;
  }
  if (best == nullptr && smallest_cluster != 0)
    *why =
        Status(StatusCode::unsupported,
               "the kernels for such grouped products run in clusters of %d CTAs or more, but the call may "
               "use %d multiprocessors",
               smallest_cluster, device.multiprocessors);
  else if (best == nullptr)
    *why = Status(StatusCode::unsupported, "this build has no kernel for grouped products of %s",
                  name(p.a.type));
  return best;
}

}  // namespace tenon
