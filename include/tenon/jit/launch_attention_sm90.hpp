// The attention of Hopper with a score function that comes as text when the program runs. The program names
// the configuration and the mask as C++ types; it contains no kernel of them. Compile with nvcc as for
// attention/launch_sm90.hpp, and link with libdl where the C library is older than glibc 2.34. Below:
// launch_attention.hpp, attention/launch_sm90.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <string>

#include "tenon/attention/launch_sm90.hpp"
#include "tenon/jit/launch_attention.hpp"

namespace tenon {

// A kernel that was compiled apart from the program, as call_attention_wgmma() of attention/launch_sm90.hpp
// calls those of the program.
template <class Config, class Mask>
Status call_attention_wgmma(const AttentionMaps& maps, const AttentionWgmmaArguments& arguments,
                            const Mask& mask, const CompiledScore& score, Launch* launch) {
  launch->function = score.kernel;
  launch->arguments.set(maps, arguments, mask);
  return launch->arguments.append(score.data, score.size, score.alignment);
}

}  // namespace tenon

namespace tenon::jit {

template <class Config_, class Mask_>
struct AttentionWgmmaRecipe : Sm90aTarget<tenon::sm90::AttentionKernel<Config_, Mask_, CompiledScore>> {
  using Config = Config_;
  using Mask = Mask_;
  using Kernel = tenon::sm90::AttentionKernel<Config, Mask, CompiledScore>;
  static constexpr const char* includes =
      "#include \"tenon/attention/batch_mask.hpp\"\n#include \"tenon/attention/kernel_wgmma.hpp\"\n";

  static std::string kernel() {
    return "tenon::attention_wgmma<tenon_jit::Configuration, tenon_jit::Mask, tenon_jit::Score>";
  }
  static std::string types() { return "using Mask = " + type_name<Mask>() + ";\n"; }
  static std::string same_arguments() {
    return "sizeof(tenon::AttentionMaps) == " + std::to_string(sizeof(AttentionMaps)) +
           " && sizeof(tenon::AttentionWgmmaArguments) == " +
           std::to_string(sizeof(AttentionWgmmaArguments)) +
           " && sizeof(Mask) == " + std::to_string(sizeof(Mask));
  }
  static Status launch(const AttentionProblem& problem, const CompiledScore& score, cudaStream_t stream) {
    return tenon::sm90::launch_attention<Kernel>(problem, score, stream);
  }
};

}  // namespace tenon::jit

namespace tenon::sm90 {

// Config: AttentionConfig. AttentionConfigFor<T, head, Mask, CompiledScore> has the tiles for any score
// function. Mask: FullMask, CausalMask, LocalMask or BatchMask.
template <class Config, class Mask>
using JitAttentionKernel = jit::AttentionKernel<jit::AttentionWgmmaRecipe<Config, Mask>>;

}  // namespace tenon::sm90
