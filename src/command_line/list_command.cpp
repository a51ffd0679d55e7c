// `tenon list`: every GEMM kernel of this build, with what it takes of a multiprocessor.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "command_line/commands.hpp"
#include "command_line/print_json.hpp"
#include "gemm/kernel.hpp"
#include "gemm/kernel_resources.hpp"
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

Json describe(const Kernel& kernel) {
  Json json;
  json["name"] = kernel.name;
  json["arch"] = "sm_" + std::to_string(kernel.minimum_sm) + (kernel.exact_sm ? "a" : "");
  json["tile"] = std::to_string(kernel.tile_m) + "x" + std::to_string(kernel.tile_n) + "x" +
                 std::to_string(kernel.tile_k);
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
  // The driver compiles the module anew: where there is one, what it made is what runs.
  int registers = 0, local_bytes = 0;
  if (kernel.copy == Copy::module && module_resources(registers, local_bytes)) {
    json["registers"] = registers;
    json["spill_bytes"] = local_bytes;
  }
  return json;
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
  CLI::App* command =
      application.add_subcommand("list", "Print every kernel with tile, stages, threads and resources");
  const auto json = std::make_shared<bool>(false);
  command->add_flag(
      "--json", *json,
      "Print an array of {name, arch, tile, stages, threads, registers, shared_bytes, spill_bytes, "
      "symbol}, the last the kernel's name in the machine code");
  command->footer("Examples:\n  tenon list\n  tenon list --json");
  command->callback([json] {
    Json list = Json::array();
    for (const Kernel& kernel : kernels()) list.push_back(describe(kernel));
    if (*json) {
      print_json(list);
    } else {
      print_list(list);
    }
  });
}

}  // namespace tenon::command
