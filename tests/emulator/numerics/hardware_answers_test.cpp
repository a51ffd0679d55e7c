// The emulator against a GPU's answers to random operands (written by hardware_vectors --write).
#include "emulator/numerics/hardware_answers.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace tenon::emulator::numerics {
namespace {

void expect_answers(const HardwareAnswers& answers, Model model, int& compared) {
  for (const HardwareAnswers::Line& line : answers.lines()) {
    const NamedForm* found = find_form(line.text);
    ASSERT_NE(found, nullptr) << line.text;
    NamedForm named = *found;
    named.form.selector = line.selector;
    ASSERT_EQ(HardwareAnswers::checksum(named, answers.seed()), line.checksum)
        << "the operands are made otherwise now than when the GPU was asked: run hardware_vectors --write "
           "again";
    ASSERT_EQ(line.results.size(), HardwareAnswers::sets * HardwareAnswers::results);
    RandomOperands operands(named);
    std::size_t next = 0;
    for (std::uint64_t set = 0; set < HardwareAnswers::sets; ++set) {
      Registers registers{};
      operands.fill(answers.seed(), set, registers);
      operands.mma()(model, registers);
      for (int i = 0; i < HardwareAnswers::results; ++i) {
        const auto [reg, lane] = HardwareAnswers::position(operands.mma(), set, i);
        EXPECT_EQ(registers.d[reg][lane], line.results[next++])
            << line.text << " selector " << line.selector << " set " << set << " register " << reg << " lane "
            << lane;
        ++compared;
      }
    }
  }
}

TEST(HardwareAnswers, AreTheEmulatorsToo) {
  std::ifstream file(TENON_HARDWARE_ANSWERS);
  if (!file.is_open()) {
    GTEST_SKIP() << "no answers of a GPU are kept yet: hardware_vectors --write makes "
                 << TENON_HARDWARE_ANSWERS;
  }
  const HardwareAnswers answers = HardwareAnswers::read(file);
  int compared = 0;
  expect_answers(answers, model_of_target(answers.sm()), compared);
  EXPECT_GT(compared, 10000);
}

// The file's format and the comparison, without a GPU: the emulator's own answers round-trip, and answers of
// another model are found to differ.
TEST(HardwareAnswers, AreReadAsTheyWereWritten) {
  const NamedForm* named = find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  ASSERT_NE(named, nullptr);
  HardwareAnswers answers(5, 90);
  RandomOperands operands(*named);
  int differ = 0;
  for (std::uint64_t set = 0; set < HardwareAnswers::sets; ++set) {
    Registers registers{}, other{};
    operands.fill(5, set, registers);
    other = registers;
    operands.mma()(Model::sm_90, registers);
    operands.mma()(Model::sm_80, other);
    for (int lane = 0; lane < 32; ++lane) differ += registers.d[0][lane] != other.d[0][lane] ? 1 : 0;
    answers.keep(*named, set, [&](int reg, int lane) { return registers.d[reg][lane]; });
  }
  EXPECT_GT(differ, 50);
  const std::string file = ::testing::TempDir() + "tenon_hardware_answers.txt";
  answers.write(file);
  std::ifstream in(file);
  const HardwareAnswers back = HardwareAnswers::read(in);
  EXPECT_EQ(back.seed(), 5U);
  EXPECT_EQ(back.sm(), 90);
  int compared = 0;
  expect_answers(back, Model::sm_90, compared);
  EXPECT_EQ(compared, static_cast<int>(HardwareAnswers::sets) * HardwareAnswers::results);
  std::istringstream bad("something else\n");
  EXPECT_THROW(HardwareAnswers::read(bad), std::runtime_error);
}

}  // namespace
}  // namespace tenon::emulator::numerics
