// attention() of e4m3 end to end, in the emulator (L3) and on a GPU (L4): what other types do not have. Every
// kernel of the library: attention_test.cpp.
#include <gtest/gtest.h>

#include "attention/attention_case.hpp"
#include "host/attention_on.hpp"

namespace tenon {
namespace {

using test::Attention;
using test::AttentionCase;

class AttentionE4m3Test : public test::DeviceTest {
 protected:
  void SetUp() override {
    test::DeviceTest::SetUp();
    if (!IsSkipped() && !test::emulated() && test::gpu_sm() != 90) GTEST_SKIP() << "needs a GPU of sm_90";
  }
};

AttentionCase of_lengths(int queries, int keys) {
  AttentionCase c;
  c.type = Type::e4m3;
  c.queries = queries, c.keys = keys;
  return c;
}

void expect_right(const AttentionCase& c) {
  const Attention attention(c);
  const Status status = tenon::attention(test::launcher(), attention.problem());
  ASSERT_TRUE(status) << status.message();
  ASSERT_TRUE(test::device()->synchronize());
  attention.check();
  test::expect_no_findings();
}

// Several tiles of keys, whose references are raised, for several heads one after the other in a CTA.
TEST_F(AttentionE4m3Test, ManyTilesOfEveryHead) {
  AttentionCase c = of_lengths(70, 517);
  c.heads = 5, c.key_heads = 5;
  expect_right(c);
  c.queries = 193, c.window = {-1, 0}, c.heads = c.key_heads = 3;
  expect_right(c);
}

TEST_F(AttentionE4m3Test, NoKeysGiveZeros) {
  expect_right(of_lengths(33, 0));
}

// Half of the queries see nothing but the sink. P is scaled up within the softmax, sinks are not.
TEST_F(AttentionE4m3Test, Sinks) {
  AttentionCase c = of_lengths(40, 20);
  c.heads = 4, c.key_heads = 2, c.sinks = c.scales = true, c.window = {-1, 0};
  expect_right(c);
  c.keys = 300, c.soft_cap = 2;
  expect_right(c);
  c.keys = 0;
  expect_right(c);
}

TEST_F(AttentionE4m3Test, BothTypesOfOutput) {
  AttentionCase c = of_lengths(40, 70);
  c.heads = c.key_heads = 1;
  for (const Type type : {Type::f16, Type::bf16}) {
    c.output_type = type;
    expect_right(c);
  }
}

TEST_F(AttentionE4m3Test, ScalesOfGroupedHeadsBatchesAndStrides) {
  AttentionCase c = of_lengths(20, 50);
  c.batch = 2, c.heads = 6, c.key_heads = 2, c.pad = 16, c.shift = 32;
  c.window = {-1, 0}, c.scales = true;
  expect_right(c);
}

// A quantised tensor of zeros may have a scale of 0, and scales may be so small that their product
// underflows: all scores are then 0, under a mask too.
TEST_F(AttentionE4m3Test, ScalesOf0) {
  AttentionCase c = of_lengths(40, 50);
  c.window = {-1, 0}, c.scale = 0;
  for (const float scale : {0.0F, 1e-30F}) {
    const Attention attention(c);
    const test::Buffer<float> scales({scale});
    AttentionProblem p = attention.problem();
    p.scale = 0.125F, p.q_scales.data = p.k_scales.data = scales.get();
    ASSERT_TRUE(tenon::attention(test::launcher(), p));
    ASSERT_TRUE(test::device()->synchronize());
    attention.check();
  }
}

// The scale of the problem and those of Q and K are factors of a score before soft cap and slopes, once.
TEST_F(AttentionE4m3Test, SoftCapSlopesAndWindowsOfScaledScores) {
  AttentionCase c = of_lengths(50, 170);
  c.heads = 3, c.key_heads = 3, c.scales = true;
  c.soft_cap = 1.5F;
  expect_right(c);
  c.soft_cap = 0, c.slopes = true, c.window = {60, 3}, c.scale = -0.25F;
  expect_right(c);
}

// Scores of some ten thousands, and of one row some tiles after the other: each row is a mean of values.
TEST_F(AttentionE4m3Test, LargeScoresDoNotOverflow) {
  AttentionCase c = of_lengths(64, 300);
  c.magnitude = 100, c.scale = 10, c.output_type = Type::f16;
  const Attention attention(c);
  ASSERT_TRUE(tenon::attention(test::launcher(), attention.problem()));
  ASSERT_TRUE(test::device()->synchronize());
  attention.check_range(4);
}

TEST_F(AttentionE4m3Test, RefusesWithASentence) {
  const auto message = [](AttentionCase c, const auto& change) {
    const Attention made(c);
    AttentionProblem p = made.problem();
    change(p);
    const Status status = attention(test::launcher(), p);
    EXPECT_FALSE(status);
    return std::string(status.message());
  };
  AttentionCase c = of_lengths(4, 4);
  EXPECT_EQ(message(c, [](auto& p) { p.output_type = Type::e4m3; }),
            "output_type is e4m3 but O must be f16 or bf16");
  EXPECT_NE(message(c, [](auto& p) { p.head_dimension = p.value_dimension = 32; })
                .find("no attention kernel of this build takes e4m3 with head dimensions 32 and 32"),
            std::string::npos);
  // There are kernels for its head dimensions: why the last one refuses.
  EXPECT_NE(message(c, [](auto& p) { p.q.data = static_cast<const char*>(p.q.data) + 1; })
                .find("this kernel needs a multiple of 16 bytes"),
            std::string::npos);
  for (const char* kernel : {"attention_wgmma_e4m3_64_192x160_full", "attention_decode_f16_64"}) {
    const Attention made(c);
    AttentionProblem p = made.problem();
    p.key_lengths = p.error;
    EXPECT_EQ(std::string(can_implement(test::launcher(), p, kernel).message()),
              "offsets, lengths or pages are given but e4m3 needs batches of equal lengths");
    p.key_lengths = nullptr, p.pages = {p.error, 1, 16, 1};
    EXPECT_EQ(std::string(can_implement(test::launcher(), p, kernel).message()),
              "offsets, lengths or pages are given but e4m3 needs batches of equal lengths");
  }
  const Status decode = can_implement(test::launcher(), Attention(c).problem(), "attention_decode_f16_64");
  EXPECT_EQ(std::string(decode.message()),
            "attention_decode_f16_64 does not take this problem: type is e4m3 but the kernel is for f16");
  c.type = Type::f16, c.scales = true;
  EXPECT_EQ(message(c, [](auto&) {}), "q_scales is given but only e4m3 has scales, and type is f16");
}

// TMA reads e4m3 by 16 elements.
TEST_F(AttentionE4m3Test, StridesOf16Elements) {
  const AttentionCase c = of_lengths(4, 4);
  const Attention made(c);
  AttentionProblem p = made.problem();
  p.k.row_stride += 8;
  const Status status = attention(test::launcher(), p, "attention_wgmma_e4m3_64_192x160_full");
  EXPECT_EQ(std::string(status.message()),
            "attention_wgmma_e4m3_64_192x160_full does not take this problem: the row stride of k is 72 but "
            "this kernel needs a multiple of 16 from 16 to 2^40 - 16");
}

}  // namespace
}  // namespace tenon
