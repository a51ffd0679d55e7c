// The table that `tenon tune` keeps on the disk while it measures.
#include "command_line/tune_table.hpp"

#include <gtest/gtest.h>

#include <string>

#include "command_line/exit_status.hpp"
#include "command_line/temporary_folder.hpp"
#include "tenon/tuning.hpp"

namespace tenon::command {
namespace {

using test::TemporaryFolder;

TuningEntry entry(std::int64_t m) {
  TuningEntry result;
  Gemm problem;
  problem.m = m, problem.n = problem.k = 64;
  problem.a = {nullptr, 64, row_major, Type::f16};
  problem.b = {nullptr, 64, column_major, Type::f16};
  problem.c = {nullptr, 64, Type::f32};
  result.key = tuning_key(problem);
  result.kernel = result.documented = "one";
  result.microseconds = result.documented_microseconds = 1;
  return result;
}

TuningTable head() {
  TuningTable table;
  table.device = "a chip";
  table.sm = 90;
  table.multiprocessors = 132;
  return table;
}

std::size_t entries_in(const std::string& path) {
  Tuning tuning;
  const Status s = tuning.load(path.c_str());
  EXPECT_TRUE(s) << s.message();
  return tuning.size();
}

TEST(TuneTable, IsOnTheDiskAfterEachEntry) {
  const TemporaryFolder folder;
  const std::string path = folder.write("x.tune", "the old content");
  TuneTable table(head(), path);
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(folder.read("x.tune"), "the old content") << "nothing is measured yet";
  std::size_t count = 0;
  for (const std::int64_t m : {64, 16, 32}) {
    table.add(entry(m));
    EXPECT_EQ(entries_in(path), ++count);
  }
  const std::string text = folder.read("x.tune");
  EXPECT_EQ(text, table.text());
  EXPECT_LT(text.find("\"m\": 16,"), text.find("\"m\": 32,")) << "by size, in whatever order they came";
  EXPECT_LT(text.find("\"m\": 32,"), text.find("\"m\": 64,"));
  EXPECT_EQ(folder.files(), 1U);
}

TEST(TuneTable, WithoutAFile) {
  TuneTable table(head(), "");
  table.add(entry(64));
  table.write();
  EXPECT_NE(table.text().find("\"m\": 64,"), std::string::npos);
}

}  // namespace
}  // namespace tenon::command
