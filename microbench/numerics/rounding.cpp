#include "microbench/numerics/rounding.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::probing {
namespace {

// Asks about one step through its terms and one term of each part (alone in its part, that term passes
// through the part unchanged).
class StepProbe {
 public:
  StepProbe(Interview& interview, const Step& step) : interview_(interview) {
    for (const Step& part : step.parts) {
      if (part.holds(interview.accumulator())) {
        has_accumulator_ = true;
      } else {
        products_.push_back(part.first());
      }
    }
    for (const int term : step.terms) {
      if (term == interview.accumulator()) {
        has_accumulator_ = true;
      } else {
        products_.push_back(term);
      }
    }
    terms_ = products_;
    if (has_accumulator_) terms_.push_back(interview.accumulator());
    largest_ = interview.highest_exponent() - 3;
    least_ = std::max(interview.lowest_exponent(), largest_ - 90);
  }

  StepRounding run() {
    StepRounding result;
    if (terms_.size() >= 3) {
      result.kept_bits = kept_bits();
      if (result.kept_bits) result.cut = cut(*result.kept_bits);
    }
    if (terms_.size() < 2) return result;
    result.result_bits = result_bits();
    if (result.result_bits) result.rounding = rounding(*result.result_bits);
    if (result.kept_bits && result.cut == Direction::to_zero && result.result_bits) {
      result.minimum_exponent = minimum_exponent(*result.kept_bits, *result.result_bits,
                                                 result.rounding == Direction::nearest_even);
    }
    return result;
  }

 private:
  // The result for these values, the first at the first term of this step, and so on. Empty: cannot be asked.
  std::optional<Question> sum(const std::vector<double>& values) const {
    if (values.size() > terms_.size()) return std::nullopt;
    Question question = interview_.zeros();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!interview_.put(question, terms_[i], values[i])) return std::nullopt;
    }
    return question;
  }

  // +1 and -1 cancel, and the result is what the small third term kept.
  std::optional<int> kept_bits() {
    const double one = std::ldexp(1.0, largest_);
    std::vector<Question> questions;
    for (int bits = 1; largest_ - bits >= least_; ++bits) {
      const auto question = small_term(std::ldexp(one, -bits), one);
      if (!question) break;
      questions.push_back(*question);
    }
    const std::vector<double> answers = interview_.ask_values("bits kept below the largest term", questions);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (answers[i] != std::ldexp(one, -static_cast<int>(i) - 1)) return static_cast<int>(i);
    }
    return std::nullopt;
  }

  // The small term is a product, because its format has smaller values.
  std::optional<Question> small_term(double small, double one) const { return sum({small, one, -one}); }

  Direction cut(int bits) {
    const double one = std::ldexp(1.0, largest_), unit = std::ldexp(one, -bits);
    std::vector<Question> questions;
    // 3/4 and 1/2 of the last kept bit, with both signs; then 3/2 of it, next to an odd value.
    for (const double part : {0.75, 0.5, 1.5, -0.75, -0.5, -1.5}) {
      const auto question = small_term(part * unit, one);
      if (!question) return Direction::unseen;
      questions.push_back(*question);
    }
    std::vector<double> answers = interview_.ask_values("how a term is cut", questions);
    for (double& answer : answers) answer /= unit;
    return direction_of(answers);
  }

  // The direction that explains the results for 0.75, 0.5, 1.5 and their negatives.
  static Direction direction_of(const std::vector<double>& x) {
    const auto is = [&](std::initializer_list<double> expected) {
      return std::equal(x.begin(), x.end(), expected.begin(), expected.end());
    };
    if (is({0, 0, 1, 0, 0, -1})) return Direction::to_zero;
    if (is({1, 0, 2, -1, 0, -2})) return Direction::nearest_even;
    if (is({1, 1, 2, -1, -1, -2})) return Direction::nearest_away;
    if (is({0, 0, 1, -1, -1, -2})) return Direction::down;
    if (is({1, 1, 2, 0, 0, -1})) return Direction::up;
    if (is({0.75, 0.5, 1.5, -0.75, -0.5, -1.5})) return Direction::unseen;
    return Direction::mixed;
  }

  // 1 + 2^-bits is unchanged as long as the result has the bit; at most all bits of its format.
  std::optional<int> result_bits() {
    const double one = std::ldexp(1.0, largest_);
    std::vector<Question> questions;
    for (int bits = 1; bits <= interview_.d().fraction_bits; ++bits) {
      const auto question = sum({std::ldexp(one, -bits), one});
      if (!question) return std::nullopt;
      questions.push_back(*question);
    }
    const std::vector<double> answers = interview_.ask_values("bits of the result", questions);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (answers[i] != one + std::ldexp(one, -static_cast<int>(i) - 1)) return static_cast<int>(i);
    }
    return interview_.d().fraction_bits;
  }

  // 1 + 1 is 2, whose last bit is twice that of 1: the sum keeps half of it and three halves, which lie
  // midway between two results. An accumulator that enters the step holds them itself; otherwise further
  // products do.
  Direction rounding(int bits) {
    const double one = std::ldexp(1.0, largest_), unit = std::ldexp(one, 1 - bits);
    std::vector<Question> questions;
    std::vector<double> expected;
    for (const double sign : {1.0, -1.0}) {
      for (const double part : {0.5, 1.5}) {
        std::optional<Question> question;
        if (has_accumulator_) {
          question = interview_.zeros();
          const bool fits = interview_.put(*question, interview_.accumulator(), sign * (one + part * unit)) &&
                            interview_.put(*question, products_.front(), sign * one);
          if (!fits) question.reset();
        } else if (part == 0.5) {
          question = sum({sign * one, sign * one, sign * 0.5 * unit});
        } else {
          question = sum({sign * one, sign * one, sign * 0.5 * unit, sign * unit});
        }
        if (!question) return Direction::unseen;
        questions.push_back(*question);
      }
    }
    const std::vector<double> answers = interview_.ask_values("how the result is rounded", questions);
    const auto over = [&](std::size_t i) { return (answers[i] - (i < 2 ? 2 : -2) * one) / unit; };
    const double x[] = {over(0), over(1), over(2), over(3)};
    const auto is = [&](double a, double b, double c, double d) {
      return x[0] == a && x[1] == b && x[2] == c && x[3] == d;
    };
    if (is(0, 1, 0, -1)) return Direction::to_zero;
    if (is(0, 2, 0, -2)) return Direction::nearest_even;
    if (is(1, 2, -1, -2)) return Direction::nearest_away;
    if (is(0, 1, -1, -2)) return Direction::down;
    if (is(1, 2, 0, -1)) return Direction::up;
    if (is(0.5, 1.5, -0.5, -1.5)) return Direction::unseen;
    return Direction::mixed;
  }

  // The result's last place is 2^end. 2^end - 2^q plus another 2^q makes it, unless 2^q is cut off (if the
  // result is rounded to nearest: half of it, which rounds to zero, plus another 2^q). The least q that
  // counts shows where the alignment stopped following the terms, all of them far below it.
  std::optional<int> minimum_exponent(int bits, int result_bits, bool to_nearest) {
    const emulator::numerics::Format& result = interview_.d();
    const int end = result.minimum_exponent() - result_bits;
    const std::uint64_t last_place = emulator::numerics::from_double(result, std::ldexp(1.0, end));
    std::vector<Question> questions;
    std::vector<int> largest_terms;
    for (int q = end - 2; q > end - 40; --q) {
      const std::vector<double> values =
          to_nearest ? std::vector{std::ldexp(1.0, q), std::ldexp(1.0, end - 1)} : ones_below(end, q);
      Question question = interview_.zeros();
      bool fits = values.size() <= products_.size();
      int largest = -100000;
      for (std::size_t i = 0; fits && i < values.size(); ++i) {
        fits = interview_.put(question, products_[i], values[i]);
        largest = std::max(largest, counted_exponent(question, products_[i]));
      }
      if (!fits) break;
      questions.push_back(question);
      largest_terms.push_back(largest);
    }
    const std::vector<std::uint64_t> answers = interview_.ask("where the alignment ends", questions);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (answers[i] == last_place) continue;
      const int found = end - 1 - static_cast<int>(i) + bits;  // for q one higher, which was kept
      // If the terms reach that high, the alignment follows them.
      if (i == 0 || found <= largest_terms[i]) return std::nullopt;
      return found;
    }
    return std::nullopt;
  }

  // 2^q, and 2^end - 2^q as few factors whose bits are all ones.
  std::vector<double> ones_below(int end, int q) const {
    std::vector<double> values = {std::ldexp(1.0, q)};
    for (int at = q; at < end;) {
      const int width = std::min(interview_.a().fraction_bits + 1, end - at);
      values.push_back(std::ldexp(std::ldexp(1.0, width) - 1, at));
      at += width;
    }
    return values;
  }

  // The exponent that the hardware uses: for a subnormal factor the smallest of its format.
  int counted_exponent(const Question& question, int product) const {
    const auto of = [](const emulator::numerics::Format& format, std::uint64_t pattern) {
      return std::max(std::ilogb(emulator::numerics::to_double(format, pattern)), format.minimum_exponent());
    };
    const auto i = static_cast<std::size_t>(product);
    return of(interview_.a(), question.a[i]) + of(interview_.b(), question.b[i]);
  }

  Interview& interview_;
  std::vector<int> products_;  // products of the step, including one for each part
  std::vector<int> terms_;     // then the accumulator, if it enters the step
  bool has_accumulator_ = false;
  int largest_ = 0, least_ = 0;  // exponents of the probes
};

}  // namespace

const char* name(Direction direction) {
  switch (direction) {
    case Direction::to_zero:
      return "toward zero";
    case Direction::nearest_even:
      return "to nearest even";
    case Direction::nearest_away:
      return "to nearest, ties away";
    case Direction::down:
      return "down";
    case Direction::up:
      return "up";
    case Direction::mixed:
      return "in no single direction";
    default:
      return "unseen";
  }
}

StepRounding find_rounding(Interview& interview, const Step& step) {
  return StepProbe(interview, step).run();
}

}  // namespace tenon::probing
