// `tenon gemm`: one product, from files or random numbers, run, checked, timed and written.
//
// Every error in the request is found before the device is used, and the output file is opened before
// anything is computed.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>

#include "command_line/bench.hpp"
#include "command_line/check.hpp"
#include "command_line/commands.hpp"
#include "command_line/emulator_report.hpp"
#include "command_line/emulator_time.hpp"
#include "command_line/exit_status.hpp"
#include "command_line/gemm_groups.hpp"
#include "command_line/npy.hpp"
#include "command_line/operand.hpp"
#include "command_line/options.hpp"
#include "command_line/print_json.hpp"
#include "command_line/progress.hpp"
#include "command_line/random.hpp"
#include "command_line/stack.hpp"
#include "command_line/text_file.hpp"
#include "command_line/tuning_answer.hpp"
#include "command_line/type_named.hpp"
#include "device/device.hpp"
#include "gemm/kernel.hpp"
#include "host/gemm_batched_on.hpp"
#include "host/gemm_on.hpp"
#include "host/validate.hpp"
#include "tenon/gemm/launch_options.hpp"
#include "tenon/tuning.hpp"

namespace tenon::command {
namespace {

struct GemmOptions {
  std::optional<std::int64_t> m, n, k, lda, ldb, ldc, batch;
  std::optional<std::string> type, type_b, out_type, accumulate, layout;
  std::string device = "auto", kernel, tuning_path;
  std::string a_path, b_path, c_path, out_path;
  double alpha = 1.0, beta = 0.0;
  std::optional<float> scale_a, scale_b;
  std::optional<std::uint64_t> seed;  // default: 1
  std::optional<std::string> activation, scale_mode, precision;
  std::vector<std::int64_t> groups;  // rows of each
  int multiprocessors = 0;
  bool no_overlap = false;
  bool bias = false, promote = false, check = false, bench = false, json = false;

  bool from_files() const { return !a_path.empty(); }
  bool grouped_or_scaled() const { return !groups.empty() || scale_mode; }
};

std::string size_text(std::int64_t rows, std::int64_t columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

// What is multiplied: the operands on the host, and the problem without pointers.
struct Request {
  Gemm problem;
  std::optional<NpyMatrix> a, b, c;  // from files, without their elements
};

// --groups and --scale-mode take random matrices, and what both of their operations have.
void check_usage_of_groups_and_scales(const GemmOptions& o) {
  const std::string option = o.groups.empty() ? "--scale-mode" : "--groups";
  if (o.from_files()) refuse(option + " is for random matrices, but --a and --b name files");
  if (!o.groups.empty() && o.m) refuse("--m is not for --groups, whose rows say what m is");
  if (!o.groups.empty() && (!o.n || !o.k)) refuse("give --n and --k, which all groups share");
  if (o.scale_mode && !o.groups.empty() && *o.scale_mode != "block")
    refuse("--scale-mode is " + *o.scale_mode + " but with --groups must be block");
  if (o.scale_mode && (o.type.value_or("e4m3") != "e4m3" || o.type_b.value_or("e4m3") != "e4m3"))
    refuse("--scale-mode is of e4m3, but --type is " +
           (o.type.value_or("e4m3") != "e4m3" ? *o.type : *o.type_b));
  if (o.scale_mode && o.layout.value_or("tn") != "tn")
    refuse("--scale-mode needs both operands contiguous along k: --layout tn, not " + *o.layout);
  const struct {
    const char* name;
    bool given;
  } others[] = {{"--batch", o.batch.has_value()},
                {"--tuning", !o.tuning_path.empty()},
                {"--bias", o.bias},
                {"--activation", o.activation.has_value()},
                {"--promote", o.promote},
                {"--scale-a", o.scale_a.has_value()},
                {"--scale-b", o.scale_b.has_value()},
                {"--accumulate", o.accumulate.has_value()},
                {"--out", !o.out_path.empty()}};
  for (const auto& other : others) {
    if (other.given) refuse(option + " does not go with " + other.name);
  }
  if (o.bench)
    refuse(option + " is not timed here: " +
           (o.scale_mode ? "tenon_scaled_benchmark" : "tenon_grouped_benchmark") + " does that");
}

void check_usage(const GemmOptions& o) {
  if (o.a_path.empty() != o.b_path.empty()) refuse("--a and --b must be given together");
  if (o.from_files()) {
    if (o.layout) refuse("--layout is for random matrices: with --a and --b the files say how they lie");
    if (o.bias) refuse("--bias is for random matrices: it adds a random vector");
    if (o.seed) refuse("--seed is for random matrices: with --a and --b the files hold the numbers");
  } else {
    if (o.groups.empty() && (!o.m || !o.n || !o.k))
      refuse("give --m, --n and --k for random matrices, or --a and --b for files");
    if (!o.c_path.empty()) refuse("--c needs --a and --b");
  }
  if (o.from_files() && o.beta != 0.0 && o.c_path.empty()) {
    refuse("--beta is not 0, so C is read: give it with --c");
  }
  if (o.batch) {
    if (o.from_files()) refuse("--batch is for random matrices, but --a and --b name files");
    if (!o.tuning_path.empty()) refuse("--batch has no tuning: a table is about single products");
    if (o.bench) refuse("--batch is not timed here: tenon_batched_benchmark does that");
    if (!o.out_path.empty()) refuse("--batch has no single C to write to --out");
  }
  if (o.grouped_or_scaled()) check_usage_of_groups_and_scales(o);
  if (o.precision && (o.type || o.type_b))
    refuse("--precision is of f32 operands, but " + std::string(o.type ? "--type" : "--type-b") +
           " is given");
  if (o.precision && (o.batch || o.grouped_or_scaled()))
    refuse(std::string("--precision does not go with ") + (o.batch             ? "--batch"
                                                           : !o.groups.empty() ? "--groups"
                                                                               : "--scale-mode"));
  if (o.bench && o.device == "emulator") {
    refuse("--bench times a GPU: the emulator counts what a kernel does, not how long a GPU takes for it");
  }
}

Activation activation_named(const std::string& text) {
  for (const Activation activation : all_activations) {
    if (text == name(activation)) return activation;
  }
  return Activation::none;  // CLI11 has refused all other words
}

Precision precision_named(const std::string& text) {
  for (const Precision precision : all_precisions) {
    if (text == name(precision)) return precision;
  }
  return Precision::none;  // CLI11 has refused all other words
}

struct Types {
  Type a = Type::f16, b = Type::f16;
};

// As asked, B's as A's unless it was.
std::optional<Type> asked(const std::optional<std::string>& option) {
  return option ? std::optional(type_named(*option)) : std::nullopt;
}
std::optional<Type> asked_of_b(const GemmOptions& o) {
  return asked(o.type_b ? o.type_b : o.type);
}

// The types of the inputs: as asked, else as in the files; f32 files are rounded to them.
Types input_types(const GemmOptions& o, const NpyMatrix& a, const NpyMatrix& b) {
  Types types;
  if (o.precision) {
    types.a = Type::f32;
  } else if (o.type) {
    types.a = type_named(*o.type);
  } else if (a.type != Type::f32 || b.type != Type::f32) {
    types.a = a.type != Type::f32 ? a.type : b.type;
  }
  types.b = asked_of_b(o).value_or(types.a);
  const struct {
    const std::string& path;
    const NpyMatrix& matrix;
    Type type;
    const char* option;  // that asked for it; nullptr: none did
  } files[] = {{o.a_path, a, types.a, o.type ? "--type" : nullptr},
               {o.b_path, b, types.b,
                o.type_b ? "--type-b"
                : o.type ? "--type"
                         : nullptr}};
  for (const auto& file : files) {
    if (file.matrix.type != file.type && file.matrix.type != Type::f32) {
      refuse(file.path + ": its elements are " + name(file.matrix.type) + " but must be " + name(file.type) +
             (file.option != nullptr ? std::string(" (") + file.option + ")" : ", the type of " + o.a_path));
    }
  }
  return types;
}

Request read_request(const GemmOptions& o) {
  check_usage(o);
  Request request;
  Gemm& p = request.problem;
  Types types;
  Order a_order = row_major, b_order = row_major;
  if (o.from_files()) {
    request.a = read_npy_header(o.a_path, asked(o.type));
    request.b = read_npy_header(o.b_path, asked_of_b(o));
    if (request.a->columns != request.b->rows) {
      refuse(o.a_path + " is " + size_text(request.a->rows, request.a->columns) + " and " + o.b_path +
             " is " + size_text(request.b->rows, request.b->columns) + ": the columns of A (" +
             std::to_string(request.a->columns) + ") must be as many as the rows of B (" +
             std::to_string(request.b->rows) + ")");
    }
    types = input_types(o, *request.a, *request.b);
    p.m = request.a->rows;
    p.n = request.b->columns;
    p.k = request.a->columns;
    const struct {
      const char* option;
      const std::optional<std::int64_t>& wanted;
      std::int64_t found;
    } sizes[] = {{"--m", o.m, p.m}, {"--n", o.n, p.n}, {"--k", o.k, p.k}};
    for (const auto& size : sizes) {
      if (size.wanted && *size.wanted != size.found) {
        refuse(std::string(size.option) + " is " + std::to_string(*size.wanted) + " but the files make it " +
               std::to_string(size.found));
      }
    }
    a_order = request.a->order;
    b_order = request.b->order;
    if (!o.c_path.empty()) {
      request.c = read_npy_header(o.c_path);
      if (request.c->rows != p.m || request.c->columns != p.n || request.c->order != row_major) {
        refuse(o.c_path + " is " + size_text(request.c->rows, request.c->columns) +
               (request.c->order == row_major ? "" : " in Fortran order") + " but C must be " +
               size_text(p.m, p.n) + " in C order");
      }
    }
  } else {
    p.m = o.groups.empty() ? *o.m : std::accumulate(o.groups.begin(), o.groups.end(), std::int64_t{0});
    p.n = *o.n;
    p.k = *o.k;
    types.a = asked(o.type).value_or(o.scale_mode ? Type::e4m3 : o.precision ? Type::f32 : Type::f16);
    types.b = asked_of_b(o).value_or(types.a);
    const std::string layout = o.layout.value_or("tn");
    a_order = layout[0] == 't' ? row_major : column_major;
    b_order = layout[1] == 't' ? row_major : column_major;
  }
  const Type accumulators = types.a == Type::s8 ? Type::s32 : types.a == Type::f64 ? Type::f64 : Type::f32;
  // TMA alone reads grouped and block-scaled operands: rows of multiples of 16 bytes.
  const auto dense = [&](std::int64_t length, Type type) {
    const std::int64_t step = o.grouped_or_scaled() ? 16 / static_cast<std::int64_t>(bytes(type)) : 1;
    return (length + step - 1) / step * step;
  };
  p.a = {nullptr, o.lda.value_or(dense(a_order == row_major ? p.k : p.m, types.a)), a_order, types.a};
  p.b = {nullptr, o.ldb.value_or(dense(b_order == row_major ? p.n : p.k, types.b)), b_order, types.b};
  p.c = {nullptr, o.ldc.value_or(p.n), asked(o.out_type).value_or(accumulators)};
  p.alpha = o.alpha;
  p.beta = o.beta;
  p.accumulate = asked(o.accumulate).value_or(accumulators);
  p.promote = o.promote;
  p.multiprocessors = o.multiprocessors;
  p.overlaps_previous = !o.no_overlap;
  if (o.precision) p.precision = precision_named(*o.precision);
  // Not null if they are given, which validate_shape() checks; on the device they get their own memory.
  p.scale_a = o.scale_a ? &*o.scale_a : nullptr;
  p.scale_b = o.scale_b ? &*o.scale_b : nullptr;
  if (o.activation) p.epilogue.activation = activation_named(*o.activation);
  // Not null, as the factors above.
  if (o.bias) p.epilogue.bias = {&o.alpha, bytes(p.c.type) == 1 ? Type::f32 : p.c.type};
  if (request.c && (request.c->type == Type::s32) != (p.c.type == Type::s32) &&
      request.c->type != Type::f32) {
    refuse(o.c_path + ": its elements are " + name(request.c->type) + " but C is " + name(p.c.type));
  }
  if (!o.kernel.empty()) p.kernel = o.kernel.c_str();
  require(validate_shape(p));
  if (p.kernel != nullptr && !o.batch && !o.grouped_or_scaled() && find_kernel(o.kernel) == nullptr) {
    refuse("no kernel has the name '" + shortened(o.kernel) + "': `tenon list` prints the names that exist");
  }
  return request;
}

// The device that runs the request; throws where there is none.
std::unique_ptr<Device> open_device(const GemmOptions& o) {
  std::unique_ptr<Device> device;
  if (o.device != "emulator") {
    const Status cuda = open_cuda_device(&device);
    if (cuda) return device;
    if (o.device == "cuda") {
      throw Failure(Exit::machine_cannot, std::string(cuda.message()) + "; --device emulator needs none");
    }
    if (o.bench) throw Failure(Exit::machine_cannot, std::string("--bench times a GPU: ") + cuda.message());
  }
  require(open_emulator_device(&device));
  return device;
}

// The kernel that the device will run, before there is memory for the operands: it depends on nothing but the
// alignment of their addresses and that they do not overlap. Null where there is no product to compute.
const Kernel* kernel_to_run(Launcher& launcher, const Gemm& problem) {
  const auto somewhere = [](std::uintptr_t place) {
    return reinterpret_cast<void*>(place << 48);  // NOLINT(performance-no-int-to-ptr): never read through
  };
  Gemm p = problem;
  p.a.data = somewhere(1);
  p.b.data = somewhere(2);
  p.c.data = somewhere(3);
  if (p.scale_a != nullptr) p.scale_a = static_cast<const float*>(somewhere(4));
  if (p.scale_b != nullptr) p.scale_b = static_cast<const float*>(somewhere(5));
  if (p.epilogue.bias.data != nullptr) p.epilogue.bias.data = somewhere(7);
  p.workspace_bytes = workspace_size(launcher, p);
  if (p.workspace_bytes != 0) p.workspace = somewhere(6);
  const char* name = kernel_name(launcher, p);
  return name == nullptr ? nullptr : find_kernel(name);
}

// Refuses matrices that the device cannot hold, before the host tries to.
// count: products; groups: matrices B.
void require_memory(Device& device, const Gemm& p, std::int64_t count, std::int64_t groups) {
  const auto bytes_of = [](std::int64_t vectors, std::int64_t ld, Type type) {
    return static_cast<double>(vectors) * static_cast<double>(ld) * static_cast<double>(bytes(type));
  };
  const double one =
      bytes_of(p.a.order == row_major ? p.m : p.k, p.a.ld, p.a.type) +
      static_cast<double>(groups) * bytes_of(p.b.order == row_major ? p.k : p.n, p.b.ld, p.b.type) +
      bytes_of(p.m, p.c.ld, p.c.type);
  const double needed = static_cast<double>(count) * one;
  std::size_t free = 0;
  require(device.free_memory(&free));
  if (needed <= static_cast<double>(free)) return;
  char sentence[160];
  std::snprintf(
      sentence, sizeof sentence,
      "A, B and C need %.2f GiB of device memory but %.2f GiB are free: smaller matrices are needed",
      needed / 0x1p30, static_cast<double>(free) / 0x1p30);
  throw Failure(Exit::machine_cannot, sentence);
}

// The matrix whose header was read before, in the type and with the leading dimension of the problem.
Operand read_operand(const std::string& path, const NpyMatrix& header, std::int64_t ld, Type type) {
  const NpyMatrix matrix = read_npy(path, header.type);
  if (matrix.rows != header.rows || matrix.columns != header.columns || matrix.order != header.order ||
      matrix.type != header.type) {
    refuse(path + ": it changed while it was read, but must stay as it is");
  }
  return from_npy(matrix, ld, type);
}

// A factor on the device; none is wanted for most products.
class Scale {
 public:
  Scale(Device& device, const std::optional<float>& value) {
    if (!value) return;
    buffer_.emplace(device, "a factor", sizeof *value);
    buffer_->upload(&*value, sizeof *value);
  }
  const float* get() const { return buffer_ ? static_cast<const float*>(buffer_->get()) : nullptr; }

 private:
  std::optional<DeviceBuffer> buffer_;
};

// C as numpy sees it: without what lies between rows.
void write_result(OutputFile& file, const Operand& c) {
  const std::string header = npy_header(c.type, c.rows, c.columns);
  file.write(header.data(), header.size());
  const std::size_t element = bytes(c.type);
  for (std::int64_t row = 0; row < c.rows && c.columns > 0; ++row) {
    file.write(c.data.data() + static_cast<std::size_t>(row * c.ld) * element,
               static_cast<std::size_t>(c.columns) * element);
  }
  file.commit();
}

struct Answer {
  std::optional<std::string> kernel;
  std::string device, device_name;
  std::optional<CheckResult> check;
  std::optional<double> ms;
  std::optional<TuningAnswer> tuning;
  std::optional<std::int64_t> batch;
  std::optional<std::string> scale_mode;
  std::vector<std::int64_t> groups;
  std::int64_t overflowed_a = 0, overflowed_b = 0, overflowed_old_c = 0;  // Operand::overflowed
  // Of the emulator.
  std::optional<std::vector<emulator::Finding>> findings;
  emulator::Counts counts;

  bool right() const { return (!check || check->ok) && (!findings || findings->empty()); }
};

double tflops(const Gemm& p, double ms) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) / (ms * 1e9);
}

void print_answer(const Gemm& p, const Answer& answer) {
  nlohmann::ordered_json json;
  json["kernel"] = nullptr;
  if (answer.kernel) json["kernel"] = *answer.kernel;
  json["device"] = answer.device;
  json["device_name"] = answer.device_name;
  json["m"] = p.m;
  json["n"] = p.n;
  json["k"] = p.k;
  json["epilogue"] = {{"bias", p.epilogue.bias.data != nullptr}, {"activation", name(p.epilogue.activation)}};
  if (answer.batch) json["batch"] = *answer.batch;
  if (!answer.groups.empty()) json["groups"] = answer.groups;
  if (answer.scale_mode) json["scale_mode"] = *answer.scale_mode;
  if (p.precision != Precision::none) json["precision"] = name(p.precision);
  json["max_error"] = json["error_bound"] = json["relative_error"] = json["bias"] = json["ok"] = nullptr;
  json["overflowed"] = {{"a", answer.overflowed_a},
                        {"b", answer.overflowed_b},
                        {"old_c", answer.overflowed_old_c},
                        {"c", nullptr}};
  json["ms"] = json["tflops"] = nullptr;
  json["tuning"] = json["findings"] = json["counters"] = nullptr;
  if (answer.tuning) json["tuning"] = {{"used", answer.tuning->used}, {"why", answer.tuning->why}};
  if (answer.check) {
    json["max_error"] = answer.check->max_error;
    json["error_bound"] = answer.check->error_bound;
    json["relative_error"] = answer.check->relative_error;
    json["bias"] = answer.check->bias;
    json["overflowed"]["c"] = answer.check->overflowed;
    json["ok"] = answer.check->ok;
  }
  if (answer.ms) {
    json["ms"] = *answer.ms;
    json["tflops"] = tflops(p, *answer.ms);
  }
  if (answer.findings) {
    json["findings"] = findings_json(*answer.findings);
    json["counters"] = counts_json(answer.counts);
  }
  print_json(json);
}

// An infinity can be correct and still surprise the user, so it is reported.
void print_overflows(const Gemm& p, const GemmOptions& o, const Answer& answer) {
  const auto count = [](std::int64_t n) {
    return std::to_string(n) + (n == 1 ? " element of " : " elements of ");
  };
  const struct {
    std::int64_t overflowed;
    const std::string& path;
    Type type;
  } files[] = {{answer.overflowed_a, o.a_path, p.a.type},
               {answer.overflowed_b, o.b_path, p.b.type},
               {answer.overflowed_old_c, o.c_path, p.c.type}};
  for (const auto& file : files) {
    if (file.overflowed == 0) continue;
    const bool saturates = is_fp8(file.type) || file.type == Type::s8 || file.type == Type::s32;
    std::printf("overflow %s%s became %s: too large for %s\n", count(file.overflowed).c_str(),
                file.path.c_str(), saturates ? "the largest value" : "infinite", name(file.type));
  }
  if (answer.check && answer.check->overflowed > 0) {
    std::printf("overflow %sC became infinite: the exact product is too large for %s or its accumulators\n",
                count(answer.check->overflowed).c_str(), name(p.c.type));
  }
}

void print_text(const Gemm& p, const GemmOptions& o, const Answer& answer) {
  std::string inputs = name(p.a.type);
  if (p.a.type != p.b.type) inputs += std::string(" and ") + name(p.b.type);
  if (answer.batch) std::printf("batch    %lld problems\n", static_cast<long long>(*answer.batch));
  if (!answer.groups.empty()) std::printf("groups   %zu\n", answer.groups.size());
  if (answer.scale_mode) std::printf("scales   %s\n", answer.scale_mode->c_str());
  if (p.precision != Precision::none) inputs += std::string(" (") + name(p.precision) + ")";
  std::printf("problem  %lld x %lld x %lld, %s inputs, %s accumulate%s, %s result, layout %c%c\n",
              static_cast<long long>(p.m), static_cast<long long>(p.n), static_cast<long long>(p.k),
              inputs.c_str(), name(p.accumulate), p.promote ? ", promoted" : "", name(p.c.type),
              p.a.order == row_major ? 't' : 'n', p.b.order == row_major ? 't' : 'n');
  if (!p.epilogue.empty()) {
    std::printf("epilogue %s%s\n", p.epilogue.bias.data != nullptr ? "bias, " : "",
                name(p.epilogue.activation));
  }
  std::printf("kernel   %s\n",
              answer.kernel ? answer.kernel->c_str() : "none: there is no product to compute");
  if (answer.tuning) {
    std::printf("tuning   %s: %s\n", answer.tuning->used ? "used" : "not used", answer.tuning->why.c_str());
  }
  std::printf("device   %s\n", answer.device_name.c_str());
  if (answer.check) {
    std::printf("check    %s: max error %.3g, error bound %.3g, relative error %.3g, bias %.3g\n",
                answer.check->ok ? "ok" : "WRONG", answer.check->max_error, answer.check->error_bound,
                answer.check->relative_error, answer.check->bias);
  }
  print_overflows(p, o, answer);
  if (answer.ms) std::printf("time     %.4f ms, %.2f TFLOP/s\n", *answer.ms, tflops(p, *answer.ms));
  if (answer.findings) {
    const emulator::Counts& counts = answer.counts;
    const auto number = [](std::uint64_t x) { return static_cast<unsigned long long>(x); };
    std::printf(
        "counted  %llu instructions of warps, %llu matrix operations; shared memory %llu wavefronts "
        "(%llu ideal), global memory %llu sectors (%llu ideal)\n",
        number(counts.instructions), number(counts.matrix_operations), number(counts.shared_wavefronts),
        number(counts.ideal_shared_wavefronts), number(counts.global_sectors),
        number(counts.ideal_global_sectors));
    for (const emulator::Finding& finding : *answer.findings)
      std::printf("finding  %s\n", finding_text(finding).c_str());
    if (answer.findings->empty()) std::printf("findings none\n");
  }
  if (!o.out_path.empty() && answer.right()) std::printf("written  %s\n", o.out_path.c_str());
}

void report(const GemmOptions& o, const Gemm& p, const Answer& answer) {
  o.json ? print_answer(p, answer) : print_text(p, o, answer);
  if (answer.check && !answer.check->ok) {
    throw Failure(Exit::wrong_result, "the result is wrong: " + fault_text(*answer.check));
  }
  if (!answer.right()) {
    throw Failure(Exit::wrong_result,
                  "the emulator found a fault in the kernel: " + finding_text(answer.findings->front()));
  }
}

void take_findings(Device& device, Answer* answer) {
  answer->findings.emplace();
  for (const LaunchReport& report : device.take_reports()) {
    answer->findings->insert(answer->findings->end(), report.result.findings.begin(),
                             report.result.findings.end());
    answer->counts += report.result.counters.total;
  }
}

// --batch: dense random problems, the matrices of each stacked behind those of the one before.
void run_batch(const GemmOptions& o, const Gemm& one, Device& device, Answer& answer) {
  const auto seed = [&o](std::uint64_t stream) { return random_bits(o.seed.value_or(1), stream); };
  const Stack stack{*o.batch};
  const Operand a = stack.random("A", seed(0), one.m, one.k, one.a.ld, one.a.order, one.a.type),
                b = stack.random("B", seed(1), one.k, one.n, one.b.ld, one.b.order, one.b.type),
                c_before = one.beta == 0.0
                               ? stack.poisoned(one.m, one.n, one.c.ld, one.c.type)
                               : stack.random("C", seed(2), one.m, one.n, one.c.ld, row_major, one.c.type);
  const DeviceBuffer a_device(device, a, "A"), b_device(device, b, "B"), c_device(device, c_before, "C");
  BatchedGemm batch;
  batch.problem = one;
  batch.problem.tuning = nullptr;
  batch.problem.a.data = a_device.get();
  batch.problem.b.data = b_device.get();
  batch.problem.c.data = c_device.get();
  batch.count = stack.count;
  batch.stride_a = stack.stride(a), batch.stride_b = stack.stride(b), batch.stride_c = stack.stride(c_before);
  Launcher& launcher = device.launcher();
  if (const char* kernel = kernel_name(launcher, batch)) answer.kernel = kernel;
  require(gemm_batched(launcher, batch));
  require(device.synchronize());
  if (answer.device == "emulator") take_findings(device, &answer);
  Operand c_after = c_before;
  c_device.download(c_after.data.data(), c_after.data.size());
  answer.batch = stack.count;
  if (o.check) {
    for (std::int64_t i = 0; i < stack.count; ++i) {
      const CheckResult checked = check(one, stack.part(a, i), stack.part(b, i), stack.part(c_before, i),
                                        stack.part(c_after, i), nullptr, Numbers::random);
      if (!answer.check || worse(checked, *answer.check)) answer.check = checked;
    }
  }
  report(o, one, answer);
}

// --groups and --scale-mode.
void run_groups_or_scales(const GemmOptions& o, const Gemm& p, Device& device, Answer& answer) {
  GroupedOrScaled what{p, o.groups, std::nullopt, o.seed.value_or(1), o.check};
  what.problem.tuning = nullptr;
  if (o.scale_mode) what.mode = scale_mode_named(*o.scale_mode);
  const GroupedOrScaledResult result = run_grouped_or_scaled(what, device);
  answer.kernel = result.kernel, answer.check = result.check;
  answer.groups = o.groups, answer.scale_mode = o.scale_mode;
  if (answer.device == "emulator") take_findings(device, &answer);
  report(o, p, answer);
}

void run(const GemmOptions& o) {
  Request request = read_request(o);
  Gemm& p = request.problem;
  Tuning tuning;
  if (!o.tuning_path.empty()) require(tuning.load(o.tuning_path.c_str()));
  p.tuning = &tuning;
  std::optional<OutputFile> output;
  if (!o.out_path.empty()) output.emplace(o.out_path);
  Answer answer;
  const std::unique_ptr<Device> device = open_device(o);
  const bool emulated = device->kind() == std::string("emulator");
  answer.device = device->kind();
  answer.device_name = device->description();
  require_memory(*device, p, o.batch.value_or(1),
                 std::max<std::int64_t>(1, static_cast<std::int64_t>(o.groups.size())));
  if (o.batch) {
    run_batch(o, p, *device, answer);
    return;
  }
  if (o.grouped_or_scaled()) {
    run_groups_or_scales(o, p, *device, answer);
    return;
  }
  if (emulated) {
    if (const Kernel* kernel = kernel_to_run(device->launcher(), p)) announce_emulator_time(p, *kernel);
  }

  const auto seed = [&o](std::uint64_t stream) { return random_bits(o.seed.value_or(1), stream); };
  const Operand a = request.a ? read_operand(o.a_path, *request.a, p.a.ld, p.a.type)
                              : random_operand("A", seed(0), p.m, p.k, p.a.ld, p.a.order, p.a.type);
  const Operand b = request.b ? read_operand(o.b_path, *request.b, p.b.ld, p.b.type)
                              : random_operand("B", seed(1), p.k, p.n, p.b.ld, p.b.order, p.b.type);
  // Where C is not read it starts as poison, so that an element that is not written shows.
  const Operand c_before = p.beta == 0.0 ? poisoned(p.m, p.n, p.c.ld, row_major, p.c.type)
                           : request.c   ? read_operand(o.c_path, *request.c, p.c.ld, p.c.type)
                                       : random_operand("C", seed(2), p.m, p.n, p.c.ld, row_major, p.c.type);
  answer.overflowed_a = a.overflowed;
  answer.overflowed_b = b.overflowed;
  answer.overflowed_old_c = c_before.overflowed;
  const DeviceBuffer a_device(*device, a, "A"), b_device(*device, b, "B"), c_device(*device, c_before, "C");
  p.a.data = a_device.get();
  p.b.data = b_device.get();
  p.c.data = c_device.get();
  const Scale scale_a(*device, o.scale_a), scale_b(*device, o.scale_b);
  p.scale_a = scale_a.get();
  p.scale_b = scale_b.get();
  const Operand bias =
      o.bias ? random_operand("bias", seed(3), 1, p.n, p.n, row_major, p.epilogue.bias.type) : Operand{};
  const DeviceBuffer bias_device(*device, bias, "the bias");
  if (o.bias) p.epilogue.bias.data = bias_device.get();
  Launcher& launcher = device->launcher();
  const std::size_t workspace_bytes = workspace_size(launcher, p);
  const DeviceBuffer workspace(*device, "the workspace", workspace_bytes);
  p.workspace = workspace.get();
  p.workspace_bytes = workspace_bytes;

  if (const char* kernel = kernel_name(launcher, p)) answer.kernel = kernel;
  if (!o.tuning_path.empty()) {
    DeviceDescription description;
    require(launcher.describe(&description));
    require(limit_multiprocessors(p.multiprocessors, &description));
    answer.tuning = tuning_answer(kernels(), p, description, kernel_name(launcher, p));
  }
  {
    std::optional<Elapsed> elapsed;
    if (emulated) elapsed.emplace("emulating " + answer.kernel.value_or("nothing"));
    require(gemm(launcher, p));
    require(device->synchronize());
  }
  if (emulated) take_findings(*device, &answer);

  Operand c_after = c_before;
  c_device.download(c_after.data.data(), c_after.data.size());
  if (o.check) {
    const double scale =
        static_cast<double>(o.scale_a.value_or(1.0F)) * static_cast<double>(o.scale_b.value_or(1.0F));
    answer.check = check(p, a, b, c_before, c_after, emulated ? nullptr : device.get(),
                         o.from_files() ? Numbers::any : Numbers::random, scale,
                         {o.bias ? decoded(bias, row_major) : std::vector<float>()});
  }
  if (o.bench) answer.ms = time_gemm(p);

  if (output && answer.right()) write_result(*output, c_after);
  report(o, p, answer);
}

}  // namespace

void add_gemm(CLI::App& application) {
  CLI::App* command =
      application.add_subcommand("gemm", "Multiply two matrices: C = alpha * A * B + beta * C");
  const auto o = std::make_shared<GemmOptions>();
  command->add_option("--m", o->m, "Rows of A and C")->transform(matrix_size());
  command->add_option("--n", o->n, "Columns of B and C")->transform(matrix_size());
  command->add_option("--k", o->k, "Columns of A, rows of B")->transform(matrix_size());
  command
      ->add_option("--batch", o->batch,
                   "So many products of these sizes in one launch, of random matrices one after the other; "
                   "--check reports the worst of them")
      ->transform(matrix_size());
  command
      ->add_option(
          "--groups", o->groups,
          "Rows of each group, as 100,0,37: C[rows of g] = A[rows of g] * B[g] in one launch, of random "
          "matrices; --check reports the worst group")
      ->delimiter(',')
      ->transform(matrix_size());
  command
      ->add_option(
          "--scale-mode", o->scale_mode,
          "Quantise random A and B to e4m3 with f32 scales, and multiply: tensor (one scale each), "
          "row_column (of each row of A, each column of B) or block (of 1 x 128 of A, 128 x 128 of B)")
      ->check(CLI::IsMember({"tensor", "row_column", "block"}));
  command
      ->add_option(
          "--precision", o->precision,
          "Multiply operands of f32 on tensor cores: rounded to tf32, f16 or bf16, or in parts, as bf16x3, "
          "bf16x6 (as exact as f32) or tf32x3")
      ->check(CLI::IsMember({"tf32", "f16", "bf16", "bf16x3", "bf16x6", "tf32x3"}));
  const auto types = CLI::IsMember({"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "f64"});
  command->add_option("--type", o->type, "Type of A and B (default: f16, or that of the files)")
      ->check(types);
  command
      ->add_option("--type-b", o->type_b,
                   "Type of B, if it is not A's: e4m3 and e5m2 may be multiplied by each other")
      ->check(types);
  command->add_option("--out-type", o->out_type, "Type of C (default: f32; of s8 s32, of f64 f64)")
      ->check(output_type());
  command
      ->add_option("--accumulate", o->accumulate,
                   "Type of the accumulators (default: f32; of s8 s32, of f64 f64)")
      ->check(sum_type());
  command->add_flag("--promote", o->promote,
                    "Of e4m3 and e5m2: promote the accumulators to f32 every 128 products, which loses less "
                    "than the tensor "
                    "core does over a long k");
  command
      ->add_option(
          "--scale-a", o->scale_a,
          "Of e4m3, e5m2 and, where C is not s32, s8: a factor of A, read on the device (default: 1)")
      ->check(float_number());
  command->add_option("--scale-b", o->scale_b, "The same of B")->check(float_number());
  command
      ->add_option("--layout", o->layout,
                   "A then B: t = row-major, n = column-major (default: tn, both contiguous along k)")
      ->check(layout_name());
  command->add_option("--lda", o->lda, "Leading dimension of A on the device, in elements (default: dense)")
      ->transform(leading_dimension());
  command->add_option("--ldb", o->ldb, "Leading dimension of B on the device (default: dense)")
      ->transform(leading_dimension());
  command->add_option("--ldc", o->ldc, "Leading dimension of C on the device (default: dense)")
      ->transform(leading_dimension());
  command->add_option("--alpha", o->alpha, "Factor of the product")
      ->check(float_number())
      ->capture_default_str();
  command->add_option("--beta", o->beta, "Factor of the old C; 0 does not read it")
      ->check(float_number())
      ->capture_default_str();
  command
      ->add_option("--seed", o->seed,
                   "Seed of random matrices: N(0, 1); of s8 round(42 * N(0, 1)), within +-127 (default: 1)")
      ->transform(seed_number());
  command->add_option(
      "--a", o->a_path,
      "A from this .npy file: float16, bfloat16 ('<V2'), float64, int8, 8-bit floats ('|V1' or '|u1', with "
      "--type) or float32 (rounded to the type)");
  command->add_option("--b", o->b_path, "B from this .npy file");
  command->add_option("--c", o->c_path, "The old C from this .npy file, where --beta is not 0");
  command->add_option("--out", o->out_path, "Write C to this .npy file");
  command
      ->add_option(
          "--device", o->device,
          "Where to run; auto: on a GPU if there is one, else in the emulator, which runs the PTX of the "
          "kernel on the CPU, checks its every access and counts")
      ->check(CLI::IsMember({"auto", "cuda", "emulator"}))
      ->capture_default_str();
  command->add_flag("--bias", o->bias, "Add a random vector, an element to each column of the product");
  command
      ->add_option("--activation", o->activation,
                   "Apply none, relu, gelu, gelu_erf or silu to each element of the result")
      ->check(CLI::IsMember(std::vector<std::string>{"none", "relu", "gelu", "gelu_erf", "silu"}));
  command->add_option("--kernel", o->kernel,
                      "Run this kernel (see `tenon list`) instead of the library's choice");
  command->add_option("--tuning", o->tuning_path,
                      "Choose by this table of `tenon tune` where it has an answer");
  command
      ->add_option("--multiprocessors", o->multiprocessors,
                   "Use at most so many multiprocessors of the device; 0: all")
      ->transform(whole_number(0, std::numeric_limits<std::int32_t>::max()));
  command->add_flag("--no-overlap", o->no_overlap,
                    "On sm_90: begin after what runs before on the stream, without overlapping its end");
  command->add_flag("--check", o->check,
                    "Compare every element with the exact product (FP64) and its error bound, and of random "
                    "matrices the relative error and the bias of C, of each row and of each column with what "
                    "the types allow");
  command->add_flag("--bench", o->bench, "Time it on a GPU: median of bursts between CUDA events");
  command->add_flag(
      "--json", o->json,
      "Print one object: kernel, device, m, n, k, max_error, error_bound, relative_error (of the Frobenius "
      "norm), bias (mean signed error over mean magnitude), ok, overflowed {a, b, old_c, c} (elements that "
      "rounding made infinite), ms, tflops, tuning {used, why} and, of the emulator, findings and counters; "
      "what was not asked for is null");
  command->footer(
      "Examples:\n"
      "  tenon gemm --m 4096 --n 4096 --k 4096 --check --bench\n"
      "  tenon gemm --m 128 --n 96 --k 64 --type bf16 --out-type f32 --layout nn --seed 7 --check --json\n"
      "  tenon gemm --m 512 --n 512 --k 4096 --type e4m3 --promote --scale-a 0.5 --scale-b 0.25 --check\n"
      "  tenon gemm --m 256 --n 256 --k 256 --type s8 --check\n"
      "  tenon gemm --batch 100 --m 64 --n 64 --k 64 --device emulator --check\n"
      "  tenon gemm --groups 100,0,37 --n 256 --k 128 --type bf16 --device emulator --check\n"
      "  tenon gemm --m 130 --n 256 --k 512 --scale-mode block --out-type bf16 --device emulator --check\n"
      "  tenon gemm --m 96 --n 80 --k 64 --precision bf16x6 --device emulator --check\n"
      "  tenon gemm --m 96 --n 80 --k 64 --multiprocessors 2 --device emulator --check\n"
      "  tenon gemm --a A.npy --b B.npy --out C.npy\n"
      "  tenon gemm --m 200 --n 100 --k 50 --device emulator --check\n"
      "A result that --check finds wrong is not written, nor is that of a kernel in which the emulator found "
      "a fault.");
  command->callback([o] { run(*o); });
}

}  // namespace tenon::command
