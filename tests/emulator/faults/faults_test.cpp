// Kernels with one planted fault each. The emulator must report the fault at its line and nothing else, and
// report nothing about the corrected version, whatever the schedule.
//
// A .ptx file of this folder holds both versions. The text as written has the fault. The corrected version
// drops lines that end in a comment with the word `fault`, and executes the instruction of lines `//fix:
// INSTRUCTION`; line numbers stay the same. A comment `finding: KIND` at an instruction names the finding
// there. If the schedule decides how the same fault shows, the comments are `sometimes: KIND`, the text above
// explains it, and each schedule must find at least one of them. The comment `// launch:` gives the sizes of
// the launch. The names of the entry's parameters say what they are: see the function `arguments`.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tenon/emulator/emulator.hpp"
#include "tenon/emulator/tensor_map.hpp"

namespace tenon::emulator {
namespace {

constexpr std::size_t buffer_bytes = 4096;
constexpr int random_schedules = 100;

struct Fault {
  std::string name;
  std::string faulty, corrected;            // texts
  std::set<std::string> always, sometimes;  // "race at line 17"
  Shape shape;
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.name;
}

Dim3 size_named(const std::string& launch, const char* what) {
  Dim3 size;
  std::smatch match;
  if (std::regex_search(launch, match, std::regex(std::string("\\b") + what + " (\\d+)")))
    size.x = static_cast<std::uint32_t>(std::stoul(match[1]));
  return size;
}

Fault read_fault(const std::filesystem::path& path) {
  static const std::regex fix("^( *)//fix: (.*)$"), fault("//.*\\bfault\\b"),
      finding("//.*(finding|sometimes): (\\w+)");
  Fault result;
  result.name = path.stem().string();
  std::ifstream file(path);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    result.faulty += line + "\n";
    std::smatch match;
    const bool is_comment = line.compare(0, 3, "// ") == 0;
    if (!is_comment && std::regex_search(line, match, finding))
      (match[1] == "finding" ? result.always : result.sometimes)
          .insert(match[2].str() + " at line " + std::to_string(number));
    if (line.compare(0, 10, "// launch:") == 0) {
      result.shape.grid = size_named(line, "grid");
      result.shape.block = size_named(line, "block");
      if (line.find("cluster") != std::string::npos) result.shape.cluster = size_named(line, "cluster");
    }
    if (std::regex_match(line, match, fix))
      line = match[1].str() + match[2].str();
    else if (!is_comment && std::regex_search(line, fault))
      line.clear();
    result.corrected += line + "\n";
  }
  return result;
}

std::vector<Fault> all_faults() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(TENON_FAULT_MODULES))
    if (entry.path().extension() == ".ptx") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Fault> faults;
  for (const auto& path : paths) faults.push_back(read_fault(path));
  return faults;
}

// in: a filled buffer; out: an unwritten one; freed; null; map: a tensor map of 16 x 16 f32 over a filled
// buffer, with a box of the same size.
std::vector<Argument> arguments(Emulator& emulator, const Module& module, const std::string& entry) {
  std::vector<Argument> list;
  for (const Parameter& parameter : module.parameters(entry)) {
    const Address buffer = emulator.allocate(buffer_bytes);
    if (parameter.name == "in" || parameter.name == "map") {
      std::vector<std::uint32_t> values(buffer_bytes / 4);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i + 1);
      emulator.copy_in(buffer, values.data(), buffer_bytes);
    }
    if (parameter.name == "freed") emulator.free(buffer);
    if (parameter.name == "map") {
      const std::uint64_t dimensions[] = {16, 16}, strides[] = {64};
      const std::uint32_t box[] = {16, 16}, steps[] = {1, 1};
      list.emplace_back(encode_tiled(TensorMapType::float32, 2, buffer, dimensions, strides, box, steps,
                                     TensorMapInterleave::none, TensorMapSwizzle::none,
                                     TensorMapL2Promotion::none, TensorMapFill::zeros));
    } else {
      list.emplace_back(parameter.name == "null" ? Address{0} : buffer);
    }
  }
  return list;
}

struct Outcome {
  std::set<std::string> found;
  std::string messages;
};

Outcome run(const std::string& text, const Fault& fault, Schedule schedule, std::uint64_t seed) {
  Emulator emulator;
  const Module module = emulator.load(text);
  Options options;
  options.schedule = schedule;
  options.seed = seed;
  options.threads = 1;
  const Result result =
      emulator.launch(module, fault.name, fault.shape, arguments(emulator, module, fault.name), options);
  Outcome outcome;
  for (const Finding& finding : result.findings) {
    EXPECT_EQ(finding.entry, fault.name);
    EXPECT_GE(finding.count, 1u);
    EXPECT_FALSE(finding.message.empty());
    for (const Finding::Line& line : finding.lines) {
      outcome.found.insert(std::string(name(finding.kind)) + " at line " + std::to_string(line.ptx_line));
      outcome.messages += "  line " + std::to_string(line.ptx_line) + ": " + line.message + "\n";
    }
  }
  return outcome;
}

template <class Check>
void for_each_schedule(const std::string& text, const Fault& fault, Check&& check) {
  check(run(text, fault, Schedule::early, 0), "early");
  check(run(text, fault, Schedule::late, 0), "late");
  for (std::uint64_t seed = 0; seed < random_schedules && !::testing::Test::HasFailure(); ++seed)
    check(run(text, fault, Schedule::random, seed), "random:" + std::to_string(seed));
}

class Faults : public ::testing::TestWithParam<Fault> {};

TEST_P(Faults, IsFoundAtItsLineAndNothingElse) {
  const Fault& fault = GetParam();
  ASSERT_FALSE(fault.always.empty() && fault.sometimes.empty()) << "no line says what is to be found there";
  std::set<std::string> possible = fault.always, seen;
  possible.insert(fault.sometimes.begin(), fault.sometimes.end());
  for_each_schedule(fault.faulty, fault, [&](const Outcome& outcome, const std::string& schedule) {
    EXPECT_FALSE(outcome.found.empty()) << "under the schedule " << schedule;
    std::set<std::string> expected = fault.always;  // and those of the others that were found
    for (const std::string& finding : outcome.found)
      if (possible.count(finding) != 0) expected.insert(finding);
    EXPECT_EQ(outcome.found, expected) << "under the schedule " << schedule << "\n" << outcome.messages;
    seen.insert(outcome.found.begin(), outcome.found.end());
  });
  EXPECT_EQ(seen, possible) << "in all schedules together";
}

TEST_P(Faults, CorrectedVersionIsClean) {
  const Fault& fault = GetParam();
  ASSERT_NE(fault.faulty, fault.corrected);
  for_each_schedule(fault.corrected, fault, [&](const Outcome& outcome, const std::string& schedule) {
    EXPECT_EQ(outcome.found, std::set<std::string>{}) << "under the schedule " << schedule << "\n"
                                                      << outcome.messages;
  });
}

INSTANTIATE_TEST_SUITE_P(Modules, Faults, ::testing::ValuesIn(all_faults()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::emulator
