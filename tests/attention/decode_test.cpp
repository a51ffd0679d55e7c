// The decode kernels: one to sixteen query tokens over keys that are split among CTAs, with the lengths,
// pages and sinks that serving has. Compared with float64, which attends each sequence alone, in memory of
// its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "attention/kernels.hpp"
#include "host/attention_on.hpp"
#include "reference/attention_cpu.hpp"
#include "reference/cpu.hpp"
#include "support/device.hpp"
#include "tenon/attention/decode_splits.hpp"

namespace tenon {
namespace {

using DecodeTest = test::DeviceTest;
constexpr std::uint16_t poison = 0xffff;  // NaN in both types

struct Case {
  Type type = Type::f16;
  int heads = 1, key_heads = 1, head = 64, value = 64;
  std::vector<int> queries = {1}, keys = {1};  // of each batch
  AttentionWindow window = {};
  float soft_cap = 0;
  bool slopes = false, sinks = false;
  bool query_offsets = false, key_offsets = false;  // else the lengths of the queries must be alike
  int page_size = 0;                                // 0: not paged
  int missing_page = -1;                            // entry of the table of batch 0 that lies outside
  bool split = true;                                // with a workspace
  bool latent = false;                              // V is the first columns of K
  float sharpness = 1;                              // of the scale: how far apart the scores lie
};

int most(const std::vector<int>& lengths) {
  return *std::max_element(lengths.begin(), lengths.end());
}

std::vector<std::uint16_t> random_rows(Type type, std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& x : values) x = std::clamp(normal(random), -4.0F, 4.0F);
  std::vector<std::uint16_t> elements(count);
  reference::encode(type, values.data(), count, elements.data());
  return elements;
}

// The sequences one after the other on the host, and what is made of them on the device.
class Decode {
 public:
  explicit Decode(const Case& c)
      : c_(c),
        query_starts_(starts(c.queries)),
        key_starts_(starts(c.keys)),
        q_(random_rows(c.type, size(query_starts_.back(), c.heads, c.head), 1)),
        k_(random_rows(c.type, size(key_starts_.back(), c.key_heads, c.head), 2)),
        v_(random_rows(c.type, size(key_starts_.back(), c.key_heads, c.value), 3)),
        table_(make_table()),
        device_q_(q_),
        device_k_(placed(k_, c.head)),
        device_v_(placed(v_, c.value)),
        device_table_(table_),
        device_query_starts_(query_starts_),
        device_key_starts_(key_starts_),
        device_lengths_(c.keys),
        error_({0}),
        o_(std::vector<std::uint16_t>(size(query_starts_.back(), c.heads, c.value), poison)),
        log_sum_exp_(std::vector<float>(c.queries.size() * c.heads * most(c.queries),
                                        std::numeric_limits<float>::quiet_NaN())) {
    for (int head = 0; head < c.heads; ++head) {
      slopes_.push_back(std::exp2(-1.0F - static_cast<float>(head % 8)));
      sinks_.push_back(static_cast<float>(head % 3) - 0.5F);
    }
    device_slopes_ = std::make_unique<test::Buffer<float>>(slopes_);
    device_sinks_ = std::make_unique<test::Buffer<float>>(sinks_);
  }

  AttentionProblem problem() const {
    AttentionProblem p = sizes();
    p.batch = static_cast<int>(c_.queries.size());
    p.queries = most(c_.queries), p.keys = most(c_.keys);
    p.q = tensor<const void*>(device_q_.get(), c_.heads, c_.head, p.queries);
    const std::int64_t rows = c_.page_size > 0 ? c_.page_size : p.keys;
    p.k = tensor<const void*>(device_k_.get(), c_.key_heads, c_.head, rows);
    p.v = c_.latent ? p.k : tensor<const void*>(device_v_.get(), c_.key_heads, c_.value, rows);
    p.o = tensor<void*>(o_.get(), c_.heads, c_.value, p.queries);
    p.log_sum_exp = log_sum_exp_.get();
    if (c_.slopes) p.alibi_slopes = device_slopes_->get();
    if (c_.sinks) p.sinks = device_sinks_->get();
    if (c_.query_offsets) p.query_offsets = device_query_starts_.get(), p.query_rows = query_starts_.back();
    if (c_.key_offsets) {
      p.key_offsets = device_key_starts_.get(), p.key_rows = key_starts_.back();
    } else {
      p.key_lengths = device_lengths_.get();
    }
    if (c_.page_size > 0) p.pages = {device_table_.get(), pages_of_batch(), c_.page_size, pages()};
    p.error = error_.get();
    return p;
  }

  void check(bool expect_error) const {
    const std::vector<std::uint16_t> found = o_.read();
    std::vector<float> values(found.size());
    reference::decode(c_.type, found.data(), found.size(), values.data());
    const std::vector<float> sums = log_sum_exp_.read();
    const double unit = c_.type == Type::f16 ? 0x1p-11 : 0x1p-8;
    for (int b = 0; b < batch(); ++b) {
      const reference::HostAttention expected = expected_of(b);
      for (int i = 0; i < most(c_.queries); ++i) {
        for (int h = 0; h < c_.heads; ++h) {
          const float sum = sums[(b * c_.heads + h) * most(c_.queries) + i];
          if (i >= c_.queries[b]) {
            ASSERT_TRUE(std::isnan(sum)) << "written for a query that is not there";
            continue;
          }
          double log = expected.log_sum_exp[h * c_.queries[b] + i], scale = 1;
          if (c_.sinks) {
            const double with = std::isinf(log) ? sinks_[h] : std::log(std::exp(log) + std::exp(sinks_[h]));
            scale = std::exp(log - with);
            log = with;
          }
          if (std::isinf(log)) {
            ASSERT_EQ(sum, log);
          } else {
            ASSERT_NEAR(sum, log, 1e-5 * (10 + std::abs(log))) << b << ", " << i << ", " << h;
          }
          for (int e = 0; e < c_.value; ++e) {
            const std::size_t at = (i * c_.heads + h) * c_.value + e;
            ASSERT_NEAR(values[size(query_starts_[b], c_.heads, c_.value) + at], scale * expected.value[at],
                        c_.sharpness > 1 ? 8 * unit : 2.5 * unit + 0x1p-12)
                << "batch " << b << ", query " << i << ", head " << h << ", column " << e;
          }
        }
      }
    }
    EXPECT_EQ(error_.read()[0], expect_error ? 1 : 0);
  }

 private:
  int batch() const { return static_cast<int>(c_.queries.size()); }
  static std::size_t size(int rows, int heads, int dimension) {
    return static_cast<std::size_t>(rows) * heads * dimension;
  }
  static std::vector<int> starts(const std::vector<int>& lengths) {
    std::vector<int> all = {0};
    for (const int length : lengths) all.push_back(all.back() + length);
    return all;
  }
  template <class Pointer>
  static AttentionTensor<Pointer> tensor(Pointer data, std::int64_t heads, std::int64_t dimension,
                                         std::int64_t rows) {
    return {data, heads * dimension, dimension, rows * heads * dimension};
  }
  AttentionProblem sizes() const {
    AttentionProblem p;
    p.heads = c_.heads, p.key_heads = c_.key_heads, p.head_dimension = c_.head, p.value_dimension = c_.value;
    p.type = c_.type, p.window = c_.window, p.soft_cap = c_.soft_cap;
    p.scale = c_.sharpness / std::sqrt(static_cast<float>(c_.head));
    return p;
  }

  int pages_of_batch() const { return (most(c_.keys) + c_.page_size - 1) / std::max(c_.page_size, 1); }
  int pages() const { return pages_of_batch() * batch() + 1; }
  // Every page once, in a random order.
  std::vector<std::int32_t> make_table() const {
    if (c_.page_size == 0) return {0};
    std::vector<std::int32_t> all(static_cast<std::size_t>(pages()));
    for (int i = 0; i < pages(); ++i) all[i] = i;
    std::shuffle(all.begin(), all.end(), std::mt19937(4));
    all.pop_back();
    if (c_.missing_page >= 0) all[c_.missing_page] = c_.missing_page % 2 == 0 ? pages() : -1;
    return all;
  }
  bool is_missing(int b, int key) const {
    return c_.missing_page >= 0 && b == 0 && key / c_.page_size == c_.missing_page;
  }
  // The rows where the device has them; NaN in all others.
  std::vector<std::uint16_t> placed(const std::vector<std::uint16_t>& dense, int dimension) const {
    if (c_.key_offsets) return dense;
    const std::size_t row = size(1, c_.key_heads, dimension);
    const int rows = c_.page_size > 0 ? pages() * c_.page_size : batch() * most(c_.keys);
    std::vector<std::uint16_t> all(rows * row, poison);
    for (int b = 0; b < batch(); ++b) {
      for (int key = 0; key < c_.keys[b]; ++key) {
        if (is_missing(b, key)) continue;
        const int to = c_.page_size > 0 ? table_[b * pages_of_batch() + key / c_.page_size] * c_.page_size +
                                              key % c_.page_size
                                        : b * most(c_.keys) + key;
        std::copy_n(dense.begin() + static_cast<std::ptrdiff_t>((key_starts_[b] + key) * row), row,
                    all.begin() + static_cast<std::ptrdiff_t>(to * row));
      }
    }
    return all;
  }

  // Of the keys of a batch that are there.
  reference::HostAttention expected_of(int b) const {
    AttentionProblem p = sizes();
    std::vector<std::uint16_t> k, v;
    for (int key = 0; key < c_.keys[b]; ++key) {
      if (is_missing(b, key)) continue;
      const auto append = [&](std::vector<std::uint16_t>& to, const std::vector<std::uint16_t>& from,
                              int dimension) {
        const auto row = static_cast<std::ptrdiff_t>(size(1, c_.key_heads, dimension));
        to.insert(to.end(), from.begin() + (key_starts_[b] + key) * row,
                  from.begin() + (key_starts_[b] + key + 1) * row);
      };
      append(k, k_, c_.head);
      append(v, v_, c_.value);
      ++p.keys;
    }
    p.batch = 1, p.queries = c_.queries[b];
    p.q = tensor<const void*>(q_.data() + size(query_starts_[b], c_.heads, c_.head), c_.heads, c_.head, 0);
    p.k = tensor<const void*>(k.data(), c_.key_heads, c_.head, 0);
    p.v = c_.latent ? p.k : tensor<const void*>(v.data(), c_.key_heads, c_.value, 0);
    p.alibi_slopes = c_.slopes ? slopes_.data() : nullptr;
    return reference::attention(p);
  }

  Case c_;
  std::vector<std::int32_t> query_starts_, key_starts_;
  std::vector<std::uint16_t> q_, k_, v_;
  std::vector<std::int32_t> table_;
  test::Buffer<std::uint16_t> device_q_, device_k_, device_v_;
  test::Buffer<std::int32_t> device_table_, device_query_starts_, device_key_starts_, device_lengths_, error_;
  test::Buffer<std::uint16_t> o_;
  test::Buffer<float> log_sum_exp_;
  std::vector<float> slopes_, sinks_;
  std::unique_ptr<test::Buffer<float>> device_slopes_, device_sinks_;
};

// Returns the splits. The workspace is poisoned with NaN.
int expect_right(const Case& c, const char* kernel = "decode") {
  const Decode decode(c);
  AttentionProblem p = decode.problem();
  const char* const name = kernel_name(test::launcher(), p);
  EXPECT_NE(std::string(name == nullptr ? "" : name).find(kernel), std::string::npos);
  const std::size_t bytes = workspace_size(test::launcher(), p);
  const test::Buffer<std::uint32_t> workspace(std::vector<std::uint32_t>(bytes / 4 + 1, 0xffffffffU));
  if (c.split) p.workspace = workspace.get(), p.workspace_bytes = bytes;
  const Status status = attention(test::launcher(), p);
  EXPECT_TRUE(status) << status.message();
  EXPECT_TRUE(test::device()->synchronize());
  decode.check(c.missing_page >= 0);
  test::expect_no_findings();
  EXPECT_EQ(workspace.read().back(), 0xffffffffU) << "written behind the workspace";
  if (!c.split || bytes == 0) return 1;
  return static_cast<int>(bytes / 4 / (p.batch * p.heads * p.queries * (p.value_dimension + 1)));
}

TEST_F(DecodeTest, SplitsOfOddLengths) {
  Case c;
  c.heads = 3;
  for (const int keys : {1, 127, 128, 129, 1030}) {
    SCOPED_TRACE(keys);
    c.keys = {keys};
    const int splits = expect_right(c);
    if (!test::emulated()) continue;
    EXPECT_TRUE(keys > 128 || splits == 1) << splits;
    EXPECT_TRUE(keys < 1030 || splits >= 3) << splits;
  }
}

// The length of batch 0 is that of the splits; in batch 1 some see no key, in batch 2 none does. Five batches
// do not fill whole waves of the emulator's four multiprocessors.
TEST_F(DecodeTest, LengthsThatLeaveSplitsEmpty) {
  Case c;
  c.heads = 4, c.key_heads = 1, c.head = c.value = 128;
  c.queries = {1, 1, 1, 1, 1}, c.keys = {1400, 65, 0, 700, 1};
  EXPECT_GT(expect_right(c), 1);
  c.sinks = true, c.type = Type::bf16;
  expect_right(c);
  c.split = false;
  expect_right(c);
}

TEST_F(DecodeTest, PagesOfAnySize) {
  Case c;
  c.heads = 2, c.key_heads = 2, c.queries = {1, 1}, c.keys = {150, 37};
  for (const int page_size : {1, 7, 16, 256}) {
    SCOPED_TRACE(page_size);
    c.page_size = page_size;
    expect_right(c);
  }
}

TEST_F(DecodeTest, PagesThatDoNotExistAreNotRead) {
  Case c;
  c.keys = {150}, c.page_size = 16;
  for (const int page : {0, 3, 9}) {
    c.missing_page = page;
    expect_right(c);
  }
  c.keys = {16}, c.missing_page = 0;  // no key is left
  expect_right(c);
}

// 16 queries of 4 heads: four tiles of rows.
TEST_F(DecodeTest, SeveralQueriesUnderMasks) {
  Case c;
  c.heads = 4, c.key_heads = 1, c.queries = {16}, c.keys = {140};
  for (const AttentionWindow window : {AttentionWindow{-1, 0}, {20, 0}, {3, 2}, {-1, -1}}) {
    c.window = window;
    expect_right(c);
  }
  c.queries = {7}, c.window = {-1, 0}, c.soft_cap = 2, c.slopes = true, c.sinks = true;
  expect_right(c);
  c.keys = {3};  // the first queries see nothing
  expect_right(c);
}

// Its kernels need 227 KB of shared memory, those of many rows sm_90 too.
class LatentDecodeTest : public test::DeviceTest {
 protected:
  void SetUp() override {
    test::DeviceTest::SetUp();
    if (!IsSkipped() && !test::emulated() && test::gpu_sm() != 90) GTEST_SKIP() << "needs a GPU of sm_90";
  }
};

// MLA: V is the first 512 of the 576 columns of K.
TEST_F(LatentDecodeTest, LatentKeys) {
  Case c;
  c.latent = true, c.head = 576, c.value = 512;
  c.heads = 16, c.queries = {1, 1}, c.keys = {70, 0};
  expect_right(c);
  c.type = Type::bf16, c.heads = 20, c.keys = {130, 1}, c.page_size = 16, c.sinks = true;
  expect_right(c);
  c.heads = 40, c.queries = {2}, c.keys = {300}, c.missing_page = 2, c.sinks = false;
  EXPECT_GT(expect_right(c), 1);
  c.missing_page = -1, c.page_size = 0, c.window = {-1, 0}, c.slopes = true, c.soft_cap = 3, c.split = false;
  c.queries = {3}, c.keys = {65}, c.heads = 6;
  expect_right(c);
}

// The same where 64 rows or more share the keys, in tiles of 64 rows and 64 keys: with row tiles in pairs,
// the CTAs of a cluster share the keys.
TEST_F(LatentDecodeTest, LatentKeysOfManyRows) {
  Case c;
  c.latent = true, c.head = 576, c.value = 512;
  c.heads = 64, c.queries = {1, 1, 1, 1, 1}, c.keys = {70, 0, 128, 200, 1};
  EXPECT_GT(expect_right(c, "wgmma"), 1);
  c.type = Type::bf16, c.heads = 96, c.queries = {1}, c.keys = {330}, c.page_size = 64;
  c.missing_page = 1, c.sinks = true;
  EXPECT_GT(expect_right(c, "wgmma"), 1);
  c.missing_page = -1, c.page_size = 0, c.heads = 20, c.queries = {4, 0, 2}, c.keys = {150, 64, 3};
  c.query_offsets = c.key_offsets = true, c.window = {-1, 0}, c.split = false;
  expect_right(c, "wgmma");
  c.window = {70, 0}, c.split = true;
  expect_right(c, "wgmma");
  c.query_offsets = c.key_offsets = false, c.queries = {4}, c.keys = {0};
  expect_right(c, "wgmma");
}

// References that rise from tile to tile, in the tiles of either consumer.
TEST_F(LatentDecodeTest, LatentKeysOfLargeScores) {
  Case c;
  c.latent = true, c.head = 576, c.value = 512;
  c.heads = 64, c.keys = {500}, c.sharpness = 40, c.split = false;
  expect_right(c, "wgmma");
}

TEST_F(DecodeTest, OffsetsOfQueriesAndKeys) {
  Case c;
  c.heads = 6, c.key_heads = 2, c.queries = {1, 5, 0, 2}, c.keys = {33, 300, 12, 0};
  c.query_offsets = c.key_offsets = true, c.window = {-1, 0};
  expect_right(c);
}

TEST_F(DecodeTest, LengthsOutOfRangeAreZero) {
  Case c;
  c.queries = {1, 1}, c.keys = {40, 40};
  for (const int wrong : {-1, 41}) {
    const Decode decode(c);
    AttentionProblem p = decode.problem();
    const test::Buffer<std::int32_t> wrong_values({wrong, wrong}), error({0});
    p.key_lengths = wrong_values.get(), p.error = error.get();
    ASSERT_TRUE(attention(test::launcher(), p));
    ASSERT_TRUE(test::device()->synchronize());
    EXPECT_EQ(error.read()[0], 1);
    float log = 0;
    ASSERT_TRUE(test::device()->download(&log, p.log_sum_exp, sizeof log));
    EXPECT_EQ(log, -std::numeric_limits<float>::infinity());
  }
}

TEST_F(DecodeTest, RefusesAWorkspaceThatIsTooSmall) {
  Case c;
  c.keys = {1000};
  const Decode decode(c);
  AttentionProblem p = decode.problem();
  const std::size_t needed = workspace_size(test::launcher(), p);
  ASSERT_GT(needed, 0U);
  const test::Buffer<float> workspace(std::vector<float>(needed / 4 + 1));
  p.workspace = workspace.get(), p.workspace_bytes = needed - 1;
  const Status small = attention(test::launcher(), p);
  EXPECT_EQ(small.code(), StatusCode::workspace_too_small);
  EXPECT_NE(std::string(small.message()).find(std::to_string(needed)), std::string::npos) << small.message();
  p.workspace = workspace.get() + 1, p.workspace_bytes = needed;
  EXPECT_EQ(attention(test::launcher(), p).code(), StatusCode::invalid_argument);
  AttentionProblem unallocated = p;
  unallocated.q.data = unallocated.k.data = unallocated.v.data = unallocated.o.data = nullptr;
  EXPECT_EQ(workspace_size(test::launcher(), unallocated), needed);
  unallocated.queries = unallocated.keys = 100;
  EXPECT_EQ(workspace_size(test::launcher(), unallocated), 0U);
}

// 132 multiprocessors of two CTAs.
TEST(DecodeSplits, FillTheMultiprocessorsOnceInWholeWaves) {
  EXPECT_EQ(decode_splits(8, 132, 64), 16);         // 4k keys of 8 heads
  EXPECT_EQ(decode_splits(8, 132, 512), 16);        // 32k: more would leave some multiprocessors two CTAs
  EXPECT_EQ(decode_splits(128, 132, 512), 1);       // 16 sequences: a CTA on nearly every multiprocessor
  EXPECT_EQ(decode_splits(512, 132, 64), 1);        // 64: almost four waves
  EXPECT_EQ(decode_splits(1, 132, 512), 64);        // MLA: the merge costs more than 128 would save
  const int splits = decode_splits(150, 132, 512);  // a second wave of 18 would double the time
  const double waves = 150.0 * splits / 132;
  EXPECT_LT(std::ceil(waves) / waves, 1.1) << splits;
  EXPECT_EQ(decode_splits(1, 132, 1), 1);
  EXPECT_LE(decode_splits(1, 132, 100000), most_splits);
}

}  // namespace
}  // namespace tenon
