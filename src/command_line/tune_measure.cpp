// The measurements of tune_measure.hpp, by the protocol of the microbenchmarks: each candidate by itself
// after idling, short launches from a graph.
#include "command_line/tune_measure.hpp"

#include <cuda_runtime.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>

#include "command_line/check.hpp"
#include "command_line/exit_status.hpp"
#include "command_line/operand.hpp"
#include "command_line/progress.hpp"
#include "command_line/random.hpp"
#include "command_line/tune_problems.hpp"
#include "microbench/measure.hpp"

namespace tenon::command {
namespace {

double bytes_of(std::int64_t rows, std::int64_t columns, Type type) {
  return static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(bytes(type));
}

// Refuses matrices that the device cannot hold, before the host tries to.
void require_memory(Device& cuda, const Gemm& problem, double needed) {
  std::size_t free = 0;
  require(cuda.free_memory(&free));
  if (needed <= static_cast<double>(free)) return;
  char sentence[160];
  std::snprintf(
      sentence, sizeof sentence,
      ": A, B and C need %.2f GiB of device memory but %.2f GiB are free: smaller shapes are needed",
      needed / 0x1p30, static_cast<double>(free) / 0x1p30);
  throw Failure(Exit::machine_cannot, shape_text(problem) + sentence);
}

// A dense matrix on host and device, kept while consecutive problems have the same: often a whole list shares
// B.
class KeptOperand {
 public:
  KeptOperand(const char* name, std::uint64_t seed) : name_(name), seed_(seed) {}

  // Frees the matrix of another problem, before memory for this one's is allocated.
  void keep_only(std::int64_t rows, std::int64_t columns, const ConstMatrix& matrix) {
    if (is(rows, columns, matrix)) return;
    device_.reset();
    host_ = {};
  }
  double missing(std::int64_t rows, std::int64_t columns, const ConstMatrix& matrix) const {
    return is(rows, columns, matrix) ? 0.0 : bytes_of(rows, columns, matrix.type);
  }
  void draw(Device& cuda, std::int64_t rows, std::int64_t columns, const ConstMatrix& matrix) {
    if (is(rows, columns, matrix)) return;
    host_ = random_operand(name_, seed_, rows, columns, matrix.ld, matrix.order, matrix.type);
    device_.emplace(cuda, host_, name_);
  }
  const Operand& host() const { return host_; }
  const void* device() const { return device_->get(); }

 private:
  bool is(std::int64_t rows, std::int64_t columns, const ConstMatrix& matrix) const {
    return device_ && host_.rows == rows && host_.columns == columns && host_.order == matrix.order &&
           host_.type == matrix.type;
  }

  const char* name_;
  std::uint64_t seed_;
  Operand host_;
  std::optional<DeviceBuffer> device_;
};

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int current_device() {
  int ordinal = 0;
  require_cuda(cudaGetDevice(&ordinal), "the query of the current device");
  return ordinal;
}

constexpr std::uint64_t seed = 1;

}  // namespace

bool agree(const Operand& x, const Operand& y, const Agreement& allowed, std::string* where) {
  if (x.data == y.data) return true;
  if (x.type == Type::s32) {
    *where = "the whole numbers differ from those of the documented choice";
    return false;
  }
  const std::vector<double> a = decoded_f64(x, row_major), b = decoded_f64(y, row_major);
  double error_squares = 0.0, squares = 0.0;
  char sentence[200];
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) {
      if (std::isfinite(b[i])) squares += b[i] * b[i];
      continue;
    }
    const double error = a[i] - b[i];
    if (!(std::fabs(error) <= allowed.error)) {
      const auto n = static_cast<std::size_t>(x.columns);
      std::snprintf(sentence, sizeof sentence,
                    "C[%zu][%zu] is %.9g but must lie within %.3g of %.9g, the documented choice's", i / n,
                    i % n, a[i], allowed.error, b[i]);
      *where = sentence;
      return false;
    }
    error_squares += error * error;
    squares += b[i] * b[i];
  }
  if (std::sqrt(error_squares) <= allowed.relative_error * std::sqrt(squares)) return true;
  std::snprintf(sentence, sizeof sentence,
                "C differs from the documented choice's by %.3g of its norm but may by at most %.3g",
                std::sqrt(error_squares / squares), allowed.relative_error);
  *where = sentence;
  return false;
}

void require_room(Device& cuda, const Gemm& p) {
  require_memory(cuda, p,
                 bytes_of(p.m, p.k, p.a.type) + bytes_of(p.k, p.n, p.b.type) + bytes_of(p.m, p.n, p.c.type));
}

struct TuneBench::Operands {
  KeptOperand a{"A", random_bits(seed, 0)}, b{"B", random_bits(seed, 1)};
};

struct TuneBench::Clock {
  microbench::Stopwatch stopwatch{current_device()};
};

TuneBench::TuneBench(Device& cuda) : cuda_(cuda), operands_(std::make_unique<Operands>()) {
  try {
    clock_ = std::make_unique<Clock>();
  } catch (const microbench::Failure& failure) {
    throw Failure(Exit::machine_cannot, failure.what());
  }
}

TuneBench::~TuneBench() = default;

TuneOutcome TuneBench::run(const Gemm& problem, const std::vector<const Kernel*>& candidates,
                           const RaceRules& rules, const std::string& label) {
  Gemm p = problem;
  operands_->a.keep_only(p.m, p.k, p.a);
  operands_->b.keep_only(p.k, p.n, p.b);
  require_memory(cuda_, p,
                 operands_->a.missing(p.m, p.k, p.a) + operands_->b.missing(p.k, p.n, p.b) +
                     bytes_of(p.m, p.n, p.c.type));
  operands_->a.draw(cuda_, p.m, p.k, p.a);
  operands_->b.draw(cuda_, p.k, p.n, p.b);
  const Operand poison = poisoned(p.m, p.n, p.c.ld, row_major, p.c.type);
  DeviceBuffer c(cuda_, poison, "C");
  p.a.data = operands_->a.device();
  p.b.data = operands_->b.device();
  p.c.data = c.get();
  p.workspace_bytes = workspace_size(p);
  const DeviceBuffer workspace(cuda_, "the workspace", p.workspace_bytes);
  p.workspace = workspace.get();

  TuneOutcome outcome;
  Operand documented = poison, result = poison;
  Agreement allowed;
  {
    Progress progress(label + ", checks", static_cast<std::int64_t>(candidates.size()));
    for (const Kernel* kernel : candidates) {
      p.kernel = kernel->name.c_str();
      c.upload(poison.data.data(), poison.data.size());
      require(gemm(p));
      require(cuda_.synchronize());
      c.download(result.data.data(), result.data.size());
      std::string why;
      if (kernel == candidates.front()) {
        const CheckResult exact =
            check(p, operands_->a.host(), operands_->b.host(), poison, result, &cuda_, Numbers::random);
        if (!exact.ok) {
          outcome.wrong.push_back(kernel->name + ": " + fault_text(exact));
          return outcome;
        }
        allowed = {2 * exact.error_bound, 2 * exact.relative_error_limit};
        documented = result;
      } else if (!agree(result, documented, allowed, &why)) {
        outcome.wrong.push_back(kernel->name + ": " + why);
        progress.advance();
        continue;
      }
      outcome.right.push_back(kernel);
      progress.advance();
    }
  }

  microbench::Protocol quick, careful;
  quick.bursts = careful.bursts = 1;
  quick.idle_ms = 5;
  quick.burst_ms = 1;
  microbench::Contender contender;
  // An estimate: the number of finalists and of their rounds is not known yet.
  const auto looks =
      static_cast<std::int64_t>(2 * outcome.right.size()) + std::int64_t{4} * rules.least_rounds;
  Progress progress(label + ", times", looks);
  const auto measure = [&](std::size_t i, Look look) {
    p.kernel = outcome.right[i]->name.c_str();
    contender.name = outcome.right[i]->name;
    contender.enqueue = [&p](cudaStream_t stream, int) { return gemm(p, stream); };
    const double microseconds =
        clock_->stopwatch.burst(contender, look == Look::quick ? quick : careful).microseconds;
    progress.advance();
    return microseconds;
  };
  try {
    outcome.race = race(outcome.right.size(), measure, seconds, rules);
  } catch (const microbench::Failure& failure) {
    throw Failure(Exit::machine_cannot, failure.what());
  }
  return outcome;
}

}  // namespace tenon::command
