// Access patterns of a warp in shared memory: the address of each lane. The same list runs on a GPU under ncu
// (on_gpu.cpp) and in the emulator (bank_patterns_test.cpp); both count wavefronts.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace bank_patterns {

// The instruction of a pattern; one warp executes it once. The order is that of the kernels' argument.
enum class Access {
  load_4,
  load_8,
  load_16,
  store_4,
  store_8,
  store_16,
  ldmatrix_1,
  ldmatrix_2,
  ldmatrix_4,
  ldmatrix_4_trans,
  stmatrix_1,
  stmatrix_4
};
constexpr const char* entries[] = {"load_4",     "load_8",           "load_16",    "store_4",
                                   "store_8",    "store_16",         "ldmatrix_1", "ldmatrix_2",
                                   "ldmatrix_4", "ldmatrix_4_trans", "stmatrix_1", "stmatrix_4"};
constexpr int accesses = 12;
constexpr int shared_bytes = 32768;
constexpr std::int32_t idle = -1;  // the lane is inactive (not for matrices, where every lane is active)

struct Pattern {
  std::string name;
  Access access;
  std::array<std::int32_t, 32> offset;  // bytes into shared memory, of each lane
};

inline int width(Access access) {
  switch (access) {
    case Access::load_4:
    case Access::store_4:
      return 4;
    case Access::load_8:
    case Access::store_8:
      return 8;
    default:
      return 16;
  }
}

template <class F>
Pattern make(const std::string& name, Access access, const F& offset) {
  Pattern pattern{name, access, {}};
  for (int lane = 0; lane < 32; ++lane) pattern.offset[static_cast<std::size_t>(lane)] = offset(lane);
  return pattern;
}

// A fixed scatter, similar to a permutation, equal on every machine.
inline std::int32_t scatter(int lane, int seed, int range) {
  std::uint32_t x =
      static_cast<std::uint32_t>(lane) * 2654435761U + static_cast<std::uint32_t>(seed) * 40503U;
  x ^= x >> 15;
  x *= 2246822519U;
  x ^= x >> 13;
  return static_cast<std::int32_t>(x % static_cast<std::uint32_t>(range));
}

inline std::vector<Pattern> all() {
  std::vector<Pattern> list;
  const Access plain[] = {Access::load_4,  Access::load_8,  Access::load_16,
                          Access::store_4, Access::store_8, Access::store_16};
  for (const Access access : plain) {
    const int w = width(access);
    const auto add = [&](const std::string& name, auto offset) {
      list.push_back(make(name, access, offset));
    };
    for (const int stride : {1, 2, 3, 4, 5, 8, 16, 32}) {
      add("stride " + std::to_string(stride), [=](int lane) { return lane * stride * w; });
    }
    add("one address", [](int) { return 64; });
    add("pairs share", [=](int lane) { return lane / 2 * w; });
    add("pairs share, stride 2", [=](int lane) { return lane / 2 * 2 * w; });
    add("fours share", [=](int lane) { return lane / 4 * w; });
    add("halves share", [=](int lane) { return lane % 16 * w; });
    add("quarters share", [=](int lane) { return lane % 8 * w; });
    add("eighths share", [=](int lane) { return lane % 4 * w; });
    add("reversed", [=](int lane) { return (31 - lane) * w; });
    add("reversed halves", [=](int lane) { return (lane ^ 15) * w; });
    add("halves at one bank", [=](int lane) { return lane % 16 * w + lane / 16 * 4096; });
    add("quarters at one bank", [=](int lane) { return lane % 8 * w + lane / 8 * 4096; });
    add("neighbours at one bank", [=](int lane) { return lane / 2 * w + lane % 2 * 4096; });
    add("even lanes", [=](int lane) { return lane % 2 == 0 ? lane * w : idle; });
    add("even lanes, stride 32", [=](int lane) { return lane % 2 == 0 ? lane * 128 : idle; });
    add("first half", [=](int lane) { return lane < 16 ? lane * w : idle; });
    add("first quarter and last", [=](int lane) { return lane < 8 || lane >= 24 ? lane * w : idle; });
    add("no lane", [](int) { return idle; });
    add("one lane", [=](int lane) { return lane == 13 ? 256 : idle; });
    add("rows of 144 bytes by fours", [=](int lane) { return lane / 4 * 144 + lane % 4 * w; });
    add("rows of 512 bytes by fours", [=](int lane) { return lane / 4 * 512 + lane % 4 * w; });
    add("rows of 128 bytes, swizzled",
        [=](int lane) { return lane / 8 * 128 + (lane % 8 ^ lane / 8) * 16 % 128 / w * w; });
    // Loads wider than 4 bytes take fewer wavefronts if neighbouring lanes, or lanes 2 apart, share an
    // address.
    add("two apart share", [=](int lane) { return (lane & ~2) * w; });
    add("four apart share", [=](int lane) { return (lane & ~4) * w; });
    add("sixteen apart share", [=](int lane) { return (lane & ~16) * w; });
    add("pairs share, scattered", [=](int lane) { return scatter(lane & ~1, 5, 16384 / w) * w; });
    add("two apart share, scattered", [=](int lane) { return scatter(lane & ~2, 6, 16384 / w) * w; });
    add("all but one pair share", [=](int lane) { return (lane == 21 ? lane : lane & ~1) * w; });
    add("all but one two apart share", [=](int lane) { return (lane == 22 ? lane : lane & ~2) * w; });
    add("pairs share in one half, two apart in the other",
        [=](int lane) { return (lane < 16 ? lane & ~1 : lane & ~2) * w; });
    add("pairs share in one half only", [=](int lane) { return (lane < 16 ? lane & ~1 : lane) * w; });
    add("pairs share in one quarter only", [=](int lane) { return (lane < 8 ? lane & ~1 : lane) * w; });
    add("pairs share or idle", [=](int lane) { return lane % 3 == 0 ? idle : (lane & ~1) * w; });
    add("two apart share or idle", [=](int lane) { return lane % 3 == 0 ? idle : (lane & ~2) * w; });
    add("even lanes of two apart", [=](int lane) { return lane % 2 == 0 ? (lane & ~2) * w : idle; });
    add("even lanes, halved", [=](int lane) { return lane % 2 == 0 ? lane / 2 * w : idle; });
    add("lanes 0 and 1 of four", [=](int lane) { return lane % 4 < 2 ? lane * w : idle; });
    const auto two_apart = [](int lane) { return lane / 4 * 2 + lane % 2; };
    add("two apart share, dense", [=](int lane) { return two_apart(lane) * w; });
    add("four apart share, dense", [=](int lane) { return (lane / 8 * 4 + lane % 4) * w; });
    add("all but one pair share, dense", [=](int lane) { return (lane == 21 ? 16 : lane / 2) * w; });
    add("all but one two apart share, dense",
        [=](int lane) { return (lane == 22 ? 16 : two_apart(lane)) * w; });
    add("pairs share in one half, two apart in the other, dense",
        [=](int lane) { return (lane < 16 ? lane / 2 : two_apart(lane)) * w; });
    add("pairs share or idle, dense", [=](int lane) { return lane % 3 == 0 ? idle : lane / 2 * w; });
    add("two apart share or idle, dense",
        [=](int lane) { return lane % 3 == 0 ? idle : two_apart(lane) * w; });
    add("first quarter, pairs share", [=](int lane) { return lane < 8 ? lane / 2 * w : idle; });
    add("first and third quarter",
        [=](int lane) { return lane / 8 % 2 == 0 ? lane % 8 * w + lane / 16 * 64 : idle; });
    add("odd lanes, dense", [=](int lane) { return lane % 2 == 1 ? lane / 2 * w : idle; });
    for (const int seed : {1, 2, 3, 4}) {
      add("scatter " + std::to_string(seed), [=](int lane) { return scatter(lane, seed, 16384 / w) * w; });
      add("narrow scatter " + std::to_string(seed),
          [=](int lane) { return scatter(lane, seed, 512 / w) * w; });
    }
  }
  const Access matrices[] = {Access::ldmatrix_1,       Access::ldmatrix_2, Access::ldmatrix_4,
                             Access::ldmatrix_4_trans, Access::stmatrix_1, Access::stmatrix_4};
  for (const Access access : matrices) {
    const auto add = [&](const std::string& name, auto offset) {
      list.push_back(make(name, access, offset));
    };
    for (const int row : {16, 32, 48, 64, 80, 96, 128, 144, 256, 512}) {
      add("rows of " + std::to_string(row) + " bytes", [=](int lane) { return lane * row; });
    }
    add("rows of 128 bytes, swizzled", [](int lane) { return lane * 128 + (lane % 8) * 16; });
    add("rows of 64 bytes, swizzled", [](int lane) { return lane * 64 + (lane / 2 % 4) * 16; });
    add("matrices beside each other", [](int lane) { return lane % 8 * 128 + lane / 8 * 16; });
    add("one row", [](int) { return 512; });
    for (const int seed : {1, 2, 3}) {
      add("scatter " + std::to_string(seed), [=](int lane) { return scatter(lane, seed, 1024) * 16; });
    }
  }
  return list;
}

}  // namespace bank_patterns
