// See bootstrap.hpp.
#include "command_line/bootstrap.hpp"

#include <algorithm>
#include <cstddef>

#include "command_line/random.hpp"

namespace tenon::command {
namespace {

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

Interval bootstrap_median(const std::vector<double>& values) {
  constexpr std::size_t resamples = 2000;
  constexpr std::uint64_t seed = 95;
  std::vector<double> sample = values, medians(resamples);
  const double median = median_of(sample);
  for (std::size_t i = 0; i < resamples; ++i) {
    for (std::size_t j = 0; j < values.size(); ++j)
      sample[j] = values[random_bits(seed, i * values.size() + j) % values.size()];
    medians[i] = median_of(sample);
  }
  std::sort(medians.begin(), medians.end());
  return {median, medians[resamples / 40], medians[resamples - 1 - resamples / 40]};
}

}  // namespace tenon::command
