#include "microbench/suites.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "microbench/cases.hpp"
#include "microbench/record.hpp"

namespace tenon::microbench {
namespace {

// "4096 4096 4096 bf16_f32_bf16 tn" for every case of a suite.
std::set<std::string> cases_of(const Suite& suite) {
  std::set<std::string> cases;
  for (const Types& types : parse_types(suite.types)) {
    for (const Layout& layout : parse_layouts(suite.layouts)) {
      for (const Shape& packed : parse_shapes(suite.shapes)) {
        const Shape shape = with_leading_dimensions(packed, layout);
        cases.insert(std::to_string(shape.m) + " " + std::to_string(shape.n) + " " + std::to_string(shape.k) +
                     " " + name(types) + " " + describe_layout(shape, layout));
      }
    }
  }
  return cases;
}

TEST(Suites, HaveNamesOfTheirOwnAndCasesThatParse) {
  std::set<std::string> names;
  for (const Suite& suite : suites()) {
    EXPECT_TRUE(names.insert(suite.name).second) << suite.name;
    EXPECT_EQ(find_suite(suite.name), &suite);
    EXPECT_FALSE(suite.what.empty());
    EXPECT_TRUE(suite.ways.burst) << suite.name;
    EXPECT_FALSE(cases_of(suite).empty());
  }
  EXPECT_EQ(find_suite("none"), nullptr);
}

TEST(Suites, SweepsChangeOneExtentOrAllAlike) {
  const auto shapes = [](const char* suite) { return parse_shapes(find_suite(suite)->shapes); };
  for (const Shape& shape : shapes("sweep_size")) EXPECT_TRUE(shape.m == shape.n && shape.n == shape.k);
  for (const Shape& shape : shapes("sweep_k")) EXPECT_TRUE(shape.m == 4096 && shape.n == 4096);
  for (const Shape& shape : shapes("sweep_m")) EXPECT_TRUE(shape.n == 4096 && shape.k == 4096);
  EXPECT_EQ(shapes("sweep_size").front().m, 256);
  EXPECT_EQ(shapes("sweep_size").back().m, 16384);
  EXPECT_EQ(shapes("sweep_k").size(), 9U);
  EXPECT_EQ(shapes("sweep_m").size(), 11U);
}

// No case of a suite is measured twice: cases_of() holds as many as its lists name.
TEST(Suites, NameNoCaseTwice) {
  for (const Suite& suite : suites()) {
    EXPECT_EQ(cases_of(suite).size(), parse_types(suite.types).size() * parse_layouts(suite.layouts).size() *
                                          parse_shapes(suite.shapes).size())
        << suite.name;
  }
}

TEST(Suites, ModelsAreSixtyProductsThatModelsUse) {
  const Suite& models = *find_suite("models");
  EXPECT_EQ(cases_of(models).size(), 60U);
  EXPECT_EQ(name(models.ways), "burst,between");
  std::map<std::int64_t, int> tokens;
  int odd_results = 0;
  for (const Shape& shape : parse_shapes(models.shapes)) {
    ++tokens[shape.m];
    EXPECT_EQ(shape.k % 8, 0) << shape.n << " x " << shape.k;
    odd_results += static_cast<int>(shape.n % 2);
  }
  const std::vector<std::int64_t> expected = {1, 2, 4, 8, 16, 32, 64, 128, 512, 1000, 2048, 4096, 8192};
  ASSERT_EQ(tokens.size(), expected.size());
  for (const std::int64_t m : expected) EXPECT_GE(tokens[m], 3) << m;
  EXPECT_GE(odd_results, 2);
}

TEST(Suites, TokensAreBetweenThoseOfModelsAndFewFillTilesOf128) {
  const std::vector<Shape> shapes = parse_shapes(find_suite("tokens")->shapes);
  EXPECT_EQ(shapes.size(), 36U);
  for (const Shape& shape : shapes) {
    EXPECT_GT(shape.m, 128);
    EXPECT_LE(shape.m, 1100);
    EXPECT_NE(shape.m % 128, 0) << shape.m;
  }
}

TEST(Suites, UnalignedBeginsWith4095CubedAndHasNoAlignedProduct) {
  const std::vector<Shape> shapes = parse_shapes(find_suite("unaligned")->shapes);
  ASSERT_EQ(shapes.size(), 11U);
  EXPECT_TRUE(shapes[0].m == 4095 && shapes[0].n == 4095 && shapes[0].k == 4095 && shapes[0].lda == 4095);
  for (const Shape& packed : shapes) {
    const Shape shape = with_leading_dimensions(packed, parse_layouts("tn")[0]);
    EXPECT_TRUE(shape.lda % 8 != 0 || shape.ldb % 8 != 0 || shape.ldc % 8 != 0) << shape.m << " " << shape.n;
  }
}

TEST(Suites, TypesAreThoseWithout16Bits) {
  std::set<std::string> names;
  for (const Types& types : parse_types(find_suite("types")->types)) names.insert(name(types));
  EXPECT_EQ(names, (std::set<std::string>{"e4m3_f32_bf16", "e4m3_f32p_bf16", "s8_s32_s32", "tf32_f32_f32"}));
  EXPECT_EQ(name(find_suite("types")->ways), "burst,between,sustained");
}

// A suite has exactly the cases of its committed file.
TEST(Suites, AreTheCasesOfTheCommittedResults) {
  int files = 0;
  for (const Suite& suite : suites()) {
    std::ifstream file(std::string(TENON_RESULTS) + "/" + suite.name + ".json");
    if (!file) continue;  // not measured yet
    ++files;
    std::set<std::string> committed;
    for (const auto& record : nlohmann::json::parse(file)) {
      committed.insert(record["m"].dump() + " " + record["n"].dump() + " " + record["k"].dump() + " " +
                       record["types"].get<std::string>() + " " + record["layout"].get<std::string>());
      EXPECT_EQ(record["tflops_sustained"].is_null(), !suite.ways.sustained) << suite.name;
    }
    // A case whose first and last figures of cuBLASLt disagree is not written; there are few.
    const std::set<std::string> cases = cases_of(suite);
    EXPECT_TRUE(std::includes(cases.begin(), cases.end(), committed.begin(), committed.end())) << suite.name;
    EXPECT_GE(10 * committed.size(), 9 * cases.size()) << suite.name;
  }
  EXPECT_GE(files, 5);
}

}  // namespace
}  // namespace tenon::microbench
