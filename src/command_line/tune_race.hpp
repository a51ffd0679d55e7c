// Which of several candidates is fastest, from times that are noisy: a quick look at all of them, then a
// careful one, in turns, at those that may win. Knows neither kernels nor a device.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace tenon::command {

struct RaceRules {
  double seconds = 2.0;      // for the careful part, once it has its least number of rounds
  double within = 0.10;      // of the best quick time: the candidates that are timed carefully
  double least_gain = 0.01;  // over the documented choice; less is not worth an answer of its own
  int least_rounds = 7, most_rounds = 31;  // fewer than 7 prove nothing, see below
};

enum class Look { quick, careful };

struct RaceResult {
  std::size_t winner = 0;
  // Of each candidate: the median of the careful times, where there are any, else the better quick one.
  std::vector<double> microseconds;
  std::vector<bool> finalist;  // was looked at carefully
  int rounds = 0;
};

// measure(candidate, look): the microseconds of a call, measured now. now(): seconds of a clock. Candidate 0
// is the documented choice: it is looked at carefully whatever its quick time is, and wins unless another one
// is faster by least_gain in the median of the rounds, and faster at all in so many of them as chance brings
// about once in a hundred times (all of 7, 22 of 31).
RaceResult race(std::size_t candidates, const std::function<double(std::size_t, Look)>& measure,
                const std::function<double()>& now, const RaceRules& rules);

}  // namespace tenon::command
