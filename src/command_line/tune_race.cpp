// The race of tune_race.hpp.
#include "command_line/tune_race.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::command {
namespace {

// The quantile `part` of the values; if it lies between two values, the upper one.
double quantile(std::vector<double> values, double part) {
  const auto at =
      std::min(static_cast<std::size_t>(part * static_cast<double>(values.size())), values.size() - 1);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

}  // namespace

RaceResult race(std::size_t candidates, const std::function<double(std::size_t, Look)>& measure,
                const std::function<double()>& now, const RaceRules& rules) {
  RaceResult result;
  result.finalist.assign(candidates, false);
  result.microseconds.assign(candidates, 0.0);
  if (candidates == 0) return result;

  // The very first measurement runs before the device's clock has risen, and does not count.
  measure(0, Look::quick);
  for (std::size_t i = 0; i < candidates; ++i) {
    result.microseconds[i] = measure(i, Look::quick);
    result.microseconds[i] = std::min(result.microseconds[i], measure(i, Look::quick));
  }
  const double best = *std::min_element(result.microseconds.begin(), result.microseconds.end());
  std::vector<std::size_t> finalists{0};
  for (std::size_t i = 1; i < candidates; ++i) {
    if (result.microseconds[i] <= best * (1 + rules.within)) finalists.push_back(i);
  }
  if (finalists.size() == 1) return result;  // no candidate comes near the documented choice

  // Candidates alternate, so that drift (clock, temperature) affects all of them; each round begins with
  // another candidate.
  std::vector<std::vector<double>> times(candidates);
  const double begin = now();
  while (result.rounds < rules.most_rounds &&
         (result.rounds < rules.least_rounds || now() - begin < rules.seconds)) {
    for (std::size_t turn = 0; turn < finalists.size(); ++turn) {
      const std::size_t i = finalists[(turn + static_cast<std::size_t>(result.rounds)) % finalists.size()];
      times[i].push_back(measure(i, Look::careful));
    }
    ++result.rounds;
  }
  for (const std::size_t i : finalists) {
    result.finalist[i] = true;
    result.microseconds[i] = quantile(times[i], 0.5);
    if (result.microseconds[i] < result.microseconds[result.winner]) result.winner = i;
  }
  // Compares with the documented choice round by round: a disturbance affects both times of a round.
  std::vector<double> ratios;
  for (std::size_t round = 0; round < times[0].size(); ++round) {
    ratios.push_back(times[result.winner][round] / times[0][round]);
  }
  const auto rounds = static_cast<double>(ratios.size());
  const auto won =
      static_cast<double>(std::count_if(ratios.begin(), ratios.end(), [](double r) { return r < 1; }));
  const double by_chance =
      0.5 * rounds + 0.5 * 2.326 * std::sqrt(rounds);  // a fair coin reaches it once in a hundred times
  if (!(quantile(ratios, 0.5) < 1 - rules.least_gain && won >= by_chance)) result.winner = 0;
  return result;
}

}  // namespace tenon::command
