#include "microbench/numerics/interview.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::probing {

using namespace emulator::numerics;

namespace {

// The sparsity metadata: indices 0 and 1 of four for every group of A.
constexpr std::uint64_t first_two_of_four = 0x44444444;

// Calls work(register, shift, place, mask) for every element of a fragment.
template <typename Work>
void for_each_element(const Fragment& fragment, Work work) {
  const int bits = fragment.element_bits();
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits);
  for (int lane = 0; lane < Fragment::lanes; ++lane) {
    for (int reg = 0; reg < fragment.registers(); ++reg) {
      for (int element = 0; element < fragment.elements(); ++element) {
        work(reg, lane, bits * element, fragment.at(lane, reg, element), mask);
      }
    }
  }
}

}  // namespace

Interview::Interview(Subject& subject, const NamedForm& named)
    : subject_(subject),
      named_(named),
      mma_(named.form),
      products_(named.form.sparse ? named.form.shape.k / 2 : named.form.shape.k) {}

Question Interview::zeros() const {
  Question question;
  question.a.assign(static_cast<std::size_t>(products_), 0);
  question.b = question.a;
  return question;
}

bool Interview::put(Question& question, int term, double value) const {
  if (!std::isfinite(value)) return false;
  if (term == accumulator()) {
    question.c = from_double(c(), value);
    return to_double(c(), question.c) == value;
  }
  const int exponent = std::ilogb(value);
  const int low = b().minimum_exponent(), high = b().maximum_exponent();
  for (const bool may_be_subnormal : {false, true}) {
    const int lowest_b = low - (may_be_subnormal ? b().fraction_bits : 0);
    const int middle = std::clamp(static_cast<int>(std::floor(exponent / 2.0)), lowest_b, high);
    for (int away = 0; away <= high - lowest_b; ++away) {
      for (const int exponent_b : {middle + away, middle - away}) {
        if (exponent_b < lowest_b || exponent_b > high) continue;
        if (!may_be_subnormal && exponent - exponent_b < a().minimum_exponent()) continue;
        const double factor = std::ldexp(value, -exponent_b);
        const std::uint64_t pattern = from_double(a(), factor);
        if (to_double(a(), pattern) != factor) continue;
        question.a[static_cast<std::size_t>(term)] = pattern;
        question.b[static_cast<std::size_t>(term)] = from_double(b(), std::ldexp(1.0, exponent_b));
        return true;
      }
    }
  }
  return false;
}

int Interview::lowest_exponent() const {
  const auto least = [](const Format& format) { return format.minimum_exponent() - format.fraction_bits; };
  return std::max({least(a()) + least(b()), least(c()), least(d())});
}

int Interview::highest_exponent() const {
  return std::min(
      {a().maximum_exponent() + b().maximum_exponent(), c().maximum_exponent(), d().maximum_exponent()});
}

void Interview::lay(const std::vector<Question>& questions, std::size_t first, Asked& asked) const {
  Registers& registers = asked.registers;
  registers = {};
  std::fill(std::begin(registers.metadata), std::end(registers.metadata), first_two_of_four);
  const auto question = [&](int i) -> const Question& {
    return questions[first + static_cast<std::size_t>(i)];
  };
  for_each_element(mma_.a(), [&](int reg, int lane, int shift, Coord at, std::uint64_t mask) {
    if (at.row >= asked.questions) return;
    registers.a[reg][lane] |= (question(at.row).a[static_cast<std::size_t>(at.column)] & mask) << shift;
  });
  // The product to which a row of B belongs; with a sparse A, rows without a stored element stay zero.
  const Form& form = named_.form;
  std::vector<int> product(static_cast<std::size_t>(form.shape.k), form.sparse ? -1 : 0);
  for (int i = 0; i < products_; ++i) {
    const int row =
        form.sparse ? sparse_column(form.shape, form.a, form.selector, registers.metadata, 0, i) : i;
    product[static_cast<std::size_t>(row)] = i;
  }
  for_each_element(mma_.b(), [&](int reg, int lane, int shift, Coord at, std::uint64_t mask) {
    const int i = product[static_cast<std::size_t>(at.row)];
    if (at.column >= asked.questions || i < 0) return;
    registers.b[reg][lane] |= (question(at.column).b[static_cast<std::size_t>(i)] & mask) << shift;
  });
  for_each_element(mma_.c(), [&](int reg, int lane, int shift, Coord at, std::uint64_t mask) {
    if (at.row >= asked.questions || at.row != at.column) return;
    registers.c[reg][lane] |= (question(at.row).c & mask) << shift;
  });
}

std::uint64_t Interview::answer(const Registers& registers, int i) const {
  std::uint64_t bits = 0;
  for_each_element(mma_.d(), [&](int reg, int lane, int shift, Coord at, std::uint64_t mask) {
    if (at.row == i && at.column == i) bits = registers.d[reg][lane] >> shift & mask;
  });
  return bits;
}

std::vector<std::uint64_t> Interview::ask(const std::string& what, const std::vector<Question>& questions) {
  const std::size_t before = asked_.size();
  std::vector<Registers> sets;
  for (std::size_t first = 0; first < questions.size(); first += per_set) {
    asked_.emplace_back();
    asked_.back().what = what;
    asked_.back().questions = static_cast<int>(std::min<std::size_t>(per_set, questions.size() - first));
    lay(questions, first, asked_.back());
    sets.push_back(asked_.back().registers);
  }
  if (sets.empty()) return {};
  subject_.execute(named_, sets);
  std::vector<std::uint64_t> answers;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    Asked& asked = asked_[before + i];
    asked.registers = sets[i];
    for (int j = 0; j < asked.questions; ++j) answers.push_back(answer(asked.registers, j));
  }
  return answers;
}

std::vector<double> Interview::ask_values(const std::string& what, const std::vector<Question>& questions) {
  std::vector<double> values;
  for (const std::uint64_t pattern : ask(what, questions)) values.push_back(to_double(d(), pattern));
  return values;
}

}  // namespace tenon::probing
