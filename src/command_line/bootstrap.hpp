// Bootstrap confidence intervals of measured times. Plain C++17.
#pragma once

#include <vector>

namespace tenon::command {

struct Interval {
  double median = 0, low = 0, high = 0;
};

// The median of the values, at least one, and its 95 % confidence interval by the percentile method: 2000
// resamples with replacement, by a fixed seed. (Efron and Tibshirani, An Introduction to the Bootstrap,
// 1993.)
Interval bootstrap_median(const std::vector<double>& values);

}  // namespace tenon::command
