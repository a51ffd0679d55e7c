// The GEMM of sm_80 with an epilogue that comes as text when the program runs, for compute capability 8.0 and
// newer. A cubin runs on its own generation: name the device in CompileOptions::sm. The program names the
// configuration as a C++ type; it contains no kernel of it. Compile with nvcc, and link with libdl where the
// C library is older than glibc 2.34. Below: code_target.hpp, launch.hpp, gemm/launch_sm80.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <string>

#include "tenon/gemm/launch_sm80.hpp"
#include "tenon/jit/code_target.hpp"
#include "tenon/jit/launch.hpp"

namespace tenon {

// Plans a kernel that was compiled apart from the program, as plan_cp_async() of gemm/plan_sm80.hpp does for
// operations of the program.
template <class Config, Alignment alignment>
Status plan_cp_async(const Product& product, const CompiledOperation& op, Launch* launch) {
  launch->function = op.kernel;
  launch->arguments.set(prepare_cp_async<Config, alignment>(product, launch));
  return launch->arguments.append(op.data, op.size, op.alignment);
}
template <class Config, Alignment alignment, class Op, class Operands>
Status plan_cp_async(const Product& product, const CompiledWithOperands<Op, Operands>& op, Launch* launch) {
  return plan_cp_async<Config, alignment>(product, op.bytes_of(op.op), launch);
}

}  // namespace tenon

namespace tenon::jit {

template <class Config_>
struct CpAsyncRecipe : Sm80Target<Config_::minimum_sm> {
  using Config = Config_;
  // What plans a launch. Compiled: CompiledOperation or CompiledWithOperands.
  template <class Compiled>
  using KernelOf = tenon::sm80::GemmKernel<Config, Compiled>;
  using Value = typename Config::WarpAccumulator::Value;
  static_assert(sizeof(typename Config::T) == 2, "JitGemmKernel: the operands have 16 bits");
  static constexpr const char* includes =
      "#include \"tenon/gemm/config_sm80.hpp\"\n#include \"tenon/gemm/kernel_cp_async.hpp\"\n";
  static constexpr const char* includes_of_operands = "#include \"tenon/gemm/epilogue_operands.hpp\"\n";

  // operation: its type, as the source names it.
  template <class TC>
  static std::string kernel(const std::string& operation) {
    return "tenon::gemm_cp_async<tenon_jit::Configuration, tenon::Alignment::any, " + operation + ">";
  }
  // Of the launch, as the program plans it.
  template <class Operands>
  static std::string same_headers(const std::string& /*operation*/) {
    using Gemm = GemmCpAsync<Config, Alignment::any>;
    const std::string gemm = "tenon::GemmCpAsync<Configuration, tenon::Alignment::any>::";
    return " && " + gemm + "threads == " + std::to_string(Gemm::threads) + " && " + gemm +
           "shared_bytes == " + std::to_string(Gemm::shared_bytes);
  }
};

}  // namespace tenon::jit

namespace tenon::sm80 {

// C = op(A * B). Config: as for GemmKernel, of operands of 16 bits. TC: the type of C. Operands:
// EpilogueOperands<...>, see jit::GemmKernel.
template <class Config, class TC, class Operands = jit::NoOperands>
using JitGemmKernel = jit::GemmKernel<jit::CpAsyncRecipe<Config>, TC, Operands>;

}  // namespace tenon::sm80
