#include "microbench/instruction/figures.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "microbench/statistics.hpp"

namespace tenon::microbench::instruction {
namespace {

// The largest change of the clock in a valid run, beyond what the steps of %globaltimer explain.
constexpr double clock_change = 0.02;

// The step of %globaltimer in ns: 32 on some boards, 1000 or 1024 on others.
double timer_step(const std::vector<Launch>& launches) {
  std::uint64_t step = 0;
  for (const Launch& launch : launches)
    for (const Stamp& stamp : launch.stamps)
      for (const std::uint64_t ns : {stamp.ns_begin, stamp.ns_end})
        step = std::gcd(step, ns - std::min(ns, launches.front().stamps.front().ns_begin));
  return static_cast<double>(step);
}

bool any_failed(const std::vector<Launch>& launches) {
  for (const Launch& launch : launches)
    for (const Stamp& stamp : launch.stamps)
      if (stamp.failed != 0) return true;
  return false;
}

void add_cycles(Figures& figures, const std::vector<double>& repeats) {
  figures.cycles = median(repeats);
  figures.spread = middle_spread(repeats);
  figures.error = median_error(repeats);
  figures.repeats = static_cast<int>(repeats.size());
}

void add_rates(Figures& figures, const Case& test, int blocks) {
  if (figures.cycles <= 0) {
    figures.odd = "twice the trips did not take longer";
    return;
  }
  figures.operations_per_clk_per_sm = test.issuers / figures.cycles;
  figures.flop_per_clk_per_sm = figures.operations_per_clk_per_sm * test.kernel->flop;
  figures.bytes_per_clk_per_sm = figures.operations_per_clk_per_sm * test.bytes_per_operation();
  figures.tflops = figures.flop_per_clk_per_sm * blocks * figures.sm_mhz * 1e-6;
  figures.gigabytes_per_second = figures.bytes_per_clk_per_sm * blocks * figures.sm_mhz * 1e-3;
}

double nanoseconds(const Launch& launch) {
  std::uint64_t begin = launch.stamps.front().ns_begin, end = 0;
  for (const Stamp& stamp : launch.stamps) {
    begin = std::min(begin, stamp.ns_begin);
    end = std::max(end, stamp.ns_end);
  }
  return static_cast<double>(end - begin);
}

}  // namespace

double span(const Launch& launch, const Case& test) {
  std::vector<double> blocks;
  for (std::size_t first = 0; first < launch.stamps.size(); first += test.warps) {
    std::uint64_t begin = launch.stamps[first].begin, end = launch.stamps[first].end;
    for (std::size_t warp = first; warp < first + test.warps; ++warp) {
      begin = std::min(begin, launch.stamps[warp].begin);
      end = std::max(end, launch.stamps[warp].end);
    }
    blocks.push_back(static_cast<double>(end - begin));
  }
  if (test.grid == "cluster") return *std::max_element(blocks.begin(), blocks.end());
  return std::accumulate(blocks.begin(), blocks.end(), 0.0) / static_cast<double>(blocks.size());
}

double sm_mhz_between(const Launch& earlier, const Launch& later) {
  const Stamp& a = earlier.stamps.front();
  for (const Stamp& b : later.stamps) {
    if (a.sm == b.sm && b.ns_begin > a.ns_begin && b.begin > a.begin)
      return 1e3 * static_cast<double>(b.begin - a.begin) / static_cast<double>(b.ns_begin - a.ns_begin);
  }
  return 0;
}

Figures of_pairs(const Case& test, const std::vector<Launch>& launches, int blocks) {
  Figures figures;
  if (any_failed(launches)) {
    figures.odd = "a wait in the kernel timed out";
    return figures;
  }
  std::vector<double> cycles, clocks;
  for (std::size_t i = 0; i + 1 < launches.size(); i += 2) {
    const Launch& once = launches[i];
    const Launch& twice = launches[i + 1];
    const double operations = static_cast<double>(twice.trips - once.trips) * test.kernel->operations;
    cycles.push_back((span(twice, test) - span(once, test)) / operations);
    figures.seconds = std::max(figures.seconds, nanoseconds(twice) * 1e-9);
    if (i > 0) {
      const double mhz = sm_mhz_between(launches[i - 1], twice);
      if (mhz > 0) clocks.push_back(mhz);
    }
  }
  add_cycles(figures, cycles);
  figures.sm_mhz = sm_mhz_between(launches.front(), launches.back());
  if (!clocks.empty()) {
    const auto [slowest, fastest] = std::minmax_element(clocks.begin(), clocks.end());
    // Both ends of both windows are off by up to a step.
    const double window = nanoseconds(launches.back());
    if (*fastest > *slowest * (1 + clock_change + 4 * timer_step(launches) / window)) {
      char text[80];
      std::snprintf(text, sizeof text, "the clock changed during the run, from %.0f to %.0f MHz", *slowest,
                    *fastest);
      figures.odd = text;
    }
  }
  add_rates(figures, test, blocks);
  return figures;
}

Figures of_series(const Case& test, const std::vector<Launch>& launches, int blocks) {
  Figures figures;
  if (any_failed(launches)) {
    figures.odd = "a wait in the kernel timed out";
    return figures;
  }
  const std::size_t half = launches.size() / 2;
  std::vector<double> cycles;
  for (std::size_t i = half; i < launches.size(); ++i) {
    const double operations = static_cast<double>(launches[i].trips) * test.kernel->operations;
    cycles.push_back(span(launches[i], test) / operations);
    figures.seconds = std::max(figures.seconds, nanoseconds(launches[i]) * 1e-9);
  }
  add_cycles(figures, cycles);
  figures.sm_mhz = sm_mhz_between(launches[half], launches.back());
  add_rates(figures, test, blocks);
  return figures;
}

}  // namespace tenon::microbench::instruction
