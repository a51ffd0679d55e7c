// The kernels that can be measured, with one interface for all.
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
  // The functions below expect a problem with a workspace of that size.
  std::function<Status(const Gemm&)> can_implement;
  std::function<std::string(const Gemm&)> kernel;  // name of the kernel that runs, for the record
  std::function<Status(const Gemm&, CUstream_st*)> enqueue;
};

// Every kernel for these types and this layout, in the library's order; then the reference kernels, which
// take f16, bf16 and f32 and accumulate in f32.
std::vector<Candidate> candidates(const Types& types, const Layout& layout);

// The kernel that gemm() selects.
Candidate selection();

}  // namespace tenon::microbench
