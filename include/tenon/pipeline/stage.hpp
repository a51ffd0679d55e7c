// A position in a ring of stages, and the lap. Plain C++17.
#pragma once

#include "tenon/fragment/host_device.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// `phase` flips each lap: it is the parity that an mbarrier of this stage shows while this lap is open.
template <int Stages>
struct Stage {
  static_assert(Stages >= 1, "Stage: a ring has at least one stage");
  int index = 0;
  std::uint32_t phase = 0;

  TENON_HOST_DEVICE constexpr Stage next() const {
    return index + 1 == Stages ? Stage{0, phase ^ 1U} : Stage{index + 1, phase};
  }
  // next() so many times. count: >= 0.
  TENON_HOST_DEVICE constexpr Stage after(int count) const {
    const int laps = (index + count) / Stages;
    return {index + count - laps * Stages, phase ^ (static_cast<std::uint32_t>(laps) & 1U)};
  }
};

}  // namespace tenon
