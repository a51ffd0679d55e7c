// Tuning tables: their text, refusals, lookups, and the kernels that gemm() then runs.
#include "tenon/tuning.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "host/kernel_list.hpp"
#include "host/plan.hpp"
#include "host/tuning_table.hpp"
#include "host/tuning_text.hpp"
#include "tenon/tenon.h"

namespace tenon {
namespace {

using test::a100;
using test::h200;
using test::kernel_list;
using test::problem;

const std::string header =
    R"({"tenon_tuning": 1, "device": "NVIDIA H200", "sm": 90, "multiprocessors": 132, "entries": [)";

std::string entry(std::int64_t m, const std::string& kernel = "async_64x64", std::int64_t n = 4096,
                  std::int64_t k = 4096) {
  return R"({"a": "f16", "b": "f16", "accumulate": "f32", "c": "f32", "promote": false, "layout": "tn", "m": )" +
         std::to_string(m) + ", \"n\": " + std::to_string(n) + ", \"k\": " + std::to_string(k) +
         ", \"kernel\": \"" + kernel +
         R"(", "microseconds": 8.25, "documented": "tma_256x128", "documented_microseconds": 9.5})";
}

std::string table_of(const std::vector<std::string>& entries) {
  std::string text = header;
  for (const std::string& line : entries) text += (&line == entries.data() ? "\n" : ",\n") + line;
  return text + "\n]}\n";
}

Tuning loaded(const std::string& text) {
  Tuning tuning;
  const Status s = tuning.load_text(text.data(), text.size());
  EXPECT_TRUE(s) << s.message();
  return tuning;
}

std::string refusal(const std::string& text) {
  Tuning tuning;
  const Status s = tuning.load_text(text.data(), text.size());
  EXPECT_EQ(s.code(), StatusCode::invalid_argument) << text;
  EXPECT_EQ(tuning.size(), 0U);
  return s.message();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// The kernel that a table with entries for these m finds for m.
std::string nearest(const std::vector<std::int64_t>& measured, std::int64_t m) {
  std::vector<std::string> entries;
  entries.reserve(measured.size());
  for (const std::int64_t x : measured) entries.push_back(entry(x, "kernel_" + std::to_string(x)));
  const Tuning tuning = loaded(table_of(entries));
  const TuningEntry* found = find_tuning(*tuning.table(), problem(m, 4096, 4096));
  return found == nullptr ? "" : found->kernel;
}

std::string planned(const Gemm& p, const DeviceDescription& device = h200) {
  Plan plan;
  const Status s = make_plan(kernel_list(), p, device, &plan);
  EXPECT_TRUE(s) << s.message();
  return plan.kernel == nullptr ? "" : plan.kernel->name;
}

TEST(TuningText, AnEmptyTable) {
  const Tuning nothing;
  EXPECT_EQ(nothing.size(), 0U);
  EXPECT_STREQ(nothing.device(), "");
  EXPECT_EQ(nothing.table(), nullptr);
  const Tuning tuning = loaded(header + "]}");
  EXPECT_EQ(tuning.size(), 0U);
  EXPECT_STREQ(tuning.device(), "NVIDIA H200");
  EXPECT_EQ(tuning.sm(), 90);
  EXPECT_EQ(tuning.multiprocessors(), 132);
}

TEST(TuningText, WhatIsWrittenIsReadBack) {
  TuningTable table;
  table.device = "a \"device\" \\ with a \xC3\xA9";
  table.sm = 90;
  table.multiprocessors = 132;
  table.version = "0.1.0";
  table.commit = "c7689bf";
  table.toolkit = "CUDA 13.0";
  for (const std::int64_t m : {1, 64, 4096}) {
    for (const Type b : {Type::e4m3, Type::e5m2}) {
      for (const bool promote : {false, true}) {
        TuningEntry x;
        x.key = {Type::e4m3, b, Type::f32, Type::bf16, promote, row_major, column_major, 4096, 512, m};
        x.kernel = "fast_" + std::to_string(m);
        x.documented = "slow";
        x.microseconds = 8.125;
        x.documented_microseconds = 1234567.891;
        table.entries.push_back(x);
      }
    }
  }
  const std::string text = write_tuning(table);
  TuningTable read;
  const Status s = read_tuning("here", text.data(), text.size(), &read);
  ASSERT_TRUE(s) << s.message();
  EXPECT_EQ(read.device, "a \"device\" \\ with a ??");
  EXPECT_EQ(read.sm, 90);
  EXPECT_EQ(read.multiprocessors, 132);
  EXPECT_EQ(read.version, table.version);
  EXPECT_EQ(read.commit, table.commit);
  EXPECT_EQ(read.toolkit, table.toolkit);
  ASSERT_EQ(read.entries.size(), table.entries.size());
  for (std::size_t i = 0; i < read.entries.size(); ++i) {
    if (i != 0) {
      EXPECT_TRUE(read.entries[i - 1].key < read.entries[i].key) << i;
    }
  }
  for (const TuningEntry& x : table.entries) {
    Gemm p;
    p.m = x.key.m, p.n = x.key.n, p.k = x.key.k;
    p.a.type = x.key.a, p.b.type = x.key.b, p.c.type = x.key.c;
    p.b.order = column_major;
    p.promote = x.key.promote;
    const TuningEntry* found = find_tuning(read, p);
    ASSERT_NE(found, nullptr);
    EXPECT_TRUE(found->key == x.key);
    EXPECT_EQ(found->kernel, x.kernel);
    EXPECT_EQ(found->documented, x.documented);
    EXPECT_DOUBLE_EQ(found->microseconds, x.microseconds);
    EXPECT_DOUBLE_EQ(found->documented_microseconds, x.documented_microseconds);
  }
  const std::string sorted = write_tuning(read);
  TuningTable again;
  ASSERT_TRUE(read_tuning("here", sorted.data(), sorted.size(), &again));
  EXPECT_EQ(write_tuning(again), sorted);
}

TEST(TuningText, WhiteSpaceAndOrderAreFree) {
  const Tuning tuning = loaded(
      "\r\n{ \"entries\" :\t[ {\"k\":3,\"n\":2,\"m\":1,\"layout\":\"nt\",\"promote\":true,\"c\":\"f16\","
      "\"accumulate\":\"f32\",\"b\":\"e5m2\",\"a\":\"e4m3\",\"documented_microseconds\":1e0,"
      "\"documented\":\"x\",\"microseconds\":0.5E+1,\"kernel\":\"a\\\\\\/\\\"\"} ],\n\"multiprocessors\":1,"
      "\"sm\":80,\"device\":\"\",\"tenon_tuning\":1}\n\n");
  ASSERT_EQ(tuning.size(), 1U);
  const TuningEntry& x = tuning.table()->entries.front();
  EXPECT_EQ(x.kernel, "a\\/\"");
  EXPECT_EQ(x.key.a_order, column_major);
  EXPECT_EQ(x.key.b_order, row_major);
  EXPECT_TRUE(x.key.promote);
  EXPECT_EQ(x.microseconds, 5.0);
}

TEST(TuningText, RefusesWhatIsNotJson) {
  EXPECT_EQ(refusal(""), "tuning table, line 1: the text ends where '{' is needed");
  EXPECT_EQ(refusal("kernel,us\n"), "tuning table, line 1: found 'k' where '{' is needed");
  EXPECT_EQ(refusal("\n\xFF"), "tuning table, line 2: found the byte 0xFF where '{' is needed");
  EXPECT_EQ(refusal(table_of({entry(1)}) + "{}"),
            "tuning table, line 4: found '{' where the end of the text is needed");
  EXPECT_EQ(refusal(header + "\n" + entry(1)),
            "tuning table, line 2: the text ends where ',' or ']' is needed");
  EXPECT_EQ(refusal(replaced(header, ": 1", " 1")), "tuning table, line 1: found '1' where ':' is needed");
  EXPECT_EQ(refusal(table_of({entry(1), ""})), "tuning table, line 4: found ']' where '{' is needed");
  EXPECT_EQ(refusal(replaced(table_of({entry(1)}), "false", "null")),
            "tuning table, line 2: found 'null' where text, a number, true or false is needed");
  EXPECT_EQ(refusal(replaced(table_of({entry(1)}), "8.25", "08.25")),
            "tuning table, line 2: found '08.25' where text, a number, true or false is needed");
  EXPECT_EQ(refusal(replaced(table_of({entry(1)}), "8.25", "[8.25]")),
            "tuning table, line 2: found '[' where text, a number, true or false is needed");
  EXPECT_EQ(refusal(replaced(table_of({entry(1)}), "async_", "async\n")),
            "tuning table, line 2: found the byte 0x0A where printable ASCII is needed");
  EXPECT_EQ(refusal(replaced(table_of({entry(1)}), "async_", "async\\n")),
            "tuning table, line 2: found 'n' where '\"', '\\' or '/' after '\\' is needed");
  EXPECT_EQ(refusal(replaced(table_of({entry(1)}), "\"n\":", "\"m\":")),
            "tuning table, line 2: the member \"m\" occurs twice in the same object");
  EXPECT_EQ(refusal(replaced(header + "]}", "\"sm\": 90", "\"entries\": []")),
            "tuning table, line 1: the member \"entries\" occurs twice in the same object");
  std::string many = "{";
  for (int i = 0; i < 40; ++i) many += "\"" + std::to_string(i) + "\": 1, ";
  EXPECT_EQ(refusal(many), "tuning table, line 1: an object has more than 32 members");
}

TEST(TuningText, RefusesAnotherVersion) {
  EXPECT_EQ(
      refusal(replaced(header, ": 1", ": 2") + "]}"),
      "tuning table, line 1: the version of the format, \"tenon_tuning\", is 2 but this library reads 1");
  EXPECT_EQ(refusal(replaced(header, "tenon_tuning", "tuning") + "]}"),
            "tuning table, line 1: the object that begins here has no member \"tenon_tuning\" but needs one");
  EXPECT_EQ(refusal("{}"),
            "tuning table, line 1: the object that begins here has no member \"tenon_tuning\" but needs one");
}

TEST(TuningText, RefusesInvalidValues) {
  const auto changed = [](const std::string& from, const std::string& to) {
    return refusal(replaced(table_of({entry(1), entry(2)}), from, to));
  };
  EXPECT_EQ(changed("\"sm\": 90", "\"sm\": \"sm_90\""),
            "tuning table, line 1: \"sm\" is \"sm_90\" but must be a whole number from 1 to 2147483647");
  EXPECT_EQ(changed("\"sm\": 90, ", ""),
            "tuning table, line 1: the object that begins here has no member \"sm\" but needs one");
  EXPECT_EQ(changed("\"sm\"", "\"speed\": 1, \"sm\""),
            "tuning table, line 1: \"speed\" is not a member that a tuning table has here");
  EXPECT_EQ(changed("\"NVIDIA H200\"", "7"), "tuning table, line 1: \"device\" is 7 but must be text");
  EXPECT_EQ(changed("\"a\": \"f16\"", "\"a\": \"fp8\""),
            "tuning table, line 2: \"a\" is \"fp8\" but must be f16, bf16, f32, tf32, e4m3, e5m2, s8 or s32");
  EXPECT_EQ(
      changed("\"a\": \"f16\"", "\"a\": \"bf16\""),
      "tuning table, line 2: A is bf16 and B is f16 but they must have the same type, or be e4m3 and e5m2");
  EXPECT_EQ(changed("\"promote\": false", "\"promote\": 0"),
            "tuning table, line 2: \"promote\" is 0 but must be true or false");
  EXPECT_EQ(
      changed("\"promote\": false", "\"promote\": true"),
      "tuning table, line 2: promote is given but A and B are f16: only bf16, tf32, e4m3 and e5m2 have it");
  EXPECT_EQ(changed("\"tn\"", "\"xn\""),
            "tuning table, line 2: \"layout\" is \"xn\" but must be tn, nn, tt or nt");
  for (const char* wrong : {"-4096", "0", "4096.5", "4e3", "2147483648", "99999999999999999999"}) {
    EXPECT_EQ(changed("\"n\": 4096", std::string("\"n\": ") + wrong),
              "tuning table, line 2: \"n\" is " + std::string(wrong) +
                  " but must be a whole number from 1 to 2147479552");
  }
  EXPECT_EQ(changed("\"async_64x64\"", "\"\""),
            "tuning table, line 2: \"kernel\" is \"\" but must be the name of a kernel");
  for (const char* wrong : {"0", "-1.5", "1e999", "true"}) {
    EXPECT_EQ(changed("8.25", wrong), "tuning table, line 2: \"microseconds\" is " + std::string(wrong) +
                                          " but must be a number above 0");
  }
  EXPECT_EQ(changed("\"k\": 4096, ", ""),
            "tuning table, line 2: the object that begins here has no member \"k\" but needs one");
  EXPECT_EQ(refusal(table_of({entry(7), entry(3), entry(5), entry(3, "other")})),
            "tuning table, line 5: the problem is that of line 3 but a table has one entry a problem");
}

// Any text is read to an end, with ok or a sentence, without access beyond it. (The text has no terminating
// zero here, so that a sanitizer or the page after it would show such an access.)
void read_garbage(const std::string& text) {
  const std::vector<char> exact(text.begin(), text.end());
  Tuning tuning;
  const Status s = tuning.load_text(exact.data(), exact.size());
  if (s) return;
  EXPECT_EQ(s.code(), StatusCode::invalid_argument);
  EXPECT_EQ(std::string(s.message()).rfind("tuning table, line ", 0), 0U) << s.message();
}

TEST(TuningText, EveryTruncationIsRefused) {
  const std::string text = table_of({entry(1), entry(2), entry(3)});
  for (std::size_t size = 0; size + 2 < text.size(); ++size) {  // the last two bytes: '}' and a new line
    Tuning tuning;
    const std::vector<char> exact(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(tuning.load_text(exact.data(), size)) << size;
  }
}

TEST(TuningText, GarbageIsSurvived) {
  const std::string text = table_of({entry(1), entry(2), entry(3)});
  const std::string pieces[] = {"{",
                                "}",
                                "[",
                                "]",
                                "\"",
                                "\\",
                                ",",
                                ":",
                                "-",
                                "1e9999",
                                std::string(1, '\0'),
                                "\x80",
                                "entries",
                                "{\"entries\": [",
                                "9999999999999999999999",
                                "e4m3",
                                "s8"};
  std::mt19937 random(7);
  const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  for (int round = 0; round < 20000; ++round) {
    std::string mutant = text;
    for (std::size_t change = 0; change <= below(4); ++change) {
      const std::size_t at = below(mutant.size());
      switch (below(4)) {
        case 0:
          mutant[at] = static_cast<char>(random());
          break;
        case 1:
          mutant.erase(at, below(30));
          break;
        case 2:
          mutant.insert(at, pieces[below(std::size(pieces))]);
          break;
        default:
          mutant.insert(at, mutant.substr(below(mutant.size()), below(200)));
      }
      if (mutant.empty()) break;
    }
    read_garbage(mutant);
  }
  std::string deep(100000, '[');
  read_garbage(deep);
  for (char& c : deep) c = '{';
  read_garbage(deep);
  read_garbage("{\"entries\": " + deep);
}

TEST(Tuning, AFailedLoadKeepsTheOldTable) {
  Tuning tuning = loaded(table_of({entry(64)}));
  EXPECT_FALSE(tuning.load_text("{", 1));
  EXPECT_EQ(tuning.size(), 1U);
  const std::string other = table_of({entry(1), entry(2)});
  EXPECT_TRUE(tuning.load_text(other.data(), other.size()));
  EXPECT_EQ(tuning.size(), 2U);
  EXPECT_FALSE(tuning.load_text(nullptr, 5));
  EXPECT_FALSE(tuning.load_text(nullptr, 0));
  EXPECT_EQ(tuning.size(), 2U);
}

TEST(Tuning, MovesAndOwns) {
  Tuning x = loaded(table_of({entry(64)}));
  Tuning y(std::move(x));
  EXPECT_EQ(y.size(), 1U);
  Tuning z = loaded(table_of({entry(1), entry(2)}));
  z = std::move(y);
  EXPECT_EQ(z.size(), 1U);
  Tuning& same = z;
  z = std::move(same);
  EXPECT_EQ(z.size(), 1U);
}

TEST(Tuning, LoadsFiles) {
  const std::string path = testing::TempDir() + "tenon_tuning_test.tune";
  std::FILE* file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  const std::string text = table_of({entry(64), entry(128)});
  ASSERT_EQ(std::fwrite(text.data(), 1, text.size(), file), text.size());
  std::fclose(file);

  Tuning tuning;
  Status s = tuning.load(path.c_str());
  EXPECT_TRUE(s) << s.message();
  EXPECT_EQ(tuning.size(), 2U);

  tenon_tuning* c_table = nullptr;
  EXPECT_EQ(tenon_tuning_load(path.c_str(), &c_table).code, TENON_OK);
  EXPECT_NE(c_table, nullptr);
  tenon_tuning_free(c_table);
  std::remove(path.c_str());

  s = tuning.load(path.c_str());
  EXPECT_EQ(s.code(), StatusCode::invalid_argument);
  EXPECT_EQ(s.message(), path + ": cannot be read: No such file or directory");
  s = tuning.load(testing::TempDir().c_str());
  EXPECT_NE(std::string(s.message()).find("cannot be read: it is a folder"), std::string::npos)
      << s.message();
  s = tuning.load("/dev/zero");
  EXPECT_STREQ(s.message(), "/dev/zero: it has more than the 67108864 bytes that it may have");
  s = tuning.load(nullptr);
  EXPECT_STREQ(s.message(), "path is a null pointer but must name a tuning table");
  EXPECT_EQ(tuning.size(), 2U);

  c_table = reinterpret_cast<tenon_tuning*>(std::uintptr_t{8});
  EXPECT_EQ(tenon_tuning_load(path.c_str(), &c_table).code, TENON_INVALID_ARGUMENT);
  EXPECT_EQ(c_table, nullptr);
  EXPECT_EQ(tenon_tuning_load(path.c_str(), nullptr).code, TENON_INVALID_ARGUMENT);
  tenon_tuning_free(nullptr);
}

TEST(TuningLookup, AnEqualMComesFirst) {
  EXPECT_EQ(nearest({63, 64, 65}, 64), "kernel_64");
  EXPECT_EQ(nearest({64}, 64), "kernel_64");
}

TEST(TuningLookup, TheNearestMIsWithinAFactorOfTheSquareRootOfTwo) {
  EXPECT_EQ(nearest({100}, 141), "kernel_100");
  EXPECT_EQ(nearest({100}, 142), "");
  EXPECT_EQ(nearest({100}, 71), "kernel_100");
  EXPECT_EQ(nearest({100}, 70), "");
  EXPECT_EQ(nearest({}, 64), "");
  EXPECT_EQ(nearest({2147479552}, 2147479552 - 1), "kernel_2147479552");
  EXPECT_EQ(nearest({1}, 2147479552), "");
}

TEST(TuningLookup, NearnessIsARatio) {
  // 80 is 16 above 64 and 20 below 100, but 80 / 64 = 100 / 80: the larger.
  EXPECT_EQ(nearest({64, 100}, 80), "kernel_100");
  EXPECT_EQ(nearest({64, 100}, 79), "kernel_64");
  EXPECT_EQ(nearest({64, 100}, 81), "kernel_100");
  EXPECT_EQ(nearest({64, 300}, 80), "kernel_64") << "the other one is too far";
  EXPECT_EQ(nearest({32, 100}, 80), "kernel_100");
}

TEST(TuningLookup, AllOtherFieldsMustBeEqual) {
  const Tuning tuning = loaded(table_of({entry(64), entry(64, "other", 4096, 4097)}));
  const auto found = [&tuning](auto change) {
    Gemm p = problem(65, 4096, 4096);
    change(p);
    return find_tuning(*tuning.table(), p) != nullptr;
  };
  EXPECT_TRUE(found([](Gemm&) {}));
  EXPECT_TRUE(found([](Gemm& p) { p.alpha = 3, p.beta = 1, p.a.ld = 5000; }));
  EXPECT_FALSE(found([](Gemm& p) { p.n = 4095; }));
  EXPECT_FALSE(found([](Gemm& p) { p.k = 4095; }));
  EXPECT_FALSE(found([](Gemm& p) { p.a.order = column_major; }));
  EXPECT_FALSE(found([](Gemm& p) { p.b.order = row_major; }));
  EXPECT_FALSE(found([](Gemm& p) { p.a.type = Type::bf16; }));
  EXPECT_FALSE(found([](Gemm& p) { p.b.type = Type::bf16; }));
  EXPECT_FALSE(found([](Gemm& p) { p.c.type = Type::f16; }));
  EXPECT_FALSE(found([](Gemm& p) { p.accumulate = Type::f16; }));
  EXPECT_FALSE(found([](Gemm& p) { p.promote = true; }));
}

TEST(TunedPlan, TheTableComesBeforeTheDocumentedChoice) {
  const Tuning tuning = loaded(table_of({entry(4096)}));
  Gemm p = problem(4096, 4096, 4096);
  EXPECT_EQ(planned(p), "tma_256x128");
  p.tuning = &tuning;
  EXPECT_EQ(planned(p), "async_64x64");
  EXPECT_EQ(planned_workspace(kernel_list(), p, h200), 0U);
  p.m = 3000;
  p.c.ld = 5000;
  EXPECT_EQ(planned(p), "async_64x64") << "the nearest";
  p.m = 2000;
  EXPECT_EQ(planned(p), "tma_256x128") << "too far";
  const Tuning empty;
  p.m = 4096;
  p.tuning = &empty;
  EXPECT_EQ(planned(p), "tma_256x128");
}

TEST(TunedPlan, AKernelByNameComesBeforeTheTable) {
  const Tuning tuning = loaded(table_of({entry(4096)}));
  Gemm p = problem(4096, 4096, 4096);
  p.tuning = &tuning;
  p.kernel = "async_256x128";
  EXPECT_EQ(planned(p), "async_256x128");
}

TEST(TunedPlan, ATableOfAnotherDeviceIsNotUsed) {
  const std::string text = table_of({entry(4096)});
  Gemm p = problem(4096, 4096, 4096);
  const Tuning tuning = loaded(text);
  p.tuning = &tuning;
  DeviceDescription fewer = h200;
  fewer.multiprocessors = 114;
  EXPECT_EQ(planned(p, fewer), "tma_256x128");
  EXPECT_EQ(planned(p, a100), "async_256x128");
  const Tuning of_a100 = loaded(replaced(replaced(text, "\"sm\": 90", "\"sm\": 80"), "132", "108"));
  p.tuning = &of_a100;
  EXPECT_EQ(planned(p, a100), "async_64x64");
  EXPECT_EQ(planned(p), "tma_256x128");
}

TEST(TunedPlan, KernelsThatCannotRunAreIgnored) {
  // No such kernel; a kernel for other orders; a kernel that runs only by name; a kernel of another device.
  Gemm p = problem(4096, 4096, 4096);
  p.c.type = Type::f16;  // which the module would take
  for (const char* kernel : {"gone", "any_128x128_nt", "module_256x128"}) {
    const Tuning tuning =
        loaded(replaced(table_of({entry(4096, kernel)}), "\"c\": \"f32\"", "\"c\": \"f16\""));
    p.tuning = &tuning;
    ASSERT_NE(find_tuning(*tuning.table(), p), nullptr);
    EXPECT_EQ(planned(p), "tma_256x128") << kernel;
  }
  const Tuning tuning = loaded(
      replaced(replaced(table_of({entry(4096, "tma_256x128")}), "\"sm\": 90", "\"sm\": 80"), "132", "108"));
  p = problem(4096, 4096, 4096);
  p.tuning = &tuning;
  EXPECT_EQ(planned(p, a100), "async_256x128");
}

TEST(TunedPlan, CopiesOfOperandsAreDecidedAsWithoutATable) {
  void* const workspace = reinterpret_cast<void*>(std::uintptr_t{4} << 40);
  Gemm p = problem(4095, 4095, 4095);
  const Tuning tuning = loaded(table_of({entry(4095, "async_64x64", 4095, 4095)}));
  p.tuning = &tuning;
  const std::size_t bytes = planned_workspace(kernel_list(), p, h200);
  EXPECT_EQ(bytes, 2U * 4095 * 4096 * 2);
  EXPECT_EQ(planned(p), "any_128x128") << "without workspace async_64x64 cannot";
  p.workspace = workspace;
  p.workspace_bytes = bytes;
  Plan plan;
  ASSERT_TRUE(make_plan(kernel_list(), p, h200, &plan));
  EXPECT_EQ(plan.kernel->name, "async_64x64");
  EXPECT_TRUE(plan.pad_a && plan.pad_b);

  // Too short for copies to pay, with a table as without.
  p = problem(63, 65, 15);
  const Tuning small = loaded(table_of({entry(63, "async_64x64", 65, 15)}));
  p.tuning = &small;
  EXPECT_EQ(planned_workspace(kernel_list(), p, h200), 0U);
  EXPECT_EQ(planned(p), "any_128x128");
}

TEST(TunedPlan, IfTheDeviceRefusesTheKernelTheTableIsIgnored) {
  Gemm p = problem(4096, 4096, 4096);
  const Tuning tuning = loaded(table_of({entry(4096, "async_64x64")}));
  p.tuning = &tuning;
  Plan plan;
  ASSERT_TRUE(make_plan(kernel_list(), p, h200, &plan));
  ASSERT_EQ(plan.kernel->name, "async_64x64");
  ASSERT_TRUE(make_plan(kernel_list(), p, h200, &plan, {plan.kernel}));
  EXPECT_EQ(plan.kernel->name, "tma_256x128");
}

// wgmma reads 8-bit operands in one order only. Copies have that order; the table has the order of the
// operands.
TEST(TunedPlan, TheTableIsForTheOperandsNotForTheirCopies) {
  std::vector<Kernel> list;
  for (const char* name : {"tma_large", "tma_small"}) {
    const int tile = list.empty() ? 128 : 64;
    list.push_back(test::kernel(name, Copy::tma, tile, tile, row_major, column_major, Type::e4m3));
    list.back().type_b = Type::e4m3;
  }
  Gemm p = problem(4096, 4096, 4096);
  p.a.type = p.b.type = Type::e4m3;
  p.a.order = column_major;
  p.workspace = reinterpret_cast<void*>(std::uintptr_t{4} << 40);
  p.workspace_bytes = planned_workspace(list, p, h200);
  EXPECT_EQ(p.workspace_bytes, 4096U * 4096U);
  const std::string text = replaced(replaced(table_of({entry(4096, "tma_small")}),
                                             R"("a": "f16", "b": "f16")", R"("a": "e4m3", "b": "e4m3")"),
                                    "\"tn\"", "\"nn\"");
  const auto planned_with = [&](const Tuning& tuning) {
    p.tuning = &tuning;
    Plan plan;
    const Status s = make_plan(list, p, h200, &plan);
    EXPECT_TRUE(s) << s.message();
    EXPECT_TRUE(plan.pad_a && !plan.pad_b);
    return s ? plan.kernel->name : "";
  };
  EXPECT_EQ(planned_with({}), "tma_large");
  EXPECT_EQ(planned_with(loaded(text)), "tma_small");
  EXPECT_EQ(planned_with(loaded(replaced(text, "\"nn\"", "\"tn\""))), "tma_large");
}

}  // namespace
}  // namespace tenon
