// From the stamps of launches to cycles and rates. No device is needed here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "microbench/instruction/launch.hpp"
#include "microbench/instruction/manifest.hpp"

namespace tenon::microbench::instruction {

// One launch: all warps' stamps, block after block.
struct Launch {
  std::uint32_t trips = 0;
  std::vector<Stamp> stamps;
};

struct Figures {
  double cycles = 0;                     // between two operations of one issuer
  double spread = 0;                     // of `cycles` over the repeats: middle_spread of statistics.hpp
  double error = 0;                      // of `cycles`, relative: median_error of statistics.hpp
  int repeats = 0;                       // pairs of launches, or launches of a series, that count
  double operations_per_clk_per_sm = 0;  // by all issuers of a block
  double flop_per_clk_per_sm = 0, bytes_per_clk_per_sm = 0;
  double sm_mhz = 0;                            // 0 if unknown
  double tflops = 0, gigabytes_per_second = 0;  // of all blocks together, at sm_mhz
  double seconds = 0;                           // of the longest launch, by %globaltimer
  std::string odd;                              // why the figures must not be kept, in a sentence; ""
};

// Cycles from the first begin to the last end: of each block the span of its warps; of the blocks the mean
// (what they share, an L2 of two halves, serves some better than others: a median would jump between the two
// kinds), or the longest in a cluster, where some watch.
double span(const Launch& launch, const Case& test);

// MHz of the SM of the earlier launch's first block, until the later one begins there; 0 if it does not.
double sm_mhz_between(const Launch& earlier, const Launch& later);

// `pairs` are launches of R and 2 R trips by turns. Figures are the medians of the pairs' differences.
Figures of_pairs(const Case& test, const std::vector<Launch>& launches, int blocks);

// Launches back to back, of which the second half counts.
Figures of_series(const Case& test, const std::vector<Launch>& launches, int blocks);

}  // namespace tenon::microbench::instruction
