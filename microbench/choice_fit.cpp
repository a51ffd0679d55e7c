#include "microbench/choice_fit.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <ostream>
#include <utility>

#include "gemm/cost_correction.hpp"
#include "gemm/select.hpp"
#include "host/plan.hpp"
#include "microbench/choice_recorder.hpp"
#include "microbench/draw.hpp"

namespace tenon::microbench {
namespace {

constexpr double part_of_efficiencies = 0.4;  // of the changes of a trial
constexpr double most_efficiency = 0.985;

}  // namespace

const std::vector<FittedParameter>& fitted_parameters() {
  static const std::vector<FittedParameter> all = {
      {"flop_per_clock", &CostParameters::flop_per_clock, 3500, 4500},
      {"columns_clocks", &CostParameters::columns_clocks, 0.3, 1},
      {"bytes_per_clock", &CostParameters::bytes_per_clock, 25, 80},
      {"most_bytes_per_clock", &CostParameters::most_bytes_per_clock, 50, 200},
      {"most_far_bytes_per_clock", &CostParameters::most_far_bytes_per_clock, 20, 128},
      {"near_part_of_l2", &CostParameters::near_part_of_l2, 0.02, 1},
      {"far_part_of_l2", &CostParameters::far_part_of_l2, 0.05, 1},
      {"fresh_bytes_per_clock", &CostParameters::fresh_bytes_per_clock, 10, 300},
      {"received_bytes_per_clock", &CostParameters::received_bytes_per_clock, 60, 600},
      {"line_clocks", &CostParameters::line_clocks, 0, 5},
      {"launch_clocks", &CostParameters::launch_clocks, 0, 3000},
      {"start_k_tiles", &CostParameters::start_k_tiles, 0.5, 8},
      {"line_crossing", &CostParameters::line_crossing, 1, 2},
      {"sector_crossing", &CostParameters::sector_crossing, 1, 2},
      {"tile_clocks", &CostParameters::tile_clocks, 0, 600},
      {"store_clocks", &CostParameters::store_clocks, 0.005, 0.2},
      {"unaligned_store_clocks", &CostParameters::unaligned_store_clocks, 0.05, 0.4},
      {"unaligned_to_f32_store_clocks", &CostParameters::unaligned_to_f32_store_clocks, 0.05, 0.6},
      {"unaligned_f32_store_clocks", &CostParameters::unaligned_f32_store_clocks, 0.02, 0.6},
      {"unaligned_16_bit_store_clocks", &CostParameters::unaligned_16_bit_store_clocks, 0, 2},
      {"f32_store_clocks", &CostParameters::f32_store_clocks, 0, 0.2},
      {"reduction_clocks", &CostParameters::reduction_clocks, 0.02, 0.5},
      {"streamed_clocks", &CostParameters::streamed_clocks, 0.05, 3},
      {"cluster_clocks", &CostParameters::cluster_clocks, 0, 500},
      {"wave_clocks_of_large_clusters", &CostParameters::wave_clocks_of_large_clusters, 0, 10000},
      {"mma_sync_store_clocks", &CostParameters::mma_sync_store_clocks, 0, 0.3},
      {"mma_sync_unaligned_store_clocks", &CostParameters::mma_sync_unaligned_store_clocks, 0, 0.5},
      {"mma_sync_tile_clocks", &CostParameters::mma_sync_tile_clocks, 0, 2000},
  };
  return all;
}

std::string tile_of(const Kernel& kernel) {
  if (kernel.instruction != Instruction::wgmma || kernel.unaligned || kernel.row_interleaved) return {};
  return std::to_string(kernel.rows()) + "x" + std::to_string(kernel.columns()) +
         (kernel.pingpong ? " ping-pong" : "") + (kernel.promotes ? " promoted" : "") +
         (kernel.fused ? " fused" : "") + " of " + std::to_string(8 * bytes(kernel.type)) + " bits";
}

FittedModel model_of(const CostParameters& parameters, const std::vector<Kernel>& list) {
  FittedModel model{parameters, {}};
  for (const Kernel& kernel : list)
    if (const std::string tile = tile_of(kernel); !tile.empty()) model.efficiencies[tile] = kernel.efficiency;
  return model;
}

ChoiceFit::ChoiceFit(const std::vector<const ChoiceRecord*>& records, const std::vector<Kernel>& list)
    : listed_(list), kernels_(list) {
  for (const Kernel& kernel : list) tiles_.push_back(tile_of(kernel));
  for (const ChoiceRecord* record : records) append(*record, list);
}

void ChoiceFit::append(const ChoiceRecord& record, const std::vector<Kernel>& list) {
  // A kernel that was fitted otherwise when the record was made is another one than the list's.
  const std::vector<Kernel> timed = kernels_as_recorded(record, list);
  std::vector<std::size_t> number_of(timed.size());
  for (std::size_t i = 0; i < timed.size(); ++i) {
    number_of[i] = i;
    if (timed[i].narrowest == list[i].narrowest) continue;
    number_of[i] = listed_.size();
    listed_.push_back(timed[i]);
    kernels_.push_back(timed[i]);
    tiles_.push_back(tile_of(timed[i]));
  }
  std::map<std::string, int> of_group;
  for (const ChoiceTimes& times : record.problems) {
    Recorded recorded{&record, &times, {}, std::numeric_limits<double>::infinity(), Half::fitted};
    const Gemm problem = gemm_of(times.problem);
    for (const ChoiceCandidate& candidate : choice_candidates(timed, problem, record.device)) {
      const std::string name = candidate.name();
      const auto time = std::find_if(times.times.begin(), times.times.end(),
                                     [&](const ChoiceTime& t) { return t.name == name; });
      if (time == times.times.end()) continue;
      recorded.least = std::min(recorded.least, time->microseconds);
      if (!may_be_chosen(*candidate.kernel, candidate.planned)) continue;
      recorded.candidates.push_back(
          {number_of[static_cast<std::size_t>(candidate.kernel - timed.data())], candidate.planned,
           candidate.cost - estimated_cost(*candidate.kernel, candidate.planned, record.device),
           time->microseconds, name});
    }
    const auto yields = [&](const Candidate& c) { return yields_to_wgmma(listed_[c.kernel], c.problem); };
    auto& all = recorded.candidates;
    if (!std::all_of(all.begin(), all.end(), yields))
      all.erase(std::remove_if(all.begin(), all.end(), yields), all.end());
    if (all.empty()) continue;
    recorded.half = of_group[times.problem.group]++ % 2 == 0 ? Half::fitted : Half::judged;
    problems_.push_back(std::move(recorded));
  }
}

void ChoiceFit::use(const std::map<std::string, double>& efficiencies) const {
  for (std::size_t i = 0; i < kernels_.size(); ++i)
    if (!tiles_[i].empty()) kernels_[i].efficiency = efficiencies.at(tiles_[i]);
}

double ChoiceFit::cost(const Recorded& recorded, const Candidate& candidate,
                       const CostParameters& parameters) const {
  return candidate.copies +
         modelled_cost(kernels_[candidate.kernel], candidate.problem, recorded.record->device, parameters);
}

double ChoiceFit::corrected_cost(const Recorded& recorded, const Candidate& candidate) const {
  return candidate.copies +
         estimated_cost(listed_[candidate.kernel], candidate.problem, recorded.record->device);
}

const ChoiceFit::Candidate& ChoiceFit::chosen(const Recorded& recorded, const Cost& cost) {
  const Candidate* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : recorded.candidates) {
    const double found = cost(recorded, candidate);
    if (best != nullptr && found >= least) continue;
    least = found;
    best = &candidate;
  }
  return *best;
}

std::vector<double> ChoiceFit::regrets(const Cost& cost, Half half, const std::string& group) const {
  std::vector<double> result;
  for (const Recorded& recorded : problems_) {
    if (recorded.half != half) continue;
    if (!group.empty() && recorded.times->problem.group != group) continue;
    result.push_back(chosen(recorded, cost).microseconds / recorded.least);
  }
  return result;
}

std::vector<double> ChoiceFit::regrets(const FittedModel& model, Half half, const std::string& group) const {
  use(model.efficiencies);
  return regrets([&](const Recorded& recorded,
                     const Candidate& candidate) { return cost(recorded, candidate, model.parameters); },
                 half, group);
}

std::vector<double> ChoiceFit::corrected_regrets(Half half, const std::string& group) const {
  return regrets([&](const Recorded& recorded,
                     const Candidate& candidate) { return corrected_cost(recorded, candidate); },
                 half, group);
}

double ChoiceFit::soft_regret(const Recorded& recorded, const CostParameters& parameters) const {
  // Relative to the first candidate's cost, so that no weight is too small for a double.
  double first = 0, weights = 0, sum = 0;
  for (const Candidate& candidate : recorded.candidates) {
    const double cost = this->cost(recorded, candidate, parameters);
    if (first == 0) first = cost;
    const double weight = std::pow(first / cost, 1 / uncertainty);
    weights += weight;
    sum += weight * std::log(candidate.microseconds / recorded.least);
  }
  return sum / weights;
}

// Of the expected times of kernels that take at most 1.15 of the least time, to each other: the mean distance
// of a logarithm from their mean.
double ChoiceFit::error(const Recorded& recorded, const CostParameters& parameters) const {
  constexpr double near = 1.15;
  std::vector<double> logarithms;
  double sum = 0, distances = 0;
  for (const Candidate& candidate : recorded.candidates) {
    if (candidate.microseconds > near * recorded.least) continue;
    logarithms.push_back(std::log(cost(recorded, candidate, parameters) / candidate.microseconds));
    sum += logarithms.back();
  }
  const auto count = static_cast<double>(std::max<std::size_t>(logarithms.size(), 1));
  for (const double x : logarithms) distances += std::abs(x - sum / count);
  return distances / count;
}

double ChoiceFit::objective(const FittedModel& model) const {
  use(model.efficiencies);
  const auto group_of = [](const Recorded& recorded) {
    return std::make_pair(recorded.record, recorded.times->problem.group);
  };
  std::map<std::pair<const ChoiceRecord*, std::string>, double> problems_of;
  for (const Recorded& recorded : problems_)
    if (recorded.half == Half::fitted) ++problems_of[group_of(recorded)];
  double sum = 0, weights = 0;
  for (const Recorded& recorded : problems_) {
    if (recorded.half != Half::fitted) continue;
    const double weight = 1 / std::sqrt(problems_of[group_of(recorded)]);
    sum += weight *
           (soft_regret(recorded, model.parameters) + weight_of_errors * error(recorded, model.parameters));
    weights += weight;
  }
  return sum / std::max(weights, 1.0);
}

double ChoiceFit::minimised(const FittedModel& model, const FittedModel& start) const {
  double moved = 0;
  for (const FittedParameter& parameter : fitted_parameters()) {
    const double from = start.parameters.*parameter.member, to = model.parameters.*parameter.member;
    const double x = from > 0 && to > 0 ? std::log(to / from) : (to - from) / parameter.most;
    moved += x * x;
  }
  for (const auto& [tile, efficiency] : model.efficiencies) {
    const double x = std::log(efficiency / start.efficiencies.at(tile));
    moved += 30 * x * x;  // they are known better than the parameters
  }
  constexpr double price = 0.0003;  // a parameter that doubles must gain 0.015 %
  return objective(model) + price * moved;
}

FittedModel ChoiceFit::fit(const FittedModel& start, int trials) const {
  FittedModel best = start;
  double least = minimised(best, start);
  std::vector<std::string> tiles;
  for (const auto& [tile, efficiency] : start.efficiencies) tiles.push_back(tile);
  Draw draw(20261127);
  for (int trial = 0; trial < trials; ++trial) {
    FittedModel tried = best;
    // Wide steps first, narrow ones at last.
    const double width = 0.5 * std::pow(0.05, static_cast<double>(trial) / trials);
    const int changes = 1 + static_cast<int>(3 * draw.uniform());
    for (int i = 0; i < changes; ++i) {
      const double step = width * (draw.uniform() + draw.uniform() + draw.uniform() - 1.5);
      if (!tiles.empty() && draw.uniform() < part_of_efficiencies) {
        double& efficiency = tried.efficiencies[draw.one_of(tiles)];
        efficiency = std::clamp(efficiency * std::exp(0.3 * step), 0.1, most_efficiency);
        continue;
      }
      const FittedParameter& parameter = draw.one_of(fitted_parameters());
      double& value = tried.parameters.*parameter.member;
      // A parameter of 0 moves in steps of its range.
      value = value > 0 ? value * std::exp(step) : 0.1 * std::abs(step) * parameter.most;
      value = std::clamp(value, parameter.least, parameter.most);
    }
    if (const double found = minimised(tried, start); found < least) {
      least = found;
      best = tried;
    }
  }
  return best;
}

std::string ChoiceFit::worst_problems(double above) const {
  std::string text;
  for (const Recorded& recorded : problems_) {
    const Candidate taken = chosen(recorded, [&](const Recorded& of, const Candidate& candidate) {
      return corrected_cost(of, candidate);
    });
    const double ratio = taken.microseconds / recorded.least;
    if (ratio <= above) continue;
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, "%.3f %8.1f us  ", ratio, recorded.least);
    text += numbers + describe(recorded.times->problem) + ": " + taken.name + ", fastest " +
            fastest(*recorded.times).name + "\n";
  }
  return text;
}

std::size_t ChoiceFit::write_features(std::ostream& out, std::size_t first) const {
  if (first == 0) {
    out << "problem\tmachine\tgroup\thalf\tlog us\tlog model\tcopies";
    for (const char* const name : cost_feature_names) out << '\t' << name;
    out << '\n';
  }
  for (const Recorded& recorded : problems_) {
    const ChoiceRecord& record = *recorded.record;
    const DeviceDescription& device = record.device;
    for (const Candidate& candidate : recorded.candidates) {
      const Kernel& kernel = listed_[candidate.kernel];
      if (!is_corrected(kernel)) continue;
      const double model = modelled_cost(kernel, candidate.problem, device);
      out << first << '\t' << record.machine << (record.between ? ", between" : "") << '\t'
          << recorded.times->problem.group << '\t' << (recorded.half == Half::fitted ? "fitted" : "judged")
          << '\t' << std::log(candidate.microseconds) << '\t' << std::log(model) << '\t'
          << candidate.copies / model;
      const WgmmaEstimate estimate = wgmma_estimate(kernel, candidate.problem, device);
      for (const float feature : cost_features(kernel, candidate.problem, estimate)) out << '\t' << feature;
      out << '\n';
    }
    ++first;
  }
  return first;
}

}  // namespace tenon::microbench
