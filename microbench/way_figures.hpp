// The figures of one product in every way (ways.hpp), and what becomes of them in its record.
#pragma once

#include <string>
#include <vector>

#include "microbench/measure.hpp"
#include "microbench/record.hpp"

namespace tenon::microbench {

// All 0 in a way in which it was not measured.
struct WayFigures {
  Figure burst, between, cold, sustained;
};

// One of the reference's answers.
struct ReferenceAnswer {
  int number = -1;   // -1: none was picked
  std::string name;  // and algorithm
};

// The reference, measured first and last. Its answer is picked in each way for itself; a sustained run takes
// that of the bursts.
struct ReferenceFigures {
  ReferenceAnswer burst, between, cold;
  WayFigures before, after;
};

// How far the reference's first and last figures are apart, relative, in the worst way.
double apart(const ReferenceFigures& reference);

// The time of a foreign kernel alone: the median over the reference and all contenders.
double foreign_microseconds(const ReferenceFigures& reference, const std::vector<WayFigures>& contenders);

// Fills in the record's figures, its references, clock and power, and what is odd about it or left out. A
// doubtful figure back to back or sustained makes the record odd. One between others or with a cold L2 is
// left out; it makes the record odd if it has no other.
void store_figures(const WayFigures& ours, const ReferenceFigures& reference, double foreign_us, int sm_count,
                   Record* record);

}  // namespace tenon::microbench
