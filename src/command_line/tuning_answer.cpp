// The sentences of tuning_answer.hpp: tuned_kernel()'s answer, and whether its kernel runs.
#include "command_line/tuning_answer.hpp"

#include "host/tuning_table.hpp"
#include "tenon/tuning.hpp"

namespace tenon::command {

TuningAnswer tuning_answer(const std::vector<Kernel>& list, const Gemm& problem,
                           const DeviceDescription& device, const char* running) {
  if (running == nullptr) return {false, "there is no product to compute"};
  if (problem.kernel != nullptr) return {false, "a kernel that is named comes before it"};
  Status why;
  const Kernel* kernel = tuned_kernel(list, problem, device, &why);
  if (kernel == nullptr) return {false, why.message()};
  const TuningEntry* entry = find_tuning(*problem.tuning->table(), problem);
  const std::string found = "it has an entry for m = " + std::to_string(entry->key.m);
  if (kernel->name != running)
    return {false, found + ", but its kernel " + kernel->name + " does not take this problem"};
  return {true, found};
}

}  // namespace tenon::command
