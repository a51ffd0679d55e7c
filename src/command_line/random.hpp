// Random operands: N(0, 1), a function of the seed and the index alone, the same on every machine.
#pragma once

#include <cmath>
#include <cstdint>

namespace tenon::command {

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), as a counter-based generator: the index-th output of the
// seed.
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) noexcept {
  std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

// Two independent N(0, 1) values by Box and Muller's method, in double; a libm may differ in the last bit of
// 53, which rounding to the 24 bits of float (and fewer) hides but for one value in some 10^8.
struct NormalPair {
  float first, second;
};
inline NormalPair random_normals(std::uint64_t seed, std::uint64_t pair) noexcept {
  // 53 bits each; the first is in (0, 1], so that its logarithm is finite.
  const double u = static_cast<double>((random_bits(seed, 2 * pair) >> 11) + 1) * 0x1p-53;
  const double v = static_cast<double>(random_bits(seed, 2 * pair + 1) >> 11) * 0x1p-53;
  const double radius = std::sqrt(-2.0 * std::log(u)), angle = 6.283185307179586 * v;
  return {static_cast<float>(radius * std::cos(angle)), static_cast<float>(radius * std::sin(angle))};
}

}  // namespace tenon::command
