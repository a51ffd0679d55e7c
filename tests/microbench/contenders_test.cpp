// The kernels that are measured for each of the types.
#include "microbench/contenders.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tenon::microbench {
namespace {

std::set<std::string> names_of(const char* types, const char* layout = "tn") {
  std::set<std::string> names;
  for (const Candidate& candidate : candidates(parse_types(types)[0], parse_layouts(layout)[0]))
    names.insert(candidate.name);
  return names;
}

// Whether there are names and all are of kernels of these types, `promoted` or not.
void expect_all_begin(const std::set<std::string>& names, const std::string& start, bool promoted) {
  EXPECT_FALSE(names.empty()) << start;
  for (const std::string& found : names) {
    EXPECT_EQ(found.rfind(start, 0), 0U) << found;
    EXPECT_EQ(found.find("_promoted") != std::string::npos, promoted) << found;
  }
}

TEST(Contenders, Of8BitTypesAndTf32AreTheirOwnKernelsAlone) {
  expect_all_begin(names_of("e4m3"), "wgmma_e4m3_f32_tn_", false);
  expect_all_begin(names_of("e4m3_f32p"), "wgmma_e4m3_f32_tn_", true);
  expect_all_begin(names_of("e4m3_e5m2"), "wgmma_e4m3_e5m2_f32_tn_", false);
  expect_all_begin(names_of("e5m2_e4m3_f32p"), "wgmma_e5m2_e4m3_f32_tn_", true);
  expect_all_begin(names_of("s8"), "wgmma_s8_s32_tn_", false);
  expect_all_begin(names_of("tf32"), "wgmma_tf32_f32_tn_", false);
  EXPECT_TRUE(names_of("e4m3", "nn").empty());
}

TEST(Contenders, ReferenceKernelsTake16BitsAndF32) {
  EXPECT_EQ(names_of("f32"), (std::set<std::string>{"naive_f32", "tiled_f32"}));
  for (const char* types : {"bf16", "f16", "f16_f32_f32"}) {
    const std::set<std::string> names = names_of(types);
    for (const char* reference : {"naive_f32", "tiled_f32", "wmma_basic", "wmma_shared"})
      EXPECT_EQ(names.count(reference), 1U) << types << " " << reference;
    EXPECT_GT(names.size(), 4U) << types;
  }
  EXPECT_EQ(names_of("f16_f16").count("naive_f32"), 0U);
}

}  // namespace
}  // namespace tenon::microbench
