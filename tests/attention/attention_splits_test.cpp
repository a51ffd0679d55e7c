// Splits of the keys in the mma.sync kernels that read lengths: few queries, but more than of decode, before
// many keys. The workspace is poisoned with NaN.
#include <gtest/gtest.h>

#include "attention/attention_case.hpp"
#include "attention/kernels.hpp"
#include "host/attention_on.hpp"
#include "tenon/attention/key_splits.hpp"

namespace tenon {
namespace {

using test::Attention;
using test::AttentionCase;
using AttentionSplitsTest = test::DeviceTest;

constexpr const char* general_64 = "attention_mma_f16_64_128x64_general";
constexpr const char* variable_64 = "attention_mma_f16_64_128x64_variable";

AttentionCase of_lengths(int queries, int keys, int head_dimension = 64) {
  AttentionCase c;
  c.queries = queries, c.keys = keys;
  c.head_dimension = c.value_dimension = head_dimension;
  c.scale = 1 / std::sqrt(static_cast<float>(head_dimension));
  return c;
}

// Returns the splits. They are known of the emulator's four multiprocessors, of two CTAs each.
int expect_right(const AttentionCase& c, const char* kernel, bool out_of_range = false) {
  SCOPED_TRACE(kernel == nullptr ? "the library's choice" : kernel);
  const Attention made(c);
  AttentionProblem p = made.problem();
  const std::size_t bytes = workspace_size(test::launcher(), p, kernel);
  const test::Buffer<std::uint32_t> workspace(std::vector<std::uint32_t>(bytes / 4 + 1, 0xffffffffU));
  p.workspace = workspace.get(), p.workspace_bytes = bytes;
  const Status status = attention(test::launcher(), p, kernel);
  EXPECT_TRUE(status) << status.message();
  if (!status) return 0;
  EXPECT_TRUE(test::device()->synchronize());
  made.check(out_of_range);
  test::expect_no_findings();
  EXPECT_EQ(workspace.read().back(), 0xffffffffU) << "written behind the workspace";
  const auto rows = static_cast<std::size_t>(p.batch * p.heads * p.queries);
  return bytes == 0 ? 1 : static_cast<int>(bytes / 4 / (rows * (p.value_dimension + 1)));
}
void expect_splits(int splits, const AttentionCase& c, const char* kernel, bool out_of_range = false) {
  const int found = expect_right(c, kernel, out_of_range);
  if (test::emulated()) {
    EXPECT_EQ(found, splits);
  }
}

TEST_F(AttentionSplitsTest, OddLengths) {
  expect_splits(4, of_lengths(17, 1031), general_64);
  AttentionCase c = of_lengths(33, 1025);
  c.heads = 3;
  expect_splits(2, c, variable_64);
  c = of_lengths(20, 1037, 128);
  c.type = Type::bf16;
  expect_splits(4, c, "attention_mma_bf16_128_128x64_variable");
}

TEST_F(AttentionSplitsTest, OtherHeadDimensions) {
  AttentionCase c = of_lengths(17, 520, 256);  // tiles of 64 queries and 32 keys
  expect_splits(4, c, "attention_mma_f16_256_64x32_general");
  c.head_dimension = 192, c.value_dimension = 128, c.type = Type::bf16;
  expect_splits(4, c, "attention_mma_bf16_192_128_64x32_general");
}

TEST_F(AttentionSplitsTest, Windows) {
  for (const AttentionWindow window : {AttentionWindow{-1, 0}, {900, -1}, {950, 3}}) {
    AttentionCase c = of_lengths(130, 1100);  // two tiles of queries, of which the second has two rows
    c.window = window;
    expect_splits(4, c, window.left < 0 ? variable_64 : general_64);
  }
}

// The 65 keys of batch 1 are two tiles for four splits, and batch 1 of the second problem has no keys.
TEST_F(AttentionSplitsTest, LengthsThatLeaveSplitsEmpty) {
  AttentionCase c = of_lengths(40, 1030);
  c.batch = 2, c.key_lengths = {1030, 65};
  expect_splits(4, c, variable_64);
  c.key_lengths = {1000, 0}, c.sinks = true;
  expect_splits(4, c, general_64);
  c.key_lengths = {1030, 23}, c.window = {-1, 0};  // 17 queries see nothing but the sink
  expect_splits(4, c, variable_64);
  c.sinks = false;  // nothing at all
  expect_splits(4, c, general_64);
}

// Queries of three batches follow each other, keys lie in pages, one of which does not exist.
TEST_F(AttentionSplitsTest, OffsetsAndPages) {
  AttentionCase c = of_lengths(20, 1030);
  c.batch = 3, c.sinks = true, c.window = {-1, 0};
  c.query_rows = 40, c.query_offsets = {1, 18, 18, 38};
  c.key_lengths = {1030, 5, 200};
  put_in_pages(c, 24);
  expect_splits(2, c, variable_64);
  c.table[3] = c.page_count;
  expect_splits(2, c, general_64, true);
}

TEST_F(AttentionSplitsTest, UnalignedTensorsCapsAndSlopes) {
  AttentionCase c = of_lengths(19, 1027);
  c.heads = 2, c.key_heads = 1, c.pad = 1, c.shift = 3;
  expect_splits(4, c, general_64);
  c.pad = c.shift = 0, c.soft_cap = 2, c.slopes = true;
  expect_splits(4, c, general_64);
}

TEST_F(AttentionSplitsTest, AreChosenWhereTheDeviceIsIdle) {
  if (!test::emulated()) GTEST_SKIP() << "the choice depends on the device";
  const auto chosen = [](const AttentionCase& c, bool workspace = true) {
    const Attention made(c);
    AttentionProblem p = made.problem();
    p.workspace_bytes = workspace_size(test::launcher(), p);
    const test::Buffer<float> memory(std::vector<float>(p.workspace_bytes / 4 + 1));
    p.workspace = workspace ? memory.get() : nullptr;
    const char* const name = kernel_name(test::launcher(), p);
    return std::string(name == nullptr ? "" : name);
  };
  AttentionCase c = of_lengths(40, 1024);
  EXPECT_EQ(expect_right(c, nullptr), 4);
  EXPECT_EQ(chosen(c), variable_64);
  EXPECT_EQ(chosen(c, false), "attention_mma_f16_64_64x64");
  c.soft_cap = 1;
  EXPECT_EQ(chosen(c), general_64);
  c.soft_cap = 0, c.keys = 900;
  EXPECT_EQ(chosen(c), "attention_mma_f16_64_64x64");
  c.keys = 1024, c.heads = 4;
  EXPECT_EQ(chosen(c).find("wgmma"), 10U) << chosen(c);
  c.heads = 1, c.queries = 16;
  EXPECT_EQ(chosen(c), "attention_decode_f16_64");
}

TEST_F(AttentionSplitsTest, RefuseAWorkspaceThatIsTooSmall) {
  const Attention made(of_lengths(40, 1100));
  AttentionProblem p = made.problem();
  const std::size_t needed = workspace_size(test::launcher(), p, general_64);
  ASSERT_GT(needed, 0U);
  const test::Buffer<float> workspace(std::vector<float>(needed / 4 + 1));
  p.workspace = workspace.get(), p.workspace_bytes = needed - 1;
  const Status small = attention(test::launcher(), p, general_64);
  EXPECT_EQ(small.code(), StatusCode::workspace_too_small);
  EXPECT_NE(std::string(small.message()).find(std::to_string(needed)), std::string::npos) << small.message();
  p.workspace = workspace.get() + 1, p.workspace_bytes = needed;
  EXPECT_EQ(attention(test::launcher(), p, general_64).code(), StatusCode::invalid_argument);
  p.workspace = nullptr, p.workspace_bytes = 0;
  ASSERT_TRUE(attention(test::launcher(), p, general_64));
  ASSERT_TRUE(test::device()->synchronize());
  made.check();
}

// Of two CTAs on each of 132 multiprocessors.
TEST(KeySplits, FillTheDeviceOnce) {
  EXPECT_EQ(key_splits(8, 264, 512), 32);   // 32k keys of 8 heads: 16 tiles each
  EXPECT_EQ(key_splits(8, 264, 64), 16);    // 4k keys: four tiles each
  EXPECT_EQ(key_splits(44, 264, 512), 6);   // 516 CTAs would be a second wave
  EXPECT_EQ(key_splits(133, 264, 512), 1);  // no room for two of each
  EXPECT_EQ(key_splits(8, 264, 15), 1);     // too short
  for (const int tiles : {16, 17, 100, 511}) {
    const int splits = key_splits(3, 264, tiles), share = (tiles + splits - 1) / splits;
    EXPECT_GT(tiles, (splits - 1) * share) << "an empty split of " << tiles;
  }
}

}  // namespace
}  // namespace tenon
