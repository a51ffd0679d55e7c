// `tenon doctor`: why the tensor cores are idle, for a problem or for any binary.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command_line/commands.hpp"
#include "command_line/doctor_binary.hpp"
#include "command_line/doctor_problem.hpp"
#include "command_line/exit_status.hpp"
#include "command_line/name_pattern.hpp"
#include "command_line/options.hpp"
#include "command_line/print_json.hpp"
#include "command_line/type_named.hpp"
#include "host/device.hpp"
#include "host/validate.hpp"

namespace tenon::command {
namespace {

using Json = nlohmann::ordered_json;

struct DoctorOptions {
  std::optional<std::int64_t> m, n, k, lda, ldb, ldc;
  std::optional<std::string> type, type_b, out_type, accumulate, layout;
  std::optional<int> a_offset, b_offset, c_offset;  // bytes past a multiple of 16
  std::vector<std::string> archs;
  std::string binary, kernel, tool;
  bool promote = false, json = false;

  bool of_a_problem() const {
    return m || n || k || lda || ldb || ldc || type || type_b || out_type || accumulate || layout ||
           a_offset || b_offset || c_offset || promote;
  }
};

// A GPU of each architecture that --arch can name: the one of the data centre where there is a choice.
struct KnownDevice {
  const char* arch;
  const char* name;
  DeviceDescription device;
};
constexpr std::size_t kibibyte = 1024, mebibyte = 1024 * kibibyte;
const KnownDevice known_devices[] = {
    {"80", "A100", {80, 108, 163 * kibibyte, 40 * mebibyte}},
    {"86", "A40", {86, 84, 99 * kibibyte, 6 * mebibyte}},
    {"89", "L40S", {89, 142, 99 * kibibyte, 96 * mebibyte}},
    {"90", "H100 SXM, H200", {90, 132, 227 * kibibyte, 50 * mebibyte}},
};

// The device that was asked for, else the one of this machine, else the last known one.
KnownDevice device_of(const DoctorOptions& o) {
  if (o.archs.empty()) {
    KnownDevice here{"", "this machine's", {}};
    return describe_current_device(&here.device) ? here : *std::rbegin(known_devices);
  }
  if (o.archs.size() > 1) refuse("--arch names several architectures: a problem is diagnosed for one");
  std::string arch = o.archs.front();
  if (arch.rfind("sm_", 0) == 0) arch = arch.substr(3);
  if (arch == "90a") arch = "90";
  for (const KnownDevice& known : known_devices) {
    if (arch == known.arch) return known;
  }
  refuse("--arch is '" + o.archs.front() + "' but must be sm_80, sm_86, sm_89 or sm_90");
}

// An address for a matrix of which only the alignment matters.
char* place(const std::optional<int>& offset, Type type, const char* option) {
  alignas(256) static char anchor[16];
  const int beyond = offset.value_or(0);
  if (beyond % static_cast<int>(bytes(type)) != 0) {
    refuse(std::string(option) + " is " + std::to_string(beyond) + " but " + name(type) +
           " needs a multiple of " + std::to_string(bytes(type)));
  }
  return anchor + beyond;
}

Gemm problem_of(const DoctorOptions& o) {
  if (!o.m || !o.n || !o.k) refuse("give --m, --n and --k of a problem, or --binary");
  if (!o.kernel.empty() || !o.tool.empty()) refuse("--kernel and --tool are for --binary");
  const Type type = type_named(o.type.value_or("f16"));
  const Type type_b = o.type_b ? type_named(*o.type_b) : type;
  const std::string layout = o.layout.value_or("tn");
  Gemm p;
  p.m = *o.m, p.n = *o.n, p.k = *o.k;
  const Order a_order = layout[0] == 't' ? row_major : column_major;
  const Order b_order = layout[1] == 't' ? row_major : column_major;
  p.a = {place(o.a_offset, type, "--a-offset"), o.lda.value_or(a_order == row_major ? p.k : p.m), a_order,
         type};
  p.b = {place(o.b_offset, type_b, "--b-offset"), o.ldb.value_or(b_order == row_major ? p.n : p.k), b_order,
         type_b};
  const Type accumulators = type == Type::s8 ? Type::s32 : type == Type::f64 ? Type::f64 : Type::f32;
  p.accumulate = o.accumulate ? type_named(*o.accumulate) : accumulators;
  p.promote = o.promote;
  const Type out_type = o.out_type ? type_named(*o.out_type) : accumulators;
  p.c = {place(o.c_offset, out_type, "--c-offset"), o.ldc.value_or(p.n), out_type};
  if (type == Type::f32 && (p.promote || p.accumulate != Type::f32))
    refuse("A and B are f32, whose accumulators are f32: --promote and --accumulate are for other types");
  Gemm shape = p;  // whether its sizes make sense; that f32 has no kernel is the diagnosis
  if (type == Type::f32 && type_b == Type::f32) shape.a.type = shape.b.type = Type::bf16;
  require(validate_shape(shape));
  return p;
}

Json describe(const Gemm& p, const KnownDevice& known, const Diagnosis& d) {
  const auto kernel_name = [](const Kernel* kernel) {
    return kernel != nullptr ? Json(kernel->name) : Json();
  };
  Json json;
  json["m"] = p.m;
  json["n"] = p.n;
  json["k"] = p.k;
  json["type"] = name(p.a.type);
  json["type_b"] = name(p.b.type);
  json["accumulate"] = name(p.accumulate);
  json["promote"] = p.promote;
  json["out_type"] = name(p.c.type);
  json["layout"] = std::string(p.a.order == row_major ? "t" : "n") + (p.b.order == row_major ? "t" : "n");
  json["lda"] = p.a.ld;
  json["ldb"] = p.b.ld;
  json["ldc"] = p.c.ld;
  json["arch"] = "sm_" + std::to_string(known.device.sm);
  json["device"] = known.name;
  json["multiprocessors"] = known.device.multiprocessors;
  json["tensor_cores"] = d.kernel != nullptr;
  json["kernel"] = kernel_name(d.kernel);
  json["workspace_bytes"] = d.workspace_bytes;
  json["kernel_without_workspace"] = kernel_name(d.kernel_without_workspace);
  json["tiles"] = d.tiles;
  json["efficiency"] = d.efficiency;
  json["findings"] = Json::array();
  for (const Obstacle& obstacle : d.obstacles) {
    json["findings"].push_back(
        {{"kind", obstacle.kind},
         {"severity", obstacle.severity == Obstacle::Severity::against ? "against" : "note"},
         {"message", obstacle.message},
         {"remedy", obstacle.remedy}});
  }
  return json;
}

void print_diagnosis(const Json& json) {
  const auto text = [&json](const char* key) { return json[key].get<std::string>(); };
  std::cout << "problem  " << json["m"] << " x " << json["n"] << " x " << json["k"] << ", " << text("type")
            << (text("type_b") == text("type") ? "" : " x " + text("type_b")) << " -> " << text("out_type")
            << (text("accumulate") == "f16" ? ", f16 accumulators" : "")
            << (json["promote"] ? ", promoted" : "") << ", " << text("layout") << ", lda " << json["lda"]
            << ", ldb " << json["ldb"] << ", ldc " << json["ldc"] << "\n"
            << "device   " << text("arch") << ", " << json["multiprocessors"] << " multiprocessors ("
            << text("device") << ")\n";
  if (json["kernel"].is_null()) {
    std::cout << "kernel   none\n";
  } else {
    std::cout << "kernel   " << text("kernel") << ", on tensor cores";
    if (json["workspace_bytes"] != 0) {
      std::cout << ", with " << json["workspace_bytes"] << " bytes of workspace; without: "
                << (json["kernel_without_workspace"].is_null() ? "none" : text("kernel_without_workspace"));
    }
    char part[16];
    const auto efficiency = json["efficiency"].get<double>();
    std::snprintf(part, sizeof part, "%.*f %%", efficiency < 0.1 ? 1 : 0, 100 * efficiency);
    std::cout << "\nsize     " << json["tiles"] << (json["tiles"] == 1 ? " tile; " : " tiles; ") << part
              << " of the rate of this kernel for large matrices, as the library estimates\n";
  }
  for (const Json& finding : json["findings"]) {
    const auto severity = finding["severity"].get<std::string>(),
               remedy = finding["remedy"].get<std::string>();
    std::cout << severity << std::string(9 - severity.size(), ' ') << finding["kind"].get<std::string>()
              << ": " << finding["message"].get<std::string>() << "\n";
    if (!remedy.empty()) std::cout << "         better: " << remedy << "\n";
  }
  if (json["findings"].empty()) std::cout << "nothing keeps the product from being fast\n";
}

void run(const DoctorOptions& o) {
  if (!o.binary.empty()) {
    if (o.of_a_problem())
      refuse("--binary is about a file, the other options about a problem: give one of the two");
    std::vector<std::string> arguments = {"--binary=" + o.binary};
    if (!o.kernel.empty()) arguments.push_back("--kernel=" + o.kernel);
    if (!o.tool.empty()) arguments.push_back("--tool=" + o.tool);
    if (o.json) arguments.emplace_back("--json");
    if (!o.archs.empty()) arguments.emplace_back("--arch");
    arguments.insert(arguments.end(), o.archs.begin(), o.archs.end());
    become_script("binary_doctor", arguments);
  }
  const Gemm problem = problem_of(o);
  const KnownDevice known = device_of(o);
  const Json json = describe(problem, known, diagnose(kernels(), problem, known.device));
  if (o.json) {
    print_json(json);
  } else {
    print_diagnosis(json);
  }
}

}  // namespace

void add_doctor(CLI::App& application) {
  CLI::App* command = application.add_subcommand(
      "doctor", "Say which kernel a problem gets, or what a binary's kernels are, and what keeps them slow");
  const auto o = std::make_shared<DoctorOptions>();
  command->add_option("--m", o->m, "Rows of A and C")->transform(matrix_size());
  command->add_option("--n", o->n, "Columns of B and C")->transform(matrix_size());
  command->add_option("--k", o->k, "Columns of A, rows of B")->transform(matrix_size());
  const auto types = CLI::IsMember({"f16", "bf16", "f32", "tf32", "e4m3", "e5m2", "s8", "f64"});
  command->add_option("--type", o->type, "Type of A and B (default: f16)")->check(types);
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
                    "Of e4m3 and e5m2: promote the accumulators to f32 every 128 products");
  command->add_option("--layout", o->layout, "A then B: t = row-major, n = column-major (default: tn)")
      ->check(layout_name());
  command->add_option("--lda", o->lda, "Leading dimension of A, in elements (default: dense)")
      ->transform(leading_dimension());
  command->add_option("--ldb", o->ldb, "Leading dimension of B (default: dense)")
      ->transform(leading_dimension());
  command->add_option("--ldc", o->ldc, "Leading dimension of C (default: dense)")
      ->transform(leading_dimension());
  command->add_option("--a-offset", o->a_offset, "Bytes by which A begins past a multiple of 16 (default: 0)")
      ->transform(whole_number(0, 15));
  command->add_option("--b-offset", o->b_offset, "The same of B")->transform(whole_number(0, 15));
  command->add_option("--c-offset", o->c_offset, "The same of C")->transform(whole_number(0, 15));
  command->add_option(
      "--arch", o->archs,
      "For which device: sm_80, sm_86, sm_89, sm_90 (default: this machine's, else sm_90); of a "
      "binary: the architectures to look at");
  command->add_option("--binary", o->binary,
                      "Look at the machine code in this cubin, object, library or executable instead");
  command->add_option(
      "--kernel", o->kernel,
      std::string("Of a binary: the kernels with such a name, mangled or demangled; ") + NamePattern::syntax);
  command->add_option("--tool", o->tool, "Of a binary: path of nvdisasm or cuobjdump (default: found)");
  command->add_flag(
      "--json", o->json,
      "Of a problem: one object with m, n, k, type, type_b, accumulate, promote, out_type, layout, lda, ldb, "
      "ldc, arch, device, "
      "multiprocessors, tensor_cores, kernel, workspace_bytes, kernel_without_workspace, tiles, "
      "efficiency, findings [{kind, severity, message, remedy}]; of a binary: an array, one "
      "object a kernel");
  command->footer(
      "Examples:\n"
      "  tenon doctor --m 4095 --n 4095 --k 4095\n"
      "  tenon doctor --m 64 --n 4096 --k 4096 --type bf16 --arch sm_80 --json\n"
      "  tenon doctor --m 1024 --n 1024 --k 1024 --type f32\n"
      "  tenon doctor --m 512 --n 512 --k 4096 --type e4m3 --type-b e5m2 --promote\n"
      "  tenon doctor --binary my_program --kernel '*fused_*'\n"
      "--binary needs python3 and a disassembler (nvdisasm or cuobjdump), a problem needs nothing.\n"
      "Exit status: 0 a diagnosis was made, good or bad, 2 bad usage or input, 3 this machine cannot.");
  command->callback([o] { run(*o); });
}

}  // namespace tenon::command
