// measure_attention_ladder(): each kernel is checked, then timed in bursts (measure.hpp).
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "microbench/attention_ladder.hpp"
#include "microbench/device_data.hpp"
#include "microbench/measure.hpp"
#include "reference/attention.hpp"
#include "reference/attention_cpu.hpp"
#include "tenon/attention.hpp"

namespace tenon::microbench {
namespace {

constexpr Type type = Type::f16;
// P and O are rounded to f16; the elements of a row that sees few keys may cancel. In the Frobenius norm a
// tile of 64 keys that is missing at 16384 would be 0.06.
constexpr double relative = 0x1p-8, absolute = 0x1p-7, largest_norm = 0.004;

void require(const Status& status) {
  if (!status) throw Failure(status.message());
}

class Climber {
 public:
  explicit Climber(const AttentionShape& shape)
      : shape_(shape), stopwatch_(0), elements_(shape.batch * shape.queries * row_length()) {
    const std::int64_t keys = shape.batch * shape.keys * shape.heads, d = shape.head_dimension;
    const auto fill = [&](DeviceBuffer& buffer, std::int64_t rows, std::uint64_t seed) {
      fill_normal(buffer.reserve(size_of(rows * d)), type, rows, d, d, seed, stream());
    };
    fill(q_, shape.batch * shape.queries * shape.heads, 1);
    fill(k_, keys, 2);
    fill(v_, keys, 3);
    o_.reserve(size_of(elements_));
    expected_.reserve(static_cast<std::size_t>(elements_) * sizeof(float));
  }

  AttentionLadder climb() {
    ladder_.machine = describe_machine(0);
    const AttentionProblem p = problem();
    using reference::AttentionAlgorithm;
    const auto by_reference = [&](AttentionAlgorithm algorithm) {
      return [=](cudaStream_t stream, int) { return reference::attention(algorithm, p, stream); };
    };
    require(can_implement(AttentionAlgorithm::scalar_f32, p));
    step("scalar_f32", by_reference(AttentionAlgorithm::scalar_f32));
    if (can_implement(AttentionAlgorithm::wmma, p)) step("wmma", by_reference(AttentionAlgorithm::wmma));
    for (int i = 0; const char* name = attention_kernel_name(i); ++i) {
      if (attention_rung_of(name) == nullptr || !can_implement(p, name)) continue;
      AttentionProblem with_workspace = p;
      with_workspace.workspace_bytes = workspace_size(p, name);
      if (with_workspace.workspace_bytes > 0)
        with_workspace.workspace = workspace_.reserve(with_workspace.workspace_bytes);
      step(name, [=](cudaStream_t stream, int) { return attention(with_workspace, stream, name); });
    }
    return ladder_;
  }

 private:
  cudaStream_t stream() const { return stopwatch_.stream(); }
  std::int64_t row_length() const { return shape_.heads * shape_.head_dimension; }
  static std::size_t size_of(std::int64_t elements) {
    return static_cast<std::size_t>(elements) * bytes(type);
  }

  AttentionProblem problem() const {
    AttentionProblem p;
    p.batch = shape_.batch, p.heads = p.key_heads = shape_.heads;
    p.queries = shape_.queries, p.keys = shape_.keys, p.type = type;
    p.head_dimension = p.value_dimension = shape_.head_dimension;
    p.scale = 1 / std::sqrt(static_cast<float>(shape_.head_dimension));
    p.window = {-1, shape_.causal ? 0 : -1};
    p.q = {q_.data(), row_length(), shape_.head_dimension, shape_.queries * row_length()};
    p.k = {k_.data(), row_length(), shape_.head_dimension, shape_.keys * row_length()};
    p.v = {v_.data(), row_length(), shape_.head_dimension, shape_.keys * row_length()};
    p.o = {o_.data(), row_length(), shape_.head_dimension, shape_.queries * row_length()};
    return p;
  }

  // Checks a kernel and times it. The first one's result is what the others are compared with.
  void step(const std::string& name, const std::function<Status(cudaStream_t, int)>& enqueue) {
    poison(o_.data(), type, size_of(elements_), stream());
    if (const Status s = enqueue(stream(), 0); !s) {
      ladder_.wrong.push_back(name + ": " + s.message());
      return;
    }
    const bool first = ladder_.measured.empty();
    const Comparison comparison = first ? compare_with_float64() : compare_with_first();
    if (comparison.wrong > 0 || !(comparison.relative_error <= largest_norm)) {
      ladder_.wrong.push_back(name + ": " + std::to_string(comparison.wrong) +
                              " elements of O are wrong, by up to " + std::to_string(comparison.max_error));
      if (first) throw Failure(ladder_.wrong.back());
      return;
    }
    if (first) copy_as_f32(o_.data(), type, elements_, static_cast<float*>(expected_.data()), stream());
    Contender contender;
    contender.name = name, contender.flop = shape_.flop(), contender.enqueue = enqueue;
    const Figure figure = stopwatch_.burst(contender, Protocol{});
    ladder_.measured.push_back({name, figure.microseconds, comparison.max_error,
                                absolute + relative * comparison.max_expected, figure.odd});
  }

  Comparison compare_with_first() const {
    return compare(o_.data(), type, row_length(), expected_.data(), shape_.batch * shape_.queries,
                   row_length(), relative, absolute, stream());
  }

  // The last queries of the first head of the last batch: as sequences end together, they are a problem of
  // their own.
  Comparison compare_with_float64() const {
    const std::int64_t queries = std::min<std::int64_t>(shape_.queries, 64), d = shape_.head_dimension;
    const auto last_rows = [&](const DeviceBuffer& of, std::int64_t all, std::int64_t rows) {
      return static_cast<const char*>(of.data()) + size_of((shape_.batch * all - rows) * row_length());
    };
    const auto rows_on_host = [&](const DeviceBuffer& from, std::int64_t all, std::int64_t rows) {
      std::vector<char> copy(size_of(rows * d));
      microbench::require(
          cudaMemcpy2D(copy.data(), size_of(d), last_rows(from, all, rows), size_of(row_length()), size_of(d),
                       static_cast<std::size_t>(rows), cudaMemcpyDeviceToHost),
          "reading a head");
      return copy;
    };
    microbench::require(cudaStreamSynchronize(stream()), "the scalar kernel");
    const std::vector<char> q = rows_on_host(q_, shape_.queries, queries);
    const std::vector<char> k = rows_on_host(k_, shape_.keys, shape_.keys);
    const std::vector<char> v = rows_on_host(v_, shape_.keys, shape_.keys);
    AttentionProblem p = problem();
    p.batch = p.heads = p.key_heads = 1, p.queries = queries;
    p.q = {q.data(), d, 0, 0}, p.k = {k.data(), d, 0, 0}, p.v = {v.data(), d, 0, 0};
    const reference::HostAttention exact = reference::attention(p);
    const std::vector<float> floats(exact.value.begin(), exact.value.end());
    DeviceBuffer expected;
    microbench::require(cudaMemcpy(expected.reserve(floats.size() * sizeof(float)), floats.data(),
                                   floats.size() * sizeof(float), cudaMemcpyHostToDevice),
                        "writing the expected rows");
    return compare(last_rows(o_, shape_.queries, queries), type, row_length(), expected.data(), queries, d,
                   relative, absolute, stream());
  }

  AttentionShape shape_;
  Stopwatch stopwatch_;
  std::int64_t elements_;
  DeviceBuffer q_, k_, v_, o_, expected_, workspace_;
  AttentionLadder ladder_;
};

}  // namespace

AttentionLadder measure_attention_ladder(const AttentionShape& shape) {
  return Climber(shape).climb();
}

}  // namespace tenon::microbench
