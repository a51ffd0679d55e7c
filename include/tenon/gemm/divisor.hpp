// Division by a number that the host knows in advance: a multiplication and a shift, where the division of a
// GPU is a subroutine of 20 dependent instructions. The coordinates of a tile are such quotients, and nothing
// can be loaded before they are known.
//
// Granlund and Montgomery, "Division by invariant integers using multiplication" (PLDI 1994), with dividends
// of 31 bits: for 2^(s - 1) < d <= 2^s and multiplier = ceil(2^(31 + s) / d), which has 32 bits, the quotient
// is n * multiplier / 2^(31 + s): the upper half of 2 n * multiplier, shifted by s. Plain C++17.
#pragma once

#include "tenon/fragment/host_device.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

class Divisor {
 public:
  constexpr Divisor() = default;
  // divisor: >= 1.
  TENON_HOST_DEVICE constexpr explicit Divisor(int divisor) {
    const auto d = static_cast<std::uint64_t>(divisor);
    while ((std::uint64_t{1} << shift_) < d) ++shift_;
    multiplier_ = static_cast<std::uint32_t>(((std::uint64_t{1} << (31 + shift_)) + d - 1) / d);
  }

  // dividend: >= 0.
  TENON_HOST_DEVICE int quotient(int dividend) const {
    const std::uint32_t twice = 2 * static_cast<std::uint32_t>(dividend);
#ifdef __CUDA_ARCH__
    // One register: of a product of 64 bits ptxas holds both halves, which some kernels have no room for.
    const std::uint32_t upper = __umulhi(twice, multiplier_);
#else
    const auto upper = static_cast<std::uint32_t>(std::uint64_t{twice} * multiplier_ >> 32);
#endif
    return static_cast<int>(upper >> shift_);
  }

 private:
  // Of 1.
  std::uint32_t multiplier_ = std::uint32_t{1} << 31;
  int shift_ = 0;
};

}  // namespace tenon
