// `tenon list`: every GEMM kernel of this build, with what it takes of an SM, and the parts of the library.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_line/commands.hpp"
#include "command_line/object_sizes.hpp"
#include "command_line/print_json.hpp"
#include "gemm/kernel.hpp"
#include "gemm/kernel_resources.hpp"
#include "gemm/kernel_sources.hpp"
#include "gemm/module/module.hpp"
#include "host/device.hpp"

namespace tenon::command {
namespace {

using Json = nlohmann::ordered_json;

// The row of the build's table that the current device would run; where there is none that of the lowest
// architecture of the build.
const KernelResources* resources_of(const Kernel& kernel) {
  const char* symbol = kernel.copy == Copy::module ? module_symbol : kernel_symbol(kernel.function);
  DeviceDescription device;
  if (describe_current_device(&device)) {
    if (const auto* row = find_kernel_resources(symbol, device.sm)) return row;
  }
  return lowest_kernel_resources(symbol);
}

// The columns of kernels.csv, read from the compiled kernel: the tests compare the two.
void add_columns(const Kernel& kernel, Json* json) {
  const auto letter = [](Order order) { return order == row_major ? "t" : "n"; };
  const std::string b = kernel.type_b == kernel.type ? "" : name(kernel.type_b) + std::string("_");
  const bool is_wgmma = kernel.instruction == Instruction::wgmma;
  const int cluster_m = kernel.cluster / kernel.split / kernel.cluster_n;
  std::string variant;
  const auto add = [&](bool has, const char* word) {
    if (has) variant += (variant.empty() ? "" : " ") + std::string(word);
  };
  add(kernel.unaligned, "unaligned");
  add(kernel.swap_ab, "swapab");
  add(kernel.partial_bytes != 0, "streamk");
  add(kernel.row_interleaved, "rowinterleaved");
  add(kernel.promotes, "promoted");
  add(kernel.fused, "fused");
  add(kernel.rounds_f32, "rounded");
  (*json)["types"] = name(kernel.type) + std::string("_") + b + name(kernel.accumulate);
  (*json)["layout"] = std::string(letter(kernel.a_order)) + letter(kernel.b_order);
  (*json)["cluster"] =
      std::to_string(cluster_m) + "x" + std::to_string(kernel.cluster_n) + "x" + std::to_string(kernel.split);
  (*json)["schedule"] = is_wgmma ? Json(kernel.pingpong ? "pingpong" : "cooperative") : Json();
  (*json)["variant"] = variant.empty() ? Json() : Json(variant);
  (*json)["efficiency"] = kernel.efficiency;
  (*json)["resident"] = kernel.resident;
  (*json)["part"] = kernel.part;
}

Json describe(const Kernel& kernel) {
  Json json;
  json["name"] = kernel.name;
  json["arch"] = "sm_" + std::to_string(kernel.minimum_sm) + (kernel.exact_sm ? "a" : "");
  json["tile"] = std::to_string(kernel.tile_m) + "x" + std::to_string(kernel.tile_n) + "x" +
                 std::to_string(kernel.tile_k);
  json["narrowest"] = kernel.narrowest == 0 ? Json() : Json(kernel.narrowest);
  json["stages"] = kernel.stages;
  json["threads"] = kernel.threads;
  json["registers"] = nullptr;
  json["shared_bytes"] = kernel.shared_bytes;
  json["spill_bytes"] = json["symbol"] = nullptr;
  if (const KernelResources* resources = resources_of(kernel)) {
    json["registers"] = resources->registers;
    json["shared_bytes"] = kernel.shared_bytes + static_cast<std::size_t>(resources->static_shared_bytes);
    json["spill_bytes"] = resources->local_bytes;
    json["symbol"] = resources->symbol;
  }
  // The driver compiles the module itself: if there is a driver, the code that it made is what runs.
  int registers = 0, local_bytes = 0;
  if (kernel.copy == Copy::module && module_resources(registers, local_bytes)) {
    json["registers"] = registers;
    json["spill_bytes"] = local_bytes;
  }
  add_columns(kernel, &json);
  return json;
}

// A part of the library: the kernels of a family and types, or what every build has.
struct Part {
  std::string name;
  std::size_t kernels, bytes;
};

std::size_t bytes_of_source(const char* source) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < object_count; ++i) {
    if (std::strcmp(object_sizes[i].name, source) == 0) bytes += object_sizes[i].bytes;
  }
  return bytes;
}

// All of the library: each object counts once.
std::vector<Part> parts_of_library() {
  std::vector<Part> parts;
  Part rest{"host", 0, 0};
  for (std::size_t i = 0; i < object_count; ++i) rest.bytes += object_sizes[i].bytes;
  for (std::size_t i = 0; i < kernel_source_count; ++i) {
    const KernelSource& source = kernel_sources[i];
    auto part =
        std::find_if(parts.begin(), parts.end(), [&](const Part& p) { return p.name == source.part; });
    if (part == parts.end()) part = parts.insert(parts.end(), {source.part, 0, 0});
    const std::size_t bytes = bytes_of_source(source.name);
    part->kernels += source.kernels;
    part->bytes += bytes;
    rest.bytes -= bytes;
  }
  rest.kernels = kernels().size();
  for (const Part& part : parts) rest.kernels -= part.kernels;
  parts.push_back(rest);
  return parts;
}

Json describe(const Part& part) {
  Json json;
  json["part"] = part.name;
  json["kernels"] = part.kernels;
  json["bytes"] = part.bytes;
  return json;
}

void print_parts(const std::vector<Part>& parts) {
  std::size_t width = 4, kernel_count = 0, bytes = 0;
  for (const Part& part : parts) width = std::max(width, part.name.size());
  const auto row = [&](const std::string& first, const std::string& second, const std::string& third) {
    std::printf("%-*s  %7s  %11s\n", static_cast<int>(width), first.c_str(), second.c_str(), third.c_str());
  };
  row("part", "kernels", "bytes");
  for (const Part& part : parts) {
    row(part.name, std::to_string(part.kernels), std::to_string(part.bytes));
    kernel_count += part.kernels;
    bytes += part.bytes;
  }
  row("all", std::to_string(kernel_count), std::to_string(bytes));
}

void print_list(const Json& list) {
  std::size_t width = 6;
  for (const Json& kernel : list) width = std::max(width, kernel["name"].get<std::string>().size());
  const auto number = [](const Json& value) { return value.is_null() ? std::string("-") : value.dump(); };
  std::printf("%-*s  %-6s  %-12s  %6s  %7s  %9s  %12s  %11s\n", static_cast<int>(width), "kernel", "arch",
              "tile", "stages", "threads", "registers", "shared bytes", "spill bytes");
  for (const Json& kernel : list) {
    std::printf("%-*s  %-6s  %-12s  %6s  %7s  %9s  %12s  %11s\n", static_cast<int>(width),
                kernel["name"].get<std::string>().c_str(), kernel["arch"].get<std::string>().c_str(),
                kernel["tile"].get<std::string>().c_str(), number(kernel["stages"]).c_str(),
                number(kernel["threads"]).c_str(), number(kernel["registers"]).c_str(),
                number(kernel["shared_bytes"]).c_str(), number(kernel["spill_bytes"]).c_str());
  }
  std::printf("%zu kernels\n", list.size());
}

}  // namespace

void add_list(CLI::App& application) {
  CLI::App* command = application.add_subcommand(
      "list", "Print every kernel with its resources, or what each part adds in bytes");
  const auto json = std::make_shared<bool>(false), parts = std::make_shared<bool>(false);
  command->add_flag(
      "--parts", *parts,
      "Print instead what each part of the library, a family for its types, adds to a program that "
      "links it: the bytes of its objects. 'host' is what every build has");
  command->add_flag(
      "--json", *json,
      "Print an array of {name, arch, tile, stages, threads, registers, shared_bytes, spill_bytes, "
      "symbol, types, layout, cluster, schedule, variant, efficiency, resident, part}; symbol is the "
      "kernel's name "
      "in the machine code, and what follows it are columns of src/gemm/kernels.csv. With --parts of {part, "
      "kernels, "
      "bytes}");
  command->footer("Examples:\n  tenon list\n  tenon list --json\n  tenon list --parts");
  command->callback([json, parts] {
    Json list = Json::array();
    if (*parts) {
      const std::vector<Part> all = parts_of_library();
      if (!*json) return print_parts(all);
      for (const Part& part : all) list.push_back(describe(part));
      return print_json(list);
    }
    for (const Kernel& kernel : kernels()) list.push_back(describe(kernel));
    if (*json) {
      print_json(list);
    } else {
      print_list(list);
    }
  });
}

}  // namespace tenon::command
