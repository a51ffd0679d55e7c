// The table of a Tuning (tenon/tuning.hpp), and the lookup in it: pure functions of a table.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "gemm/kernel.hpp"
#include "tenon/gemm.hpp"

namespace tenon {

// Identifies a problem. Tables are sorted by it, with m last, so that entries that differ only in m (a
// family) are adjacent.
struct TuningKey {
  Type a, b, accumulate, c;
  bool promote;
  Order a_order, b_order;
  std::int64_t n, k, m;

  auto family() const noexcept { return std::tie(a, b, accumulate, c, promote, a_order, b_order, n, k); }
};
TuningKey tuning_key(const Gemm& problem) noexcept;
bool operator<(const TuningKey& x, const TuningKey& y) noexcept;
bool operator==(const TuningKey& x, const TuningKey& y) noexcept;

struct TuningEntry {
  TuningKey key;
  std::string kernel, documented;  // the one to run, and the choice of select_kernel(): often the same
  double microseconds = 0, documented_microseconds = 0;
};

struct TuningTable {
  std::string device;  // "NVIDIA H200": for readers
  int sm = 0, multiprocessors = 0;
  std::string version, commit, toolkit;  // of the measured build: for readers
  std::vector<TuningEntry> entries;      // by ascending key, without duplicates
};

// The entry with the problem's key; else the entry of the same family whose m is nearest by ratio, within a
// factor of sqrt(2) (the larger of two at the same ratio); else nullptr.
const TuningEntry* find_tuning(const TuningTable& table, const Gemm& problem) noexcept;

// The kernel that problem.tuning has for the problem. nullptr if there is no table, if it is of another
// device or has no entry for the problem, or if the list does not have the kernel or has it as Copy::module,
// which runs only by name; *why, if given, then says which. Does not check that the kernel takes the problem,
// and ignores problem.kernel.
const Kernel* tuned_kernel(const std::vector<Kernel>& list, const Gemm& problem,
                           const DeviceDescription& device, Status* why = nullptr) noexcept;

}  // namespace tenon
