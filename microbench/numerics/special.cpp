#include "microbench/numerics/special.hpp"

#include <cmath>
#include <cstdio>

namespace tenon::probing {

using namespace emulator::numerics;

namespace {

std::string hexadecimal(std::uint64_t pattern) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(pattern));
  return text;
}

class Traits {
 public:
  explicit Traits(Interview& interview) : interview_(interview) {}

  std::vector<Trait> floating() {
    subnormals();
    zeros();
    not_finite();
    overflow();
    return std::move(traits_);
  }

  std::vector<Trait> integers() {
    const Form& form = interview_.named().form;
    // The product that adds one: for b1 the population count of x AND 1, or of 1 XOR 0.
    const std::uint64_t other = form.exclusive ? 0 : 1;
    constexpr std::uint64_t largest = 0x7fffffff, wrapped = 0x80000000;
    Question beyond = interview_.zeros();
    beyond.a[0] = 1, beyond.b[0] = other;
    beyond.c = largest;
    const std::uint64_t answer = ask("overflow of the sum", beyond);
    add("overflow of the sum", answer == wrapped   ? "wraps"
                               : answer == largest ? "clamps"
                                                   : hexadecimal(answer));
    const bool is_signed = form.a == emulator::ptx::Type::s8 || form.a == emulator::ptx::Type::s4;
    if (!is_signed) return std::move(traits_);
    // Exceeds the largest value by one, and the last product subtracts again: clamped once, or after every
    // step.
    Question back = beyond;
    back.a.back() = (std::uint64_t{1} << element_bits(form.a)) - 1;  // -1
    back.b.back() = 1;
    const std::uint64_t there = ask("overflow that later products undo", back);
    add("overflow that later products undo", there == largest       ? "is not seen"
                                             : there == largest - 1 ? "was clamped"
                                                                    : hexadecimal(there));
    return std::move(traits_);
  }

 private:
  void add(const std::string& what, const std::string& answer) { traits_.push_back({what, answer}); }
  std::uint64_t ask(const char* what, const Question& question) {
    return interview_.ask(what, {question}).front();
  }
  std::uint64_t power(const Format& format, int exponent) const {
    return from_double(format, std::ldexp(1.0, exponent));
  }

  void subnormals() {
    const Format &a = interview_.a(), &b = interview_.b(), &c = interview_.c(), &d = interview_.d();
    Question factor = interview_.zeros();
    factor.a[0] = 1;  // the smallest subnormal
    const int exponent = a.minimum_exponent() - a.fraction_bits, up = b.maximum_exponent() - 1;
    factor.a[0] <<= a.padding_bits;
    factor.b[0] = power(b, up);
    if (exponent + up >= d.minimum_exponent()) {
      const std::uint64_t answer = ask("subnormal factors", factor);
      add("subnormal factors", answer == power(d, exponent + up) ? "kept"
                               : answer == 0                     ? "flushed to zero"
                                                                 : hexadecimal(answer));
    }
    Question accumulator = interview_.zeros();
    accumulator.c = 1;
    const double least = std::ldexp(1.0, c.minimum_exponent() - c.fraction_bits);
    const std::uint64_t answer = ask("subnormal accumulator and result", accumulator);
    add("subnormal accumulator and result", answer == from_double(d, least) ? "kept"
                                            : answer == 0                   ? "flushed to zero"
                                                                            : hexadecimal(answer));
  }

  void zeros() {
    const Format &a = interview_.a(), &b = interview_.b(), &c = interview_.c(), &d = interview_.d();
    Question negative = interview_.zeros();
    for (std::uint64_t& x : negative.a) x = a.sign_bit();
    negative.c = c.sign_bit();
    const auto signed_zero = [&](std::uint64_t answer) -> std::string {
      return answer == 0 ? "+0" : answer == d.sign_bit() ? "-0" : hexadecimal(answer);
    };
    add("sum of negative zeros", signed_zero(ask("sum of negative zeros", negative)));
    Question cancelled = interview_.zeros();
    if (interview_.put(cancelled, 0, -1.0) && interview_.put(cancelled, 1, 1.0)) {
      add("-1 + 1", signed_zero(ask("-1 + 1", cancelled)));
    }
    // Zero times the largest power of two, beside a small product: if the zero had an exponent, it would
    // shift the small product out.
    Question zero = interview_.zeros();
    zero.b[0] = power(b, b.maximum_exponent());
    const int small = a.minimum_exponent() + b.maximum_exponent() - 40;
    if (small < interview_.lowest_exponent() || !interview_.put(zero, 1, std::ldexp(1.0, small))) return;
    const double left = interview_.ask_values("a zero beside a small product", {zero}).front();
    add("exponent of a zero product", left == std::ldexp(1.0, small) ? "not looked at" : "aligns the others");
  }

  void not_finite() {
    const Format &a = interview_.a(), &b = interview_.b(), &c = interview_.c();
    Question question = interview_.zeros();
    question.a[0] = a.nan();
    question.b[0] = power(b, 0);
    add("NaN factor", hexadecimal(ask("NaN factor", question)));
    question = interview_.zeros();
    question.c = c.infinity() | 1;  // a NaN with a payload
    add("NaN accumulator " + hexadecimal(question.c), hexadecimal(ask("NaN accumulator", question)));
    if (a.has_infinity) {
      question = interview_.zeros();
      question.a[0] = a.infinity();
      add("infinity times zero", hexadecimal(ask("infinity times zero", question)));
      question.b[0] = power(b, 0);
      question.c = c.infinity() | c.sign_bit();
      add("infinity minus infinity", hexadecimal(ask("infinity minus infinity", question)));
    }
  }

  void overflow() {
    const Format &c = interview_.c(), &d = interview_.d();
    if (c.bits() != d.bits()) return;
    const auto outcome = [&](std::uint64_t answer) -> std::string {
      return answer == d.infinity()  ? "infinity"
             : answer == d.largest() ? "the largest number"
                                     : hexadecimal(answer);
    };
    // The largest number plus half of its last place.
    Question half = interview_.zeros();
    half.c = c.largest();
    if (interview_.put(half, 0, std::ldexp(1.0, c.maximum_exponent() - c.fraction_bits - 1))) {
      add("largest number + half its last place", outcome(ask("largest number + half its last place", half)));
    }
    Question twice = interview_.zeros();
    twice.c = c.largest();
    if (interview_.put(twice, 0, std::ldexp(1.0, c.maximum_exponent()))) {
      add("sum beyond the largest number", outcome(ask("sum beyond the largest number", twice)));
    }
    // Products too large for any result, which cancel.
    const int beyond = c.maximum_exponent() + 3;
    Question range = interview_.zeros();
    if (interview_.put(range, 0, std::ldexp(1.0, beyond)) &&
        interview_.put(range, 1, -std::ldexp(1.0, beyond))) {
      const std::uint64_t answer = ask("cancelling products beyond the result's range", range);
      add("cancelling products beyond the result's range", answer == 0 ? "0" : hexadecimal(answer));
    }
  }

  Interview& interview_;
  std::vector<Trait> traits_;
};

}  // namespace

std::vector<Trait> find_traits(Interview& interview) {
  Traits traits(interview);
  return interview.is_integer() ? traits.integers() : traits.floating();
}

}  // namespace tenon::probing
