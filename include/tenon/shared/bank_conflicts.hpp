// Counts the wavefronts of a warp's access to shared memory. Plain C++17, constexpr: kernels static_assert
// that theirs need no more than the minimum.
//
// Shared memory has 32 banks of 4 bytes. It serves a warp in phases: all 32 lanes for 4-byte accesses, 16 for
// 8 bytes, 8 for 16 bytes; for ldmatrix and stmatrix a phase is the 8 rows of one matrix. In a phase each
// bank delivers one word per wavefront, and lanes that access the same word share it.
#pragma once

#include "tenon/fragment/host_device.hpp"

namespace tenon {

// The address of each lane of a warp, in bytes from the start of a 128-byte-aligned region.
struct LaneAddresses {
  int at[32];
};

// Wavefronts of the lanes [first, first + count) accessing `bytes` each.
TENON_HOST_DEVICE constexpr int phase_wavefronts(const LaneAddresses& address, int first, int count,
                                                 int bytes) {
  int held[32][32] = {};  // the distinct words asked of each bank
  int distinct[32] = {};
  int most = 0;
  for (int lane = first; lane < first + count; ++lane) {
    for (int word = address.at[lane] / 4; word < (address.at[lane] + bytes) / 4; ++word) {
      const int bank = word % 32;
      bool seen = false;
      for (int i = 0; i < distinct[bank]; ++i) seen = seen || held[bank][i] == word;
      if (seen) continue;
      held[bank][distinct[bank]++] = word;
      most = distinct[bank] > most ? distinct[bank] : most;
    }
  }
  return most;
}

// Wavefronts of a warp's load or store of bytes_per_lane = 4, 8 or 16.
TENON_HOST_DEVICE constexpr int wavefronts(const LaneAddresses& address, int bytes_per_lane) {
  const int lanes_per_phase = 128 / bytes_per_lane;
  int total = 0;
  for (int first = 0; first < 32; first += lanes_per_phase) {
    total += phase_wavefronts(address, first, lanes_per_phase, bytes_per_lane);
  }
  return total;
}

// Wavefronts of an ldmatrix or stmatrix of `matrices` (1, 2 or 4): lane 8i + r supplies the address of row r
// of matrix i.
TENON_HOST_DEVICE constexpr int matrix_wavefronts(const LaneAddresses& address, int matrices) {
  int total = 0;
  for (int i = 0; i < matrices; ++i) total += phase_wavefronts(address, 8 * i, 8, 16);
  return total;
}

// Wavefronts in excess of the minimum for the bytes accessed.
TENON_HOST_DEVICE constexpr int bank_conflicts(const LaneAddresses& address, int bytes_per_lane) {
  return wavefronts(address, bytes_per_lane) - bytes_per_lane / 4;
}
TENON_HOST_DEVICE constexpr int matrix_bank_conflicts(const LaneAddresses& address, int matrices) {
  return matrix_wavefronts(address, matrices) - matrices;
}

}  // namespace tenon
