#include "microbench/numerics/order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace tenon::probing {
namespace {

// below[i][j]: the number of terms in the subtree of the step that joins i and j.
using TermCounts = std::vector<std::vector<int>>;

struct NoTree : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string name_of(int term, int accumulator) {
  return term == accumulator ? "c" : "k" + std::to_string(term);
}

// The step that adds these terms. Two terms belong to the same part if an earlier step joins them.
Step build(const TermCounts& below, const std::vector<int>& terms) {
  const int size = static_cast<int>(terms.size());
  std::vector<std::vector<int>> groups;
  for (const int term : terms) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const std::vector<int>& g) {
      return below[static_cast<std::size_t>(g.front())][static_cast<std::size_t>(term)] < size;
    });
    if (group == groups.end()) group = groups.insert(groups.end(), std::vector<int>{});
    group->push_back(term);
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const int x : groups[i]) {
      for (std::size_t j = i + 1; j < groups.size(); ++j) {
        for (const int y : groups[j]) {
          const int joined = below[static_cast<std::size_t>(x)][static_cast<std::size_t>(y)];
          if (joined == size) continue;
          throw NoTree("terms " + std::to_string(x) + " and " + std::to_string(y) + " are joined with " +
                       std::to_string(joined) + " terms below, inside a step of " + std::to_string(size));
        }
      }
    }
  }
  if (groups.size() < 2) throw NoTree("a step of " + std::to_string(size) + " terms has a single part");
  Step step;
  for (const std::vector<int>& group : groups) {
    if (group.size() == 1) {
      step.terms.push_back(group.front());
    } else {
      step.parts.push_back(build(below, group));
    }
  }
  return step;
}

void collect(const Step& step, std::vector<const Step*>& steps) {
  for (const Step& part : step.parts) collect(part, steps);
  steps.push_back(&step);
}

// The signs of the first mask and of the units. When it rounds toward zero, up or down, some arithmetic loses
// units of one sign beside a mask of one sign, and gains a unit in the mask's last place with other signs.
constexpr std::pair<int, int> sign_choices[] = {{1, 1}, {-1, -1}, {1, -1}, {-1, 1}};

// Asks about every pair without an answer (0) and stores the plausible answers. Returns false if the types
// cannot represent the probe.
bool ask_pairs(Interview& interview, int mask_sign, int mask, int unit_sign, int unit, TermCounts& below) {
  const int terms = interview.terms();
  const double m = std::ldexp(mask_sign, mask), one = std::ldexp(unit_sign, unit);
  std::vector<Question> questions;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (int i = 0; i < terms; ++i) {
    for (int j = i + 1; j < terms; ++j) {
      pairs.emplace_back(i, j);
      if (below[pairs.back().first][pairs.back().second] != 0) {
        pairs.pop_back();
        continue;
      }
      Question question = interview.zeros();
      for (int term = 0; term < terms; ++term) {
        if (!interview.put(question, term, term == i ? m : term == j ? -m : one)) return false;
      }
      questions.push_back(std::move(question));
    }
  }
  const std::vector<double> answers = interview.ask_values("order of summation", questions);
  for (std::size_t next = 0; next < pairs.size(); ++next) {
    const double units = answers[next] / one;
    if (!(units >= 0 && units <= terms - 2) || units != std::floor(units)) continue;
    const auto [i, j] = pairs[next];
    below[i][j] = below[j][i] = terms - static_cast<int>(units);
  }
  return true;
}

}  // namespace

bool Step::holds(int term) const {
  return std::find(terms.begin(), terms.end(), term) != terms.end() ||
         std::any_of(parts.begin(), parts.end(), [&](const Step& part) { return part.holds(term); });
}

int Step::first() const {
  int least = terms.empty() ? parts.front().first() : terms.front();
  for (const int term : terms) least = std::min(least, term);
  for (const Step& part : parts) least = std::min(least, part.first());
  return least;
}

Order find_order(Interview& interview) {
  const auto terms = static_cast<std::size_t>(interview.terms());
  // M is a factor of four below overflow; 90 bits are more than any arithmetic keeps.
  const int mask = interview.highest_exponent() - 2;
  const int unit = std::max(interview.lowest_exponent(), mask - 90);
  TermCounts below(terms, std::vector<int>(terms));
  Order order;
  for (const auto& [mask_sign, unit_sign] : sign_choices) {
    if (!ask_pairs(interview, mask_sign, mask, unit_sign, unit, below)) {
      order.why = "the types do not hold the numbers of this probe";
      return order;
    }
  }
  bool all_kept = true;
  for (std::size_t i = 0; i < terms; ++i) {
    for (std::size_t j = i + 1; j < terms; ++j) {
      all_kept = all_kept && below[i][j] == 2;
      if (below[i][j] != 0) continue;
      order.why = "with +M at " + name_of(static_cast<int>(i), interview.accumulator()) + " and -M at " +
                  name_of(static_cast<int>(j), interview.accumulator()) +
                  ", the result is not a number of units, whatever their signs";
      return order;
    }
  }
  if (all_kept && terms > 2) {
    order.kind = Order::Kind::exact;
    return order;
  }
  std::vector<int> all(terms);
  std::iota(all.begin(), all.end(), 0);
  try {
    order.last_step = build(below, all);
    order.kind = Order::Kind::steps;
  } catch (const NoTree& problem) {
    order.why = problem.what();
  }
  return order;
}

std::string describe(const Step& step, int accumulator) {
  std::vector<std::pair<int, std::string>> pieces;  // ordered by the smallest term, the accumulator first
  const auto rank = [&](int term) { return term == accumulator ? -1 : term; };
  for (const Step& part : step.parts) {
    pieces.emplace_back(part.holds(accumulator) ? -1 : part.first(), "(" + describe(part, accumulator) + ")");
  }
  std::vector<int> terms = step.terms;
  std::sort(terms.begin(), terms.end(), [&](int x, int y) { return rank(x) < rank(y); });
  for (std::size_t i = 0; i < terms.size();) {
    std::size_t end = i + 1;
    while (end < terms.size() && rank(terms[i]) >= 0 && terms[end] == terms[end - 1] + 1) ++end;
    std::string text = name_of(terms[i], accumulator);
    if (end - i == 2) text += " + " + name_of(terms[end - 1], accumulator);
    if (end - i > 2) text += ".." + std::to_string(terms[end - 1]);
    pieces.emplace_back(rank(terms[i]), text);
    i = end;
  }
  std::sort(pieces.begin(), pieces.end());
  std::string text;
  for (const auto& [first, piece] : pieces) text += (text.empty() ? "" : " + ") + piece;
  return text;
}

std::vector<const Step*> steps_in_order(const Step& last) {
  std::vector<const Step*> steps;
  collect(last, steps);
  return steps;
}

}  // namespace tenon::probing
