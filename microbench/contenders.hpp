// The products of this library that can be measured, each behind the same questions.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "microbench/cases.hpp"
#include "tenon/gemm.hpp"

namespace tenon::microbench {

struct Candidate {
  std::string name;
  std::function<std::size_t(const Gemm&)> workspace_size;
  // The problem has a workspace of that size from here on.
  std::function<Status(const Gemm&)> can_implement;
  std::function<std::string(const Gemm&)> kernel;  // what runs, as it is recorded
  std::function<Status(const Gemm&, CUstream_st*)> enqueue;
};

// Every kernel made for these types and this layout, in the library's order; then the reference kernels,
// which take f16, bf16 and f32 and sum in f32.
std::vector<Candidate> candidates(const Types& types, const Layout& layout);

// What gemm() selects by itself.
Candidate selection();

}  // namespace tenon::microbench
