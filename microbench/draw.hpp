// Random numbers that are the same on every machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace tenon::microbench {

// The distributions of <random> differ between standard libraries; the engine
// does not.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}

  // From 0 to below 1.
  double uniform() { return static_cast<double>(engine_() >> 11U) * 0x1p-53; }

  // A multiple of `step`, from at least `low` to at most `high`, with a uniformly distributed logarithm.
  std::int64_t log_uniform(std::int64_t low, std::int64_t high, std::int64_t step) {
    const double x =
        static_cast<double>(low) * std::pow(static_cast<double>(high) / static_cast<double>(low), uniform());
    const std::int64_t multiple = std::llround(x / static_cast<double>(step)) * step;
    return std::clamp(multiple, (low + step - 1) / step * step, high / step * step);
  }

  template <class T>
  const T& one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(uniform() * static_cast<double>(values.size()))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tenon::microbench
