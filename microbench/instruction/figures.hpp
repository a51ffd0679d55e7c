// From the time stamps of launches to cycles and rates. Needs no device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "microbench/instruction/launch.hpp"
#include "microbench/instruction/manifest.hpp"

namespace tenon::microbench::instruction {

// One launch: the stamps of all warps, CTA by CTA.
struct Launch {
  std::uint32_t trips = 0;
  std::vector<Stamp> stamps;
};

struct Figures {
  double cycles = 0;                     // between two operations of one issuer
  double spread = 0;                     // of `cycles` over the repeats: middle_spread() of statistics.hpp
  double error = 0;                      // of `cycles`, relative: median_error() of statistics.hpp
  int repeats = 0;                       // valid pairs of launches, or launches of a series
  double operations_per_clk_per_sm = 0;  // by all issuers of a CTA
  double flop_per_clk_per_sm = 0, bytes_per_clk_per_sm = 0;
  double sm_mhz = 0;                            // 0 if unknown
  double tflops = 0, gigabytes_per_second = 0;  // of all CTAs together, at sm_mhz
  double seconds = 0;                           // of the longest launch, by %globaltimer
  std::string odd;                              // why the figures must not be stored, in a sentence; ""
};

// Cycles from the first begin to the last end. For each CTA the span of its warps; over the CTAs the mean, or
// in a cluster, where some only watch, the longest. (The two halves of the L2 serve some CTAs better than
// others, and a median would jump between the two kinds.)
double span(const Launch& launch, const Case& test);

// MHz of the SM of the earlier launch's first CTA, until the later launch begins there; 0 if it does not.
double sm_mhz_between(const Launch& earlier, const Launch& later);

// `pairs` holds alternating launches of R and 2 R trips. Figures are the medians of the pairs' differences.
Figures of_pairs(const Case& test, const std::vector<Launch>& launches, int blocks);

// Launches back to back; the second half counts.
Figures of_series(const Case& test, const std::vector<Launch>& launches, int blocks);

}  // namespace tenon::microbench::instruction
