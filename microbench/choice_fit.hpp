// Fits the cost model (gemm/cost_model.hpp) to recorded times of every kernel, of one device or of several:
// its parameters, and the efficiencies of tiles that kernels.csv has. What is learned beside the model
// (gemm/cost_correction.hpp) is fitted afterwards, by fit_correction.py, to the table that write_features()
// makes.
//
// Half of the recorded problems are fitted, the other half judges. What is minimised is how much longer the
// kernel of least expected cost takes than the fastest one, and a little the error of the expected times of
// kernels that are nearly as fast: it says in which direction a parameter is wrong where no choice changes.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "gemm/cost_model.hpp"
#include "microbench/choice_record.hpp"

namespace tenon::microbench {

// A parameter that is fitted, and what it may be.
struct FittedParameter {
  const char* name;
  double CostParameters::*member;
  double least, most;
};
const std::vector<FittedParameter>& fitted_parameters();

// Kernels of wgmma whose main loops are alike have one efficiency: "128x160 of 16 bits", "128x128 ping-pong
// of 8 bits", rows and columns as the tensor core has them. Empty for the other kernels, whose efficiency is
// not fitted.
std::string tile_of(const Kernel& kernel);

struct FittedModel {
  CostParameters parameters;
  std::map<std::string, double> efficiencies;  // of tile_of()
};
// With the efficiencies of kernels.csv.
FittedModel model_of(const CostParameters& parameters, const std::vector<Kernel>& list);

// The recorded candidates of some records, laid out so that a choice by other parameters is quick.
class ChoiceFit {
 public:
  // The records outlive the fit.
  ChoiceFit(const std::vector<const ChoiceRecord*>& records, const std::vector<Kernel>& list);

  // The halves: every other problem of each group of a record.
  enum class Half { fitted, judged };

  // Ratios of the chosen kernel's time to the least, by the model alone. group: only of that group, unless it
  // is empty.
  std::vector<double> regrets(const FittedModel& model, Half half, const std::string& group = {}) const;
  // By estimated_cost(), as gemm() chooses.
  std::vector<double> corrected_regrets(Half half, const std::string& group = {}) const;
  // The mean logarithm of the regret over the fitted half, of a choice that is not sure of its costs: it
  // takes each kernel with a probability that falls by e where its cost grows by `uncertainty`. So the costs
  // of all kernels near the best one count, and small changes of the parameters show. More by
  // weight_of_errors times the mean error of the expected times. A group of a record counts by the root of
  // its size: one of few problems is neither lost among the others nor fitted one by one.
  double objective(const FittedModel& model) const;
  // The model that minimises the objective and, a little, the square of the logarithm of how far each number
  // has moved from `start`: one that decides little stays where it was. Random search: each trial changes one
  // to three numbers of the best model so far.
  FittedModel fit(const FittedModel& start, int trials) const;
  // A line for each problem whose regret is above `above`, as gemm() chooses.
  std::string worst_problems(double above) const;
  // The table that fit_correction.py reads, with a row for each time of a kernel whose cost is corrected.
  // Columns, separated by tabs: number of the problem, machine, group, half, logarithm of the microseconds,
  // logarithm of the kernel's modelled cost, the cost of the copies of operands over that, and the features.
  // Problems count from `first`. The line of names is written if that is 0. Returns the next number.
  std::size_t write_features(std::ostream& out, std::size_t first = 0) const;

 private:
  struct Candidate {
    std::size_t kernel;  // of kernels_
    Gemm problem;        // as it is planned, with its copies
    double copies;       // their cost
    double microseconds;
    std::string name;
  };
  struct Recorded {
    const ChoiceRecord* record;
    const ChoiceTimes* times;
    std::vector<Candidate> candidates;
    double least;
    Half half = Half::fitted;
  };
  static constexpr double uncertainty = 0.03, weight_of_errors = 0.3;
  // With the efficiencies that use() has set.
  double cost(const Recorded& recorded, const Candidate& candidate, const CostParameters& parameters) const;
  double soft_regret(const Recorded& recorded, const CostParameters& parameters) const;
  double error(const Recorded& recorded, const CostParameters& parameters) const;
  using Cost = std::function<double(const Recorded& recorded, const Candidate& candidate)>;
  static const Candidate& chosen(const Recorded& recorded, const Cost& cost);
  std::vector<double> regrets(const Cost& cost, Half half, const std::string& group) const;
  double corrected_cost(const Recorded& recorded, const Candidate& candidate) const;
  double minimised(const FittedModel& model, const FittedModel& start) const;
  void use(const std::map<std::string, double>& efficiencies) const;

  void append(const ChoiceRecord& record, const std::vector<Kernel>& list);

  std::vector<Kernel> listed_;           // as they were given, then as records had them fitted otherwise
  mutable std::vector<Kernel> kernels_;  // the same, with the efficiencies of the model that is tried
  std::vector<std::string> tiles_;       // tile_of() each
  std::vector<Recorded> problems_;
};

}  // namespace tenon::microbench
