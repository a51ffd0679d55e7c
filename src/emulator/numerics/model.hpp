// The parameters of an architecture's tensor-core arithmetic: how many products a step sums, how many bits
// the sum keeps, how it is rounded. dot_product.hpp is the algorithm.
//
// Sources: Xie et al., arXiv:2511.10909; Khattak and Mikaitis, arXiv:2512.07004; the probes in
// tests/emulator/numerics, run on an H200.
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

// The kinds of instruction with common parameters.
enum class Unit : std::uint8_t { mma, wmma, wgmma };

// The format of a floating-point type of matrix instructions.
const Format& format_of(ptx::Type type);

struct Arithmetic {
  bool exact = false;        // model ieee: the other members are unused
  int group = 0;             // products summed in one step; longer sums are steps in order of k
  int fraction = 0;          // bits below the largest term's exponent that each term keeps in a step
  int minimum_exponent = 0;  // lower bound of the alignment's exponent
  // The result of a step: an f32 truncated toward zero to 23 or 13 fraction bits, or an f16 rounded to
  // nearest even.
  enum class Result : std::uint8_t { f32_cut, f32_cut_to_13_bits, f16_nearest } result = Result::f32_cut;
  // fp8 on the f16 tensor cores of sm_90's mma.sync: the factors are converted to f16, so that e4m3's
  // subnormals are normal numbers. Two steps start from 0: products with k % 4 < 2, and the others. The
  // accumulator is added last, rounded to nearest.
  bool fp8_by_halves = false;
};

// For products of `input` (f16, bf16, tf32, e4m3, e5m2) into an accumulator of type `output` (f32, f16),
// `count` products per result. An architecture without the type gets the parameters of the first one that has
// it.
Arithmetic arithmetic_of(Model model, Unit unit, ptx::Type input, ptx::Type output, int count);

}  // namespace tenon::emulator::numerics
