// The fit of the cost model, without a GPU: times that a model with other parameters made lead it to choices
// that are right by these times.
#include "microbench/choice_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "gemm/select.hpp"
#include "host/kernel_list.hpp"
#include "microbench/choice_recorder.hpp"

namespace tenon::microbench {
namespace {

FittedModel as_it_is() {
  return model_of({}, kernels());
}

ChoiceRecord record_of(const CostParameters& truth, int count, const std::vector<Kernel>& list = kernels()) {
  ChoiceRecord record;
  record.device = test::h200;
  for (const ChoiceProblem& problem : draw_choice_problems(11, count)) {
    if (problem.group != "aligned") continue;
    ChoiceTimes times{problem, {}};
    for (const ChoiceCandidate& candidate : choice_candidates(list, gemm_of(problem), record.device)) {
      // Never chosen, however fast.
      if (yields_to_wgmma(*candidate.kernel, candidate.planned)) continue;
      if (!may_be_chosen(*candidate.kernel, candidate.planned)) continue;
      times.times.push_back({candidate.name(), 1e-6 * modelled_cost(*candidate.kernel, candidate.planned,
                                                                    record.device, truth)});
    }
    record.problems.push_back(times);
  }
  return record;
}

// What the fit takes for granted: where kernels of a tile had two, only one of them would be fitted.
TEST(ChoiceFit, ATileHasOneEfficiency) {
  const FittedModel model = as_it_is();
  for (const Kernel& kernel : kernels()) {
    const std::string tile = tile_of(kernel);
    if (tile.empty()) continue;
    EXPECT_EQ(kernel.efficiency, model.efficiencies.at(tile)) << tile;
  }
}

double mean_logarithm(const std::vector<double>& ratios) {
  double sum = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  return sum / static_cast<double>(ratios.size());
}
double worst(const std::vector<double>& ratios) {
  return *std::max_element(ratios.begin(), ratios.end());
}

TEST(ChoiceFit, FindsChoicesThatAreRightByTimesOfOtherParameters) {
  FittedModel truth = as_it_is();
  truth.parameters.bytes_per_clock = 50;
  truth.parameters.cluster_clocks = 500;
  truth.parameters.start_k_tiles = 1;
  const ChoiceRecord record = record_of(truth.parameters, 200);
  const ChoiceFit fit({&record}, kernels());
  const FittedModel start = as_it_is();
  EXPECT_EQ(worst(fit.regrets(truth, ChoiceFit::Half::fitted)), 1);
  EXPECT_LT(fit.objective(truth), fit.objective(start));
  const double before = mean_logarithm(fit.regrets(start, ChoiceFit::Half::fitted));
  ASSERT_GT(before, 0.002) << "the parameters must differ enough to change choices";
  const FittedModel fitted = fit.fit(start, 1500);
  EXPECT_LT(fit.objective(fitted), fit.objective(start));
  EXPECT_LT(mean_logarithm(fit.regrets(fitted, ChoiceFit::Half::fitted)), 0.3 * before);
  EXPECT_EQ(worst(fit.regrets(truth, ChoiceFit::Half::judged)), 1);
  EXPECT_LE(worst(fit.regrets(fitted, ChoiceFit::Half::judged)),
            worst(fit.regrets(start, ChoiceFit::Half::judged)));
}

// Two records whose times were made by different parameters: what the fit minimises is the mean of both.
TEST(ChoiceFit, OfSeveralRecordsCountsEach) {
  CostParameters other;
  other.bytes_per_clock = 50;
  other.start_k_tiles = 1;
  const ChoiceRecord first = record_of({}, 100), second = record_of(other, 100);
  const ChoiceFit both({&first, &second}, kernels());
  const double of_first = ChoiceFit({&first}, kernels()).objective(as_it_is()),
               of_second = ChoiceFit({&second}, kernels()).objective(as_it_is());
  EXPECT_NE(of_first, of_second);
  EXPECT_NEAR(both.objective(as_it_is()), (of_first + of_second) / 2, 1e-9);
  EXPECT_EQ(both.regrets(as_it_is(), ChoiceFit::Half::judged).size(),
            2 * ChoiceFit({&first}, kernels()).regrets(as_it_is(), ChoiceFit::Half::judged).size());
}

// Times of a library without fitted tiles, by the same model: they are compared with what it says of those.
TEST(ChoiceFit, TakesKernelsAsTheRecordHadThemFitted) {
  std::vector<Kernel> unfitted = kernels();
  for (Kernel& kernel : unfitted) kernel.narrowest = 0;
  ChoiceRecord record = record_of({}, 100, unfitted);
  EXPECT_GT(worst(ChoiceFit({&record}, kernels()).regrets(as_it_is(), ChoiceFit::Half::fitted)), 1.01)
      << "the test must notice";
  record.narrowest.emplace();  // no kernel was fitted
  EXPECT_EQ(worst(ChoiceFit({&record}, kernels()).regrets(as_it_is(), ChoiceFit::Half::fitted)), 1);
}

// Times of a library in which one tile is slower than kernels.csv says: the fit finds its efficiency.
TEST(ChoiceFit, FindsTheEfficiencyOfATile) {
  const std::string tile = "128x192 of 16 bits";
  std::vector<Kernel> slower = kernels();
  for (Kernel& kernel : slower)
    if (tile_of(kernel) == tile) kernel.efficiency *= 0.7;
  ChoiceRecord record;
  record.device = test::h200;
  for (const ChoiceProblem& problem : draw_choice_problems(11, 200)) {
    if (problem.group != "aligned" && problem.group != "large") continue;
    ChoiceTimes times{problem, {}};
    for (const ChoiceCandidate& candidate : choice_candidates(slower, gemm_of(problem), record.device))
      times.times.push_back({candidate.name(), 1e-6 * candidate.cost});
    record.problems.push_back(times);
  }
  const FittedModel start = as_it_is();
  ASSERT_EQ(start.efficiencies.count(tile), 1U);
  const FittedModel fitted = ChoiceFit({&record}, kernels()).fit(start, 1500);
  EXPECT_LT(fitted.efficiencies.at(tile), 0.93 * start.efficiencies.at(tile));
}

TEST(ChoiceFit, HalvesAreOfEachGroupAndOfEqualSize) {
  ChoiceRecord record;
  record.device = test::h200;
  std::vector<ChoiceProblem> problems = draw_choice_problems(3, 64);
  for (const ChoiceProblem& problem : draw_choice_problems(3, 8, {"large_types", "few_tiles"}))
    problems.push_back(problem);
  for (const ChoiceProblem& problem : problems) {
    const std::vector<ChoiceCandidate> candidates =
        choice_candidates(kernels(), gemm_of(problem), record.device);
    record.problems.push_back({problem, {{candidates.front().name(), 1.0}}});
  }
  const ChoiceFit fit({&record}, kernels());
  for (const std::string& group : choice_groups()) {
    const std::size_t fitted = fit.regrets(as_it_is(), ChoiceFit::Half::fitted, group).size();
    const std::size_t judged = fit.regrets(as_it_is(), ChoiceFit::Half::judged, group).size();
    EXPECT_GE(fitted, 1U) << group;
    EXPECT_LE(fitted - judged, 1U) << group;
  }
  EXPECT_EQ(fit.worst_problems(1.5), "");
}

// What gemm() chooses does not depend on the model that was tried before.
TEST(ChoiceFit, JudgesTheChoiceOfTheLibraryWhateverWasTried) {
  const ChoiceRecord record = record_of({}, 60);
  const ChoiceFit fit({&record}, kernels());
  std::ostringstream features, after;
  fit.write_features(features);
  const std::vector<double> regrets = fit.corrected_regrets(ChoiceFit::Half::judged);
  FittedModel other = as_it_is();
  for (auto& [tile, efficiency] : other.efficiencies) efficiency = 0.3;
  fit.regrets(other, ChoiceFit::Half::judged);
  EXPECT_EQ(fit.corrected_regrets(ChoiceFit::Half::judged), regrets);
  fit.write_features(after);
  EXPECT_EQ(after.str(), features.str());
  EXPECT_GT(features.str().size(), 10000U);
}

}  // namespace
}  // namespace tenon::microbench
