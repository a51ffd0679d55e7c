// The arithmetic of the protocol, without a device so that it can be tested alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace tenon::microbench {

// The middle value, or the mean of the two middle ones; 0 for an empty list.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

// 0 for an empty list.
inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// The spread of the list relative to its median, without the least and the greatest value: one outlier does
// not count, because the median ignores it too. 0 for fewer than three values.
inline double middle_spread(std::vector<double> values) {
  if (values.size() < 3) return 0;
  std::sort(values.begin(), values.end());
  return (values[values.size() - 2] - values[1]) / median(values);
}

// The standard error of the median, relative to it, if the values were normal; computed from
// the middle half of them, so that outliers do not count. 0 for fewer than four values.
inline double median_error(std::vector<double> values) {
  if (values.size() < 4) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t quarter = values.size() / 4;
  constexpr double quartiles = 1.349, of_median = 1.2533;  // in standard deviations; in those of the mean
  const double deviation = (values[values.size() - 1 - quarter] - values[quarter]) / quartiles;
  return of_median * deviation / std::sqrt(static_cast<double>(values.size())) / median(values);
}

// TFLOP/s of `flop` additions and multiplications in that many microseconds.
inline double tflops(double flop, double microseconds) {
  return microseconds > 0 ? flop / microseconds * 1e-6 : 0;
}

// The work of one SM in one cycle, which is independent of the clock.
inline double flop_per_clk_per_sm(double tflops, double sm_mhz, int sm_count) {
  return sm_mhz > 0 && sm_count > 0 ? tflops * 1e6 / (sm_mhz * sm_count) : 0;
}

// What a launch adds to a stream of foreign kernels: the time of a pair less that of a foreign kernel alone.
// 0 where one of the two is unknown, or the pair takes no longer.
inline double added_microseconds(double pair_us, double foreign_us) {
  return pair_us > 0 && foreign_us > 0 ? std::max(pair_us - foreign_us, 0.0) : 0;
}

// The number of launches that fill that many milliseconds; at least one.
inline int launches_for(double milliseconds, double microseconds_per_launch) {
  if (microseconds_per_launch <= 0) return 1;
  return static_cast<int>(std::clamp(std::round(milliseconds * 1e3 / microseconds_per_launch), 1.0, 1e5));
}

// |a - b| relative to their mean; 0 when both are 0.
inline double disagreement(double a, double b) {
  return a + b > 0 ? std::abs(a - b) / (0.5 * (a + b)) : 0;
}

}  // namespace tenon::microbench
