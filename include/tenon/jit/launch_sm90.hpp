// The GEMM of Hopper with an epilogue that comes as text when the program runs. The program names the
// configuration as a C++ type; it contains no kernel of it. Compile with nvcc as for gemm/launch_sm90.hpp,
// and link with libdl where the C library is older than glibc 2.34. Below: code_target.hpp,
// launch.hpp, gemm/launch_sm90.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <string>

#include "tenon/gemm/launch_sm90.hpp"
#include "tenon/jit/code_target.hpp"
#include "tenon/jit/launch.hpp"

namespace tenon {

// Plans a kernel that was compiled apart from the program, as plan_wgmma() of gemm/plan_sm90.hpp does for
// operations of the program.
template <class Config>
Status plan_wgmma(const Product& product, const CompiledOperation& op, const DeviceDescription& device,
                  Launcher& launcher, Launch* launch) {
  static_assert(Config::Cluster::is_compiled, "the clusters of a compiled operation's kernel are compiled");
  WgmmaArguments<Config> kernel;
  launch->function = op.kernel;
  launch->shared_bytes = GemmWgmma<Config>::shared_bytes;
  if (Status s = prepare_any_wgmma(product, device, launcher, launch, &kernel); !s) return s;
  launch->arguments.set(kernel.map_a, kernel.map_b, kernel.map_c, kernel.arguments);
  return launch->arguments.append(op.data, op.size, op.alignment);
}
// Of an operation with these operands, or with none.
template <class Config, class Operands>
inline constexpr int compiled_shared_bytes =
    GemmWgmma<Config>::template shared_bytes_with<WithOperands<UnknownOperation<Operands>>>;
template <class Config, class Op, class Operands>
Status plan_wgmma(const Product& product, const CompiledWithOperands<Op, Operands>& op,
                  const DeviceDescription& device, Launcher& launcher, Launch* launch) {
  WithOperands<Op, Operands> with_map = op.op;
  if (Status s = make_matrix_map<Config>(product, launcher, &with_map); !s) return s;
  if (Status s = plan_wgmma<Config>(product, op.bytes_of(with_map), device, launcher, launch); !s) return s;
  launch->shared_bytes = compiled_shared_bytes<Config, Operands>;
  return {};
}

}  // namespace tenon

namespace tenon::jit {

// gemm_wgmma_typed, for one type of C: half the code.
template <class Config_>
struct WgmmaRecipe : Sm90aTarget<tenon::sm90::GemmKernel<Config_, CompiledOperation>> {
  using Config = Config_;
  // What plans a launch. Compiled: CompiledOperation or CompiledWithOperands.
  template <class Compiled>
  using KernelOf = tenon::sm90::GemmKernel<Config, Compiled>;
  using Value = typename KernelOf<CompiledOperation>::Value;
  static_assert(Config::Cluster::is_compiled,
                "JitGemmKernel: the clusters of the configuration are compiled");
  static constexpr const char* includes =
      "#include \"tenon/gemm/config_sm90.hpp\"\n#include \"tenon/gemm/kernel_wgmma.hpp\"\n";
  static constexpr const char* includes_of_operands = "#include \"tenon/gemm/store_tma_operands.hpp\"\n";

  // operation: its type, as the source names it.
  template <class TC>
  static std::string kernel(const std::string& operation) {
    return "tenon::gemm_wgmma_typed<tenon_jit::Configuration, " + operation +
           ", tenon::Type::" + tenon::name(TypeOf<TC>::value) + ">";
  }
  // Of the arguments and of the launch, as the program plans them.
  template <class Operands>
  static std::string same_headers(const std::string& operation) {
    using Gemm = GemmWgmma<Config>;
    const std::string gemm = "tenon::GemmWgmma<Configuration>::";
    return " && sizeof(" + gemm + "MapA) == " + std::to_string(sizeof(typename Gemm::MapA)) + " && sizeof(" +
           gemm + "MapB) == " + std::to_string(sizeof(typename Gemm::MapB)) + " && " + gemm +
           "threads == " + std::to_string(Gemm::threads) + " && " + gemm + "shared_bytes_with<" + operation +
           "> == " + std::to_string(compiled_shared_bytes<Config, Operands>);
  }
};

}  // namespace tenon::jit

namespace tenon::sm90 {

// C = op(A * B). Config: as for GemmKernel, but with clusters that are compiled. TC: the type of C. Operands:
// EpilogueOperands<...>, see jit::GemmKernel.
template <class Config, class TC, class Operands = jit::NoOperands>
using JitGemmKernel = jit::GemmKernel<jit::WgmmaRecipe<Config>, TC, Operands>;

}  // namespace tenon::sm90
