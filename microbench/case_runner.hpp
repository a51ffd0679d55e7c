// Measures one case (types x layout x shape): draws operands, computes the expected result, then runs all
// bursts and after them all sustained runs, each time the reference first, every candidate, and the reference
// again.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "microbench/contenders.hpp"
#include "microbench/cublaslt.hpp"
#include "microbench/device_data.hpp"
#include "microbench/measure.hpp"
#include "microbench/record.hpp"

namespace tenon::microbench {

struct RunnerOptions {
  Protocol protocol;
  int pick_bursts = 3;  // bursts for each cuBLASLt answer while the best is picked
  bool burst = true, sustained = true;
  bool cold = false;  // rotate operands over more than twice the L2
};

class CaseRunner {
 public:
  explicit CaseRunner(const RunnerOptions& options);

  // Returns one record for each candidate that takes the problem and computes it correctly; commit and date
  // are left empty. Reports every figure and every other candidate on stderr as it goes. Throws Failure if
  // nothing can be measured.
  std::vector<Record> run(const Types& types, const Layout& layout, const Shape& shape,
                          const std::vector<Candidate>& candidates);

  int wrong_results() const { return wrong_results_; }

 private:
  struct Timing {
    Figure burst, sustained;
  };
  struct Measurement {
    const char* name;
    Figure (Stopwatch::*function)(const Contender&, const Protocol&);
    Figure Timing::*figure;
  };
  // A candidate that takes the problem.
  struct Entrant {
    Contender contender;
    Comparison comparison;
    Timing timing;
    bool failed = false;
  };
  struct Case;

  void prepare(Case& c);
  Gemm exact_problem(const Case& c);
  Gemm problem(const Case& c, int set) const;
  Comparison check(const Case& c, const Contender& contender);
  bool is_correct(const Case& c, const std::string& name, const Comparison& comparison);
  int pick(const Case& c, const CublasLtGemm& reference);
  Contender reference_contender(const Case& c, const CublasLtGemm& reference, int answer) const;
  std::vector<Measurement> measurements() const;
  Figure time(const Contender& contender, const Measurement& measurement);
  std::optional<Entrant> enter(const Case& c, const Candidate& candidate);
  bool attempt(const std::string& name, const std::function<void()>& f);

  RunnerOptions options_;
  int l2_bytes_ = 0;
  std::string machine_, toolkit_;
  CublasLt cublaslt_;
  Stopwatch stopwatch_;
  DeviceBuffer operands_, halves_, expected_, workspace_, reference_workspace_;
  int wrong_results_ = 0;
};

}  // namespace tenon::microbench
