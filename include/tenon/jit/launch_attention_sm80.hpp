// The attention of sm_80 with a score function that comes as text when the program runs, for compute
// capability 8.0 and newer. A cubin runs on its own generation: name the device in CompileOptions::sm. The
// program names the configuration as a C++ type; it contains no kernel of it. Compile with nvcc, and link
// with libdl where the C library is older than glibc 2.34. Below: launch_attention.hpp,
// attention/launch_sm80.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <string>

#include "tenon/attention/launch_sm80.hpp"
#include "tenon/jit/launch_attention.hpp"

namespace tenon {

// A kernel that was compiled apart from the program, as call_attention_mma() of attention/launch_sm80.hpp
// calls those of the program.
template <class Config, Alignment alignment, Sequences sequences>
Status call_attention_mma(const AttentionArguments& arguments, const CompiledScore& score,
                          Launch* launch) noexcept {
  launch->function = score.kernel;
  launch->arguments.set(arguments);
  return launch->arguments.append(score.data, score.size, score.alignment);
}

}  // namespace tenon

namespace tenon::jit {

template <class Config_, Alignment alignment, Sequences sequences>
struct AttentionMmaRecipe : Sm80Target<80> {
  using Config = Config_;
  using Kernel = tenon::sm80::AttentionKernel<Config, CompiledScore, alignment, sequences>;
  static constexpr const char* includes = "#include \"tenon/attention/kernel_mma.hpp\"\n";

  static std::string kernel() {
    return "tenon::attention_mma<tenon_jit::Configuration, tenon_jit::Score, tenon::Alignment(" +
           std::to_string(static_cast<int>(alignment)) + "), tenon::Sequences(" +
           std::to_string(static_cast<int>(sequences)) + ")>";
  }
  static std::string types() { return ""; }
  static std::string same_arguments() {
    return "sizeof(tenon::AttentionArguments) == " + std::to_string(sizeof(AttentionArguments)) +
           " && Configuration::rows == " + std::to_string(Config::rows);
  }
  static Status launch(const AttentionProblem& problem, const CompiledScore& score, cudaStream_t stream) {
    return tenon::launch_attention<Kernel>(problem, score, stream);
  }
};

}  // namespace tenon::jit

namespace tenon::sm80 {

// Config: AttentionMmaConfig. The rest: as for AttentionKernel.
template <class Config, Alignment alignment = Alignment::full_16, Sequences sequences = Sequences::equal>
using JitAttentionKernel = jit::AttentionKernel<jit::AttentionMmaRecipe<Config, alignment, sequences>>;

}  // namespace tenon::sm80
