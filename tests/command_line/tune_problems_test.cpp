// The problems and candidates of `tenon tune`, and that its tables are JSON.
#include "command_line/tune_problems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "command_line/exit_status.hpp"
#include "command_line/temporary_folder.hpp"
#include "host/kernel_list.hpp"
#include "host/plan.hpp"
#include "host/tuning_table.hpp"
#include "host/tuning_text.hpp"
#include "tenon/tuning.hpp"

namespace tenon::command {
namespace {

using test::a100;
using test::h200;

template <class Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), Exit::bad_input);
    return failure.what();
  }
  return "";
}

std::string text_of(const std::vector<TuneShape>& shapes) {
  std::string text;
  for (const TuneShape& s : shapes) {
    text += std::to_string(s.m) + ":" + std::to_string(s.n) + ":" + std::to_string(s.k) + " ";
  }
  return text;
}

TEST(TuneShapes, CubesAndShapes) {
  EXPECT_EQ(text_of(parse_tune_shapes("--shapes", "4096")), "4096:4096:4096 ");
  EXPECT_EQ(text_of(parse_tune_shapes("--shapes", "1:2:3, 64,2147479552:1:7")),
            "1:2:3 64:64:64 2147479552:1:7 ");
}

TEST(TuneShapes, Refusals) {
  for (const char* wrong :
       {"", "64:64", "1:2:3:4", "0", "-1", "64x64x64", "1:2:", "2147479553", "99999999999999999999"}) {
    EXPECT_EQ(refusal([&] { parse_tune_shapes("--shapes", wrong); }),
              "--shapes: '" + std::string(wrong) +
                  "' is not a shape but must be SIZE or M:N:K, whole numbers from 1 to 2147479552");
  }
  EXPECT_EQ(refusal([] { parse_tune_shapes("--shapes", "64,,64"); }).rfind("--shapes: '' is not a shape", 0),
            0U);
}

TEST(TuneShapes, Files) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "shapes.txt";
  const auto write = [&path](const std::string& text) { std::ofstream(path, std::ios::binary) << text; };
  write("# of a model\n\n  64:4096:4096  # decode\r\n1,2\n4096");
  EXPECT_EQ(text_of(read_tune_shapes(path)), "64:4096:4096 1:1:1 2:2:2 4096:4096:4096 ");
  write("64\n12;13\n");
  EXPECT_EQ(refusal([&] { read_tune_shapes(path); }).rfind(path + ", line 2: '12;13' is not a shape", 0), 0U);
  write("# nothing\n");
  EXPECT_EQ(refusal([&] { read_tune_shapes(path); }),
            path + ": it holds no shape but must hold at least one");
  EXPECT_EQ(refusal([&] { read_tune_shapes(folder / "absent"); }),
            folder / "absent" + ": cannot be read: No such file or directory");
  EXPECT_NE(refusal([&] { read_tune_shapes(folder / "."); }), "");
}

TEST(TuneProblems, EveryShapeWithEveryTypeAndLayoutOnce) {
  TuneTypes types;
  types.operands = "bf16, e4m3:e5m2,s8";
  types.layouts = "tn,nt";
  types.out = "bf16";
  const std::vector<Gemm> problems = tune_problems({{64, 32, 16}, {8, 8, 8}, {64, 32, 16}}, types);
  ASSERT_EQ(problems.size(), 3U * 2 * 2);
  EXPECT_EQ(shape_text(problems[0]), "64 x 32 x 16");
  EXPECT_EQ(types_text(problems[0]), "bf16 -> bf16");
  EXPECT_EQ(layout_text(problems[0]), "tn");
  EXPECT_EQ(layout_text(problems[2]), "nt");
  EXPECT_EQ(problems[2].a.ld, 64);
  EXPECT_EQ(problems[2].b.ld, 32);
  EXPECT_EQ(types_text(problems[4]), "e4m3 x e5m2 -> bf16");
  EXPECT_EQ(types_text(problems[8]), "s8 -> s32");
  EXPECT_EQ(problems[8].accumulate, Type::s32);
  types = {};
  types.accumulate = "f16";
  EXPECT_EQ(types_text(tune_problems({{8, 8, 8}}, types)[0]), "f16 -> f32, f16 accumulators");
  types = {};
  types.operands = "e4m3";
  types.promote = true;
  EXPECT_EQ(types_text(tune_problems({{8, 8, 8}}, types)[0]), "e4m3 -> f32, promoted");
}

TEST(TuneProblems, Refusals) {
  const auto refused = [](const char* operands, const char* layouts, const char* accumulate, bool promote) {
    TuneTypes types;
    types.operands = operands;
    types.layouts = layouts;
    types.accumulate = accumulate;
    types.promote = promote;
    return refusal([&] { tune_problems({{8, 8, 8}}, types); });
  };
  EXPECT_EQ(refused("fp8", "tn", "f32", false),
            "--types: 'fp8' is not a type but must be f16, bf16, tf32, e4m3, e5m2, s8 or f64");
  EXPECT_EQ(refused("f16,", "tn", "f32", false),
            "--types: '' is not a type but must be f16, bf16, tf32, e4m3, e5m2, s8 or f64");
  EXPECT_EQ(refused("e4m3:e5m2:e4m3", "tn", "f32", false),
            "--types: 'e4m3:e5m2:e4m3' names 3 types but A and B have one each, as in e4m3:e5m2");
  EXPECT_EQ(refused("f32", "tn", "f32", false),
            "A is f32 but must be f16, bf16, tf32, e4m3, e5m2, s8 or f64: f32 needs a precision");
  EXPECT_EQ(refused("f16", "tx", "f32", false),
            "--layout: 'tx' is not a layout but must be tn, nn, tt or nt");
  EXPECT_EQ(refused("bf16", "tn", "f16", false), "accumulate is f16 with bf16 inputs but must be f32");
  EXPECT_EQ(refused("f16", "tn", "f32", true),
            "promote is given but A and B are f16: only bf16, tf32, e4m3 and e5m2 have it");
}

std::vector<std::string> candidates(const std::vector<Kernel>& list, const Gemm& p,
                                    const DeviceDescription& device) {
  Status why;
  std::vector<std::string> names;
  for (const Kernel* kernel : tune_candidates(list, p, device, &why)) names.push_back(kernel->name);
  EXPECT_EQ(names.empty(), !why);
  return names;
}

TEST(TuneCandidates, TheDocumentedChoiceIsFirst) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(candidates(test::kernel_list(), test::problem(4096, 4096, 4096), h200),
            (Names{"tma_256x128", "async_256x128", "async_64x64", "any_128x128"}));
  EXPECT_EQ(candidates(test::kernel_list(), test::problem(4096, 4096, 4096), a100),
            (Names{"async_256x128", "async_64x64", "any_128x128"}));
  EXPECT_EQ(candidates(test::kernel_list(), test::problem(4095, 4095, 4095), h200),
            (Names{"tma_256x128", "async_256x128", "async_64x64", "any_128x128"}));
  // So short that copies of unaligned operands, which the other kernels need, do not pay.
  EXPECT_EQ(candidates(test::kernel_list(), test::problem(63, 65, 15), h200), (Names{"any_128x128"}));
}

TEST(TuneCandidates, NoneAndWhy) {
  Gemm p = test::problem(64, 64, 64);
  p.a.type = p.b.type = Type::e5m2;  // the list has no kernel for them
  Status why;
  EXPECT_TRUE(tune_candidates(test::kernel_list(), p, h200, &why).empty());
  EXPECT_EQ(why.code(), StatusCode::unsupported);
}

// A table whose only entry names the candidate makes gemm() run it, with the copies that its time includes.
TEST(TuneCandidates, ATableMakesEachOfThemRun) {
  std::size_t seen = 0;
  for (const char* operands : {"f16", "bf16", "tf32", "e4m3", "e5m2:e4m3", "s8"}) {
    TuneTypes types;
    types.operands = operands;
    types.layouts = "tn,nn,tt,nt";
    for (Gemm p :
         tune_problems({{4096, 4096, 4096}, {64, 4096, 4096}, {1023, 1025, 1027}, {7, 9, 11}}, types)) {
      Status why;
      for (const Kernel* kernel : tune_candidates(kernels(), p, h200, &why)) {
        TuningTable table;
        table.sm = h200.sm;
        table.multiprocessors = h200.multiprocessors;
        TuningEntry entry;
        entry.key = tuning_key(p);
        entry.kernel = entry.documented = kernel->name;
        table.entries.push_back(entry);
        const std::string text = write_tuning(table);
        Tuning tuning;
        const Status loaded = tuning.load_text(text.data(), text.size());
        ASSERT_TRUE(loaded) << loaded.message();
        Gemm by_table = p, by_name = p;
        by_table.tuning = &tuning;
        by_name.kernel = kernel->name.c_str();
        alignas(256) char anchor = 0;
        by_table.workspace = by_name.workspace = &anchor;
        by_table.workspace_bytes = planned_workspace(kernels(), by_table, h200);
        by_name.workspace_bytes = planned_workspace(kernels(), by_name, h200);
        EXPECT_EQ(by_table.workspace_bytes, by_name.workspace_bytes) << kernel->name;
        Plan table_plan, name_plan;
        ASSERT_TRUE(make_plan(kernels(), by_table, h200, &table_plan));
        ASSERT_TRUE(make_plan(kernels(), by_name, h200, &name_plan));
        EXPECT_EQ(table_plan.kernel, kernel)
            << kernel->name << ", " << shape_text(p) << " " << layout_text(p);
        EXPECT_EQ(name_plan.kernel, kernel);
        EXPECT_EQ(table_plan.pad_a, name_plan.pad_a);
        EXPECT_EQ(table_plan.pad_b, name_plan.pad_b);
        ++seen;
      }
    }
  }
  EXPECT_GT(seen, 100U);
}

// Any text that the library reads as a table is valid JSON: mutants of a table would show a difference.
TEST(TuningJson, WhatIsReadIsJson) {
  TuningTable table;
  table.device = "NVIDIA \"H200\" \\";
  table.sm = 90;
  table.multiprocessors = 132;
  for (const std::int64_t m : {1, 64}) {
    TuningEntry entry;
    entry.key = {Type::bf16, Type::bf16, Type::f32, Type::f32, false, row_major, column_major, 4096, 512, m};
    entry.kernel = entry.documented = "x";
    table.entries.push_back(entry);
  }
  const std::string text = write_tuning(table);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json.at("device"), table.device);
  EXPECT_EQ(json.at("entries").at(1).at("m"), 64);
  std::mt19937 random(11);
  int read = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string mutant = text;
    const std::size_t at = random() % mutant.size();
    if (round % 2 == 0) {
      mutant[at] = " 1e.-+\\/\"tfn,:{}[]\t\n"[random() % 21];
    } else {
      mutant.erase(at, 1 + random() % 3);
    }
    Tuning tuning;
    if (!tuning.load_text(mutant.data(), mutant.size())) continue;
    ++read;
    EXPECT_TRUE(nlohmann::json::accept(mutant)) << mutant;
  }
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace tenon::command
