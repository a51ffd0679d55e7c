// Questions to one matrix instruction, and what it answered: the black box that the probes ask. A question is
// one element of the result, k products and an accumulator; the numbers are put into registers, and the
// answer is taken out of them, here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "microbench/numerics/subject.hpp"

namespace tenon::probing {

// Bit patterns, of the form's types: k factors of each operand (of a sparse A: those that are stored).
struct Question {
  std::vector<std::uint64_t> a, b;
  std::uint64_t c = 0;
};

// An executed set: up to `per_set` questions, question i in row i and column i.
struct Asked {
  std::string what;
  int questions = 0;
  emulator::numerics::Registers registers;
};

class Interview {
 public:
  static constexpr int per_set = 8;

  Interview(Subject& subject, const emulator::numerics::NamedForm& named);

  const emulator::numerics::NamedForm& named() const { return named_; }
  const emulator::numerics::Mma& mma() const { return mma_; }
  bool is_integer() const { return named_.form.d == emulator::ptx::Type::s32; }
  // Of the types; not of integers.
  const emulator::numerics::Format& a() const { return format(named_.form.a); }
  const emulator::numerics::Format& b() const { return format(named_.form.b); }
  const emulator::numerics::Format& c() const { return format(named_.form.c); }
  const emulator::numerics::Format& d() const { return format(named_.form.d); }

  // The terms of the sum: the products 0 .. products() - 1 and the accumulator.
  int products() const { return products_; }
  int accumulator() const { return products_; }
  int terms() const { return products_ + 1; }

  Question zeros() const;
  // Makes a term the value. False where the formats do not hold it: the question is not to be asked then.
  // Factors are normal numbers where they can be.
  bool put(Question& question, int term, double value) const;
  // The least and the largest exponent of a power of two that every term of a sum and the sum can be.
  int lowest_exponent() const;
  int highest_exponent() const;

  std::vector<std::uint64_t> ask(const std::string& what, const std::vector<Question>& questions);
  std::vector<double> ask_values(const std::string& what, const std::vector<Question>& questions);
  const std::vector<Asked>& asked() const { return asked_; }

  // Element (i, i) of the result.
  std::uint64_t answer(const emulator::numerics::Registers& registers, int i) const;

 private:
  static const emulator::numerics::Format& format(emulator::ptx::Type type) {
    return emulator::numerics::format_of(type);
  }
  void lay(const std::vector<Question>& questions, std::size_t first, Asked& asked) const;

  Subject& subject_;
  emulator::numerics::NamedForm named_;
  emulator::numerics::Mma mma_;
  int products_;
  std::vector<Asked> asked_;
};

}  // namespace tenon::probing
