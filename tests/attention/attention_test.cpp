// attention() end to end: every kernel of the library, in the emulator (L3) and on a GPU (L4).
#include <gtest/gtest.h>

#include "attention/attention_case.hpp"
#include "attention/kernels.hpp"
#include "host/attention_on.hpp"

namespace tenon {
namespace {

using test::Attention;
using test::AttentionCase;
using AttentionTest = test::DeviceTest;

emulator::Counts expect_right(const AttentionCase& c, const char* kernel = nullptr) {
  const Attention attention(c);
  const Status status = tenon::attention(test::launcher(), attention.problem(), kernel);
  EXPECT_TRUE(status) << status.message();
  if (!status) return {};
  EXPECT_TRUE(test::device()->synchronize());
  attention.check();
  return test::expect_no_findings();
}

// From the name: attention_mma_f16_192_128_64x64_general.
struct Kernel {
  std::string name;
  AttentionCase of() const {
    AttentionCase c;
    c.type = name.find("bf16") != std::string::npos ? Type::bf16 : Type::f16;
    const auto at = name.find(c.type == Type::bf16 ? "bf16_" : "f16_") + (c.type == Type::bf16 ? 5 : 4);
    c.head_dimension = c.value_dimension = std::stoi(name.substr(at));
    if (name.find("192_128_") != std::string::npos) c.value_dimension = 128;
    c.scale = 1 / std::sqrt(static_cast<float>(c.head_dimension));
    return c;
  }
  // Some kernels have one window.
  AttentionWindow window(AttentionWindow wanted) const {
    if (name.find("_full") != std::string::npos) return {};
    return name.find("_causal") != std::string::npos ? AttentionWindow{-1, 0} : wanted;
  }
};

class EveryKernel : public test::DeviceTest, public ::testing::WithParamInterface<std::string> {
 protected:
  AttentionCase of_kernel(int queries, int keys) const {
    AttentionCase c = Kernel{GetParam()}.of();
    c.queries = queries, c.keys = keys;
    return c;
  }
  emulator::Counts expect_right(AttentionCase c) const {
    c.window = Kernel{GetParam()}.window(c.window);
    return tenon::expect_right(c, GetParam().c_str());
  }
};

TEST_P(EveryKernel, WholeTilesWithoutBankConflicts) {
  const emulator::Counts counts = expect_right(of_kernel(128, 128));
  if (test::emulated()) {
    EXPECT_EQ(counts.shared_wavefronts, counts.ideal_shared_wavefronts) << "bank conflicts";
  }
}

TEST_P(EveryKernel, OneQueryOneKey) {
  expect_right(of_kernel(1, 1));
}

TEST_P(EveryKernel, OddLengthsCausal) {
  AttentionCase c = of_kernel(17, 129);
  c.window = {-1, 0};
  c.heads = 2, c.key_heads = 1;
  expect_right(c);
}

TEST_P(EveryKernel, MoreQueriesThanKeysSeeNothing) {
  AttentionCase c = of_kernel(63, 17);
  c.window = {5, 0};
  expect_right(c);
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const AttentionKernel& kernel : attention_kernels()) names.push_back(kernel.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernel, ::testing::ValuesIn(kernel_names()),
                         [](const auto& info) { return info.param; });

AttentionCase of_lengths(int queries, int keys) {
  AttentionCase c;
  c.queries = queries, c.keys = keys;
  return c;
}

TEST_F(AttentionTest, Lengths) {
  for (const auto& [queries, keys] : {std::pair<int, int>{1, 129}, {63, 64}, {129, 63}, {33, 1}, {65, 257}}) {
    SCOPED_TRACE(std::to_string(queries) + " queries, " + std::to_string(keys) + " keys");
    AttentionCase c = of_lengths(queries, keys);
    expect_right(c);
    c.window = {-1, 0};
    expect_right(c);
  }
}

TEST_F(AttentionTest, NoKeysGiveZeros) {
  expect_right(of_lengths(33, 0));
}

TEST_F(AttentionTest, NothingToDo) {
  for (int which = 0; which < 3; ++which) {
    AttentionProblem p = Attention(of_lengths(1, 1)).problem();
    (which == 0 ? p.batch : which == 1 ? p.heads : p.queries) = 0;
    EXPECT_TRUE(attention(test::launcher(), p));
    EXPECT_EQ(kernel_name(test::launcher(), p), nullptr);
  }
}

TEST_F(AttentionTest, Windows) {
  for (const AttentionWindow window : {AttentionWindow{0, 0}, {7, -1}, {70, 3}, {-1, 20}, {100000, 100000}}) {
    SCOPED_TRACE(std::to_string(window.left) + ", " + std::to_string(window.right));
    AttentionCase c = of_lengths(130, 197);
    c.window = window;
    expect_right(c);
  }
}

TEST_F(AttentionTest, GroupedHeadsBatchesAndStrides) {
  AttentionCase c = of_lengths(40, 70);
  c.batch = 2, c.heads = 6, c.key_heads = 2, c.pad = 8, c.shift = 16;
  c.window = {-1, 0};
  expect_right(c);
}

TEST_F(AttentionTest, UnalignedTensors) {
  AttentionCase c = of_lengths(40, 70);
  c.heads = 2, c.pad = 1, c.shift = 3;
  expect_right(c);
  c.pad = 2, c.shift = 2, c.type = Type::bf16;
  expect_right(c);
}

TEST_F(AttentionTest, SoftCapSlopesAndScales) {
  AttentionCase c = of_lengths(50, 90);
  c.heads = 3, c.key_heads = 3;
  c.soft_cap = 1.5F;
  expect_right(c);
  c.slopes = true;
  expect_right(c);
  c.soft_cap = 0;
  c.window = {30, 0};
  expect_right(c);
  c.slopes = false;
  for (const float scale : {0.0F, -0.25F}) {
    c.scale = scale;
    expect_right(c);
  }
}

// Scores of some thousands: the softmax is that of the one largest score, and nothing overflows.
TEST_F(AttentionTest, LargeScores) {
  AttentionCase c = of_lengths(64, 200);
  c.magnitude = 256, c.scale = 1;
  const Attention attention(c);
  ASSERT_TRUE(tenon::attention(test::launcher(), attention.problem()));
  ASSERT_TRUE(test::device()->synchronize());
  attention.check();
}

TEST_F(AttentionTest, ChoosesByProblem) {
  const auto chosen = [](const AttentionCase& c) {
    const Attention attention(c);
    const char* name = kernel_name(test::launcher(), attention.problem());
    return std::string(name == nullptr ? "" : name);
  };
  AttentionCase c = of_lengths(4, 4);
  EXPECT_EQ(chosen(c).find("general"), std::string::npos) << chosen(c);
  if (test::emulated()) {  // of 4 multiprocessors
    EXPECT_EQ(chosen(c), "attention_mma_f16_64_64x64");
    c.queries = 512;
    EXPECT_EQ(chosen(c), "attention_wgmma_f16_64_192x128_full");
  }
  c.soft_cap = 1;
  EXPECT_NE(chosen(c).find("general"), std::string::npos) << chosen(c);
  c.soft_cap = 0, c.shift = 1;
  EXPECT_NE(chosen(c).find("general"), std::string::npos) << chosen(c);
}

TEST_F(AttentionTest, RefusesWithASentence) {
  const Attention made(of_lengths(4, 4));
  const auto message = [&](const auto& change, const char* kernel = nullptr) {
    AttentionProblem p = made.problem();
    change(p);
    const Status status = attention(test::launcher(), p, kernel);
    EXPECT_FALSE(status);
    return std::string(status.message());
  };
  EXPECT_EQ(message([](auto& p) {
              p.head_dimension = p.value_dimension = 40;
            }).find("no attention kernel of this build takes f16 with head dimensions 40 and 40"),
            0U);
  EXPECT_EQ(message([](auto&) {}, "warp"), "no attention kernel has the name 'warp'");
  EXPECT_NE(message([](auto& p) { p.soft_cap = 1; }, attention_kernels().front().name.c_str())
                .find("does not take this problem"),
            std::string::npos);
}

}  // namespace
}  // namespace tenon
