// The kernels that are measured for each of the types.
#include "microbench/contenders.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace tenon::microbench {
namespace {

std::set<std::string> names_of(const char* types, const char* layout = "tn") {
  std::set<std::string> names;
  for (const Candidate& candidate : candidates(parse_types(types)[0], parse_layouts(layout)[0]))
    names.insert(candidate.name);
  return names;
}

// Whether there are names and all are of kernels of these types, `promoted` or not.
void expect_all_begin(const std::set<std::string>& names, const std::string& types, bool promoted) {
  int of_wgmma = 0, of_mma_sync = 0;
  for (const std::string& found : names) {
    const bool is_wgmma = found.rfind("wgmma_" + types + "_tn_", 0) == 0;
    EXPECT_TRUE(is_wgmma || found.rfind("cp_async_" + types + "_tn_", 0) == 0) << found;
    EXPECT_EQ(found.find("_promoted") != std::string::npos, promoted) << found;
    ++(is_wgmma ? of_wgmma : of_mma_sync);
  }
  EXPECT_GT(of_wgmma, 0) << types;
  EXPECT_EQ(of_mma_sync > 0, !promoted) << types;  // mma.sync has no kernels with promoted accumulators
}

TEST(Contenders, OfFp8AreTheirOwnKernelsAlone) {
  expect_all_begin(names_of("e4m3"), "e4m3_f32", false);
  expect_all_begin(names_of("e4m3_f32p"), "e4m3_f32", true);
  expect_all_begin(names_of("e4m3_e5m2"), "e4m3_e5m2_f32", false);
  expect_all_begin(names_of("e5m2_e4m3_f32p"), "e5m2_e4m3_f32", true);
  EXPECT_TRUE(names_of("e4m3", "nn").empty());
}

// And one of WMMA.
TEST(Contenders, OfTf32S8AndF64) {
  for (const auto& [types, kernels, wmma] :
       {std::tuple("tf32", "tf32_f32", "wmma_16x16x8"), std::tuple("s8", "s8_s32", "wmma_s8"),
        std::tuple("f64", "f64_f64", "wmma_8x8x4")}) {
    std::set<std::string> names = names_of(types);
    EXPECT_EQ(names.erase(wmma), 1U) << types;
    if (std::string(types) != "f64") expect_all_begin(names, kernels, false);
    EXPECT_FALSE(names.empty()) << types;
    for (const std::string& found : names) EXPECT_NE(found.find(kernels), std::string::npos) << found;
  }
}

TEST(Contenders, ReferenceKernelsTake16BitsAndF32) {
  EXPECT_EQ(names_of("f32"), (std::set<std::string>{"naive_f32", "tiled_f32"}));
  for (const char* types : {"bf16", "f16", "f16_f32_f32"}) {
    const std::set<std::string> names = names_of(types);
    for (const char* reference :
         {"naive_f32", "tiled_f32", "wmma_basic", "wmma_32x8x16", "wmma_8x32x16", "wmma_shared"})
      EXPECT_EQ(names.count(reference), 1U) << types << " " << reference;
    EXPECT_GT(names.size(), 4U) << types;
  }
  EXPECT_EQ(names_of("f16_f16").count("naive_f32"), 0U);
}

}  // namespace
}  // namespace tenon::microbench
