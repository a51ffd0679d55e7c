// The questions of tuning_answer.hpp, in the order in which the library asks them (tuned_kernel()).
#include "command_line/tuning_answer.hpp"

#include <algorithm>

#include "command_line/tune_problems.hpp"
#include "host/tuning_table.hpp"
#include "tenon/tuning.hpp"

namespace tenon::command {
namespace {

std::string device_text(int sm, int multiprocessors) {
  return "sm_" + std::to_string(sm) + " with " + std::to_string(multiprocessors) + " multiprocessors";
}

}  // namespace

TuningAnswer tuning_answer(const std::vector<Kernel>& list, const Gemm& problem,
                           const DeviceDescription& device, const char* running) {
  const TuningTable* table = problem.tuning == nullptr ? nullptr : problem.tuning->table();
  if (table == nullptr) return {false, "there is no table"};
  if (running == nullptr) return {false, "there is no product to compute"};
  if (problem.kernel != nullptr) return {false, "a kernel that is named comes before it"};
  if (table->sm != device.sm || table->multiprocessors != device.multiprocessors) {
    return {false, "it was measured on " + table->device + ", " +
                       device_text(table->sm, table->multiprocessors) + ", but this device is " +
                       device_text(device.sm, device.multiprocessors)};
  }
  const TuningEntry* entry = find_tuning(*table, problem);
  if (entry == nullptr) return {false, "it has no entry for this problem"};
  Gemm measured = problem;
  measured.m = entry->key.m;
  const std::string found = "it has an entry for " + shape_text(measured);
  const auto kernel = std::find_if(list.begin(), list.end(),
                                   [entry](const Kernel& one) { return one.name == entry->kernel; });
  if (kernel == list.end())
    return {false, found + ", but its kernel " + entry->kernel + " is not in this build"};
  if (kernel->copy == Copy::module)
    return {false, found + ", but its kernel " + entry->kernel + " runs only where it is named"};
  if (entry->kernel != running)
    return {false, found + ", but its kernel " + entry->kernel + " does not take this problem"};
  return {true, found};
}

}  // namespace tenon::command
