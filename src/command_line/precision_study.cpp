// The products and errors of precision_study.hpp. f32 is computed on the host for the elements that are
// compared: its bits are those of the kernels on CUDA cores, which add in the same order.
#include "command_line/precision_study.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "command_line/bench.hpp"
#include "command_line/exit_status.hpp"
#include "command_line/operand.hpp"
#include "command_line/progress.hpp"
#include "command_line/random.hpp"
#include "host/gemm_on.hpp"
#include "reference/cpu.hpp"
#include "reference/reference.hpp"

namespace tenon::command {
namespace {

std::vector<float> random_numbers(std::int64_t count, StudyNumbers numbers, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (numbers == StudyNumbers::uniform) {
      values[i] = static_cast<float>(random_bits(seed, i) >> 40) * 0x1p-24F;
    } else if (i % 2 == 0) {
      const NormalPair pair = random_normals(seed, i / 2);
      values[i] = pair.first;
      if (i + 1 < values.size()) values[i + 1] = pair.second;
    }
  }
  return values;
}

// The elements of C that are compared: each row with each column.
struct Sample {
  explicit Sample(std::int64_t size) : step(std::max<std::int64_t>(size / most, 1)), count(size / step) {}

  static constexpr std::int64_t most = 64;
  std::int64_t step, count;
};

// Row i of A and column j of B are at i * size and j * size.
template <class Number, class Add>
std::vector<Number> sampled_products(const Sample& sample, std::int64_t size, const std::vector<float>& a,
                                     const std::vector<float>& b, const Add& add) {
  std::vector<Number> result;
  result.reserve(static_cast<std::size_t>(sample.count * sample.count));
  for (std::int64_t i = 0; i < sample.count; ++i) {
    const float* const row = &a[static_cast<std::size_t>(i * sample.step * size)];
    for (std::int64_t j = 0; j < sample.count; ++j) {
      const float* const column = &b[static_cast<std::size_t>(j * sample.step * size)];
      Number sum = 0;
      for (std::int64_t k = 0; k < size; ++k) sum = add(row[k], column[k], sum);
      result.push_back(sum);
    }
  }
  return result;
}

void set_errors(StudyRow& row, const std::vector<double>& computed, const std::vector<double>& exact) {
  double errors = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double error = std::fabs(computed[i] - exact[i]);
    // Overflowed accumulators are infinite or NaN: infinitely far off.
    const double counted = std::isfinite(error) ? error : HUGE_VAL;
    row.max_error = std::max(row.max_error, counted);
    row.within_tolerance &= counted <= study_atol + study_rtol * std::fabs(exact[i]);
    errors += counted * counted;
    squares += exact[i] * exact[i];
  }
  row.relative_error = std::sqrt(errors / squares);
}

// Operands of one size on the device, in f32 and in f16.
class SizeStudy {
 public:
  SizeStudy(Device& device, const StudyOptions& o, std::int64_t size)
      : device_(device),
        size_(size),
        sample_(size),
        a_(random_numbers(size * size, o.numbers, 2 * o.seed)),
        b_(random_numbers(size * size, o.numbers, 2 * o.seed + 1)),
        a_device_(device, "A", 4 * a_.size()),
        b_device_(device, "B", 4 * b_.size()),
        c_device_(device, "C", 4 * a_.size()) {
    a_device_.upload(a_.data(), 4 * a_.size());
    b_device_.upload(b_.data(), 4 * b_.size());
    exact_ = sampled_products<double>(sample_, size, a_, b_, [](float x, float y, double sum) {
      return sum + static_cast<double>(x) * static_cast<double>(y);
    });
  }

  StudyRow row(const std::string& method) {
    StudyRow row;
    row.size = size_;
    row.method = method;
    if (method == "f32") {
      const std::vector<float> found = sampled_products<float>(
          sample_, size_, a_, b_, [](float x, float y, float sum) { return std::fma(x, y, sum); });
      set_errors(row, {found.begin(), found.end()}, exact_);
      const Gemm p = problem(a_device_.get(), b_device_.get(), Type::f32);
      if (on_a_gpu()) row.ms = time_call([&] { return reference::gemm(reference::Algorithm::tiled_f32, p); });
      return row;
    }
    if (method == "f16_f16") {
      const DeviceBuffer a(device_, "A in f16", 2 * a_.size()), b(device_, "B in f16", 2 * b_.size());
      upload_as_f16(a, a_);
      upload_as_f16(b, b_);
      Gemm p = problem(a.get(), b.get(), Type::f16);
      p.accumulate = Type::f16;
      run(p, row);
      return row;
    }
    Gemm p = problem(a_device_.get(), b_device_.get(), Type::f32);
    for (const Precision precision : all_precisions) {
      if (method == name(precision)) p.precision = precision;
    }
    run(p, row);
    return row;
  }

 private:
  bool on_a_gpu() const { return std::strcmp(device_.kind(), "cuda") == 0; }

  Gemm problem(const void* a, const void* b, Type type) const {
    Gemm p;
    p.m = p.n = p.k = size_;
    p.a = ConstMatrix(a, size_, row_major, type);
    p.b = ConstMatrix(b, size_, column_major, type);
    p.c = Matrix(c_device_.get(), size_, Type::f32);
    return p;
  }

  static void upload_as_f16(const DeviceBuffer& to, const std::vector<float>& values) {
    std::vector<std::uint16_t> halves(values.size());
    reference::encode(Type::f16, values.data(), values.size(), halves.data());
    const_cast<DeviceBuffer&>(to).upload(halves.data(), 2 * halves.size());
  }

  void run(Gemm p, StudyRow& row) {
    Launcher& launcher = device_.launcher();
    p.workspace_bytes = workspace_size(launcher, p);
    const DeviceBuffer workspace(device_, "the workspace", p.workspace_bytes);
    p.workspace = workspace.get();
    if (const char* kernel = kernel_name(launcher, p)) row.kernel = kernel;
    require(gemm(launcher, p));
    require(device_.synchronize());
    for (const LaunchReport& report : device_.take_reports()) {
      if (!report.result.findings.empty()) {
        throw Failure(Exit::wrong_result, "the emulator found a fault in " + report.what + ": " +
                                              report.result.findings.front().message);
      }
    }
    std::vector<float> c(a_.size());
    c_device_.download(c.data(), 4 * c.size());
    std::vector<double> found;
    for (std::int64_t i = 0; i < sample_.count; ++i) {
      for (std::int64_t j = 0; j < sample_.count; ++j) {
        found.push_back(static_cast<double>(c[static_cast<std::size_t>((i * size_ + j) * sample_.step)]));
      }
    }
    set_errors(row, found, exact_);
    if (on_a_gpu()) row.ms = time_gemm(p);
  }

  Device& device_;
  std::int64_t size_;
  Sample sample_;
  std::vector<float> a_, b_;
  DeviceBuffer a_device_, b_device_, c_device_;
  std::vector<double> exact_;
};

}  // namespace

const std::vector<std::string>& study_methods() {
  static const std::vector<std::string> methods{"f32",  "bf16x6", "tf32x3", "bf16x3",
                                                "tf32", "f16",    "bf16",   "f16_f16"};
  return methods;
}

std::vector<StudyRow> precision_study(Device& device, const StudyOptions& options) {
  std::vector<StudyRow> rows;
  std::int64_t sizes = 0;
  for (std::int64_t size = options.smallest; size <= options.largest; size *= 2) ++sizes;
  Progress progress("products", sizes * static_cast<std::int64_t>(study_methods().size()));
  for (std::int64_t size = options.smallest; size <= options.largest; size *= 2) {
    SizeStudy study(device, options, size);
    for (const std::string& method : study_methods()) {
      rows.push_back(study.row(method));
      progress.advance();
    }
  }
  return rows;
}

std::optional<std::int64_t> breaks_down_at(const std::vector<StudyRow>& rows, const std::string& method) {
  std::optional<std::int64_t> first;
  for (const StudyRow& row : rows) {
    if (row.method != method) continue;
    if (row.within_tolerance) {
      first.reset();
    } else if (!first) {
      first = row.size;
    }
  }
  return first;
}

}  // namespace tenon::command
