// `tenon info`: the machine, the driver, and what can run here.
#include <cuda_runtime.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "command_line/commands.hpp"
#include "command_line/print_json.hpp"
#include "device/device.hpp"
#include "gemm/kernel.hpp"
#include "host/device.hpp"
#include "tenon/tenon.h"

namespace tenon::command {
namespace {

using Json = nlohmann::ordered_json;

std::string version_text(int version) {  // 13020 -> "13.2"
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// Kernels of this build for the architecture.
int kernels_for(int sm) {
  int count = 0;
  for (const Kernel& kernel : kernels())
    count += kernel.exact_sm ? sm == kernel.minimum_sm : sm >= kernel.minimum_sm;
  return count;
}

Json describe(int ordinal) {
  cudaDeviceProp properties{};
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, ordinal); error != cudaSuccess) {
    return {{"index", ordinal}, {"error", cudaGetErrorString(error)}};
  }
  const int sm = 10 * properties.major + properties.minor;
  return {{"index", ordinal},
          {"name", properties.name},
          {"arch", "sm_" + std::to_string(sm)},
          {"multiprocessors", properties.multiProcessorCount},
          {"memory_bytes", properties.totalGlobalMem},
          {"l2_bytes", properties.l2CacheSize},
          {"shared_bytes_per_block", properties.sharedMemPerBlockOptin},
          {"kernels", has_code_for(sm) ? kernels_for(sm) : 0}};
}

Json collect() {
  Json info;
  info["version"] = tenon_version();
  info["built_for"] = built_architectures();
  info["kernels"] = kernels().size();
  info["cpu_threads"] = std::thread::hardware_concurrency();
  int runtime = 0, driver = 0, count = 0;
  cudaRuntimeGetVersion(&runtime);
  cudaDriverGetVersion(&driver);  // 0 without a driver
  info["cuda_runtime"] = version_text(runtime);
  info["cuda_driver"] = nullptr;
  if (driver != 0) info["cuda_driver"] = version_text(driver);
  info["devices"] = Json::array();
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  cudaGetLastError();
  for (int i = 0; i < count; ++i) info["devices"].push_back(describe(i));

  DeviceDescription description;
  const Status status = describe_current_device(&description);
  info["can_run"]["cuda"] = {{"ok", static_cast<bool>(status)}, {"why", status.message()}};
  std::unique_ptr<Device> emulator;
  const Status emulates = open_emulator_device(&emulator);
  info["can_run"]["emulator"] = {{"ok", static_cast<bool>(emulates)}, {"why", emulates.message()}};
  if (emulates) {
    info["can_run"]["emulator"]["name"] = emulator->description();
    DeviceDescription emulated;
    info["can_run"]["emulator"]["kernels"] =
        emulator->launcher().describe(&emulated) ? kernels_for(emulated.sm) : 0;
  }
  return info;
}

void print_info(const Json& info) {
  const auto text = [](const Json& value) { return value.get<std::string>(); };
  std::cout << "tenon     " << text(info["version"]) << ", built for sm " << text(info["built_for"]) << ", "
            << info["kernels"] << " GEMM kernels\n"
            << "machine   " << info["cpu_threads"] << " CPU threads\n"
            << "CUDA      runtime " << text(info["cuda_runtime"]) << ", driver "
            << (info["cuda_driver"].is_null() ? "not found" : text(info["cuda_driver"])) << "\n";
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  for (const Json& device : info["devices"]) {
    std::cout << "device " << device["index"] << "  ";
    if (device.contains("error")) {
      std::cout << text(device["error"]) << "\n";
      continue;
    }
    std::cout << text(device["name"]) << ", " << text(device["arch"]) << ", " << device["multiprocessors"]
              << " multiprocessors, " << device["memory_bytes"].get<std::size_t>() / mebibyte
              << " MiB memory; runs " << device["kernels"] << " of the kernels\n";
  }
  for (const char* backend : {"cuda", "emulator"}) {
    const Json& state = info["can_run"][backend];
    std::cout << "--device " << backend << ": ";
    if (!state["ok"].get<bool>()) {
      std::cout << text(state["why"]) << "\n";
    } else if (state.contains("kernels")) {
      std::cout << "can run, " << text(state["name"]) << "; runs " << state["kernels"] << " of the kernels\n";
    } else {
      std::cout << "can run\n";
    }
  }
  std::cout << "`tenon layout`, `tenon list` and `tenon info` run on any machine.\n";
}

}  // namespace

void add_info(CLI::App& application) {
  CLI::App* command =
      application.add_subcommand("info", "Print the machine, the driver, and what can run here");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print one object");
  command->footer("Examples:\n  tenon info\n  tenon info --json");
  command->callback([json] {
    const Json info = collect();
    if (*json) {
      print_json(info);
    } else {
      print_info(info);
    }
  });
}

}  // namespace tenon::command
