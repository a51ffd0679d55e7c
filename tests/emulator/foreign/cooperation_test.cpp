// Kernels whose threads cooperate, as CUDA C++ is written: the test computes the results in another way, and
// expects no findings under any schedule.
#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "emulator/foreign/run.hpp"

namespace tenon::emulator {
namespace {

using testing::Compiled;
using testing::several_schedules;

class Cooperation : public ::testing::TestWithParam<std::string> {
 protected:
  // Runs a kernel that maps integers to integers, and expects these, without findings, under every schedule.
  static void expect_integers(const std::string& entry, const Shape& shape, const std::vector<int>& in,
                              const std::vector<int>& expected) {
    for (const Options& options : several_schedules()) {
      Compiled compiled(GetParam());
      const Address out = compiled.allocate<int>(expected.size());
      compiled.run(entry, shape, {compiled.upload(in), out}, options);
      EXPECT_EQ(compiled.download<int>(out, expected.size()), expected);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Nvcc, Cooperation, ::testing::Values("cooperation", "cooperation_debug"));

template <class T>
std::vector<T> random_values(std::size_t count, int below, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<T> list(count);
  for (T& value : list) value = static_cast<T>(random() % static_cast<unsigned>(below));
  return list;
}

TEST_P(Cooperation, reduces_over_blocks) {
  constexpr std::uint32_t weights[] = {1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};
  const auto in = random_values<std::uint32_t>(1500, 1 << 20);
  std::uint32_t expected = 0;
  for (std::size_t i = 0; i < in.size(); ++i) expected += in[i] * weights[i & 15];
  for (const Options& options : several_schedules()) {
    Compiled compiled(GetParam());
    const Address out = compiled.allocate<std::uint32_t>(1);
    compiled.run("reduce", {{5, 1, 1}, {128, 1, 1}},
                 {compiled.upload(in), compiled.allocate<std::uint32_t>(5), out, static_cast<int>(in.size())},
                 options);
    EXPECT_EQ(compiled.download<std::uint32_t>(out, 1)[0], expected);
  }
}

TEST_P(Cooperation, counts_in_dynamic_shared_memory_and_swaps) {
  const auto in = random_values<std::uint8_t>(700, 256);
  std::vector<std::uint32_t> expected(256);
  double largest = -1e9;
  for (std::size_t i = 0; i < in.size(); ++i) {
    ++expected[in[i]];
    largest = std::max(largest, in[i] * 1.25 - static_cast<double>(i));
  }
  for (const Options& options : several_schedules()) {
    Compiled compiled(GetParam());
    const Address bins = compiled.upload(std::vector<std::uint32_t>(256));
    const Address most = compiled.upload(std::vector<double>{-1e9}),
                  sum = compiled.upload(std::vector<float>{0});
    compiled.run("histogram", {{3, 1, 1}, {96, 1, 1}, 1024},
                 {compiled.upload(in), bins, most, sum, static_cast<int>(in.size())}, options);
    EXPECT_EQ(compiled.download<std::uint32_t>(bins, 256), expected);
    EXPECT_EQ(compiled.download<double>(most, 1)[0], largest);
    EXPECT_EQ(compiled.download<float>(sum, 1)[0],
              static_cast<float>(std::accumulate(in.begin(), in.end(), 0)));
  }
}

TEST_P(Cooperation, has_every_atomic_function) {
  constexpr std::uint32_t n = 160;
  std::vector<std::uint32_t> words(12);
  words[3] = ~0u;
  words[6] = 5000;
  words[8] = 4;
  std::vector<std::uint32_t> expected = words;
  std::vector<std::int32_t> numbers = {-1000, 1000};
  std::vector<unsigned long long> wide(2);
  double real = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    expected[0] += i;
    expected[1] -= i;
    expected[2] |= 1u << (i & 31);
    expected[3] &= ~(1u << (i & 15));
    expected[4] ^= i * 2654435761u;
    expected[5] = std::max(expected[5], i * 7919u % 1000u);
    expected[6] = std::min(expected[6], i * 7919u % 1000u);
    expected[7] = expected[7] >= 9 ? 0 : expected[7] + 1;
    expected[8] = expected[8] == 0 || expected[8] > 9 ? 9 : expected[8] - 1;
    expected[9] = 77;
    expected[10] += 3;
    expected[11] = expected[11] * 3 % 1009 + 1;
    wide[0] += 0x100000001ull * i;
    wide[1] = std::max(wide[1], 0x123456789ull * i);
    real += 0.5 * i;
  }
  for (const Options& options : several_schedules()) {
    Compiled compiled(GetParam());
    const Address a = compiled.upload(words), b = compiled.upload(numbers),
                  c = compiled.upload(std::vector<unsigned long long>(2)),
                  d = compiled.upload(std::vector<double>(1));
    compiled.run("atomics", {{2, 1, 1}, {80, 1, 1}}, {a, b, c, d}, options);
    EXPECT_EQ(compiled.download<std::uint32_t>(a, 12), expected);
    EXPECT_EQ(compiled.download<std::int32_t>(b, 2), (std::vector<std::int32_t>{109, -159}));
    EXPECT_EQ(compiled.download<unsigned long long>(c, 2), wide);
    EXPECT_EQ(compiled.download<double>(d, 1)[0], real);
  }
}

// What `groups` should return, one row per result.
std::vector<int> expected_of_groups(const std::vector<int>& in) {
  const std::size_t n = in.size();
  std::vector<int> out(8 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t tile = i / 8 * 8, warp = i / 32 * 32;
    int sum = 0, prefix = 0, before = 0, some = 0, same = 0, most = in[warp], halves = 0;
    bool has_seven = false;
    std::uint32_t ballot = 0;
    for (std::size_t j = tile; j < tile + 8; ++j) sum += in[j];
    for (std::size_t j = warp; j < warp + 32; ++j) {
      prefix += j <= i ? in[j] : 0;
      some += in[j] % 3 == 0;
      before += in[j] % 3 == 0 && j < i;
      same += in[j] % 4 == in[i] % 4;
      most = std::max(most, in[j]);
      has_seven = has_seven || in[j] == 7;
      halves += (in[j] & 1) == (in[i] & 1) ? in[j] : 0;
      ballot |= (in[j] > 50 ? 1u : 0u) << (j - warp);
    }
    out[i] = sum;
    out[n + i] = prefix;
    out[2 * n + i] = in[tile + 3] + static_cast<int>(i / 8);
    out[3 * n + i] = in[i] % 3 == 0 ? some * 100 + before : 0;
    out[4 * n + i] = same;
    out[5 * n + i] = most + (has_seven ? 1000 : 0);
    out[6 * n + i] = halves;
    out[7 * n + i] = static_cast<int>(ballot);
  }
  return out;
}

TEST_P(Cooperation, has_groups) {
  constexpr std::size_t n = 64;
  const auto in = random_values<int>(n, 100);
  for (const Options& options : several_schedules()) {
    Compiled compiled(GetParam());
    const Address out = compiled.allocate<int>(8 * n);
    compiled.run("groups", {{1, 1, 1}, {n, 1, 1}}, {compiled.upload(in), out, static_cast<int>(n)}, options);
    EXPECT_EQ(compiled.download<int>(out, 8 * n), expected_of_groups(in));
  }
}

TEST_P(Cooperation, sorts_in_shared_memory) {
  auto data = random_values<float>(512, 100000);
  Compiled compiled(GetParam());
  const Address at = compiled.upload(data);
  compiled.run("bitonic_sort", {{2, 1, 1}, {256, 1, 1}, 1024}, {at});
  std::sort(data.begin(), data.begin() + 256);
  std::sort(data.begin() + 256, data.end());
  EXPECT_EQ(compiled.download<float>(at, 512), data);
}

TEST_P(Cooperation, copies_through_a_pipeline) {
  constexpr std::size_t row = 128 * 4, rounds = 7;
  const auto in = random_values<float>(row * rounds, 1000);
  std::vector<float> expected(row);
  for (std::size_t i = 0; i < in.size(); ++i) expected[i % row] += in[i];
  for (const Options& options : several_schedules()) {
    Compiled compiled(GetParam());
    const Address out = compiled.allocate<float>(row);
    compiled.run("pipelined", {{1, 1, 1}, {128, 1, 1}}, {compiled.upload(in), out, static_cast<int>(rounds)},
                 options);
    EXPECT_EQ(compiled.download<float>(out, row), expected);
  }
}

TEST_P(Cooperation, copies_with_a_barrier) {
  const auto in = random_values<int>(512, 1000);
  std::vector<int> expected(256);
  for (std::size_t i = 0; i < 256; ++i) expected[i] = in[255 - i] * 3 + in[256 + i];
  expect_integers("by_barrier", {{1, 1, 1}, {256, 1, 1}}, in, expected);
}

TEST_P(Cooperation, reads_shared_memory_of_another_block) {
  const auto in = random_values<int>(256, 1000);
  std::vector<int> expected(256);
  for (std::size_t i = 0; i < 256; ++i) expected[i] = in[i] * 1000 + in[(i / 64 ^ 1) * 64 + 63 - i % 64];
  expect_integers("across_blocks", {{4, 1, 1}, {64, 1, 1}}, in, expected);
}

TEST_P(Cooperation, synchronises_tiles_of_several_warps) {
  const auto in = random_values<int>(256, 1000);
  std::vector<int> expected(256);
  for (std::size_t i = 0; i < 256; ++i) expected[i] = in[i ^ 64 ^ 127] * 3;
  expect_integers("tiles_of_warps", {{1, 1, 1}, {256, 1, 1}}, in, expected);
}

TEST_P(Cooperation, orders_no_memory_by_a_shuffle) {
  std::vector<int> expected(32);
  for (int i = 0; i < 32; ++i) expected[static_cast<std::size_t>(i)] = 1 + 3 * i;
  for (const int with_barrier : {0, 1}) {
    Compiled compiled(GetParam());
    const Address out = compiled.allocate<int>(32);
    const Result result = compiled.launch("told_by_a_shuffle", {{1, 1, 1}, {64, 1, 1}}, {out, with_barrier});
    EXPECT_EQ(compiled.download<int>(out, 32), expected);
    ASSERT_EQ(result.findings.size(), with_barrier != 0 ? 0u : 1u);
    if (with_barrier == 0) {
      EXPECT_EQ(result.findings[0].kind, FindingKind::race) << result.findings[0].message;
    }
  }
}

// cooperative_groups of CUDA 13.0 relies on such a shuffle there; no other finding is allowed.
TEST_P(Cooperation, votes_in_tiles_of_several_warps) {
  std::vector<int> in(256, 1), expected(256, 0);
  in[200] = 7;
  std::fill(expected.begin() + 128, expected.end(), 1);
  Compiled compiled(GetParam());
  const Address out = compiled.allocate<int>(256);
  const Result result =
      compiled.launch("vote_of_warps", {{1, 1, 1}, {256, 1, 1}}, {compiled.upload(in), out});
  EXPECT_EQ(compiled.download<int>(out, 256), expected);
  EXPECT_FALSE(result.findings.empty());
  for (const Finding& finding : result.findings) {
    EXPECT_EQ(finding.kind, FindingKind::race) << finding.message;
    EXPECT_NE(finding.source.find("cooperative_groups"), std::string::npos) << finding.source;
  }
}

// The line of cooperation.cu that holds FAULT.
std::string faulty_line() {
  std::istringstream text(testing::read_text(TENON_FOREIGN_SOURCES "/cooperation.cu"));
  std::string line;
  for (int number = 1; std::getline(text, line); ++number)
    if (line.find("// FAULT") != std::string::npos) return "cooperation.cu:" + std::to_string(number);
  return "nowhere";
}

TEST_P(Cooperation, finds_a_race_at_its_source_line) {
  Compiled compiled(GetParam());
  const Result result = compiled.launch("racing", {{1, 1, 1}, {64, 1, 1}}, {compiled.allocate<int>(64)});
  ASSERT_EQ(result.findings.size(), 1u);
  const Finding& finding = result.findings[0];
  EXPECT_EQ(finding.kind, FindingKind::race) << finding.message;
  const std::string expected = faulty_line();
  ASSERT_GE(finding.source.size(), expected.size()) << finding.source;
  EXPECT_EQ(finding.source.substr(finding.source.size() - expected.size()), expected);
}

}  // namespace
}  // namespace tenon::emulator
