// What the benchmarks share that time one operation beside a reference: each contender alone, the fastest of
// the reference's answers picked from idle bursts, one record a measurement.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "microbench/device_data.hpp"
#include "microbench/machine.hpp"
#include "microbench/measure.hpp"
#include "microbench/record.hpp"

namespace tenon::microbench {

// Cold operands rotate through as much memory: more than twice the L2.
inline constexpr std::int64_t cold_bytes = std::int64_t{240} << 20;

struct ComparisonOptions {
  bool sustained = false, every_kernel = false;
  bool list = false;  // say what would be measured, without a GPU
  std::string json, commit;
};

// Record::odd of a contender whose result is wrong.
inline constexpr const char* wrong_elements = "wrong elements";
// 1 if there is such a record, else 0.
int exit_status(const std::vector<Record>& records);

struct Timing {
  Figure burst, sustained;  // sustained: all 0 if it was not measured
};

// 0 where one of the two was not measured.
inline double ratio(const Figure& ours, const Figure& reference) {
  return reference.tflops > 0 ? ours.tflops / reference.tflops : 0;
}

// An answer of the reference's.
struct PickedAnswer {
  int answer = 0;
  Timing timing;
};

class ComparisonTimer {
 public:
  explicit ComparisonTimer(bool sustained)
      : sustained_(sustained), stopwatch_(0), machine_(describe_machine(0)) {}

  cudaStream_t stream() const { return stopwatch_.stream(); }
  Timing time(const Contender& contender);
  Figure burst(const Contender& contender) { return stopwatch_.burst(contender, protocol_); }
  // The fastest of `answers` in bursts, then timed as the others are. contender(answer): one of them.
  PickedAnswer pick(int answers, const std::function<Contender(int)>& contender);

  // The figures, the machine and the date; what was measured is left to the caller. relative, absolute: the
  // bounds of `comparison`.
  Record record(const Timing& ours, const Timing& reference, const Comparison& comparison, double relative,
                double absolute, const std::string& commit) const;

 private:
  bool sustained_;
  Protocol protocol_;
  Stopwatch stopwatch_;
  Machine machine_;
};

}  // namespace tenon::microbench
