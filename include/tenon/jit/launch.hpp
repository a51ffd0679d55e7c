// A GEMM with an epilogue that is known when the program runs: NVRTC compiles the kernel from the epilogue's
// text, and launch() enqueues it as that of gemm/launch.hpp does the program's own. Include launch_sm80.hpp
// or launch_sm90.hpp, which have the kernel types. Below: compiled_kernel.hpp, compiled_operation.hpp,
// type_name.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <string>
#include <type_traits>
#include <vector>

#include "tenon/gemm/launch.hpp"
#include "tenon/jit/compiled_kernel.hpp"
#include "tenon/jit/compiled_operation.hpp"
#include "tenon/jit/type_name.hpp"

namespace tenon::jit {

// An operation (gemm/epilogue.hpp) as text. Where the kernel has operands (gemm/epilogue_operands.hpp), it
// names the same ones: using Operands = tenon::EpilogueOperands<...>.
using Epilogue = StructText;
using NoOperands = EpilogueOperands<>;

// What is compiled around an epilogue. Recipe: what the kernels of an architecture add, see launch_sm90.hpp.
template <class Recipe, class TC, class Operands>
struct GemmFamily : Recipe {
  static constexpr bool has_operands = !std::is_same_v<Operands, NoOperands>;
  static constexpr const char* what = "epilogue";
  static constexpr const char* alias = "Operation";
  static constexpr const char* header = "tenon/gemm/kernel_no_k.hpp";
  static constexpr const char* requirement =
      has_operands ? R"(tenon::std::is_same_v<typename tenon::OperandsOf<Operation>::type, Operands>,
              "the Operands of the epilogue are not those of the program's kernel")"
                   : R"(tenon::is_operation<typename tenon::LoadedOperation<Operation>::type, Value>,
              "an epilogue operation is called as op(accumulator, int row, int column) and returns the accumulator's type: float, int32_t where integers are multiplied, double where f64 is; for one with Operands, the program's kernel names them")";

  static std::string includes() {
    return std::string(Recipe::includes) + (has_operands ? Recipe::includes_of_operands : "") +
           "#include \"tenon/gemm/kernel_no_k.hpp\"\n";
  }
  // The operation as the kernels get it.
  static std::string operation() {
    return has_operands ? "tenon::WithOperands<tenon_jit::Operation>" : "tenon_jit::Operation";
  }
  // The GEMM and the kernel for k == 0.
  static std::vector<std::string> kernels() {
    return {Recipe::template kernel<TC>(operation()),
            "tenon::gemm_of_no_k<" + operation() + ", tenon_jit::Value, " + type_name<TC>() + ">"};
  }
  static std::string types() {
    return "using Configuration = " + type_name<typename Recipe::Config>() +
           ";\nusing Value = " + type_name<typename Recipe::Value>() + ";\n" +
           (has_operands ? "using Operands = " + type_name<Operands>() + ";\n" : "");
  }
  static std::string same_headers() {
    return "sizeof(tenon::GemmArguments) == " + std::to_string(sizeof(GemmArguments)) +
           (has_operands ? " && sizeof(tenon::WithOperands<tenon::UnknownOperation<Operands>>) == " +
                               std::to_string(sizeof(WithOperands<UnknownOperation<Operands>>))
                         : "") +
           Recipe::template same_headers<Operands>(operation());
  }
};

// TC: the type of C; Operands_: EpilogueOperands<...>, which the epilogue loads for the operation. Its
// cubin() has two kernels: the GEMM and the kernel for k == 0.
template <class Recipe_, class TC_, class Operands_ = NoOperands>
class GemmKernel : public CompiledKernel<GemmFamily<Recipe_, TC_, Operands_>> {
  using Family = GemmFamily<Recipe_, TC_, Operands_>;

 public:
  using Recipe = Recipe_;
  using Config = typename Recipe::Config;
  using TC = TC_;
  using Operands = Operands_;
  using Problem = GemmProblem<typename Config::T, TC, typename Config::TB>;

  // Enqueues C = op(A * B) on the stream of the current device, as tenon::launch() does. op: a struct with
  // the members of the epilogue's, or OperationBytes. The first launch loads the code.
  template <class Op>
  Status launch(const Problem& problem, const Op& op, cudaStream_t stream = nullptr,
                const LaunchOptions& options = {}) const noexcept {
    static_assert(!Family::has_operands,
                  "JitGemmKernel: this kernel has operands: launch(problem, op, {operands...}, stream)");
    CompiledOperation operation;
    if (Status s = this->bind(op, &operation); !s) return s;
    return launch_compiled(problem, &operation, stream, options);
  }
  // The same with the operands, in their order: {bias, {residual, ld}}. op: a struct of the program, not
  // OperationBytes.
  template <class Op>
  Status launch(const Problem& problem, const Op& op, const StoredOperands<Operands>& operands,
                cudaStream_t stream = nullptr, const LaunchOptions& options = {}) const noexcept {
    CompiledWithOperands<Op, Operands> operation(op, operands);
    if (Status s = bind_with_operands(op, &operation); !s) return s;
    return launch_compiled(problem, &operation, stream, options);
  }

  // As plan_launch(). The function of the launch is null before load().
  template <class Op>
  Status plan(const Problem& problem, const Op& op, Launcher& launcher, Launch* launch,
              bool* launches) const noexcept {
    static_assert(!Family::has_operands,
                  "JitGemmKernel: this kernel has operands: plan(problem, op, {operands...}, ...)");
    CompiledOperation operation;
    if (Status s = this->bind(op, &operation); !s) return s;
    return plan_compiled(problem, &operation, launcher, launch, launches);
  }
  template <class Op>
  Status plan(const Problem& problem, const Op& op, const StoredOperands<Operands>& operands,
              Launcher& launcher, Launch* launch, bool* launches) const noexcept {
    CompiledWithOperands<Op, Operands> operation(op, operands);
    if (Status s = bind_with_operands(op, &operation); !s) return s;
    return plan_compiled(problem, &operation, launcher, launch, launches);
  }

 private:
  template <class Op>
  Status bind_with_operands(const Op& op, CompiledOperation* operation) const {
    static_assert(Family::has_operands,
                  "JitGemmKernel: this kernel has no operands: launch(problem, op, stream)");
    static_assert(!std::is_same_v<Op, OperationBytes>,
                  "JitGemmKernel: the operation of a kernel with operands comes as a struct of the program");
    return this->bind(op, operation);
  }
  // Compiled: CompiledOperation or CompiledWithOperands.
  template <class Compiled>
  Status launch_compiled(const Problem& problem, Compiled* op, cudaStream_t stream,
                         const LaunchOptions& options) const {
    if (Status s = this->load(); !s) return s;
    op->kernel = this->kernel(0), op->kernel_no_k = this->kernel(1);
    return tenon::launch<typename Recipe::template KernelOf<Compiled>>(problem, *op, stream, options);
  }
  template <class Compiled>
  Status plan_compiled(const Problem& problem, Compiled* op, Launcher& launcher, Launch* launch,
                       bool* launches) const {
    op->kernel = this->kernel(0), op->kernel_no_k = this->kernel(1);
    return plan_launch<typename Recipe::template KernelOf<Compiled>>(problem, *op, launcher, launch,
                                                                     launches);
  }
};

}  // namespace tenon::jit
