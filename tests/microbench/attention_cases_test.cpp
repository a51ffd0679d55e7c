#include "microbench/attention_cases.hpp"

#include <gtest/gtest.h>

namespace tenon::microbench {
namespace {

TEST(AttentionRows, HaveAllTokensAndAllElementsInEachRowOfTraining) {
  for (const char* group : {"forward", "mma", "e4m3", "backward"}) {
    for (const AttentionRow& row : attention_rows(group)) {
      EXPECT_EQ(row.batch * row.queries, 16384) << group;
      EXPECT_EQ(row.heads * row.head_dimension, 2048) << group;
    }
  }
  EXPECT_EQ(attention_rows("forward").size(), 24U);
  EXPECT_EQ(attention_rows("backward").size(), 8U);
  EXPECT_EQ(attention_rows("decode").size(), 6U);
  EXPECT_EQ(attention_rows("chunk").size(), 4U);
  EXPECT_EQ(attention_rows("mla").size(), 12U);
}

TEST(AttentionRows, CountTheProductsOfAMaskHalfAndOfTheBackwardPassTwoAndAHalfTimes) {
  AttentionRow row{};
  row.batch = 2, row.heads = 4, row.key_heads = 2, row.queries = 100, row.keys = 1000;
  row.head_dimension = 96, row.value_dimension = 64;
  EXPECT_DOUBLE_EQ(row.flop(), 2.0 * 2 * 4 * 100 * 1000 * (96 + 64));
  row.causal = true;
  EXPECT_DOUBLE_EQ(row.flop(), 2.0 * 4 * 100 * 1000 * (96 + 64));
  row.backward = true;
  EXPECT_DOUBLE_EQ(row.flop(), 5.0 * 4 * 100 * 1000 * (96 + 64));
}

TEST(AttentionRows, ReadValuesThatAreColumnsOfTheKeysOnce) {
  const AttentionRow decode = attention_rows("decode").front(), latent = attention_rows("mla").front();
  EXPECT_EQ(decode.key_bytes(), 4096 * 8 * 256 * 2);
  EXPECT_EQ(latent.key_bytes(), 4096 * 576 * 2);
  EXPECT_EQ(latent.describe(), "full heads=16/1 d=576/512 cold");
}

}  // namespace
}  // namespace tenon::microbench
