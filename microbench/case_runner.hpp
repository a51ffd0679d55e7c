// Measures one case (types x layout x shape): draws operands, computes the expected result, then measures in
// each way (ways.hpp), sustained runs last, each time the reference first, every candidate, and the reference
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
#include "microbench/way_figures.hpp"
#include "microbench/ways.hpp"

namespace tenon::microbench {

struct RunnerOptions {
  // Of `ways`, a cold L2 is for products that take less than protocol.graph_below_us back to back.
  Ways ways{true, false, false, true};
  Protocol protocol;
  Protocol pick = with_bursts(3);  // for each cuBLASLt answer while the best is picked

  static Protocol with_bursts(int bursts) {
    Protocol protocol;
    protocol.bursts = bursts;
    return protocol;
  }
};

// The same in less time: 3 bursts with 10 ms between them, 0.25 s sustained, cuBLASLt picked from one burst
// of 1 ms each.
RunnerOptions quick(RunnerOptions options);

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
  // One of the ways.
  struct Measurement {
    using Function = Figure (Stopwatch::*)(const Contender&, const Protocol&);
    const char* name;
    Function function, pick;  // what measures; what finds the fastest of cuBLASLt's answers before
    Figure WayFigures::*figure;
    ReferenceAnswer ReferenceFigures::*answer;
    bool cold = false;  // operands in rotation
  };
  // A candidate that takes the problem; an iteration of the contender names a set of operands.
  struct Entrant {
    Contender contender;
    Comparison comparison;
    WayFigures figures;
    bool failed = false;
  };
  struct Case;

  void prepare(Case& c);
  void draw(const Case& c);
  Gemm exact_problem(const Case& c);
  Gemm problem(const Case& c, int set) const;
  Comparison check(const Case& c, const Contender& contender);
  bool is_correct(const Case& c, const std::string& name, const Comparison& comparison);
  bool is_short(const Case& c, const CublasLtGemm& reference);
  ReferenceAnswer pick(const Case& c, const CublasLtGemm& reference, const Measurement& measurement);
  Contender reference_contender(const Case& c, const CublasLtGemm& reference, int answer) const;
  std::vector<Measurement> measurements(const Case& c) const;
  Figure time(const Case& c, const Contender& contender, const Measurement& measurement);
  std::optional<Entrant> enter(const Case& c, const Candidate& candidate);
  bool attempt(const std::string& name, const std::function<void()>& f);
  Record record(const Case& c, const Entrant& entrant, const ReferenceFigures& reference,
                double foreign_us) const;

  RunnerOptions options_;
  int l2_bytes_ = 0;
  std::string machine_, toolkit_;
  CublasLt cublaslt_;
  Stopwatch stopwatch_;
  DeviceBuffer operands_, halves_, expected_, workspace_, reference_workspace_;
  int wrong_results_ = 0;
};

}  // namespace tenon::microbench
