// A GPU's answers to random operands, as a file: a line per form with 4 results of each of the first sets.
// The operands are not in the file: RandomOperands generates them again from the seed, and a checksum
// verifies them.
//
//   tenon hardware answers seed 1 sm 90
//   <text> <selector> <checksum> <result> <result> ...
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulator/numerics/random_operands.hpp"

namespace tenon::emulator::numerics {

class HardwareAnswers {
 public:
  static constexpr std::uint64_t sets = 2 * RandomOperands::characters;
  static constexpr int results = 4;  // of a set

  struct Line {
    std::string text;
    int selector = 0;
    std::uint64_t checksum = 0;
    std::vector<std::uint64_t> results;  // [set][result]
  };

  HardwareAnswers(std::uint64_t seed, int sm) : seed_(seed), sm_(sm) {}

  // Register and lane of result i of a set: they vary over all of D from set to set.
  static std::pair<int, int> position(const Mma& mma, std::uint64_t set, int i) {
    const int all = 32 * mma.d().registers();
    const int chosen =
        static_cast<int>((set * 7 + static_cast<std::uint64_t>(i) * 29) % static_cast<unsigned>(all));
    return {chosen / 32, chosen % 32};
  }

  static std::uint64_t checksum(const NamedForm& named, std::uint64_t seed) {
    RandomOperands operands(named);
    std::uint64_t sum = 0xcbf29ce484222325;
    for (std::uint64_t set = 0; set < sets; ++set) {
      Registers registers{};
      operands.fill(seed, set, registers);
      const auto add = [&](const Fragment& fragment, const std::uint64_t(*regs)[32]) {
        for (int i = 0; i < 32 * fragment.registers(); ++i)
          sum = (sum ^ regs[i / 32][i % 32]) * 0x100000001b3;
      };
      add(operands.mma().a(), registers.a);
      add(operands.mma().b(), registers.b);
      add(operands.mma().c(), registers.c);
      for (std::uint64_t lane : registers.metadata) sum = (sum ^ lane) * 0x100000001b3;
    }
    return sum;
  }

  // `result(reg, lane)`: of the GPU. Sets must come in order.
  template <typename Result>
  void keep(const NamedForm& named, std::uint64_t set, Result result) {
    if (set >= sets || named.is_alternative) return;
    if (set == 0) lines_.push_back({named.text, named.form.selector, checksum(named, seed_), {}});
    const Mma mma(named.form);
    for (int i = 0; i < results; ++i) {
      const auto [reg, lane] = position(mma, set, i);
      lines_.back().results.push_back(result(reg, lane));
    }
  }

  void write(const std::string& file) const {
    std::ofstream out(file);
    out << "tenon hardware answers seed " << seed_ << " sm " << sm_ << "\n" << std::hex;
    for (const Line& line : lines_) {
      out << line.text << ' ' << line.selector << ' ' << line.checksum;
      for (std::uint64_t result : line.results) out << ' ' << result;
      out << "\n";
    }
    if (!out.flush()) throw std::runtime_error("cannot write " + file);
  }

  static HardwareAnswers read(std::istream& in) {
    std::string words[5];
    std::uint64_t seed = 0;
    int sm = 0;
    in >> words[0] >> words[1] >> words[2] >> words[3] >> seed >> words[4] >> sm;
    if (!in || words[1] != "hardware" || words[2] != "answers") {
      throw std::runtime_error("the file does not begin with `tenon hardware answers seed S sm N`");
    }
    HardwareAnswers answers(seed, sm);
    std::string text;
    std::getline(in, text);
    while (std::getline(in, text)) {
      std::istringstream words_of_line(text);
      Line line;
      words_of_line >> line.text >> std::hex >> line.selector >> line.checksum;
      for (std::uint64_t result = 0; words_of_line >> result;) line.results.push_back(result);
      answers.lines_.push_back(std::move(line));
    }
    return answers;
  }

  std::uint64_t seed() const { return seed_; }
  int sm() const { return sm_; }
  const std::vector<Line>& lines() const { return lines_; }

 private:
  std::uint64_t seed_;
  int sm_;
  std::vector<Line> lines_;
};

}  // namespace tenon::emulator::numerics
