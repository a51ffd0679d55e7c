#include "microbench/comparison.hpp"

#include "microbench/statistics.hpp"

namespace tenon::microbench {

Timing ComparisonTimer::time(const Contender& contender) {
  const Figure burst = stopwatch_.burst(contender, protocol_);
  return {burst, sustained_ ? stopwatch_.sustained(contender, protocol_) : Figure{}};
}

PickedAnswer ComparisonTimer::pick(int answers, const std::function<Contender(int)>& contender) {
  PickedAnswer best;
  for (int answer = 0; answer < answers; ++answer) {
    const Figure figure = burst(contender(answer));
    if (figure.tflops > best.timing.burst.tflops) best.answer = answer, best.timing.burst = figure;
  }
  if (sustained_) best.timing.sustained = stopwatch_.sustained(contender(best.answer), protocol_);
  return best;
}

Record ComparisonTimer::record(const Timing& ours, const Timing& reference, const Comparison& comparison,
                               double relative, double absolute, const std::string& commit) const {
  Record record;
  record.tflops_burst = ours.burst.tflops, record.tflops_sustained = ours.sustained.tflops;
  record.reference_tflops_burst = reference.burst.tflops;
  record.reference_tflops_sustained = reference.sustained.tflops;
  const Figure& longest = sustained_ ? ours.sustained : ours.burst;
  record.sm_mhz = longest.sm_mhz, record.watts = longest.watts;
  record.flop_per_clk_per_sm = flop_per_clk_per_sm(longest.tflops, longest.sm_mhz, stopwatch_.sm_count());
  record.max_error = comparison.max_error;
  record.error_bound = absolute + relative * comparison.max_expected;
  record.commit = commit, record.machine = machine_.name, record.toolkit = machine_.toolkit;
  record.date = today();
  record.odd = comparison.wrong != 0 ? wrong_elements : ours.burst.odd;
  return record;
}

int exit_status(const std::vector<Record>& records) {
  for (const Record& record : records) {
    if (record.odd == wrong_elements) return 1;
  }
  return 0;
}

}  // namespace tenon::microbench
