#include "microbench/choice_recorder.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "host/plan.hpp"
#include "microbench/statistics.hpp"

namespace tenon::microbench {
namespace {

// A plan depends only on the size and the alignment of a workspace.
void* stand_in_workspace(std::size_t bytes) {
  return bytes == 0 ? nullptr : reinterpret_cast<void*>(std::uintptr_t{4} << 40U);
}

// Of the first bursts; infinity where nothing could be launched.
double least_time(const std::vector<std::vector<double>>& bursts) {
  double least = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& of_one : bursts) {
    if (of_one.front() > 0) least = std::min(least, of_one.front());
  }
  return least;
}

std::string name_of(const Kernel& kernel, bool copies) {
  return kernel.name + (copies ? " + padded copies" : "");
}

}  // namespace

std::string ChoiceCandidate::name() const {
  return name_of(*kernel, has_copies);
}

std::vector<ChoiceCandidate> choice_candidates(const std::vector<Kernel>& list, const Gemm& problem,
                                               const DeviceDescription& device) {
  std::vector<ChoiceCandidate> candidates;
  for (const Kernel& kernel : list) {
    // Copies change no type: without a plan, most kernels are out.
    const bool types_differ = kernel.type != problem.a.type || kernel.type_b != problem.b.type;
    if (!is_offered(kernel, problem) || (types_differ && !kernel.rounds_f32)) continue;
    const std::vector<Kernel> alone{kernel};  // else each plan would look for its name among all
    Gemm named = problem;
    named.kernel = kernel.name.c_str();
    const auto add = [&](std::size_t workspace_bytes) {
      named.workspace_bytes = workspace_bytes;
      named.workspace = stand_in_workspace(workspace_bytes);
      Plan plan;
      if (make_plan(alone, named, device, &plan))
        candidates.push_back({&kernel, plan.has_copies(), workspace_bytes, planned_cost(named, plan, device),
                              planned_problem(named, plan)});
    };
    add(0);
    if (const std::size_t bytes = planned_workspace(alone, named, device); bytes != 0) add(bytes);
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const ChoiceCandidate& a, const ChoiceCandidate& b) { return a.cost < b.cost; });
  return candidates;
}

std::map<std::string, int> narrowest_tiles(const std::vector<Kernel>& list) {
  std::map<std::string, int> result;
  for (const Kernel& kernel : list)
    if (kernel.narrowest != 0) result.emplace(kernel.name, kernel.narrowest);
  return result;
}

std::vector<Kernel> kernels_as_recorded(const ChoiceRecord& record, const std::vector<Kernel>& list) {
  std::vector<Kernel> result = list;
  if (!record.narrowest) return result;
  for (Kernel& kernel : result) {
    const auto found = record.narrowest->find(kernel.name);
    kernel.narrowest = found == record.narrowest->end() ? 0 : found->second;
  }
  return result;
}

std::string choice_of(const std::vector<Kernel>& list, const Gemm& problem, const DeviceDescription& device) {
  Gemm p = problem;
  p.workspace_bytes = planned_workspace(list, p, device);
  p.workspace = stand_in_workspace(p.workspace_bytes);
  Plan plan;
  if (const Status status = make_plan(list, p, device, &plan); !status) throw Failure(status.message());
  return name_of(*plan.kernel, plan.has_copies());
}

void record_choices(const std::vector<Kernel>& list, const DeviceDescription& device,
                    const std::vector<ChoiceProblem>& problems, BurstTimer& timer,
                    const ChoiceRecorderRules& rules, std::vector<ChoiceTimes>* result) {
  const double end = timer.seconds() + rules.seconds;
  for (const ChoiceProblem& problem : problems) {
    std::vector<ChoiceCandidate> candidates = choice_candidates(list, gemm_of(problem), device);
    if (candidates.empty()) continue;
    const double most = rules.cost_factor * candidates.front().cost;
    const std::string chosen = choice_of(list, gemm_of(problem), device);
    const auto hopeless = [&](const ChoiceCandidate& candidate) {
      return !may_be_chosen(*candidate.kernel, candidate.planned) ||
             (candidate.cost > most && candidate.name() != chosen);
    };
    candidates.erase(std::remove_if(candidates.begin(), candidates.end(), hopeless), candidates.end());
    if (timer.seconds() >= end) return;
    const std::size_t answers = timer.prepare(problem, candidates);
    std::vector<std::vector<double>> bursts(candidates.size() + answers);
    double longest = std::numeric_limits<double>::infinity();  // of a first burst that others follow
    // The first burst after the preparation is always that of the candidate with the least estimate, and may
    // be slow. It counts for none.
    if (timer.seconds() >= end) return;
    timer.burst(0);
    for (int round = 0; round < rules.bursts; ++round) {
      for (std::size_t i = 0; i < bursts.size(); ++i) {
        if (round > 0 && bursts[i].front() > longest) continue;
        if (timer.seconds() >= end) return;
        bursts[i].push_back(timer.burst(i));
      }
      if (round == 0) longest = rules.time_factor * least_time(bursts);
    }
    ChoiceTimes times{problem, {}, 0};
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (const double microseconds = median(bursts[i]); microseconds > 0)
        times.times.push_back({candidates[i].name(), microseconds});
    }
    for (std::size_t i = candidates.size(); i < bursts.size(); ++i) {
      const double microseconds = median(bursts[i]);
      if (microseconds > 0 && (times.cublaslt_us == 0 || microseconds < times.cublaslt_us))
        times.cublaslt_us = microseconds;
    }
    if (times.times.empty()) continue;
    result->push_back(std::move(times));
    rules.finished();
  }
}

std::string regret_table(const ChoiceRecord& record, const std::vector<Kernel>& list) {
  std::string text = "group      problems   mean  choice fastest  worst (choice, fastest: to cuBLASLt)\n";
  const auto choice = [&](const ChoiceTimes& times) {
    return choice_of(list, gemm_of(times.problem), record.device);
  };
  for (const std::string& group : choice_groups()) {
    const Regrets regrets = regrets_of(record, group, choice);
    if (regrets.regrets.empty() && regrets.unknown.empty()) continue;
    char numbers[80];
    std::snprintf(numbers, sizeof numbers, "%-10s %8zu %6.3f", group.c_str(),
                  regrets.regrets.size() + regrets.unknown.size(), geometric_mean(regrets.regrets));
    text += numbers;
    const SpeedToCublasLt speed = speed_to_cublaslt(regrets.regrets);
    std::snprintf(numbers, sizeof numbers, " %7.3f %7.3f", speed.choice, speed.fastest);
    text += speed.fastest > 0 ? numbers : "       -       -";
    if (const Regret* const most = worst(regrets.regrets)) {
      std::snprintf(numbers, sizeof numbers, " %6.3f  ", most->ratio);
      text += numbers + describe(most->of->problem) + ": " + most->chosen + ", fastest " +
              fastest(*most->of).name;
    }
    text += "\n";
    for (const auto& [of, chosen] : regrets.unknown)
      text += "  no time of " + chosen + ", chosen for " + describe(of->problem) + "\n";
  }
  return text;
}

}  // namespace tenon::microbench
