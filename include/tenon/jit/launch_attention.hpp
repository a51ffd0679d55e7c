// Attention with a score function that is known when the program runs: NVRTC compiles the kernel from its
// text, and launch() enqueues it as launch_attention() does the program's own. Include
// launch_attention_sm80.hpp or launch_attention_sm90.hpp, which have the kernel types. Below:
// compiled_kernel.hpp, compiled_score.hpp, type_name.hpp, attention/problem.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <string>
#include <utility>
#include <vector>

#include "tenon/attention/problem.hpp"
#include "tenon/jit/code_target.hpp"
#include "tenon/jit/compiled_kernel.hpp"
#include "tenon/jit/compiled_score.hpp"
#include "tenon/jit/type_name.hpp"

namespace tenon::jit {

// A score function (attention/score_function.hpp) as text. Those of tenon need none: {"tenon::PlainScore",
// "", sizeof(tenon::PlainScore), alignof(tenon::PlainScore)}.
using ScoreFunction = StructText;

// What is compiled around a score function. Recipe: what the kernels of an architecture add, see
// launch_attention_sm90.hpp.
template <class Recipe>
struct AttentionFamily : Recipe {
  static constexpr const char* what = "score function";
  static constexpr const char* alias = "Score";
  static constexpr const char* header = "tenon/attention/score_function.hpp";
  static constexpr const char* requirement =
      R"(tenon::is_score_function<Score>,
              "a score function has static constexpr bool changes_scores, Score of_head(int head), float operator()(float score, int position, int key) and float log2_factor(), all of them const")";

  static std::string includes() {
    return std::string(Recipe::includes) + "#include \"tenon/attention/score_function.hpp\"\n";
  }
  static std::vector<std::string> kernels() { return {Recipe::kernel()}; }
  static std::string types() {
    return "using Configuration = " + type_name<typename Recipe::Config>() + ";\n" + Recipe::types();
  }
  // Of the arguments and of the launch, as the program plans them.
  static std::string same_headers() {
    using Config = typename Recipe::Config;
    return Recipe::same_arguments() + " && Configuration::threads == " + std::to_string(Config::threads) +
           " && Configuration::shared_bytes == " + std::to_string(Config::shared_bytes);
  }
};

template <class Recipe_>
class AttentionKernel : public CompiledKernel<AttentionFamily<Recipe_>> {
 public:
  using Recipe = Recipe_;
  using Config = typename Recipe::Config;
  // What plans the launch; its check() says which problems the kernel takes.
  using Planned = typename Recipe::Kernel;

  // Enqueues the computation on the stream of the current device, as launch_attention() does. score: a struct
  // with the members of the score function's, or OperationBytes. The first launch loads the code.
  template <class Score>
  Status launch(const AttentionProblem& problem, const Score& score,
                cudaStream_t stream = nullptr) const noexcept {
    CompiledScore compiled;
    if (Status s = this->bind(score, &compiled); !s) return s;
    if (Status s = this->load(); !s) return s;
    compiled.kernel = this->kernel(0);
    return Recipe::launch(problem, compiled, stream);
  }

  // Plans the launch of a problem that is not empty and that Planned::check() takes, by Planned::plan(),
  // which says what else it asks for: device and launch, and on Hopper make_map between them. The function of
  // the launch is null before load().
  template <class Score, class... Arguments>
  Status plan(const AttentionProblem& problem, const Score& score, Arguments&&... arguments) const noexcept {
    CompiledScore compiled;
    if (Status s = this->bind(score, &compiled); !s) return s;
    compiled.kernel = this->kernel(0);
    return Planned::plan(problem, compiled, std::forward<Arguments>(arguments)...);
  }
};

}  // namespace tenon::jit
