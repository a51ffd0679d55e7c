// Attention by the protocol of measure.hpp: forward, backward and decode. Peers are timed by
// time_attention.py, at the same rows and by the same protocol. Before a kernel is timed, every element of
// its result is compared with that of a scalar kernel in f32; of MLA decode, whose rows no scalar kernel
// holds, the last batch with float64 on the host.
#include <algorithm>
#include <cmath>
#include <optional>

#include "attention/kernels.hpp"
#include "host/device.hpp"
#include "microbench/attention_cases.hpp"
#include "microbench/attention_gradients.hpp"
#include "microbench/comparison_main.hpp"
#include "reference/attention.hpp"
#include "reference/attention_cpu.hpp"
#include "tenon/attention.hpp"
#include "tenon/attention_backward.hpp"

namespace tenon::microbench {
namespace {

struct Options : ComparisonOptions {
  std::vector<std::string> rows = attention_groups();
  std::vector<int> head_dimensions;
};

void require(const Status& status) {
  if (!status) throw Failure(status.message());
}

// The beginning of the line of a row, as time_attention.py prints it too.
void print(const std::string& group, const AttentionRow& row) {
  std::printf("%-8s %-28s %3lld x %5lld, %5lld", group.c_str(), row.describe().c_str(),
              static_cast<long long>(row.batch), static_cast<long long>(row.queries),
              static_cast<long long>(row.keys));
}

// How far a result may lie from the expected one: each element, and the Frobenius norm. P is rounded to the
// type, to 3 bits of e4m3; a row that sees few keys has elements of size 1, so of an element that cancels the
// absolute bound decides. A tile of 128 keys that is missing at 16384 would be 0.09 of the norm.
struct Bounds {
  double relative, absolute, norm, log_sum_exp;
};
Bounds bounds_of(const AttentionRow& row) {
  if (row.type == Type::e4m3) return {0x1p-2, 0x1p-1, 0.06, 0.02};
  return row.backward ? Bounds{0x1p-6, 0x1p-3, 0.01, 0} : Bounds{0x1p-6, 0x1p-5, 0.006, 1e-3};
}

// A tensor of batch x rows x heads x dimension, dense.
template <class Pointer>
AttentionTensor<Pointer> dense(Pointer data, std::int64_t rows, std::int64_t heads, std::int64_t dimension) {
  return {data, heads * dimension, dimension, rows * heads * dimension};
}

std::size_t size_of(std::int64_t elements, Type type) {
  return static_cast<std::size_t>(elements) * bytes(type);
}

// Q, K, V, O and dO of a row on the device, and what is expected of it.
class Tensors {
 public:
  Tensors(const AttentionRow& row, cudaStream_t stream) : row_(row), stream_(stream) {
    sets_ = row.cold && row.key_bytes() < cold_bytes ? static_cast<int>(cold_bytes / row.key_bytes()) + 2 : 1;
    rows_of_q_ = row.batch * row.queries * row.heads;
    rows_of_k_ = row.batch * row.keys * row.key_heads;
    fill(q_, rows_of_q_, row.head_dimension, 1);
    fill(k_, sets_ * rows_of_k_, row.head_dimension, 2);
    if (!row.latent) fill(v_, sets_ * rows_of_k_, row.value_dimension, 3);
    o_.reserve(size_of(outputs(), Type::bf16));
    log_sum_exp_.reserve(size_of(rows_of_q_, Type::f32));
  }

  int sets() const { return sets_; }
  std::int64_t outputs() const { return rows_of_q_ * row_.value_dimension; }
  std::int64_t rows_of_q() const { return rows_of_q_; }
  std::int64_t rows_of_k() const { return rows_of_k_; }

  AttentionProblem problem(int set = 0) const {
    AttentionProblem p;
    p.batch = row_.batch, p.heads = row_.heads, p.key_heads = row_.key_heads;
    p.queries = row_.queries, p.keys = row_.keys, p.type = row_.type;
    p.head_dimension = row_.head_dimension, p.value_dimension = row_.value_dimension;
    p.scale = 1 / std::sqrt(static_cast<float>(row_.head_dimension));
    p.window = {-1, row_.causal ? 0 : -1};
    const auto at = [&](const DeviceBuffer& buffer, int dimension) {
      const void* data =
          static_cast<const char*>(buffer.data()) + size_of(set * rows_of_k_ * dimension, row_.type);
      return dense(data, row_.keys, row_.key_heads, dimension);
    };
    p.q = dense<const void*>(q_.data(), row_.queries, row_.heads, row_.head_dimension);
    p.k = at(k_, row_.head_dimension);
    p.v = row_.latent ? p.k : at(v_, row_.value_dimension);
    p.o = dense(o_.data(), row_.queries, row_.heads, row_.value_dimension);
    p.log_sum_exp = static_cast<float*>(log_sum_exp_.data());
    return p;
  }

  void fill(DeviceBuffer& buffer, std::int64_t rows, int length, std::uint64_t seed) const {
    fill_normal(buffer.reserve(size_of(rows * length, row_.type)), row_.type, rows, length, length, seed,
                stream_);
  }

 private:
  const AttentionRow& row_;
  cudaStream_t stream_;
  int sets_;
  std::int64_t rows_of_q_, rows_of_k_;
  DeviceBuffer q_, k_, v_, o_, log_sum_exp_;
};

// O and the log-sum-exp as they should be, of the batches from first_batch on.
class Expected {
 public:
  Expected(const AttentionRow& row, const Tensors& tensors, cudaStream_t stream)
      : first_batch_(row.latent ? row.batch - 1 : 0) {
    as_f32_.reserve(size_of(tensors.outputs(), Type::f32));
    log_sum_exp_.reserve(size_of(tensors.rows_of_q(), Type::f32));
    if (row.latent)
      on_host(tensors.problem());
    else
      by_scalar_kernel(row, tensors, stream);
  }

  // O in the type that it was computed in: bf16 unless the row is e4m3.
  void* o() const { return o_.data(); }
  float* log_sum_exp() const { return static_cast<float*>(log_sum_exp_.data()); }

  Comparison check(const AttentionProblem& p, const Bounds& bounds, cudaStream_t stream) const {
    const std::int64_t batches = p.batch - first_batch_, columns = p.heads * p.value_dimension;
    const char* o =
        static_cast<const char*>(p.o.data) + size_of(first_batch_ * p.queries * columns, Type::bf16);
    Comparison of_o = compare(o, Type::bf16, columns, as_f32_.data(), batches * p.queries, columns,
                              bounds.relative, bounds.absolute, stream);
    const Comparison of_log =
        compare(p.log_sum_exp + first_batch_ * p.heads * p.queries, Type::f32, p.queries, log_sum_exp_.data(),
                batches * p.heads, p.queries, 0, bounds.log_sum_exp, stream);
    of_o.wrong += of_log.wrong;
    return of_o;
  }

 private:
  void by_scalar_kernel(const AttentionRow& row, const Tensors& tensors, cudaStream_t stream) {
    AttentionProblem p = tensors.problem();
    p.type = row.type == Type::e4m3 ? Type::f16 : row.type;  // which holds every element of e4m3
    p.o.data = o_.reserve(size_of(tensors.outputs(), p.type));
    p.log_sum_exp = log_sum_exp();
    DeviceBuffer q, k, v;
    if (row.type == Type::e4m3) {
      const auto copied = [&](AttentionTensor<const void*>* tensor, DeviceBuffer* copy,
                              std::int64_t elements) {
        copy_as_f16(tensor->data, row.type, elements, copy->reserve(size_of(elements, Type::f16)), stream);
        tensor->data = copy->data();
      };
      copied(&p.q, &q, tensors.rows_of_q() * row.head_dimension);
      copied(&p.k, &k, tensors.rows_of_k() * row.head_dimension);
      copied(&p.v, &v, tensors.rows_of_k() * row.value_dimension);
    }
    require(reference::attention(reference::AttentionAlgorithm::scalar_f32, p, stream));
    copy_as_f32(p.o.data, p.type, tensors.outputs(), static_cast<float*>(as_f32_.data()), stream);
    microbench::require(cudaStreamSynchronize(stream), "the scalar kernel");
  }

  void on_host(AttentionProblem p) {
    const auto batch_on_host = [&](AttentionTensor<const void*>* tensor, std::vector<char>* copy) {
      const std::size_t size = size_of(tensor->batch_stride, p.type);
      copy->resize(size);
      microbench::require(
          cudaMemcpy(copy->data(),
                     static_cast<const char*>(tensor->data) + static_cast<std::size_t>(first_batch_) * size,
                     size, cudaMemcpyDeviceToHost),
          "reading the last batch");
      tensor->data = copy->data();
    };
    std::vector<char> q, k;
    batch_on_host(&p.q, &q);
    batch_on_host(&p.k, &k);
    p.v.data = p.k.data;
    p.batch = 1;
    const reference::HostAttention expected = reference::attention(p);
    const auto upload = [](const std::vector<double>& values, void* to) {
      const std::vector<float> floats(values.begin(), values.end());
      microbench::require(
          cudaMemcpy(to, floats.data(), floats.size() * sizeof(float), cudaMemcpyHostToDevice),
          "writing the expected result");
    };
    upload(expected.value, as_f32_.data());
    upload(expected.log_sum_exp, log_sum_exp_.data());
  }

  std::int64_t first_batch_;
  DeviceBuffer o_, as_f32_, log_sum_exp_;
};

// The library's choice, or what it would be if there were only the kernels of the row's prefix. "": none.
std::string choice_for(const AttentionRow& row, const AttentionProblem& problem) {
  if (row.prefix.empty()) {
    const char* const name = kernel_name(problem);
    return name == nullptr ? "" : name;
  }
  DeviceDescription device;
  require(describe_current_device(&device));
  for (const AttentionKernel& kernel : attention_kernels()) {
    if (kernel.name.rfind(row.prefix, 0) == 0 && kernel.takes(problem, device) &&
        (kernel.suits == nullptr || kernel.suits(problem, device)))
      return kernel.name;
  }
  return "";
}
std::string choice_for(const AttentionRow&, const AttentionBackwardProblem& problem) {
  const char* const name = kernel_name(problem);
  return name == nullptr ? "" : name;
}

// The names of the kernels to time: choice_for() the row; every one of its prefix if asked. name(i): the i-th
// of this build.
template <class Problem, class Name>
std::vector<std::string> kernels_of(const AttentionRow& row, const Problem& problem, bool every, Name name) {
  std::vector<std::string> names;
  if (std::string chosen = choice_for(row, problem); !chosen.empty()) names.push_back(std::move(chosen));
  for (int i = 0; const char* kernel = name(i); ++i) {
    if (!every || (!names.empty() && kernel == names[0])) continue;
    if (std::string(kernel).rfind(row.prefix, 0) == 0 && can_implement(problem, kernel))
      names.emplace_back(kernel);
  }
  if (names.empty()) require(can_implement(problem));
  return names;
}

class Comparator {
 public:
  explicit Comparator(const Options& options) : options_(options), timer_(options.sustained) {}

  void run(const std::string& group, const AttentionRow& row, std::vector<Record>* records) {
    const Tensors tensors(row, stream());
    const Expected expected(row, tensors, stream());
    if (row.backward)
      run_backward(group, row, tensors, expected, records);
    else
      run_forward(group, row, tensors, expected, records);
  }

 private:
  cudaStream_t stream() const { return timer_.stream(); }

  void run_forward(const std::string& group, const AttentionRow& row, const Tensors& tensors,
                   const Expected& expected, std::vector<Record>* records) {
    AttentionProblem p = tensors.problem();
    // The library's choice is that of a caller who gives it the workspace that it asks for.
    p.workspace_bytes = workspace_size(p);
    p.workspace = p.workspace_bytes > 0 ? workspace_.reserve(p.workspace_bytes) : nullptr;
    for (const std::string& name : kernels_of(row, p, options_.every_kernel, attention_kernel_name)) {
      p.workspace_bytes = workspace_size(p, name.c_str());
      p.workspace = p.workspace_bytes > 0 ? workspace_.reserve(p.workspace_bytes) : nullptr;
      Contender contender = contender_of(row, tensors.sets());
      contender.enqueue = [&](cudaStream_t on, int iteration) {
        AttentionProblem of_set = tensors.problem(iteration % tensors.sets());
        of_set.workspace = p.workspace, of_set.workspace_bytes = p.workspace_bytes;
        return attention(of_set, on, name.c_str());
      };
      poison(p.o.data, Type::bf16, size_of(tensors.outputs(), Type::bf16), stream());
      poison(p.log_sum_exp, Type::f32, size_of(tensors.rows_of_q(), Type::f32), stream());
      require(contender.enqueue(stream(), 0));
      store(group, row, name, contender, expected.check(p, bounds_of(row), stream()), records);
    }
  }

  void run_backward(const std::string& group, const AttentionRow& row, const Tensors& tensors,
                    const Expected& expected, std::vector<Record>* records) {
    const std::int64_t q_elements = tensors.rows_of_q() * row.head_dimension;
    const std::int64_t k_elements = tensors.rows_of_k() * row.head_dimension;
    const std::int64_t v_elements = tensors.rows_of_k() * row.value_dimension;
    tensors.fill(d_o_, tensors.rows_of_q(), row.value_dimension, 4);
    AttentionBackwardProblem p;
    p.forward = tensors.problem();
    p.forward.o.data = expected.o(), p.forward.log_sum_exp = expected.log_sum_exp();
    p.d_o = dense<const void*>(d_o_.data(), row.queries, row.heads, row.value_dimension);
    p.dq = dense(dq_.reserve(size_of(q_elements, row.type)), row.queries, row.heads, row.head_dimension);
    p.dk = dense(dk_.reserve(size_of(k_elements, row.type)), row.keys, row.key_heads, row.head_dimension);
    p.dv = dense(dv_.reserve(size_of(v_elements, row.type)), row.keys, row.key_heads, row.value_dimension);
    const auto floats = [](DeviceBuffer& buffer, std::int64_t elements) {
      return static_cast<float*>(buffer.reserve(size_of(elements, Type::f32)));
    };
    const Gradients wanted{floats(expected_dq_, q_elements), floats(expected_dk_, k_elements),
                           floats(expected_dv_, v_elements), floats(delta_, tensors.rows_of_q())};
    compute_gradients(p, wanted, stream());
    const Bounds bounds = bounds_of(row);
    const auto every = options_.every_kernel;
    for (const std::string& name : kernels_of(row, p, every, attention_backward_kernel_name)) {
      p.workspace_bytes = workspace_size(p, name.c_str());
      p.workspace = p.workspace_bytes > 0 ? workspace_.reserve(p.workspace_bytes) : nullptr;
      Contender contender = contender_of(row, 1);
      contender.enqueue = [&](cudaStream_t on, int) { return attention_backward(p, on, name.c_str()); };
      const struct {
        void* computed;
        const float* expected;
        std::int64_t elements;
      } all[] = {{p.dq.data, wanted.dq, q_elements},
                 {p.dk.data, wanted.dk, k_elements},
                 {p.dv.data, wanted.dv, v_elements}};
      for (const auto& x : all) poison(x.computed, row.type, size_of(x.elements, row.type), stream());
      require(contender.enqueue(stream(), 0));
      Comparison worst;
      for (const auto& x : all) {
        const Comparison one =
            compare(x.computed, row.type, row.head_dimension, x.expected, x.elements / row.head_dimension,
                    row.head_dimension, bounds.relative, bounds.absolute, stream());
        worst.max_error = std::max(worst.max_error, one.max_error);
        worst.max_expected = std::max(worst.max_expected, one.max_expected);
        worst.relative_error = std::max(worst.relative_error, one.relative_error);
        worst.wrong += one.wrong;
      }
      store(group, row, name, contender, worst, records);
    }
  }

  static Contender contender_of(const AttentionRow& row, int sets) {
    Contender contender;
    contender.flop = row.flop();
    contender.rotation = sets;
    return contender;
  }

  void store(const std::string& group, const AttentionRow& row, const std::string& kernel,
             const Contender& contender, Comparison comparison, std::vector<Record>* records) {
    const Bounds bounds = bounds_of(row);
    if (!(comparison.relative_error <= bounds.norm)) ++comparison.wrong;
    const Timing ours = timer_.time(contender);
    const double gigabytes = static_cast<double>(row.key_bytes()) * 1e-3 / ours.burst.microseconds;
    print(group, row);
    std::printf("  %-44s %9.2f us  %6.1f / %6.1f TFLOP/s  %5.0f GB/s  error %.4f  wrong %llu\n",
                kernel.c_str(), ours.burst.microseconds, ours.burst.tflops, ours.sustained.tflops, gigabytes,
                comparison.relative_error, comparison.wrong);
    std::fflush(stdout);
    Record record = timer_.record(ours, {}, comparison, bounds.relative, bounds.absolute, options_.commit);
    record.benchmark = row.backward       ? "attention_backward"
                       : row.queries == 1 ? "attention_decode"
                                          : "attention_forward";
    record.shape.m = row.queries, record.shape.n = row.keys, record.shape.k = row.head_dimension;
    record.batch = static_cast<int>(row.batch);
    record.types = std::string(name(row.type)) + "_f32_bf16";
    record.layout = row.describe();
    record.kernel = kernel;
    records->push_back(record);
  }

  const Options& options_;
  ComparisonTimer timer_;
  DeviceBuffer d_o_, dq_, dk_, dv_, expected_dq_, expected_dk_, expected_dv_, delta_, workspace_;
};

}  // namespace
}  // namespace tenon::microbench

int main(int argc, char** argv) {
  using namespace tenon::microbench;
  Options options;
  CLI::App app("Times attention: forward, backward and decode", "tenon_attention_benchmark");
  app.footer(
      "Examples:\n"
      "  tenon_attention_benchmark --sustained --json attention.json --commit \"$(git rev-parse --short "
      "HEAD)\"\n"
      "  tenon_attention_benchmark --rows forward e4m3 --head-dimensions 128\n"
      "Rows: forward and backward of 16384 tokens in all and heads of 2048 elements together; mma: forward\n"
      "by the mma.sync kernel; e4m3: forward; decode: 32 heads of queries, 8 of keys; chunk: 64 and 256\n"
      "queries before many keys; mla: decode of 576 and 512 columns.\n"
      "microbench/time_attention.py times FlashAttention-3, cuDNN and FlashAttention-2 at them.\n"
      "Exit status: 0 done and correct, 1 wrong result, 2 bad usage, 3 no GPU, or standard output cannot be "
      "written.");
  app.add_option("--rows", options.rows, "forward, mma, e4m3, backward, decode, chunk, mla")
      ->check(CLI::IsMember(attention_groups()));
  app.add_option("--head-dimensions", options.head_dimensions, "only rows of these")
      ->check(CLI::IsMember(std::vector<int>{64, 128, 256, 576}));
  app.add_flag("--list", options.list, "print the rows and measure nothing");
  add_comparison_options(app, &options);
  return run_comparison(app, argc, argv, options, [&](std::vector<Record>* records) {
    std::optional<Comparator> comparator;
    for (const std::string& group : options.rows) {
      for (const AttentionRow& row : attention_rows(group)) {
        const auto& wanted = options.head_dimensions;
        if (!wanted.empty() && std::count(wanted.begin(), wanted.end(), row.head_dimension) == 0) continue;
        if (options.list) {
          print(group, row);
          std::printf("\n");
          continue;
        }
        if (!comparator) comparator.emplace(options);
        comparator->run(group, row, records);
        // After each row, since a later one may end the program.
        if (!options.json.empty()) write_json(options.json, *records);
      }
    }
  });
}
