// What a Tuning (tenon/tuning.hpp) holds, and the answer that it gives: pure functions of a table.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "gemm/kernel.hpp"
#include "tenon/gemm.hpp"

namespace tenon {

// What an entry is about. Tables are sorted by it: m last, so that the m of one family of problems are
// neighbours.
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
  std::string kernel, documented;  // the one to run, and what select_kernel() takes: often the same
  double microseconds = 0, documented_microseconds = 0;
};

struct TuningTable {
  std::string device;  // "NVIDIA H200": for people
  int sm = 0, multiprocessors = 0;
  std::string version, commit, toolkit;  // of what was measured: for people
  std::vector<TuningEntry> entries;      // by ascending key, each once
};

// The entry with the problem's key; else of the same family the one whose m is nearest by ratio, up to a
// factor of sqrt(2) (of two as near the larger); else nullptr.
const TuningEntry* find_tuning(const TuningTable& table, const Gemm& problem) noexcept;

// The kernel that problem.tuning has for the problem: nullptr without a table, from a table of another
// device, where there is no entry, or if the list has no such kernel or only a Copy::module one, which runs
// by name alone; *why, when given, then says so of the table. Whether it takes the problem is not asked.
// problem.kernel is not looked at.
const Kernel* tuned_kernel(const std::vector<Kernel>& list, const Gemm& problem,
                           const DeviceDescription& device, Status* why = nullptr) noexcept;

}  // namespace tenon
