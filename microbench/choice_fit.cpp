#include "microbench/choice_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "gemm/select.hpp"
#include "host/plan.hpp"
#include "microbench/choice_recorder.hpp"
#include "microbench/draw.hpp"

namespace tenon::microbench {

const std::vector<FittedParameter>& fitted_parameters() {
  static const std::vector<FittedParameter> all = {
      {"bytes_per_clock", &CostParameters::bytes_per_clock, 32, 44},
      {"most_bytes_per_clock", &CostParameters::most_bytes_per_clock, 50, 70},
      {"new_bytes_per_clock", &CostParameters::new_bytes_per_clock, 10, 60},
      {"part_of_l2", &CostParameters::part_of_l2, 0.4, 1.1},
      {"sector_crossing", &CostParameters::sector_crossing, 1, 2},
      {"tile_clocks", &CostParameters::tile_clocks, 0, 600},
      {"store_clocks", &CostParameters::store_clocks, 0.08, 0.2},
      {"narrow_subtile_clocks", &CostParameters::narrow_subtile_clocks, 0, 1000},
      {"unaligned_store_clocks", &CostParameters::unaligned_store_clocks, 0.05, 0.4},
      {"unaligned_to_f32_store_clocks", &CostParameters::unaligned_to_f32_store_clocks, 0.05, 0.6},
      {"unaligned_f32_store_clocks", &CostParameters::unaligned_f32_store_clocks, 0.02, 0.6},
      {"unaligned_16_bit_store_clocks", &CostParameters::unaligned_16_bit_store_clocks, 0, 2},
      {"f32_store_clocks", &CostParameters::f32_store_clocks, 0, 0.05},
      {"transposed_store_clocks", &CostParameters::transposed_store_clocks, 0, 0.15},
      {"reduction_clocks", &CostParameters::reduction_clocks, 0.08, 0.25},
      {"further_reduction", &CostParameters::further_reduction, 0.5, 2.5},
      {"streamed_clocks", &CostParameters::streamed_clocks, 0.05, 0.6},
      {"streamed_wait_clocks", &CostParameters::streamed_wait_clocks, 0, 6000},
      {"streamed_launch_clocks", &CostParameters::streamed_launch_clocks, 0, 1500},
      {"cluster_clocks", &CostParameters::cluster_clocks, 0, 1500},
      {"reached_by_large_clusters", &CostParameters::reached_by_large_clusters, 0.9, 1},
      {"wave_clocks_of_large_clusters", &CostParameters::wave_clocks_of_large_clusters, 0, 4000},
      {"outside_slowdown", &CostParameters::outside_slowdown, 0, 4},
      {"mma_sync_store_clocks", &CostParameters::mma_sync_store_clocks, 0, 0.3},
      {"mma_sync_unaligned_store_clocks", &CostParameters::mma_sync_unaligned_store_clocks, 0, 0.5},
      {"mma_sync_tile_clocks", &CostParameters::mma_sync_tile_clocks, 0, 2000},
  };
  return all;
}

ChoiceFit::ChoiceFit(const ChoiceRecord& record, const std::vector<Kernel>& list) : device_(record.device) {
  std::map<std::string, int> of_group;
  for (const ChoiceTimes& times : record.problems) {
    Recorded recorded{&times, {}, std::numeric_limits<double>::infinity(), Half::fitted};
    const Gemm problem = gemm_of(times.problem);
    for (const ChoiceCandidate& candidate : choice_candidates(list, problem, device_)) {
      const std::string name = candidate.name();
      const auto time = std::find_if(times.times.begin(), times.times.end(),
                                     [&](const ChoiceTime& t) { return t.name == name; });
      if (time == times.times.end()) continue;
      recorded.least = std::min(recorded.least, time->microseconds);
      if (!may_be_chosen(*candidate.kernel, candidate.planned)) continue;
      recorded.candidates.push_back(
          {candidate.kernel, candidate.planned,
           candidate.cost - estimated_cost(*candidate.kernel, candidate.planned, device_), time->microseconds,
           name});
    }
    const auto yields = [](const Candidate& c) { return yields_to_wgmma(*c.kernel, c.problem); };
    auto& all = recorded.candidates;
    if (!std::all_of(all.begin(), all.end(), yields))
      all.erase(std::remove_if(all.begin(), all.end(), yields), all.end());
    if (all.empty()) continue;
    recorded.half = of_group[times.problem.group]++ % 2 == 0 ? Half::fitted : Half::judged;
    problems_.push_back(std::move(recorded));
  }
}

double ChoiceFit::regret(const Recorded& recorded, const CostParameters& parameters,
                         const Candidate** chosen) const {
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : recorded.candidates) {
    const double cost =
        candidate.copies + estimated_cost(*candidate.kernel, candidate.problem, device_, parameters);
    if (cost >= least) continue;
    least = cost;
    *chosen = &candidate;
  }
  return (*chosen)->microseconds / recorded.least;
}

std::vector<double> ChoiceFit::regrets(const CostParameters& parameters, Half half,
                                       const std::string& group) const {
  std::vector<double> result;
  for (const Recorded& recorded : problems_) {
    if (recorded.half != half) continue;
    if (!group.empty() && recorded.times->problem.group != group) continue;
    const Candidate* chosen = nullptr;
    result.push_back(regret(recorded, parameters, &chosen));
  }
  return result;
}

double ChoiceFit::objective(const CostParameters& parameters) const {
  double sum = 0, weights = 0;
  for (const std::string& group : choice_groups()) {
    const std::vector<double> all = regrets(parameters, Half::fitted, group);
    if (all.empty()) continue;
    const double weight = 1 / std::sqrt(static_cast<double>(all.size()));
    for (const double ratio : all) {
      const double x = std::log(ratio);
      sum += weight * (x + 2 * std::max(0.0, x - 0.08));
    }
    weights += weight * static_cast<double>(all.size());
  }
  return sum / std::max(weights, 1.0);
}

double ChoiceFit::minimised(const CostParameters& parameters, const CostParameters& start) const {
  double moved = 0;
  for (const FittedParameter& parameter : fitted_parameters()) {
    const double from = start.*parameter.member, to = parameters.*parameter.member;
    const double x = from > 0 && to > 0 ? std::log(to / from) : (to - from) / parameter.most;
    moved += x * x;
  }
  constexpr double price = 0.003;  // a parameter that doubles must gain 0.15 %
  return objective(parameters) + price * moved;
}

CostParameters ChoiceFit::fit(const CostParameters& start, int rounds, int restarts) const {
  CostParameters best = descend(start, start, rounds);
  double least = minimised(best, start);
  Draw draw(20261125);
  for (int i = 0; i < restarts; ++i) {
    CostParameters near = best;
    for (const FittedParameter& parameter : fitted_parameters()) {
      double& value = near.*parameter.member;
      value = std::clamp(value * (0.6 + 0.8 * draw.uniform()), parameter.least, parameter.most);
    }
    const CostParameters found = descend(near, start, rounds);
    if (const double reached = minimised(found, start); reached < least) {
      least = reached;
      best = found;
      std::fprintf(stderr, "restart %d: %.5f\n", i + 1, least);
    }
  }
  return best;
}

CostParameters ChoiceFit::descend(CostParameters from, const CostParameters& start, int rounds) const {
  double best = minimised(from, start);
  for (int round = 0; round < rounds; ++round) {
    const double before = best;
    for (const FittedParameter& parameter : fitted_parameters()) {
      const double old = from.*parameter.member;
      double chosen = old;
      for (const double factor : {0.5, 0.7, 0.85, 0.93, 0.97, 1.03, 1.07, 1.15, 1.4, 2.0}) {
        CostParameters tried = from;
        // A parameter of 0 grows in steps of its range.
        const double value = old > 0 ? old * factor : (factor - 0.4) * 0.05 * parameter.most;
        tried.*parameter.member = std::clamp(value, parameter.least, parameter.most);
        if (const double found = minimised(tried, start); found < best - 1e-7) {
          best = found;
          chosen = tried.*parameter.member;
        }
      }
      from.*parameter.member = chosen;
    }
    if (before - best < 1e-5) break;
  }
  return from;
}

std::string ChoiceFit::worst_problems(const CostParameters& parameters, double above) const {
  std::string text;
  for (const Recorded& recorded : problems_) {
    const Candidate* chosen = nullptr;
    const double ratio = regret(recorded, parameters, &chosen);
    if (ratio <= above) continue;
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, "%.3f %8.1f us  ", ratio, recorded.least);
    text += numbers + describe(recorded.times->problem) + ": " + chosen->name + ", fastest " +
            fastest(*recorded.times).name + "\n";
  }
  return text;
}

}  // namespace tenon::microbench
