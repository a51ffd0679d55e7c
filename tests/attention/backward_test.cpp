// attention_backward() end to end: every kernel of the library, in the emulator (L3) and on a GPU (L4).
#include <gtest/gtest.h>

#include "attention/backward_case.hpp"
#include "attention/backward_kernels.hpp"

namespace tenon {
namespace {

using test::AttentionBackward;
using test::AttentionCase;
using AttentionBackwardTest = test::DeviceTest;

void expect_right(const AttentionCase& c, const char* kernel = nullptr, bool deterministic = false) {
  AttentionBackward attention(c, deterministic);
  const Status status = attention_backward(test::launcher(), attention.problem(kernel), kernel);
  ASSERT_TRUE(status) << status.message();
  ASSERT_TRUE(test::device()->synchronize());
  attention.check();
  test::expect_no_findings();
}

// From the name: attention_backward_wgmma_bf16_128_causal.
AttentionCase case_of(const std::string& name) {
  AttentionCase c;
  c.type = name.find("_bf16_") != std::string::npos ? Type::bf16 : Type::f16;
  const auto at = name.find(c.type == Type::bf16 ? "_bf16_" : "_f16_") + (c.type == Type::bf16 ? 6 : 5);
  c.head_dimension = c.value_dimension = std::stoi(name.substr(at));
  if (name.find("192_128") != std::string::npos) c.value_dimension = 128;
  c.scale = 1 / std::sqrt(static_cast<float>(c.head_dimension));
  return c;
}
bool is_wgmma(const std::string& name) {
  return name.find("wgmma") != std::string::npos;
}
AttentionWindow window_of(const std::string& name) {
  return name.find("_full") != std::string::npos ? AttentionWindow{} : AttentionWindow{-1, 0};
}

class EveryBackwardKernel : public test::DeviceTest, public ::testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    test::DeviceTest::SetUp();
    if (is_wgmma(GetParam()) && !test::emulated() && test::gpu_sm() != 90)
      GTEST_SKIP() << "needs a GPU of sm_90";
  }
};
// Rows of several tiles, which end within one, and heads that share one of keys.
TEST_P(EveryBackwardKernel, OddLengthsAndGroups) {
  AttentionCase c = case_of(GetParam());
  c.window = window_of(GetParam());
  c.heads = 2;
  c.queries = is_wgmma(GetParam()) ? 139 : 67, c.keys = is_wgmma(GetParam()) ? 150 : 75;
  expect_right(c, GetParam().c_str());
}
std::vector<std::string> kernels() {
  std::vector<std::string> names;
  for (const AttentionBackwardKernel& kernel : attention_backward_kernels()) names.push_back(kernel.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Attention, EveryBackwardKernel, ::testing::ValuesIn(kernels()),
                         [](const auto& info) { return info.param; });

// The mma.sync kernels take every mask and score.
TEST_F(AttentionBackwardTest, WindowsSlopesAndCaps) {
  AttentionCase c;
  c.head_dimension = c.value_dimension = 32, c.scale = 0.2F;
  c.batch = 2, c.heads = 4, c.key_heads = 2, c.queries = 37, c.keys = 70;
  c.window = {9, 3}, c.slopes = true, c.soft_cap = 1.5F;
  expect_right(c);
  c.queries = 70, c.keys = 37, c.window = {5, 0}, c.slopes = false;  // 33 queries see no key
  expect_right(c);
  c.type = Type::bf16, c.window = {-1, 2}, c.soft_cap = 0, c.scale = -0.3F;
  expect_right(c);
}
TEST_F(AttentionBackwardTest, UnalignedTensors) {
  AttentionCase c;
  c.head_dimension = c.value_dimension = 32;
  c.queries = 19, c.keys = 35, c.window = {-1, 0};
  for (const auto& [pad, shift] : {std::pair{1, 1}, {2, 2}, {8, 1}}) {
    c.pad = pad, c.shift = shift;
    expect_right(c);
  }
}
// exp(s - log-sum-exp) of scores of 1e4.
TEST_F(AttentionBackwardTest, LargeScores) {
  AttentionCase c;
  c.head_dimension = c.value_dimension = 32, c.magnitude = 500, c.scale = 1;
  c.queries = 20, c.keys = 21;
  expect_right(c);
}
// Without keys dQ is 0, without queries dK and dV are.
TEST_F(AttentionBackwardTest, Empty) {
  AttentionCase c;
  c.queries = 3, c.keys = 0;
  expect_right(c);
  c.queries = 0, c.keys = 3;
  expect_right(c);
  c.keys = 0;
  AttentionBackward nothing(c);
  EXPECT_TRUE(attention_backward(test::launcher(), nothing.problem()));
  EXPECT_EQ(kernel_name(test::launcher(), nothing.problem()), nullptr);
  EXPECT_EQ(workspace_size(test::launcher(), nothing.problem()), 0U);
}

// More heads than the workspace of the wgmma kernel has slots, and queries that see no key.
TEST_F(AttentionBackwardTest, HeadsThatShareSlots) {
  AttentionCase c;
  c.batch = test::emulated() ? 7 : 300, c.heads = 2, c.key_heads = 2;
  c.queries = 30, c.keys = 20, c.window = {-1, 0};
  expect_right(c);
  expect_right(c, nullptr, true);
}

TEST_F(AttentionBackwardTest, DeterministicGivesTheSameBits) {
  AttentionCase c;
  c.heads = 2, c.queries = 70, c.keys = 140, c.window = {-1, 0};
  std::vector<std::uint16_t> first;
  for (int run = 0; run < 2; ++run) {
    AttentionBackward attention(c, true);
    ASSERT_TRUE(attention_backward(test::launcher(), attention.problem()));
    ASSERT_TRUE(test::device()->synchronize());
    if (run == 0) {
      first = attention.bits();
    } else {
      EXPECT_EQ(first, attention.bits());
    }
  }
}

TEST_F(AttentionBackwardTest, Refusals) {
  AttentionCase c;
  c.queries = 5, c.keys = 6;
  AttentionBackward attention(c);
  const AttentionBackwardProblem good = attention.problem();
  const auto message = [](const AttentionBackwardProblem& p, const char* kernel = nullptr) {
    return std::string(can_implement(test::launcher(), p, kernel).message());
  };
  const auto expect = [&](const AttentionBackwardProblem& p, const char* sentence) {
    EXPECT_NE(message(p).find(sentence), std::string::npos) << message(p);
  };
  EXPECT_TRUE(can_implement(test::launcher(), good)) << message(good);
  AttentionBackwardProblem p = good;
  p.forward.log_sum_exp = nullptr;
  expect(p, "log_sum_exp is a null pointer but the backward pass needs that of the forward pass");
  p = good;
  p.workspace_bytes -= 1;
  expect(p, "the workspace has ");
  p = good;
  p.workspace = static_cast<char*>(p.workspace) + 4;
  expect(p, "must be at a multiple of 256 bytes");
  p = good;
  p.d_o.data = nullptr;
  expect(p, "d_o is a null pointer");
  p = good;
  p.dk.row_stride = 8;
  expect(p, "the row stride of dk is 8 but must be >= 64: its elements would overlap");
  p = good;
  p.dv = p.dk;
  expect(p, "dv (from 0x");
  p = good;
  p.dq.data = const_cast<void*>(p.forward.q.data);
  expect(p, "dq (from 0x");
  p = good;
  p.forward.type = Type::e4m3;
  expect(p, "type is e4m3 but the backward pass of attention needs f16 or bf16");
  const std::int32_t word = 0;
  const float sink = 0;
  p = good;
  p.forward.v_scales.data = &sink;
  expect(p, "v_scales is given but only e4m3 has scales, and type is f16");
  p = good;
  p.forward.query_offsets = &word, p.forward.query_rows = 5;
  expect(p, "query_offsets is given but the backward pass of attention needs a null pointer there");
  p = good;
  p.forward.key_offsets = &word, p.forward.key_rows = 6;
  expect(p, "key_offsets is given but");
  p = good;
  p.forward.key_lengths = &word;
  expect(p, "key_lengths is given but");
  p = good;
  p.forward.pages.table = &word, p.forward.pages.page_size = 1, p.forward.pages.count = 6;
  p.forward.pages.table_stride = 6;
  expect(p, "pages.table is given but");
  p = good;
  p.forward.sinks = &sink;
  expect(p, "sinks is given but");
  EXPECT_NE(message(good, "warp").find("no backward kernel of attention has the name 'warp'"),
            std::string::npos);
  p = good;
  p.forward.head_dimension = p.forward.value_dimension = 40;
  expect(p, "no backward kernel of attention of this build takes f16 with head dimensions 40 and 40");
}

}  // namespace
}  // namespace tenon
