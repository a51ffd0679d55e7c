// Fits the parameters of the cost model (gemm/cost_model.hpp) to recorded times of every kernel, of one
// device or of several.
//
// Half of the recorded problems are fitted, the other half judges. What is minimised is how much longer the
// kernel of least expected cost takes than the fastest one: not the error of the expected times, which
// matters only where kernels are close to each other.
#pragma once

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

// The recorded candidates of some records, laid out so that a choice by other parameters is quick.
class ChoiceFit {
 public:
  // The records outlive the fit.
  ChoiceFit(const std::vector<const ChoiceRecord*>& records, const std::vector<Kernel>& list);

  // The halves: every other problem of each group of a record.
  enum class Half { fitted, judged };

  // Ratios of the chosen kernel's time to the least. group: only of that group, unless it is empty.
  std::vector<double> regrets(const CostParameters& parameters, Half half,
                              const std::string& group = {}) const;
  // The mean logarithm of the regret over the fitted half, of a choice that is not sure of its costs: it
  // takes each kernel with a probability that falls by e where its cost grows by `uncertainty`. So the costs
  // of all kernels near the best one count, and small changes of the parameters show. A group of a record
  // counts by the root of its size: one of few problems is neither lost among the others nor fitted one by
  // one.
  double objective(const CostParameters& parameters) const;
  // The parameters that minimise the objective and, a little, the square of the logarithm of how far each has
  // moved from `start`: a parameter that decides little stays where it was. Random search: each trial changes
  // one to three parameters of the best ones so far.
  CostParameters fit(const CostParameters& start, int trials) const;
  // A line for each problem whose regret is above `above`.
  std::string worst_problems(const CostParameters& parameters, double above) const;

 private:
  struct Candidate {
    const Kernel* kernel;
    Gemm problem;   // as it is planned, with its copies
    double copies;  // their cost
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
  static constexpr double uncertainty = 0.03;
  double soft_regret(const Recorded& recorded, const CostParameters& parameters) const;
  double minimised(const CostParameters& parameters, const CostParameters& start) const;
  double regret(const Recorded& recorded, const CostParameters& parameters, const Candidate** chosen) const;

  void append(const ChoiceRecord& record, const std::vector<Kernel>& list);

  std::vector<Recorded> problems_;
};

}  // namespace tenon::microbench
