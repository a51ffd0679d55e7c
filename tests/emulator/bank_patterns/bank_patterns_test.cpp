// Wavefronts as an H200 counted them: h200.json holds ncu's numbers (record.py), which the emulator must
// match.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "emulator/bank_patterns/patterns.hpp"
#include "tenon/emulator/emulator.hpp"

namespace tenon::emulator {
namespace {

std::string text_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// The wavefronts of the one shared-memory access of a pattern.
class Counter {
 public:
  Counter() : module_(emulator_.load(text_of(TENON_PATTERNS_PTX))) {
    offsets_ = emulator_.allocate(32 * 4);
    out_ = emulator_.allocate(32 * 4);
  }
  std::uint64_t count(const bank_patterns::Pattern& pattern) {
    emulator_.copy_in(offsets_, pattern.offset.data(), 32 * 4);
    Options options;
    options.findings = false;  // the kernel reads memory that was never written
    options.threads = 1;
    const Result result = emulator_.launch(module_, bank_patterns::entries[static_cast<int>(pattern.access)],
                                           {{1}, {32}}, {offsets_, out_}, options);
    EXPECT_TRUE(result.findings.empty()) << pattern.name << ": " << result.findings[0].message;
    return result.counters.total.shared_wavefronts;
  }

 private:
  Emulator emulator_;
  Module module_;
  Address offsets_ = 0, out_ = 0;
};

TEST(BankPatterns, EveryPatternWasRecordedOnce) {
  const auto recorded = nlohmann::json::parse(text_of(TENON_PATTERNS_RECORDED))["patterns"];
  std::set<std::pair<std::string, std::string>> names;
  for (const auto& record : recorded)
    EXPECT_TRUE(names.emplace(record["entry"], record["pattern"]).second) << record;
  for (const auto& pattern : bank_patterns::all()) {
    const char* const entry = bank_patterns::entries[static_cast<int>(pattern.access)];
    EXPECT_EQ(names.erase({entry, pattern.name}), 1U) << entry << ", " << pattern.name;
  }
  EXPECT_TRUE(names.empty()) << names.begin()->second;
}

TEST(BankPatterns, TheEmulatorCountsWavefrontsAsTheHardwareDoes) {
  Counter counter;
  const auto patterns = bank_patterns::all();
  const auto recorded = nlohmann::json::parse(text_of(TENON_PATTERNS_RECORDED))["patterns"];
  ASSERT_EQ(recorded.size(), patterns.size());
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    EXPECT_EQ(counter.count(patterns[i]), recorded[i]["wavefronts"].get<std::uint64_t>())
        << recorded[i]["entry"] << ", " << patterns[i].name;
  }
}

}  // namespace
}  // namespace tenon::emulator
