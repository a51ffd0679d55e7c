#include "microbench/case_runner.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "host/error_bound.hpp"
#include "microbench/machine.hpp"

namespace tenon::microbench {
namespace {

// The types whose product, as it is, gives the expected result: s8, and f64, in which cuBLASLt errs as the
// kernels do.
bool expects_own_type(const Types& types) {
  return types.accumulate == Type::s32 || types.accumulate == Type::f64;
}

constexpr int device = 0;
constexpr std::size_t alignment = 256;

std::size_t aligned(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

std::size_t matrix_bytes(std::int64_t rows, std::int64_t ld, Type type) {
  return aligned(static_cast<std::size_t>(rows * ld) * bytes(type));
}

void report(const std::string& name, const char* kind, const Figure& figure) {
  std::fprintf(stderr, "  %-44s %-9s %7.1f (%.1f us, %.0f MHz, %.0f W) %s\n", name.c_str(), kind,
               figure.tflops, figure.microseconds, figure.sm_mhz, figure.watts, figure.odd.c_str());
}

}  // namespace

// What the candidates of one case share.
struct CaseRunner::Case {
  Types types;
  Layout layout;
  Shape shape;
  std::int64_t a_rows, b_rows;  // of contiguous elements: columns where the matrix is column-major
  std::size_t a_bytes, b_bytes, c_bytes;
  int sets = 1;                       // copies of the operands, for measurements with a cold L2
  double absolute = 0, relative = 0;  // an element may be off by absolute + relative * |expected|

  std::size_t set_bytes() const { return a_bytes + b_bytes + c_bytes; }
  double flop() const {
    return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  }
};

RunnerOptions quick(RunnerOptions options) {
  options.protocol.bursts = 3;
  options.protocol.idle_ms = 10;
  options.protocol.sustained_ms = 250;
  options.pick.bursts = 1;
  options.pick.idle_ms = 10;
  options.pick.burst_ms = 1;
  return options;
}

CaseRunner::CaseRunner(const RunnerOptions& options) : options_(options), stopwatch_(device) {
  const Machine machine = describe_machine(device);
  machine_ = machine.name;
  toolkit_ = machine.toolkit;
  require(cudaDeviceGetAttribute(&l2_bytes_, cudaDevAttrL2CacheSize, device), "querying the device");
  reference_workspace_.reserve(CublasLtGemm::workspace_bytes);
  if (!stopwatch_.telemetry().trouble().empty()) {
    std::fprintf(stderr, "%s\n", stopwatch_.telemetry().trouble().c_str());
  }
}

Gemm CaseRunner::problem(const Case& c, int set) const {
  char* base = static_cast<char*>(operands_.data()) + static_cast<std::size_t>(set) * c.set_bytes();
  Gemm p;
  p.m = c.shape.m;
  p.n = c.shape.n;
  p.k = c.shape.k;
  p.a = {base, c.shape.lda, c.layout.a, c.types.input};
  p.b = {base + c.a_bytes, c.shape.ldb, c.layout.b, c.types.input_b};
  p.c = {base + c.a_bytes + c.b_bytes, c.shape.ldc, c.types.output};
  p.accumulate = c.types.accumulate;
  p.promote = c.types.promote;
  return p;
}

// The problem that computes the expected result: not rounded to the output type, accumulated in FP32 (s8 in
// s32, f64 in FP64). fp8 is multiplied as f16 and tf32 as f32, which hold the same numbers, so the expected
// result does not depend on how the tensor cores treat those types.
Gemm CaseRunner::exact_problem(const Case& c) {
  Gemm exact = problem(c, 0);
  exact.promote = false;
  exact.accumulate = expects_own_type(c.types) ? c.types.accumulate : Type::f32;
  exact.c = {expected_.data(), c.shape.n, exact.accumulate};
  if (c.types.input == Type::tf32) exact.a.type = exact.b.type = Type::f32;
  if (!is_fp8(c.types.input)) return exact;
  const std::int64_t a_count = c.a_rows * c.shape.lda, b_count = c.b_rows * c.shape.ldb;
  const std::size_t a_bytes = matrix_bytes(c.a_rows, c.shape.lda, Type::f16);
  char* halves =
      static_cast<char*>(halves_.reserve(a_bytes + matrix_bytes(c.b_rows, c.shape.ldb, Type::f16)));
  copy_as_f16(exact.a.data, exact.a.type, a_count, halves, stopwatch_.stream());
  copy_as_f16(exact.b.data, exact.b.type, b_count, halves + a_bytes, stopwatch_.stream());
  exact.a = {halves, c.shape.lda, c.layout.a, Type::f16};
  exact.b = {halves + a_bytes, c.shape.ldb, c.layout.b, Type::f16};
  return exact;
}

// Every set of operands, all with the same numbers.
void CaseRunner::draw(const Case& c) {
  const Shape& s = c.shape;
  operands_.reserve(c.set_bytes() * static_cast<std::size_t>(c.sets));
  const cudaStream_t stream = stopwatch_.stream();
  for (int set = 0; set < c.sets; ++set) {
    const Gemm p = problem(c, set);
    fill_normal(const_cast<void*>(p.a.data), p.a.type, c.a_rows, c.layout.a == row_major ? s.k : s.m, s.lda,
                1, stream);
    fill_normal(const_cast<void*>(p.b.data), p.b.type, c.b_rows, c.layout.b == row_major ? s.n : s.k, s.ldb,
                2, stream);
  }
}

// Draws the operands and computes the expected result.
void CaseRunner::prepare(Case& c) {
  const Shape& s = c.shape;
  c.a_rows = c.layout.a == row_major ? s.m : s.k;
  c.b_rows = c.layout.b == row_major ? s.k : s.n;
  c.a_bytes = matrix_bytes(c.a_rows, s.lda, c.types.input);
  c.b_bytes = matrix_bytes(c.b_rows, s.ldb, c.types.input_b);
  c.c_bytes = matrix_bytes(s.m, s.ldc, c.types.output);
  if (c.types.output != Type::s32) {
    c.relative = unit_roundoff(c.types.output);
    c.absolute = accumulation_bound(c.types, s.k) +
                 (expects_own_type(c.types) ? 0.0 : accumulation_bound(Types{}, s.k));
  }
  expected_.reserve(static_cast<std::size_t>(s.m * s.n) *
                    bytes(expects_own_type(c.types) ? c.types.accumulate : Type::f32));
  draw(c);
  const cudaStream_t stream = stopwatch_.stream();
  const Gemm exact = exact_problem(c);
  const CublasLtGemm gemm(cublaslt_, exact, reference_workspace_.data());
  if (const Status status = gemm.run(0, exact.a.data, exact.b.data, exact.c.data, stream); !status) {
    throw Failure(status.message());
  }
  require(cudaStreamSynchronize(stream), "computing the expected result");
}

Comparison CaseRunner::check(const Case& c, const Contender& contender) {
  const cudaStream_t stream = stopwatch_.stream();
  const Gemm p = problem(c, 0);
  poison(p.c.data, p.c.type, static_cast<std::size_t>(c.shape.m * c.shape.ldc) * bytes(p.c.type), stream);
  if (const Status status = contender.enqueue(stream, 0); !status) throw Failure(status.message());
  return compare(p.c.data, p.c.type, c.shape.ldc, expected_.data(), c.shape.m, c.shape.n, c.relative,
                 c.absolute, stream);
}

// Element by element, and by the criterion of host/error_statistics.hpp for all of C: one missing product
// changes the norm, but hides in an element that is rounded to 8 or 11 bits. The expected result is itself
// rounded as FP32 is.
bool CaseRunner::is_correct(const Case& c, const std::string& name, const Comparison& comparison) {
  const Types f32_types{Type::f32, Type::f32, Type::f32, Type::f32};
  const bool own_type = expects_own_type(c.types);
  const double allowed = c.relative + frobenius_bound(c.types, c.shape.k) +
                         (own_type ? 0.0 : frobenius_bound(f32_types, c.shape.k));
  const double allowed_bias =
      bias_bound(c.types, c.shape) + (own_type ? 0.0 : bias_bound(f32_types, c.shape));
  const bool every_element = comparison.wrong == 0 && comparison.overwritten == 0;
  if (every_element && comparison.relative_error <= allowed && std::fabs(comparison.bias) <= allowed_bias)
    return true;
  ++wrong_results_;
  std::fprintf(stderr,
               "  %-44s WRONG: %llu elements off (largest error %.3g, relative Frobenius error %.3g, allowed "
               "%.3g, bias %.3g, allowed %.3g), %llu elements beyond n overwritten\n",
               name.c_str(), comparison.wrong, comparison.max_error, comparison.relative_error, allowed,
               comparison.bias, allowed_bias, comparison.overwritten);
  return false;
}

Contender CaseRunner::reference_contender(const Case& c, const CublasLtGemm& reference, int answer) const {
  Contender contender;
  contender.name = "cuBLASLt #" + std::to_string(answer);
  contender.flop = c.flop();
  contender.enqueue = [this, &c, &reference, answer](cudaStream_t stream, int set) {
    const Gemm p = problem(c, set);
    return reference.run(answer, p.a.data, p.b.data, p.c.data, stream);
  };
  return contender;
}

// Whether a launch is shorter than those for which the state of the L2 matters.
bool CaseRunner::is_short(const Case& c, const CublasLtGemm& reference) {
  const Contender first = rotating(reference_contender(c, reference, 0), 1);
  return stopwatch_.launch_microseconds(first) < options_.protocol.graph_below_us;
}

// The answer that is fastest in idle bursts: on a hot board a slower one can win by drawing less power. No
// answer is rejected for its rounding (a split-K answer may round twice), so that the reference is not
// handicapped.
ReferenceAnswer CaseRunner::pick(const Case& c, const CublasLtGemm& reference,
                                 const Measurement& measurement) {
  int best = 0;
  double best_tflops = 0;
  for (int answer = 0; answer < reference.answers(); ++answer) {
    const Contender contender =
        rotating(reference_contender(c, reference, answer), measurement.cold ? c.sets : 1);
    const double tflops = (stopwatch_.*measurement.pick)(contender, options_.pick).tflops;
    if (tflops > best_tflops) {
      best = answer;
      best_tflops = tflops;
    }
  }
  const Comparison comparison = check(c, reference_contender(c, reference, best));
  std::fprintf(stderr, "  %s: largest error %.3g, relative Frobenius error %.3g\n",
               reference.describe(best).c_str(), comparison.max_error, comparison.relative_error);
  return {best, reference.describe(best)};
}

// An odd figure is measured once more.
Figure CaseRunner::time(const Case& c, const Contender& contender, const Measurement& measurement) {
  Figure figure;
  for (int attempt = 0; attempt < 2; ++attempt) {
    figure = (stopwatch_.*measurement.function)(rotating(contender, measurement.cold ? c.sets : 1),
                                                options_.protocol);
    if (figure.odd.empty()) break;
  }
  report(contender.name, measurement.name, figure);
  return figure;
}

// The candidate, if it takes the problem and computes it correctly.
std::optional<CaseRunner::Entrant> CaseRunner::enter(const Case& c, const Candidate& candidate) {
  const std::size_t workspace_bytes = candidate.workspace_size(problem(c, 0));
  workspace_.reserve(workspace_bytes);
  const auto with_workspace = [this, &c, workspace_bytes](int set) {
    Gemm p = problem(c, set);
    p.workspace = workspace_bytes > 0 ? workspace_.data() : nullptr;
    p.workspace_bytes = workspace_bytes;
    return p;
  };
  if (const Status status = candidate.can_implement(with_workspace(0)); !status) {
    std::fprintf(stderr, "  %-44s skipped: %s\n", candidate.name.c_str(), status.message());
    return std::nullopt;
  }
  Entrant entrant;
  entrant.contender.name = candidate.kernel(with_workspace(0));
  entrant.contender.flop = c.flop();
  entrant.contender.enqueue = [with_workspace, &candidate](cudaStream_t stream, int set) {
    return candidate.enqueue(with_workspace(set), stream);
  };
  entrant.comparison = check(c, entrant.contender);
  if (!is_correct(c, entrant.contender.name, entrant.comparison)) return std::nullopt;
  return entrant;
}

// Calls f() and returns whether it succeeded. A failure counts as a wrong result of `name`.
bool CaseRunner::attempt(const std::string& name, const std::function<void()>& f) {
  try {
    f();
    return true;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "  %-44s failed: %s\n", name.c_str(), failure.what());
    ++wrong_results_;
    cudaGetLastError();
    require(cudaDeviceSynchronize(),
            "the device is lost");  // an illegal access ends every later call as well
    return false;
  }
}

// Sustained runs last: half a second at the power limit still lowers the clock of a burst 30 ms later.
std::vector<CaseRunner::Measurement> CaseRunner::measurements(const Case& c) const {
  const Measurement burst{"burst", &Stopwatch::burst, &Stopwatch::burst, &WayFigures::burst,
                          &ReferenceFigures::burst};
  const Measurement between{"between", &Stopwatch::between, &Stopwatch::between, &WayFigures::between,
                            &ReferenceFigures::between};
  const Measurement cold{
      "cold", &Stopwatch::burst, &Stopwatch::burst, &WayFigures::cold, &ReferenceFigures::cold, true};
  const Measurement sustained{"sustained", &Stopwatch::sustained, &Stopwatch::burst, &WayFigures::sustained,
                              &ReferenceFigures::burst};
  std::vector<Measurement> all;
  if (options_.ways.burst) all.push_back(burst);
  if (options_.ways.between) all.push_back(between);
  if (c.sets > 1) all.push_back(cold);
  if (options_.ways.sustained) all.push_back(sustained);
  return all;
}

std::vector<Record> CaseRunner::run(const Types& types, const Layout& layout, const Shape& shape,
                                    const std::vector<Candidate>& candidates) {
  Case c{};
  c.types = types;
  c.layout = layout;
  c.shape = shape;
  c.sets = 1;
  std::fprintf(stderr, "%lld x %lld x %lld %s %s\n", static_cast<long long>(shape.m),
               static_cast<long long>(shape.n), static_cast<long long>(shape.k), name(types).c_str(),
               describe_layout(shape, layout).c_str());
  prepare(c);
  const CublasLtGemm cublaslt(cublaslt_, problem(c, 0), reference_workspace_.data());
  if (options_.ways.cold && is_short(c, cublaslt)) {
    c.sets = static_cast<int>(2 * static_cast<std::size_t>(l2_bytes_) / c.set_bytes()) + 2;
    draw(c);
  }
  if (measurements(c).empty()) {
    std::fprintf(stderr, "  skipped: it takes more than %.0f us, and a cold L2 is for shorter products\n",
                 options_.protocol.graph_below_us);
    return {};
  }
  std::vector<Entrant> entrants;
  for (const Candidate& candidate : candidates) {
    attempt(candidate.name, [&] {
      if (std::optional<Entrant> entrant = enter(c, candidate)) entrants.push_back(std::move(*entrant));
    });
  }
  ReferenceFigures reference;
  for (const Measurement& measurement : measurements(c)) {
    Figure WayFigures::*const figure = measurement.figure;
    ReferenceAnswer& answer = reference.*measurement.answer;
    if (answer.number < 0) answer = pick(c, cublaslt, measurement);
    const Contender best = reference_contender(c, cublaslt, answer.number);
    reference.before.*figure = time(c, best, measurement);
    for (Entrant& entrant : entrants) {
      if (entrant.failed) continue;
      entrant.failed = !attempt(entrant.contender.name,
                                [&] { entrant.figures.*figure = time(c, entrant.contender, measurement); });
    }
    reference.after.*figure = time(c, best, measurement);
  }
  std::fprintf(stderr, "  cuBLASLt first and last: %.1f %% apart\n", 100 * apart(reference));
  const auto failed = [](const Entrant& entrant) { return entrant.failed; };
  entrants.erase(std::remove_if(entrants.begin(), entrants.end(), failed), entrants.end());
  std::vector<WayFigures> all;
  all.reserve(entrants.size());
  for (const Entrant& entrant : entrants) all.push_back(entrant.figures);
  const double foreign_us = foreign_microseconds(reference, all);
  std::vector<Record> records;
  records.reserve(entrants.size());
  for (const Entrant& entrant : entrants) records.push_back(record(c, entrant, reference, foreign_us));
  return records;
}

Record CaseRunner::record(const Case& c, const Entrant& entrant, const ReferenceFigures& reference,
                          double foreign_us) const {
  Record record;
  record.benchmark = "gemm";
  record.shape = c.shape;
  record.types = name(c.types);
  record.layout = describe_layout(c.shape, c.layout);
  record.kernel = entrant.contender.name;
  store_figures(entrant.figures, reference, foreign_us, stopwatch_.sm_count(), &record);
  record.max_error = entrant.comparison.max_error;
  record.error_bound = c.absolute + c.relative * entrant.comparison.max_expected;
  record.machine = machine_;
  record.toolkit = toolkit_;
  return record;
}

}  // namespace tenon::microbench
