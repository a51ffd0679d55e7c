// attention() end to end: every kernel of the library, in the emulator (L3) and on a GPU (L4).
#include <gtest/gtest.h>

#include <limits>

#include "attention/attention_case.hpp"
#include "attention/kernels.hpp"
#include "host/attention_on.hpp"
#include "support/as_sm80.hpp"

namespace tenon {
namespace {

using test::Attention;
using test::AttentionCase;
using AttentionTest = test::DeviceTest;

emulator::Counts expect_right(const AttentionCase& c, const char* kernel = nullptr,
                              bool out_of_range = false) {
  const Attention attention(c);
  const Status status = tenon::attention(test::launcher(), attention.problem(), kernel);
  EXPECT_TRUE(status) << status.message();
  if (!status) return {};
  EXPECT_TRUE(test::device()->synchronize());
  attention.check(out_of_range);
  return test::expect_no_findings();
}

// From the name: attention_mma_f16_192_128_64x64_general.
struct Kernel {
  std::string name;
  AttentionCase of() const {
    AttentionCase c;
    for (const Type type : {Type::bf16, Type::f16, Type::e4m3}) {
      if (name.find(std::string("_") + tenon::name(type) + "_") != std::string::npos) c.type = type;
    }
    const std::string type = std::string("_") + tenon::name(c.type) + "_";
    const auto at = name.find(type) + type.size();
    c.head_dimension = c.value_dimension = std::stoi(name.substr(at));
    if ((name + "_").find("192_128_") != std::string::npos) c.value_dimension = 128;
    c.scale = 1 / std::sqrt(static_cast<float>(c.head_dimension));
    return c;
  }
  // Some kernels have one window.
  AttentionWindow window(AttentionWindow wanted) const {
    if (name.find("_full") != std::string::npos) return {};
    return name.find("_causal") != std::string::npos ? AttentionWindow{-1, 0} : wanted;
  }
};

bool reads_lengths(const std::string& name) {
  const bool general_mma =
      name.find("_mma_") != std::string::npos && name.find("_general") != std::string::npos;
  return general_mma || name.find("_variable") != std::string::npos;
}

// What the wgmma kernels need.
bool runs_wgmma() {
  return test::emulated() || test::gpu_sm() == 90;
}

class EveryKernel : public test::DeviceTest, public ::testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    test::DeviceTest::SetUp();
    if (!IsSkipped() && GetParam().find("_wgmma_") != std::string::npos && !runs_wgmma())
      GTEST_SKIP() << "needs a GPU of sm_90";
  }
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

// Queries of three batches follow each other, keys lie in pages; the last page of a batch is not full.
TEST_P(EveryKernel, VariableLengthsPagesAndSinks) {
  AttentionCase c = of_kernel(20, 77);
  c.batch = 3, c.heads = 2, c.key_heads = 1, c.sinks = true;
  c.query_rows = 40, c.query_offsets = {1, 18, 18, 38};
  c.key_lengths = {77, 5, 34};
  const bool on_wgmma = GetParam().find("_wgmma_") != std::string::npos;
  if (!on_wgmma) put_in_pages(c, 24);
  c.window = {-1, 0};
  const bool takes = GetParam().find("_decode_") != std::string::npos || reads_lengths(GetParam());
  if (takes) {
    expect_right(c);
    return;
  }
  c.window = Kernel{GetParam()}.window(c.window);
  const Status status = can_implement(test::launcher(), Attention(c).problem(), GetParam().c_str());
  EXPECT_NE(std::string(status.message()).find("offsets, lengths or pages are given"), std::string::npos)
      << status.message();
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const AttentionKernel& kernel : attention_kernels()) {
    const bool latent = kernel.name.find("_576_512") != std::string::npos;  // V within K: decode_test.cpp
    if (!latent) names.push_back(kernel.name);
  }
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

// More tiles of keys than stages, of K and of V, for several tiles of queries one after the other in a CTA.
TEST_F(AttentionTest, MoreTilesThanStages) {
  if (!runs_wgmma()) GTEST_SKIP() << "needs a GPU of sm_90";
  AttentionCase c = of_lengths(193, 517);
  c.head_dimension = c.value_dimension = 128, c.heads = c.key_heads = 3;
  expect_right(c, "attention_wgmma_f16_128_192x80_full");
  c.window = {-1, 0};
  expect_right(c, "attention_wgmma_f16_128_128x128_causal");
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

// Keys up to 42 are hidden from all three queries. Their values must be numbers, they themselves need not.
TEST_F(AttentionTest, NanInKeysThatTheMaskHides) {
  AttentionCase c = of_lengths(3, 50);
  c.window = {4, 0};
  const std::vector<std::uint16_t> nan(43 * 64, 0xffff);
  for (const char* kernel :
       {"attention_decode_f16_64", "attention_mma_f16_64_128x64", "attention_mma_f16_64_128x64_general",
        "attention_mma_f16_64_128x64_variable", "attention_wgmma_f16_64_128x128_general"}) {
    if (std::string(kernel).find("wgmma") != std::string::npos && !runs_wgmma()) continue;
    SCOPED_TRACE(kernel);
    const Attention attention(c);
    const AttentionProblem p = attention.problem();
    ASSERT_TRUE(test::device()->upload(const_cast<void*>(p.k.data), nan.data(), 2 * nan.size()));
    ASSERT_TRUE(tenon::attention(test::launcher(), p, kernel));
    ASSERT_TRUE(test::device()->synchronize());
    attention.check();
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

// Of 5, 0, 1 and 41 queries, and 70, 3, 0 and 65 keys. Rows of no batch stand before, between and behind.
AttentionCase ragged() {
  AttentionCase c;
  c.batch = 4, c.heads = 2, c.key_heads = 1, c.queries = 41, c.keys = 70;
  c.query_rows = 50, c.query_offsets = {2, 7, 7, 8, 49};
  c.key_rows = 140, c.key_offsets = {1, 71, 74, 74, 139};
  return c;
}

// By each kernel of f16 that reads lengths.
void expect_right_of_each(const AttentionCase& c, bool out_of_range = false) {
  for (const char* kernel : {"attention_wgmma_f16_64_128x128_variable",
                             "attention_mma_f16_64_128x64_variable", "attention_mma_f16_64_128x64_general"}) {
    const bool wgmma = std::string(kernel).find("wgmma") != std::string::npos;
    if (wgmma && (c.page_size > 0 || !runs_wgmma())) continue;
    SCOPED_TRACE(kernel);
    expect_right(c, kernel, out_of_range);
  }
}

TEST_F(AttentionTest, BatchesOfVariableLengths) {
  for (const AttentionWindow window : {AttentionWindow{}, {-1, 0}, {20, 3}}) {
    SCOPED_TRACE(std::to_string(window.left) + ", " + std::to_string(window.right));
    AttentionCase c = ragged();
    c.window = window;
    expect_right_of_each(c);
  }
  AttentionCase c = ragged();
  c.slopes = true, c.soft_cap = 2;
  expect_right(c);
  c.pad = 1, c.shift = 3, c.type = Type::bf16;
  expect_right(c);
}

// Several tiles of queries and keys of each batch but one, by fewer CTAs than tiles.
TEST_F(AttentionTest, LongBatchesOfVariableLengths) {
  AttentionCase c;
  c.batch = 3, c.heads = 2, c.key_heads = 1, c.queries = 200, c.keys = 300;
  c.query_rows = 331, c.query_offsets = {0, 130, 131, 331};
  c.key_rows = 469, c.key_offsets = {0, 300, 340, 469};
  c.window = {-1, 0};
  expect_right_of_each(c);
}

TEST_F(AttentionTest, KeysInUse) {
  AttentionCase c = of_lengths(35, 140);
  c.batch = 6, c.key_lengths = {0, 1, 64, 99, 129, 140};
  expect_right_of_each(c);
  c.window = {-1, 0};
  expect_right_of_each(c);
}

TEST_F(AttentionTest, Pages) {
  for (const int page_size : {1, 16, 48, 256}) {
    SCOPED_TRACE(page_size);
    AttentionCase c = of_lengths(18, 150);
    c.batch = 3, c.heads = 2, c.key_heads = 2, c.key_lengths = {150, 0, 67};
    c.window = {page_size == 48 ? 40 : -1, 0};
    put_in_pages(c, page_size);
    expect_right_of_each(c);
  }
  AttentionCase c = of_lengths(18, 70);  // all keys in use, and no copies of 16 bytes
  c.batch = 2, c.pad = 1, c.shift = 3;
  put_in_pages(c, 5);
  expect_right(c);
}

// A key whose page is not in the pool is as if it were not there.
TEST_F(AttentionTest, PagesOutOfRange) {
  AttentionCase c = of_lengths(18, 150);
  c.batch = 2, c.heads = 2, c.sinks = true;
  c.key_lengths = {150, 60};
  put_in_pages(c, 16);
  c.table[2] = -1, c.table[5] = c.page_count, c.table[9] = std::numeric_limits<int>::min();
  for (int entry = 0; entry < 4; ++entry) c.table[c.table_stride + entry] = std::numeric_limits<int>::max();
  expect_right_of_each(c, true);
  c.sinks = false, c.soft_cap = 1;
  expect_right(c, nullptr, true);
}

TEST_F(AttentionTest, LengthsOutOfRange) {
  AttentionCase c = of_lengths(16, 40);
  c.batch = 3;
  const AttentionCase equal = c;
  c.query_rows = 20, c.query_offsets = {6, 2, 12, 21};  // decreasing; right; behind the last row
  expect_right_of_each(c, true);
  c.query_offsets = {-1, 3, 20, 20};  // before the first row; more than the most of a batch; none
  expect_right_of_each(c, true);
  c = equal;
  c.key_rows = 90, c.key_offsets = {45, 39, 79, 91};
  expect_right_of_each(c, true);
  c.key_offsets = {-2147483647, 3, 44, 90};
  expect_right_of_each(c, true);
  c = equal;
  c.key_lengths = {-1, 41, 40};
  expect_right_of_each(c, true);
}

TEST_F(AttentionTest, Sinks) {
  AttentionCase c = of_lengths(33, 20);  // 13 queries see nothing but the sink
  c.heads = 4, c.key_heads = 2, c.sinks = true, c.window = {-1, 0};
  expect_right(c);
  expect_right(c, "attention_mma_f16_64_128x64");
  expect_right(c, "attention_mma_f16_64_128x64_general");
  if (runs_wgmma()) {
    expect_right(c, "attention_wgmma_f16_64_192x128_causal");
    expect_right(c, "attention_wgmma_f16_64_128x128_general");
  }
  c.keys = 0;
  expect_right(c);
  expect_right(c, "attention_mma_f16_64_64x64");
}

TEST_F(AttentionTest, NoRowsAtAll) {
  AttentionCase c = ragged();
  c.query_rows = 0, c.query_offsets = {0, 0, 0, 0, 0};
  EXPECT_EQ(kernel_name(test::launcher(), Attention(c).problem()), nullptr);
  EXPECT_TRUE(attention(test::launcher(), Attention(c).problem()));
  c = ragged();
  c.key_rows = 0, c.key_offsets = {0, 0, 0, 0, 0};
  expect_right(c);
}

TEST_F(AttentionTest, ChoosesByProblem) {
  const auto chosen = [](const AttentionCase& c) {
    const Attention attention(c);
    const char* name = kernel_name(test::launcher(), attention.problem());
    return std::string(name == nullptr ? "" : name);
  };
  AttentionCase c = of_lengths(4, 4);
  EXPECT_EQ(chosen(c), "attention_decode_f16_64");
  c.heads = 32;  // of a key head: 128 rows
  EXPECT_EQ(chosen(c).find("decode"), std::string::npos) << chosen(c);
  c.heads = 1, c.queries = 40;
  if (test::emulated()) {  // of 4 multiprocessors
    EXPECT_EQ(chosen(c), "attention_mma_f16_64_64x64");
    c.queries = 512;
    EXPECT_EQ(chosen(c), "attention_wgmma_f16_64_192x128_full");
    AttentionCase wide = of_lengths(768, 40);
    wide.head_dimension = wide.value_dimension = 128;
    EXPECT_EQ(chosen(wide), "attention_wgmma_f16_128_192x80_full");
    wide.queries = 512;  // one tile more, and the last tile of 192 is not full
    EXPECT_EQ(chosen(wide), "attention_wgmma_f16_128_128x128_full");
  }
  c.soft_cap = 1;
  EXPECT_NE(chosen(c).find("general"), std::string::npos) << chosen(c);
  c.soft_cap = 0, c.shift = 1;
  EXPECT_NE(chosen(c).find("general"), std::string::npos) << chosen(c);
  c.shift = 0, c.sinks = true;
  EXPECT_EQ(chosen(c).find("general"), std::string::npos) << chosen(c);
  c = ragged();
  if (test::emulated()) {
    EXPECT_EQ(chosen(c), "attention_wgmma_f16_64_128x128_variable");
  }
  put_in_pages(c, 16);
  c.key_rows = 0, c.key_offsets.clear();
  EXPECT_EQ(chosen(c), "attention_mma_f16_64_128x64_variable");
  c.head_dimension = c.value_dimension = 96;
  EXPECT_EQ(chosen(c), "attention_mma_f16_96_128x64_general");
}

// Where no device has a kernel, the sentence does not send the reader to another device.
TEST_F(AttentionTest, NamesTheDeviceOnlyWhereAnotherWouldDo) {
  test::AsSm80 a100;
  const auto message = [&](const AttentionCase& c) {
    return std::string(can_implement(a100, Attention(c).problem()).message());
  };
  AttentionCase c = of_lengths(4, 4);
  EXPECT_EQ(message(c), "");
  c.head_dimension = c.value_dimension = 40;
  EXPECT_EQ(message(c).find("no attention kernel of this build takes f16 with head dimensions 40 and 40"), 0U)
      << message(c);
  c.type = Type::e4m3;
  EXPECT_EQ(message(c).find("no attention kernel of this build takes e4m3"), 0U) << message(c);
  c.head_dimension = c.value_dimension = 64;
  EXPECT_EQ(message(c), "attention on wgmma needs sm_90a but the device is sm_80");
}

// As if nothing were allocated yet: tensors, offsets and tables that the sizes announce.
TEST_F(AttentionTest, WorkspaceOfWhatIsNotAllocated) {
  const auto expect_as_allocated = [](const AttentionCase& c) {
    const Attention made(c);
    AttentionProblem p = made.problem();
    const std::size_t bytes = workspace_size(test::launcher(), p);
    EXPECT_GT(bytes, 0U);
    p.q.data = p.k.data = p.v.data = nullptr, p.o.data = nullptr, p.log_sum_exp = nullptr;
    p.query_offsets = p.key_offsets = p.key_lengths = p.pages.table = nullptr;
    EXPECT_EQ(workspace_size(test::launcher(), p), bytes);
  };
  AttentionCase c = of_lengths(1, 2000);
  c.query_rows = 1, c.query_offsets = {0, 1};
  c.key_rows = 2000, c.key_offsets = {0, 2000};
  expect_as_allocated(c);
  c = of_lengths(1, 2000);
  put_in_pages(c, 16);
  expect_as_allocated(c);
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
