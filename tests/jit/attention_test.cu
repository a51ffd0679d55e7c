// Attention kernels that NVRTC compiles from a score function's text, those of the example
// (jit_attention_sm90.cu) and others: on a GPU by their launch, in the emulator by the PTX of the same
// program and the launch that is planned. Beside the emulator also what make() says and what it takes from
// the cache.
#include "examples/jit_attention_sm90.cu"

#include <cuda_bf16.h>
#include <gtest/gtest.h>

#include "attention/attention_case.hpp"
#include "attention/with_tensor_maps.hpp"
#include "jit/jit_test.hpp"
#include "tenon/jit/launch_attention_sm80.hpp"

namespace tenon::jit {
namespace {

// Whether a kernel is planned with tensor maps: those of Hopper, which have a mask.
template <class Planned, class = void>
inline constexpr bool takes_maps = false;
template <class Planned>
inline constexpr bool takes_maps<Planned, std::void_t<typename Planned::Mask>> = true;

class JitAttention : public JitTest {
 protected:
  // Computes the case and compares it with float64.
  template <class Kernel, class Score>
  void expect_right(const Kernel& kernel, const ScoreFunction& given, test::AttentionCase c,
                    const Score& score) {
    SCOPED_TRACE(::testing::Message() << c.queries << " queries, " << c.keys << " keys");
    c.type = TypeOf<typename Kernel::Config::T>::value;
    const test::Attention attention(c);
    const AttentionProblem p = attention.problem();
    const Status status = test::emulated() ? emulate(kernel, given, p, score) : kernel.launch(p, score);
    ASSERT_TRUE(status) << status.message();
    ASSERT_TRUE(test::device()->synchronize());
    attention.check();
  }

 private:
  template <class Kernel, class Score>
  Status emulate(const Kernel& kernel, const ScoreFunction& given, const AttentionProblem& problem,
                 const Score& score) {
    DeviceDescription device;
    if (Status s = test::launcher().describe(&device); !s) return s;
    if (Status s = Kernel::Planned::check(problem, device); !s) return s;
    Launch plan;
    if constexpr (takes_maps<typename Kernel::Planned>) {
      const Status s = with_tensor_maps(test::launcher(), [&](const auto& make_map) {
        return kernel.plan(problem, score, device, make_map, &plan);
      });
      if (!s) return s;
    } else {
      if (Status s = kernel.plan(problem, score, device, &plan); !s) return s;
    }
    return JitTest::emulate(kernel, given, 0, plan);
  }
};

constexpr const char* soft_cap = "2.0F * tanhf(dot * scale / 2.0F)";
// What the example makes of it.
ScoreFunction formula(const std::string& text) {
  return {"Formula",
          "struct Formula {\n  static constexpr bool changes_scores = true;\n  float scale;\n"
          "  __device__ Formula of_head(int) const { return *this; }\n"
          "  __device__ float operator()(float dot, int position, int key) const {\n    return " +
              text + ";\n  }\n  __device__ float log2_factor() const { return tenon::log2_of_e; }\n};\n",
          sizeof(Scale), alignof(Scale)};
}

// The example: odd sizes, several tiles, keys that no query sees.
TEST_F(JitAttention, ComputesTheFormula) {
  ::Kernel kernel;
  const Status made = compile(soft_cap, options_with(cache()), &kernel);
  ASSERT_TRUE(made) << made.message() << "\n" << kernel.report().log;
  for (const auto& [queries, keys] : {std::pair{1, 1}, {63, 150}, {200, 260}}) {
    test::AttentionCase c;
    c.heads = 2, c.key_heads = 1, c.queries = queries, c.keys = keys;
    c.head_dimension = c.value_dimension = 128;
    c.window = {-1, 0}, c.scale = 0.088388F, c.soft_cap = 2;
    if (test::emulated()) {
      expect_right(kernel, formula(soft_cap), c, Scale{c.scale});
    } else {
      const test::Attention attention(c);
      const Status status = run(kernel, attention.problem(), nullptr);
      ASSERT_TRUE(status) << status.message();
      ASSERT_TRUE(test::device()->synchronize());
      attention.check();
    }
  }
}

// Other types, head dimensions, masks and schedules, the kernel of sm_80, and a score function that depends
// on the head. Its slopes are those of AttentionCase.
struct alignas(16) Slopes {
  float scale, first, of_this_head;
};
const ScoreFunction slopes{
    "Slopes",
    "struct alignas(16) Slopes {\n"
    "  static constexpr bool changes_scores = true;\n"
    "  float scale, first, of_this_head;\n"
    "  __device__ Slopes of_head(int head) const { return {scale, first, ldexpf(first, -head)}; }\n"
    "  __device__ float operator()(float dot, int position, int key) const {\n"
    "    return scale * dot + of_this_head * static_cast<float>(key - position);\n"
    "  }\n"
    "  __device__ float log2_factor() const { return tenon::log2_of_e; }\n"
    "};\n",
    sizeof(Slopes), alignof(Slopes)};

template <class T, int head, class Mask>
using Hopper =
    tenon::sm90::JitAttentionKernel<tenon::sm90::AttentionConfigFor<T, head, Mask, CompiledScore>, Mask>;
using Ampere = AttentionMmaConfig<half, 64, 64, 4, 2, 64, 32, 3, true, 2, Overlap::ahead>;
using AmpereOf96 = AttentionMmaConfig<__nv_bfloat16, 96, 96, 4, 2, 64, 64, 2, false, 2>;

class JitSlopes : public JitAttention {
 protected:
  template <class Kernel>
  void expect_all(int head, AttentionWindow window, int shift = 0) {
    const auto kernel = made<Kernel>(slopes);
    for (const int n : {1, 129}) {
      test::AttentionCase c;
      c.heads = 3, c.key_heads = 1, c.queries = n, c.keys = n + 20;
      c.head_dimension = c.value_dimension = head;
      c.window = window, c.slopes = true, c.pad = c.shift = shift;
      expect_right(kernel, slopes, c, Slopes{c.scale, 0.5F, 0});
    }
  }
};
TEST_F(JitSlopes, WithoutAMask) {
  expect_all<Hopper<__nv_bfloat16, 64, FullMask>>(64, {-1, -1});
}
TEST_F(JitSlopes, OfAWindow) {
  expect_all<Hopper<half, 96, LocalMask>>(96, {20, 3});
}
TEST_F(JitSlopes, OfBatchesWithLengthsOfTheirOwn) {
  const auto kernel = made<Hopper<half, 64, BatchMask>>(slopes);
  test::AttentionCase c;
  c.batch = 2, c.queries = 70, c.keys = 150, c.key_lengths = {150, 70};
  c.window = {-1, 0}, c.slopes = true;
  expect_right(kernel, slopes, c, Slopes{c.scale, 0.5F, 0});
}
TEST_F(JitSlopes, OfE4m3) {
  const auto kernel = made<Hopper<e4m3, 64, CausalMask>>(slopes);
  test::AttentionCase c;
  c.queries = 70, c.keys = 150, c.scales = true;
  c.window = {-1, 0}, c.slopes = true;
  expect_right(kernel, slopes, c, Slopes{c.scale, 0.5F, 0});
}
TEST_F(JitSlopes, OnSm80) {
  expect_all<tenon::sm80::JitAttentionKernel<Ampere>>(64, {-1, 0});
}
TEST_F(JitSlopes, OnSm80OfAnyAlignment) {
  expect_all<tenon::sm80::JitAttentionKernel<AmpereOf96, Alignment::any, Sequences::variable>>(96, {20, 3},
                                                                                               1);
}

// A score function of tenon, by its name alone, with its tiles.
TEST_F(JitAttention, TakesTheScoreFunctionsOfTenon) {
  using Config = tenon::sm90::AttentionConfigFor<__nv_bfloat16, 128, CausalMask, PlainScore>;
  using Plain = tenon::sm90::JitAttentionKernel<Config, CausalMask>;
  const ScoreFunction plain{"tenon::PlainScore", "", sizeof(PlainScore), alignof(PlainScore)};
  test::AttentionCase c;
  c.heads = c.key_heads = 2, c.queries = c.keys = 150;
  c.head_dimension = c.value_dimension = 128, c.window = {-1, 0};
  expect_right(made<Plain>(plain), plain, c, PlainScore{c.scale});
}

class JitAttentionSentences : public JitHostTest {
 protected:
  std::string refused(const ScoreFunction& given) { return JitHostTest::refused(given, &kernel_); }
  // Whether a kernel that the cache has is asked for. It is not launched.
  template <class Kernel>
  bool comes_from_cache(const ScoreFunction& given) {
    Kernel kernel;
    const Status status = Kernel::make(given, options_, &kernel);
    EXPECT_TRUE(status) << status.message();
    EXPECT_EQ(kernel.cubin().symbols.size(), 1U);
    return kernel.report().from_cache;
  }
  ::Kernel kernel_;
};

// The second one is asked of a stub of NVRTC, which compiles nothing.
TEST_F(JitAttentionSentences, TheSecondKernelComesFromTheCache) {
  ASSERT_TRUE(compile(soft_cap, options_, &kernel_));
  EXPECT_FALSE(kernel_.report().from_cache);
  EXPECT_EQ(kernel_.report().log, "");
  EXPECT_EQ(kernel_.cubin().bytes.substr(1, 3), "ELF");
  ASSERT_EQ(kernel_.cubin().symbols.size(), 1U);
  expect_in(kernel_.cubin().symbols[0], kernel_.cubin().bytes);
  take_stub();
  ::Kernel second;
  ASSERT_TRUE(compile(soft_cap, options_, &second));
  EXPECT_TRUE(second.report().from_cache);
  EXPECT_EQ(second.report().note, "");
  EXPECT_EQ(second.cubin().bytes, kernel_.cubin().bytes);
  EXPECT_EQ(second.cubin().symbols, kernel_.cubin().symbols);
}
// Type, head dimension, mask, schedule, architecture, alignment and lengths.
TEST_F(JitAttentionSentences, EachKernelHasAKeyOfItsOwn) {
  take_stub();
  const auto expect_own = [&](auto kernel, const ScoreFunction& given) {
    EXPECT_FALSE(comes_from_cache<decltype(kernel)>(given));
    EXPECT_TRUE(comes_from_cache<decltype(kernel)>(given));
  };
  using Schedule = tenon::sm90::AttentionTiles<128, 64, 2, 2>;
  expect_own(Hopper<half, 128, CausalMask>{}, slopes);
  expect_own(Hopper<half, 128, CausalMask>{}, formula(soft_cap));
  expect_own(Hopper<half, 128, CausalMask>{}, formula("dot * scale"));
  expect_own(Hopper<__nv_bfloat16, 128, CausalMask>{}, slopes);
  expect_own(Hopper<half, 64, CausalMask>{}, slopes);
  expect_own(Hopper<half, 128, FullMask>{}, slopes);
  expect_own(Hopper<half, 128, BatchMask>{}, slopes);
  expect_own(tenon::sm90::JitAttentionKernel<AttentionConfig<half, 128, 128, Schedule>, CausalMask>{},
             slopes);
  expect_own(tenon::sm80::JitAttentionKernel<Ampere>{}, slopes);
  expect_own(tenon::sm80::JitAttentionKernel<Ampere, Alignment::any>{}, slopes);
  expect_own(tenon::sm80::JitAttentionKernel<Ampere, Alignment::full_16, Sequences::variable>{}, slopes);
  options_.sm = 86;
  expect_own(tenon::sm80::JitAttentionKernel<Ampere>{}, slopes);
}
TEST_F(JitAttentionSentences, ATextThatDoesNotCompile) {
  const Status status = compile("dot * scala", options_, &kernel_);
  EXPECT_EQ(std::string(status.message())
                .find("NVRTC: score function(6): error: identifier \"scala\" is undefined"),
            0U)
      << status.message();
  expect_in("1 error detected in the compilation", kernel_.report().log);
  EXPECT_EQ(refused({"", "", 1, 1}), "the score function's name is empty but must name its struct");
}
TEST_F(JitAttentionSentences, AScoreFunctionThatIsNone) {
  ScoreFunction given = formula(soft_cap);
  given.size = 8;
  expect_in("the score function has 8 bytes with alignment 4 in the program, but not here", refused(given));
  const char* const sentence = "a score function has static constexpr bool changes_scores, Score of_head(int";
  for (const char* part : {"static constexpr bool changes_scores = true;",
                           "__device__ Formula of_head(int) const { return *this; }", "const {\n    return",
                           "__device__ float log2_factor() const { return tenon::log2_of_e; }"}) {
    given = formula(soft_cap);
    const std::size_t at = given.text.find(part);
    ASSERT_NE(at, std::string::npos) << part;
    given.text.replace(at, std::string(part).size(), part[0] == 'c' ? "{\n    return" : "");
    expect_in(sentence, refused(given));
  }
  given = formula(soft_cap);
  given.text.replace(given.text.find("  float scale;"), 14, "  float scale; __device__ ~Formula() {}");
  refused(given);
  expect_in("the score function is copied byte by byte: it must be trivially copyable", kernel_.report().log);
}
TEST_F(JitAttentionSentences, FoldersThatDoNotHaveTheHeaders) {
  options_.include_folders = {CUDA_INCLUDE};
  EXPECT_EQ(
      refused(slopes),
      "tenon/attention/score_function.hpp is in none of the 1 include folders, but those of tenon and of "
      "the CUDA Toolkit must be among them");
}
TEST_F(JitAttentionSentences, ALaunchOfWhatWasNotMadeOrOfOtherBytes) {
  const AttentionProblem problem;
  EXPECT_STREQ(kernel_.launch(problem, Scale{}).message(),
               "the kernel was not made: its make() must succeed first");
  take_stub();
  ASSERT_TRUE(compile(soft_cap, options_, &kernel_));
  EXPECT_STREQ(kernel_.launch(problem, Slopes{}).message(),
               "the score function has 16 bytes but Formula, as it was made, has 4");
}

}  // namespace
}  // namespace tenon::jit
