#include "microbench/contenders.hpp"

#include "gemm/kernel.hpp"

namespace tenon::microbench {
namespace {

bool copies_16_bytes(const ConstMatrix& matrix) {
  return reinterpret_cast<std::uintptr_t>(matrix.data) % 16 == 0 && matrix.ld * bytes(matrix.type) % 16 == 0;
}

Candidate candidate(const Kernel& kernel) {
  Candidate result;
  result.name = kernel.name;
  result.can_implement = [&kernel](const Gemm& problem) -> Status {
    if (kernel.copy == Copy::any || (copies_16_bytes(problem.a) && copies_16_bytes(problem.b))) return {};
    return {StatusCode::unsupported, "%s copies 16 bytes at a time but lda is %lld and ldb is %lld",
            kernel.name.c_str(), static_cast<long long>(problem.a.ld), static_cast<long long>(problem.b.ld)};
  };
  result.workspace_size = [](const Gemm&) { return std::size_t{0}; };
  result.enqueue = [&kernel](const Gemm& problem, CUstream_st* stream) {
    return kernel.launch(kernel, problem, stream);
  };
  return result;
}

}  // namespace

std::vector<Candidate> candidates(const Types& types, const Layout& layout) {
  std::vector<Candidate> result;
  for (const Kernel& kernel : kernels()) {
    const bool fits = kernel.type == types.input && kernel.accumulate == types.accumulate &&
                      kernel.a_order == layout.a && kernel.b_order == layout.b;
    if (fits) result.push_back(candidate(kernel));
  }
  return result;
}

Candidate selection() {
  throw Failure("--best needs the host library, which this program was built without");
}

}  // namespace tenon::microbench
