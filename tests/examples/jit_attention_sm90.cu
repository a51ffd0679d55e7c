// Causal attention on Hopper whose scores are a formula that the program reads: NVRTC compiles its kernel.
#include <cuda_fp16.h>

#include "tenon/jit/launch_attention_sm90.hpp"

using Config = tenon::sm90::AttentionConfigFor<half, 128, tenon::CausalMask, tenon::CompiledScore>;
using Kernel = tenon::sm90::JitAttentionKernel<Config, tenon::CausalMask>;
struct Scale {  // the members of Formula below
  float scale;
};

// formula: such as "30.0F * tanhf(scale * dot / 30.0F)", a soft cap.
tenon::Status compile(const std::string& formula, const tenon::jit::CompileOptions& options, Kernel* kernel) {
  const std::string text =
      "struct Formula {\n  static constexpr bool changes_scores = true;\n  float scale;\n"
      "  __device__ Formula of_head(int) const { return *this; }\n"
      "  __device__ float operator()(float dot, int position, int key) const {\n    return " +
      formula + ";\n  }\n  __device__ float log2_factor() const { return tenon::log2_of_e; }\n};\n";
  return Kernel::make({"Formula", text, sizeof(Scale), alignof(Scale)}, options, kernel);
}

// problem: of half, head dimension 128, window {-1, 0}; its soft cap and slopes are not read.
tenon::Status run(const Kernel& kernel, const tenon::AttentionProblem& problem, cudaStream_t stream) {
  return kernel.launch(problem, Scale{problem.scale}, stream);
}
