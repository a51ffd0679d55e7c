// A GEMM with an epilogue that is known when the program runs: NVRTC compiles the kernel from the epilogue's
// text, and launch() enqueues it as that of gemm/launch.hpp does the program's own. Include launch_sm80.hpp
// or launch_sm90.hpp, which have the kernel types. Below: compiled_kernel.hpp, compiled_operation.hpp,
// type_name.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <string>
#include <vector>

#include "tenon/gemm/launch.hpp"
#include "tenon/jit/compiled_kernel.hpp"
#include "tenon/jit/compiled_operation.hpp"
#include "tenon/jit/type_name.hpp"

namespace tenon::jit {

// An operation (gemm/epilogue.hpp) as text. It has no operands (WithOperands).
using Epilogue = StructText;

// What is compiled around an epilogue. Recipe: what the kernels of an architecture add, see launch_sm90.hpp.
template <class Recipe, class TC>
struct GemmFamily : Recipe {
  static constexpr const char* what = "epilogue";
  static constexpr const char* alias = "Operation";
  static constexpr const char* header = "tenon/gemm/kernel_no_k.hpp";
  static constexpr const char* requirement =
      R"(tenon::is_operation<typename tenon::LoadedOperation<Operation>::type, Value>,
              "an epilogue operation is called as op(accumulator, int row, int column) and returns the accumulator's type: float, int32_t where integers are multiplied, double where f64 is")";

  static std::string includes() {
    return std::string(Recipe::includes) + "#include \"tenon/gemm/kernel_no_k.hpp\"\n";
  }
  // The GEMM and the kernel for k == 0.
  static std::vector<std::string> kernels() {
    return {Recipe::template kernel<TC>(),
            "tenon::gemm_of_no_k<tenon_jit::Operation, tenon_jit::Value, " + type_name<TC>() + ">"};
  }
  static std::string types() {
    return "using Configuration = " + type_name<typename Recipe::Config>() +
           ";\nusing Value = " + type_name<typename Recipe::Value>() + ";\n";
  }
  static std::string same_headers() {
    return "sizeof(tenon::GemmArguments) == " + std::to_string(sizeof(GemmArguments)) +
           Recipe::same_headers();
  }
};

// TC: the type of C. Its cubin() has two kernels: the GEMM and the kernel for k == 0.
template <class Recipe_, class TC_>
class GemmKernel : public CompiledKernel<GemmFamily<Recipe_, TC_>> {
 public:
  using Recipe = Recipe_;
  using Config = typename Recipe::Config;
  using TC = TC_;
  using Problem = GemmProblem<typename Config::T, TC, typename Config::TB>;

  // Enqueues C = op(A * B) on the stream of the current device, as tenon::launch() does. op: a struct with
  // the members of the epilogue's, or OperationBytes. The first launch loads the code.
  template <class Op>
  Status launch(const Problem& problem, const Op& op, cudaStream_t stream = nullptr,
                const LaunchOptions& options = {}) const noexcept {
    CompiledOperation operation;
    if (Status s = this->bind(op, &operation); !s) return s;
    if (Status s = this->load(); !s) return s;
    operation.kernel = this->kernel(0), operation.kernel_no_k = this->kernel(1);
    return tenon::launch<Planned>(problem, operation, stream, options);
  }

  // As plan_launch(). The function of the launch is null before load().
  template <class Op>
  Status plan(const Problem& problem, const Op& op, Launcher& launcher, Launch* launch,
              bool* launches) const noexcept {
    CompiledOperation operation;
    if (Status s = this->bind(op, &operation); !s) return s;
    operation.kernel = this->kernel(0), operation.kernel_no_k = this->kernel(1);
    return plan_launch<Planned>(problem, operation, launcher, launch, launches);
  }

 private:
  using Planned = typename Recipe::Kernel;
};

}  // namespace tenon::jit
