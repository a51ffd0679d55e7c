// Operands for the tests of lane-wise instructions: edge cases of every width and format, and random bits;
// and check(), which compares an instruction with another computation.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "emulator/instructions/one_warp.hpp"
#include "emulator/numerics/formats.hpp"

namespace tenon::emulator::testing {

using Bits = std::uint64_t;

inline const std::vector<Bits>& integer_corners() {
  static const std::vector<Bits> corners = {0,
                                            1,
                                            2,
                                            3,
                                            7,
                                            8,
                                            15,
                                            16,
                                            17,
                                            24,
                                            31,
                                            32,
                                            33,
                                            63,
                                            64,
                                            65,
                                            127,
                                            128,
                                            255,
                                            256,
                                            0x7fff,
                                            0x8000,
                                            0xffff,
                                            0x10000,
                                            0x7fffff,
                                            0x800000,
                                            0xffffff,
                                            0x7fffffff,
                                            0x80000000,
                                            0x80000001,
                                            0xfffffffe,
                                            0xffffffff,
                                            0x100000000,
                                            0x7fff8000,
                                            0x80007fff,
                                            0x7fffffffffffffff,
                                            0x8000000000000000,
                                            0x8000000000000001,
                                            0xfffffffffffffffe,
                                            0xffffffffffffffff,
                                            0x0123456789abcdef,
                                            0xfedcba9876543210};
  return corners;
}

// Zeros, subnormals, the ends of the normal range, 1 and its neighbours, infinities, NaNs; of both signs.
inline std::vector<Bits> float_corners(const numerics::Format& format) {
  const Bits unit = Bits{1} << format.fraction_bits;
  const Bits one = static_cast<Bits>(format.bias()) << format.fraction_bits;
  std::vector<Bits> corners = {0,
                               1,
                               2,
                               unit / 2,
                               unit - 1,
                               unit,
                               unit + 1,
                               2 * unit,
                               one - 1,
                               one,
                               one + 1,
                               one + unit / 2,
                               one + unit,
                               one + unit + 1,
                               one - unit,
                               one + 3 * unit / 2,
                               one + static_cast<Bits>(format.fraction_bits) * unit,
                               one + static_cast<Bits>(format.fraction_bits + 1) * unit,
                               one - static_cast<Bits>(format.fraction_bits + 1) * unit,
                               format.infinity() - unit,
                               format.infinity() - 1,
                               format.infinity(),
                               format.infinity() + 1,
                               format.infinity() + unit / 2,
                               format.infinity() + unit - 1};
  if (format.bits() == 16) corners.push_back(0x7ff7);  // of elements outside a tensor
  const std::size_t positive = corners.size();
  for (std::size_t i = 0; i < positive; ++i) corners.push_back(corners[i] | format.sign_bit());
  return corners;
}

struct Triple {
  Bits a, b, c;
};

// All pairs of edge cases with a third of them, then random bits; with a format, random values near it too.
inline std::vector<Triple> triples(const std::vector<Bits>& corners, std::size_t random_count) {
  std::mt19937_64 random(20240607);
  std::vector<Triple> all;
  for (const Bits a : corners) {
    for (const Bits b : corners) all.push_back({a, b, corners[random() % corners.size()]});
  }
  for (std::size_t i = 0; i < random_count; ++i) all.push_back({random(), random(), random()});
  while (all.size() % warp_size != 0) all.push_back(all.front());
  return all;
}

inline Bits truncated(Bits bits, char kind) {
  return kind == 'h' ? bits & 0xffff : kind == 'r' ? bits & 0xffffffff : kind == 'p' ? bits & 1 : bits;
}

// text: one instruction on registers numbered 1, 2, 3 of any kinds, with the result in the one numbered 0,
// which comes first. reference(a, b, c) gets 64 bits each; the instruction reads the low bits that its
// registers hold.
inline void check(const std::string& text, const std::vector<Triple>& inputs,
                  const std::function<Bits(Bits, Bits, Bits)>& reference) {
  OneWarp warp(text + ";");
  const std::size_t at = text.find('%');
  const std::string result = text.substr(at, 3);
  int failures = 0;
  for (std::size_t first = 0; first < inputs.size(); first += warp_size) {
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      const Triple& input = inputs[first + lane];
      for (const char kind : {'h', 'r', 'd', 'p'}) {
        const std::string name = std::string("%") + kind;
        warp.lanes(name + "1")[lane] = truncated(input.a, kind);
        warp.lanes(name + "2")[lane] = truncated(input.b, kind);
        warp.lanes(name + "3")[lane] = truncated(input.c, kind);
      }
    }
    ASSERT_EQ(warp.run(), Flow::next);
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      const Triple& input = inputs[first + lane];
      const Bits found = warp.lanes(result)[lane], expected = reference(input.a, input.b, input.c);
      if (found == expected || ++failures > 5) continue;
      ADD_FAILURE() << std::hex << text << " of " << input.a << ", " << input.b << ", " << input.c << " is "
                    << found << " where " << expected << " is right";
    }
  }
  EXPECT_EQ(failures, 0) << text;
}

}  // namespace tenon::emulator::testing
