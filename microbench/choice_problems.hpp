// Problems by which gemm()'s choice of a kernel is judged. They are random, so that the choice was not tuned
// on them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "microbench/cases.hpp"
#include "tenon/gemm.hpp"

namespace tenon::microbench {

struct ChoiceProblem {
  std::string group;  // a member of choice_groups()
  Types types;
  Layout layout;
  Shape shape;  // leading dimensions included
};

// aligned   f16 and bf16, C of the same type or f32, in all four layouts; m, n, k multiples of 8
// decode    1 to 128 rows of A, as in the decode phase of language models; f16 and bf16, C of the same type
//           or f32, in all four layouts, and e4m3 in tn
// tokens    linear layers of a language model for 64 to 4096 tokens; f16 and bf16 in tn
// large     as aligned, but multiples of 64
// unaligned f16 and bf16; odd extents, or aligned extents and one odd leading dimension
// fp8, s8, tf32   tn; m, n, k multiples of 16 (tf32: 8)
// f16_sums  f16 with sums in f16, in all four layouts; m, n, k multiples of 8
// Drawn where they are named alone:
// large_types   the types of the four groups above, multiples of 64
// few_tiles     as aligned, with at most 66 tiles of 128x128
const std::vector<std::string>& choice_groups();

// The first `count` problems of the sequence that the seed begins. Extents are log-uniform from 16 to 12288
// (decode: m from 1 to 128, n and k from 512; tokens: n from 512 to 28672, k from 512 to 16384; large and
// large_types: from 2048; few_tiles: m and n from 64, k from 1024). Any 22 consecutive problems have the same
// number of each group, so that a run that ends early is a smaller sample of the same distribution. Where
// groups are named, they take turns instead.
std::vector<ChoiceProblem> draw_choice_problems(std::uint64_t seed, int count,
                                                const std::vector<std::string>& groups = {});

// The problem with stand-in addresses, aligned as cudaMalloc aligns them, and without a workspace.
Gemm gemm_of(const ChoiceProblem& problem);

// "bf16_f32_bf16 tn 4096 x 128 x 512", for messages.
std::string describe(const ChoiceProblem& problem);

}  // namespace tenon::microbench
