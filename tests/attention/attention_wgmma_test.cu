// The wgmma kernel of attention, executed by the emulator and compared with the definition in float64, on
// poisoned outputs: odd lengths, more keys than queries and fewer, grouped heads, strides, rows that see no
// key, large scores, NaN beyond the end.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <vector>

#include "attention/attention_kernels.hpp"
#include "tenon/emulator/emulator.hpp"
#include "tenon/emulator/tensor_map.hpp"

namespace tenon::testing {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// A problem, and what its operands are drawn from.
struct Case {
  const char* entry;
  int batch = 1, heads = 1, key_heads = 1, queries = 1, keys = 1;
  AttentionWindow window = {};
  bool even = false;    // EvenDistance
  float deviation = 1;  // of the elements of Q
  float fall = 0;       // the mean scores of the keys: from -fall for the first to -4 * fall for the last
  emulator::Schedule schedule = emulator::Schedule::early;
  std::uint64_t seed = 0;
};

emulator::Emulator& machine() {
  static emulator::Emulator emulator;
  return emulator;
}
const emulator::Module& module() {
  static const emulator::Module loaded = [] {
    std::ifstream file(TENON_ATTENTION_PTX);
    EXPECT_TRUE(file) << TENON_ATTENTION_PTX;
    std::ostringstream text;
    text << file.rdbuf();
    return machine().load(text.str());
  }();
  return loaded;
}

Status make_map(const TensorInMemory& t, int box_rows, int box_columns, TensorMap* map) {
  using namespace emulator;
  const std::uint64_t extents[4] = {static_cast<std::uint64_t>(t.columns), static_cast<std::uint64_t>(t.rows),
                                    static_cast<std::uint64_t>(t.outer[0]),
                                    static_cast<std::uint64_t>(t.outer[1])};
  const std::uint64_t strides[3] = {static_cast<std::uint64_t>(2 * t.row_stride),
                                    static_cast<std::uint64_t>(2 * t.outer_stride[0]),
                                    static_cast<std::uint64_t>(2 * t.outer_stride[1])};
  const std::uint32_t box[4] = {static_cast<std::uint32_t>(box_columns), static_cast<std::uint32_t>(box_rows),
                                1, 1};
  const std::uint32_t steps[4] = {1, 1, 1, 1};
  const emulator::TensorMap made = encode_tiled(
      TensorMapType::uint16, 4, reinterpret_cast<std::uintptr_t>(t.data), extents, strides, box, steps,
      TensorMapInterleave::none, box_columns == 64 ? TensorMapSwizzle::bytes_128 : TensorMapSwizzle::bytes_64,
      TensorMapL2Promotion::bytes_128, TensorMapFill::zeros);
  static_assert(sizeof made == sizeof *map);
  std::memcpy(static_cast<void*>(map), &made, sizeof made);
  return {};
}

// A tensor of batch x rows x heads x dimension, with a few elements between rows that no kernel may touch.
template <class T>
struct Tensor {
  int rows, heads, dimension;
  std::int64_t row, batch_stride;
  std::vector<T> host;
  emulator::Address device;

  Tensor(int batches, int rows_, int heads_, int dimension_)
      : rows(rows_),
        heads(heads_),
        dimension(dimension_),
        row(heads_ * dimension_ + 8),
        batch_stride(rows_ * row + 16),
        host(static_cast<std::size_t>(batches * batch_stride) + 8),
        device(machine().allocate(2 * host.size())) {}
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor() { machine().free(device); }

  std::size_t at(int b, int r, int h, int d) const {
    return static_cast<std::size_t>(b * batch_stride + r * row + h * dimension + d);
  }
  double value(int b, int r, int h, int d) const { return static_cast<float>(host[at(b, r, h, d)]); }
  // mean: of the elements of the first row; the last row's is mean + rise.
  void fill(unsigned seed, float deviation, float mean = 0, float rise = 0) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, deviation);
    for (T& x : host) x = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
    for (int b = 0; b < static_cast<int>((host.size() - 8) / static_cast<std::size_t>(batch_stride)); ++b)
      for (int r = 0; r < rows; ++r)
        for (int i = 0; i < heads * dimension; ++i)
          host[at(b, r, 0, i)] = static_cast<T>(normal(random) + mean + rise * r / static_cast<float>(rows));
    machine().copy_in(device, host.data(), 2 * host.size());
  }
  template <class Pointer>
  AttentionTensor<Pointer> described() const {
    return {reinterpret_cast<Pointer>(device), row, dimension, batch_stride};
  }
};

// The score of a query and a key before the softmax; -infinity where the query does not see the key.
template <class T>
double score(const Case& c, const AttentionProblem& p, const Tensor<T>& q, const Tensor<T>& k, int b, int h,
             int i, int j) {
  const int position = i + c.keys - c.queries, key_head = h / (c.heads / c.key_heads);
  if (c.window.left >= 0 && j < position - c.window.left) return -infinity;
  if (c.window.right >= 0 && j > position + c.window.right) return -infinity;
  double sum = 0;
  for (int d = 0; d < q.dimension; ++d) sum += q.value(b, i, h, d) * k.value(b, j, key_head, d);
  return c.even && (j - position) % 2 != 0 ? -infinity : sum * p.scale;
}

template <class Kernel>
void expect_attention(const Case& c) {
  SCOPED_TRACE(std::string(c.entry) + ", " + std::to_string(c.queries) + " queries, " +
               std::to_string(c.keys) + " keys, schedule " + std::to_string(static_cast<int>(c.schedule)) +
               " " + std::to_string(c.seed));
  using Config = typename Kernel::Config;
  using T = typename Config::T;
  Tensor<T> q(c.batch, c.queries, c.heads, Config::head), k(c.batch, c.keys, c.key_heads, Config::head),
      v(c.batch, c.keys, c.key_heads, Config::value), o(c.batch, c.queries, c.heads, Config::value);
  const float mean = c.fall / std::sqrt(static_cast<float>(Config::head));
  q.fill(1, c.deviation, c.fall == 0 ? 0 : 1);
  k.fill(2, 1, -mean, -3 * mean);
  v.fill(3, 1);
  o.fill(4, 0);
  const auto rows = static_cast<std::size_t>(c.batch) * c.heads * c.queries;
  std::vector<float> log_sum_exp(rows, std::nanf(""));
  const emulator::Address logs = machine().allocate(4 * rows);
  machine().copy_in(logs, log_sum_exp.data(), 4 * rows);

  AttentionProblem p;
  p.batch = c.batch, p.heads = c.heads, p.key_heads = c.key_heads;
  p.queries = c.queries, p.keys = c.keys;
  p.head_dimension = Config::head, p.value_dimension = Config::value;
  p.type = TypeOf<T>::value;
  p.q = q.template described<const void*>();
  p.k = k.template described<const void*>();
  p.v = v.template described<const void*>();
  p.o = o.template described<void*>();
  p.log_sum_exp = reinterpret_cast<float*>(logs);
  p.scale = 1 / std::sqrt(static_cast<float>(Config::head));
  p.window = c.window;

  DeviceDescription device;
  device.sm = 90, device.multiprocessors = 2, device.l2_bytes = 1 << 16;
  ASSERT_TRUE(Kernel::check(p, device)) << Kernel::check(p, device).message();
  Launch launch;
  const Status planned = Kernel::plan(p, typename Kernel::Score{p.scale}, device, make_map, &launch);
  ASSERT_TRUE(planned) << planned.message();
  std::vector<emulator::Argument> arguments;
  for (int i = 0; i < launch.arguments.count(); ++i)
    arguments.push_back(emulator::Argument::of_bytes(launch.arguments.data(i), launch.arguments.size(i)));
  emulator::Shape shape;
  shape.grid = {launch.grid.x, 1, 1};
  shape.block = {launch.block.x, 1, 1};
  shape.shared_bytes = launch.shared_bytes;
  emulator::Options options;
  options.schedule = c.schedule;
  options.seed = c.seed;
  options.numerics = emulator::Numerics::sm_90;
  const emulator::Result result = machine().launch(module(), c.entry, shape, arguments, options);
  for (const auto& finding : result.findings) ADD_FAILURE() << finding.ptx_line << ": " << finding.message;

  const std::vector<T> before = o.host;
  machine().copy_out(o.host.data(), o.device, 2 * o.host.size());
  machine().copy_out(log_sum_exp.data(), logs, 4 * rows);
  const double bound = std::is_same_v<T, __half> ? 2e-3 : 1.6e-2;
  double worst = 0, worst_log = 0;
  std::vector<bool> written(o.host.size());
  for (int b = 0; b < c.batch; ++b)
    for (int h = 0; h < c.heads; ++h)
      for (int i = 0; i < c.queries; ++i) {
        std::vector<double> scores(static_cast<std::size_t>(c.keys));
        double max = -infinity, sum = 0;
        for (int j = 0; j < c.keys; ++j)
          max = std::max(max, scores[static_cast<std::size_t>(j)] = score(c, p, q, k, b, h, i, j));
        for (double& s : scores) sum += s = max == -infinity ? 0 : std::exp(s - max);
        const float log = log_sum_exp[static_cast<std::size_t>((b * c.heads + h) * c.queries + i)];
        if (max == -infinity) {
          EXPECT_EQ(log, -infinity);
        } else {
          const double error = std::abs(log - (max + std::log(sum))) / (1 + std::abs(max));
          worst_log = std::isnan(error) ? infinity : std::max(worst_log, error);
        }
        for (int d = 0; d < Config::value; ++d) {
          double expected = 0;
          for (int j = 0; j < c.keys; ++j)
            if (scores[static_cast<std::size_t>(j)] != 0)
              expected +=
                  scores[static_cast<std::size_t>(j)] / sum * v.value(b, j, h / (c.heads / c.key_heads), d);
          const double error = std::abs(expected - o.value(b, i, h, d));
          worst = std::isnan(error) ? infinity : std::max(worst, error);
          written[o.at(b, i, h, d)] = true;
        }
      }
  EXPECT_LT(worst, bound);
  EXPECT_LT(worst_log, 1e-4);
  for (std::size_t i = 0; i < written.size(); ++i)
    if (!written[i]) ASSERT_EQ(std::memcmp(&before[i], &o.host[i], 2), 0) << "written between rows, at " << i;
  machine().free(logs);
}

constexpr AttentionWindow causal{-1, 0};

TEST(AttentionWgmma, FullMaskAtOddLengths) {
  expect_attention<FullF16>({"full_f16", 1, 1, 1, 1, 1});
  expect_attention<FullF16>({"full_f16", 1, 2, 1, 63, 129});
  expect_attention<FullF16>({"full_f16", 2, 3, 3, 129, 63});
  expect_attention<FullF16>({"full_f16", 1, 4, 2, 200, 97});
}
TEST(AttentionWgmma, CausalMaskIsAlignedToTheEnd) {
  Case c{"causal_bf16", 1, 2, 1, 200, 200, causal};
  expect_attention<CausalBf16>(c);
  c.queries = 129, c.keys = 300;
  expect_attention<CausalBf16>(c);
}
TEST(AttentionWgmma, RowsThatSeeNoKey) {
  expect_attention<CausalBf16>({"causal_bf16", 1, 1, 1, 200, 63, causal});
  expect_attention<FullF16>({"full_f16", 1, 1, 1, 5, 0});
}
TEST(AttentionWgmma, LargeScores) {
  Case c{"full_f16", 1, 1, 1, 70, 70};
  c.deviation = 1e3F;
  expect_attention<FullF16>(c);
}
// No score is positive, and each key tile that is visited raises the references, up to 0 and no further.
TEST(AttentionWgmma, NegativeScores) {
  Case c{"full_f16", 1, 1, 1, 70, 400};
  c.fall = 30;
  expect_attention<FullF16>(c);
  c.fall = 8, c.deviation = 3;  // both signs
  expect_attention<FullF16>(c);
}
TEST(AttentionWgmma, SlidingWindow) {
  expect_attention<LocalF16>({"local_f16", 1, 2, 2, 200, 200, {40, 0}});
  expect_attention<LocalF16>({"local_f16", 1, 1, 1, 150, 190, {33, 7}});
  expect_attention<LocalF16>({"local_f16", 1, 1, 1, 63, 20, {3, -1}});
}
TEST(AttentionWgmma, ScoreFunctionOfAnEmbedder) {
  Case c{"even_f16", 1, 2, 1, 129, 140, causal};
  c.even = true;
  expect_attention<EvenF16>(c);
  c.heads = 6, c.queries = 300, c.keys = 310;  // waves of pairs of query tiles
  expect_attention<EvenF16>(c);
}
TEST(AttentionWgmma, EverySchedule) {
  Case c{"full_f16", 1, 5, 1, 70, 100};
  c.schedule = emulator::Schedule::late;
  expect_attention<FullF16>(c);
  c.schedule = emulator::Schedule::random;
  for (c.seed = 1; c.seed < 4; ++c.seed) expect_attention<FullF16>(c);
}

}  // namespace
}  // namespace tenon::testing
