// Which arithmetic an architecture's tensor cores do: how many products are summed at a time, how many bits
// the sum keeps, how it is rounded. The one algorithm that these numbers steer is dot_product.hpp.
//
// Sources: Xie et al., arXiv:2511.10909; Khattak and Mikaitis, arXiv:2512.07004; the probes in
// tests/emulator/numerics, answered by an H200.
#pragma once

#include <cstdint>

#include "emulator/numerics/formats.hpp"
#include "emulator/ptx/module.hpp"

namespace tenon::emulator::numerics {

enum class Model : std::uint8_t {
  sm_75,
  sm_80,  // sm_86 and sm_87 too
  sm_89,
  sm_90,
  ieee  // no hardware: the exact sum of all products and the accumulator, rounded once to nearest even
};

// The model of a .target: 80 for sm_80. Newer targets than sm_90 count as sm_90.
Model model_of_target(int target);

// The kinds of instruction that share their numbers.
enum class Unit : std::uint8_t { mma, wmma, wgmma };

// Format of a floating-point type that a matrix instruction takes.
const Format& format_of(ptx::Type type);

struct Arithmetic {
  bool exact = false;        // model ieee: the rest is not used
  int group = 0;             // products summed in one step; longer sums are steps in order of k
  int fraction = 0;          // bits below the largest term's exponent that a step keeps of each term
  int minimum_exponent = 0;  // that the alignment never goes below
  // What a step's sum becomes: an f32 cut off toward zero, with 23 fraction bits or with 13, or an f16
  // rounded to nearest even.
  enum class Result : std::uint8_t { f32_cut, f32_cut_to_13_bits, f16_nearest } result = Result::f32_cut;
  // fp8 on the f16 tensor cores of sm_90's mma.sync: the factors become f16, so that e4m3's subnormals are
  // normal numbers; two steps, of the products with k % 4 < 2 and of the others, start from 0; the
  // accumulator is added last, rounded to nearest.
  bool fp8_by_halves = false;
};

// Of products of `input` (f16, bf16, tf32, e4m3, e5m2) into an accumulator of type `output` (f32, f16),
// `count` products a result. An architecture without the type gets the numbers of the first one that has it.
Arithmetic arithmetic_of(Model model, Unit unit, ptx::Type input, ptx::Type output, int count);

}  // namespace tenon::emulator::numerics
