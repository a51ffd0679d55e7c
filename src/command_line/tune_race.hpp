// Finds the fastest of several candidates from noisy times: a quick measurement of all of them, then careful
// ones, alternating between the candidates that may win. Independent of kernels and devices.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace tenon::command {

struct RaceRules {
  double seconds = 2.0;      // for the careful part, after least_rounds
  double within = 0.10;      // of the best quick time: candidates up to there are timed carefully
  double least_gain = 0.01;  // over the documented choice; less is not worth another answer
  int least_rounds = 7, most_rounds = 31;  // fewer than 7 prove nothing, see below
};

enum class Look { quick, careful };

struct RaceResult {
  std::size_t winner = 0;
  // For each candidate the median of its careful times or, without any, the better of its two quick times.
  std::vector<double> microseconds;
  std::vector<bool> finalist;  // was timed carefully
  int rounds = 0;
};

// measure(candidate, look): measures the microseconds of a call. now(): seconds of a clock. Candidate 0 is
// the documented choice: it is always timed carefully. Another candidate wins if the median of its gains is
// above least_gain and it is faster in so many rounds (all of 7, 22 of 31) that chance alone would do it once
// in a hundred races.
RaceResult race(std::size_t candidates, const std::function<double(std::size_t, Look)>& measure,
                const std::function<double()>& now, const RaceRules& rules);

}  // namespace tenon::command
