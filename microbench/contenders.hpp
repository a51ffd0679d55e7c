// The products of this library that can be measured, each behind the same four questions.
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
  std::function<Status(const Gemm&)> can_implement;
  std::function<std::size_t(const Gemm&)> workspace_size;
  std::function<Status(const Gemm&, CUstream_st*)> enqueue;
};

// Every kernel made for these types and this layout, in the library's order; then the reference kernels.
std::vector<Candidate> candidates(const Types& types, const Layout& layout);

// What gemm() selects by itself.
Candidate selection();

}  // namespace tenon::microbench
