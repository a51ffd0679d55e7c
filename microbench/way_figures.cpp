#include "microbench/way_figures.hpp"

#include <algorithm>

#include "microbench/statistics.hpp"

namespace tenon::microbench {
namespace {

using Way = Figure WayFigures::*;

constexpr double reference_agreement = 0.03;

double apart_in(Way way, const ReferenceFigures& reference) {
  return disagreement((reference.before.*way).tflops, (reference.after.*way).tflops);
}

// Why a way's figures should not be stored; "" if they may be.
std::string doubt(Way way, const WayFigures& ours, const ReferenceFigures& reference) {
  if (!(ours.*way).odd.empty()) return (ours.*way).odd;
  return apart_in(way, reference) > reference_agreement ? "cuBLASLt first and last disagree" : "";
}

// Of the reference, first and last.
double mean_of(Way way, double Figure::*member, const ReferenceFigures& reference) {
  return mean({reference.before.*way.*member, reference.after.*way.*member});
}

// The figure whose clock and power are recorded.
const Figure& longest(const WayFigures& figures) {
  for (const Way way : {&WayFigures::sustained, &WayFigures::burst, &WayFigures::between}) {
    if ((figures.*way).tflops > 0) return figures.*way;
  }
  return figures.cold;
}

void leave_out(const char* what, const std::string& why, Record* record) {
  record->left_out += (record->left_out.empty() ? "" : "; ") + std::string(what) + ": " + why;
}

}  // namespace

double apart(const ReferenceFigures& reference) {
  return std::max({apart_in(&WayFigures::burst, reference), apart_in(&WayFigures::between, reference),
                   apart_in(&WayFigures::cold, reference), apart_in(&WayFigures::sustained, reference)});
}

double foreign_microseconds(const ReferenceFigures& reference, const std::vector<WayFigures>& contenders) {
  std::vector<double> times{reference.before.between.foreign_us, reference.after.between.foreign_us};
  for (const WayFigures& figures : contenders) {
    if (figures.between.foreign_us > 0) times.push_back(figures.between.foreign_us);
  }
  return median(times);
}

void store_figures(const WayFigures& ours, const ReferenceFigures& reference, double foreign_us, int sm_count,
                   Record* record) {
  for (const ReferenceAnswer* answer : {&reference.burst, &reference.between, &reference.cold}) {
    if (record->reference.empty()) record->reference = answer->name;
  }
  record->tflops_burst = ours.burst.tflops;
  record->tflops_sustained = ours.sustained.tflops;
  record->reference_tflops_burst = mean_of(&WayFigures::burst, &Figure::tflops, reference);
  record->reference_tflops_sustained = mean_of(&WayFigures::sustained, &Figure::tflops, reference);
  record->odd = doubt(&WayFigures::burst, ours, reference);
  if (record->odd.empty()) record->odd = doubt(&WayFigures::sustained, ours, reference);
  if (ours.between.pair_us > 0) {
    if (const std::string why = doubt(&WayFigures::between, ours, reference); why.empty()) {
      record->between = {reference.between.name, ours.between.pair_us,
                         mean_of(&WayFigures::between, &Figure::pair_us, reference), foreign_us};
    } else {
      leave_out("between others", why, record);
    }
  }
  if (ours.cold.tflops > 0) {
    if (const std::string why = doubt(&WayFigures::cold, ours, reference); why.empty()) {
      record->cold = {reference.cold.name, ours.cold.tflops,
                      mean_of(&WayFigures::cold, &Figure::tflops, reference)};
    } else {
      leave_out("cold L2", why, record);
    }
  }
  if (record->odd.empty() && !record->is_measured()) record->odd = record->left_out;
  const Figure& figure = longest(ours);
  record->sm_mhz = figure.sm_mhz;
  record->watts = figure.watts;
  record->flop_per_clk_per_sm = flop_per_clk_per_sm(figure.tflops, figure.sm_mhz, sm_count);
}

}  // namespace tenon::microbench
