// Questions to one matrix instruction and its answers: how the probes use the instruction as a black box. A
// question is one element of the result: k products and an accumulator. An Interview writes the numbers of
// the questions to registers, executes the instruction, and reads the answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "microbench/numerics/subject.hpp"

namespace tenon::probing {

// Bit patterns of the form's types: k factors of each operand (of a sparse A, the stored ones).
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
  // Formats of the operand types; not for integers.
  const emulator::numerics::Format& a() const { return format(named_.form.a); }
  const emulator::numerics::Format& b() const { return format(named_.form.b); }
  const emulator::numerics::Format& c() const { return format(named_.form.c); }
  const emulator::numerics::Format& d() const { return format(named_.form.d); }

  // The terms of the sum: the products 0 .. products() - 1 and the accumulator.
  int products() const { return products_; }
  int accumulator() const { return products_; }
  int terms() const { return products_ + 1; }

  Question zeros() const;
  // Sets a term to the value. Returns false if the formats cannot represent it; then the question must not be
  // asked. Factors are normal numbers where possible.
  bool put(Question& question, int term, double value) const;
  // The least and largest exponent of a power of two that every term and the result can represent.
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
