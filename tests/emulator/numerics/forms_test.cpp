// The list of forms against the catalogue that the library's wrappers are checked with: one comes from the
// PTX ISA's grammar, the other from what the assembler accepts.
#include "emulator/numerics/forms.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

namespace tenon::emulator::numerics {
namespace {

TEST(Forms, HaveDistinctTextsThatAreFound) {
  std::set<std::string> texts;
  for (const NamedForm& form : forms()) {
    EXPECT_TRUE(texts.insert(form.text).second) << form.text;
    EXPECT_EQ(find_form(form.text), &form);
  }
  EXPECT_EQ(texts.size(), 336U);
  EXPECT_EQ(find_form("mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32"), nullptr);
  EXPECT_EQ(find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16"), nullptr);
  EXPECT_EQ(find_form("mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16"), nullptr);
  const NamedForm* as_nvcc_writes_it = find_form("wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rz");
  ASSERT_NE(as_nvcc_writes_it, nullptr);
  EXPECT_EQ(as_nvcc_writes_it->text, "wmma.mma.sync.aligned.row.col.m8n8k4.rz.f64.f64.f64.f64");
  EXPECT_EQ(find_form("wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rx"), nullptr);
}

TEST(Forms, HoldEveryMmaOfTheCatalogue) {
  std::ifstream catalogue(TENON_INSTRUCTIONS_CSV);
  ASSERT_TRUE(catalogue.is_open()) << TENON_INSTRUCTIONS_CSV;
  int found = 0;
  for (std::string line; std::getline(catalogue, line);) {
    if (line.rfind("\"mma", 0) != 0 && line.rfind("\"wmma.mma", 0) != 0) continue;
    // The last column begins with the first architecture: the emulator knows none from 100 on.
    if (line[line.rfind(',') + 1] == '1') continue;
    const std::string text = line.substr(1, line.find(' ') - 1);
    EXPECT_NE(find_form(text), nullptr) << text;
    ++found;
  }
  EXPECT_GT(found, 300);
}

}  // namespace
}  // namespace tenon::emulator::numerics
