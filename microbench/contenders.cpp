#include "microbench/contenders.hpp"

#include "gemm/kernel.hpp"
#include "host/device.hpp"
#include "host/plan.hpp"
#include "reference/reference.hpp"

namespace tenon::microbench {
namespace {

// A candidate that runs through gemm(), as a user of the library would run it: the time includes gemm()'s
// checks and, with a workspace, its copies.
Candidate through_gemm(const std::string& name, const char* kernel) {
  const auto named = [kernel](Gemm problem) {
    problem.kernel = kernel;
    return problem;
  };
  Candidate result;
  result.name = name;
  result.workspace_size = [named](const Gemm& problem) { return tenon::workspace_size(named(problem)); };
  result.can_implement = [named](const Gemm& problem) { return tenon::can_implement(named(problem)); };
  result.kernel = [named](const Gemm& problem) -> std::string {
    DeviceDescription device;
    Plan plan;
    if (!describe_current_device(&device) || !make_plan(kernels(), named(problem), device, &plan))
      return "none";
    return plan.kernel->name + (plan.has_copies() ? " + padded copies" : "");
  };
  result.enqueue = [named](const Gemm& problem, CUstream_st* stream) {
    return tenon::gemm(named(problem), stream);
  };
  return result;
}

Candidate reference_kernel(reference::Algorithm algorithm, const char* name) {
  Candidate result;
  result.name = name;
  result.workspace_size = [](const Gemm&) { return std::size_t{0}; };
  result.can_implement = [algorithm](const Gemm& problem) {
    return reference::can_implement(algorithm, problem);
  };
  result.kernel = [name = result.name](const Gemm&) { return name; };
  result.enqueue = [algorithm](const Gemm& problem, CUstream_st* stream) {
    return reference::gemm(algorithm, problem, stream);
  };
  return result;
}

}  // namespace

std::vector<Candidate> candidates(const Types& types, const Layout& layout) {
  std::vector<Candidate> result;
  for (const Kernel& kernel : kernels()) {
    const bool fits = kernel.type == types.input && kernel.type_b == types.input_b &&
                      kernel.accumulate == types.accumulate && kernel.promotes == types.promote &&
                      kernel.a_order == layout.a && kernel.b_order == layout.b;
    if (fits) result.push_back(through_gemm(kernel.name, kernel.name.c_str()));
  }
  for (const reference::AlgorithmOfType& info : reference::algorithms_of_other_types()) {
    if (types.input == info.operand && types.accumulate == info.accumulate && !types.promote)
      result.push_back(reference_kernel(info.algorithm, info.name));
  }
  const bool is_f32 = types.input == Type::f32;
  const bool is_16_bits = types.input == Type::f16 || types.input == Type::bf16;
  if (types.accumulate != Type::f32 || !(is_f32 || is_16_bits)) return result;
  for (const reference::AlgorithmInfo& info : reference::algorithms()) {
    if (is_16_bits || !info.tensor_cores) result.push_back(reference_kernel(info.algorithm, info.name));
  }
  return result;
}

Candidate selection() {
  return through_gemm("gemm()", nullptr);
}

}  // namespace tenon::microbench
