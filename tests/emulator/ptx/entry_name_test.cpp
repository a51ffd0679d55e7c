// Kernels by their names in PTX, in C++, and by parts of these. nvcc 13 made the names.
#include "emulator/ptx/entry_name.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "emulator/ptx/module.hpp"

namespace tenon::emulator::ptx {
namespace {

constexpr const char* one_scale = "_Z5scalePi";                         // scale(int*)
constexpr const char* other_scale = "_Z5scalePf";                       // scale(float*)
constexpr const char* of_floats = "_ZN2ns5scaleIfLi4EEEvPT_PKf";        // ns::scale<float, 4>
constexpr const char* of_structs = "_ZN2ns5scaleINS_1AELi1EEEvPT_PKf";  // ns::scale<ns::A, 1>
constexpr const char* enumerated = "_Z2enIL1E1ELb1ELj3EEvPi";           // en<(E)1, true, 3u>
constexpr const char* of_tiles = "_Z4tileI4TileILi3EEEvT_Pi";           // tile<Tile<3> >(Tile<3>, int*)
constexpr const char* of_lambda = "_ZN2ns3runIZ4hostPiEUliE_EEvT_S1_";  // ns::run<host(int*)::{lambda...
constexpr const char* hidden = "_ZN33_GLOBAL__N__375eaaae_4_k_cu_plain6hiddenEPi";

const Module& module() {
  static const Module parsed = [] {
    std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n.func f() { ret; }\n";
    for (const char* name : {one_scale, other_scale, of_floats, of_structs, enumerated, of_tiles, of_lambda,
                             hidden, "plain", "i"})
      text += std::string(".visible .entry ") + name + "() { ret; }\n";
    return parse(text);
  }();
  return parsed;
}

std::string named(const std::string& name) {
  return entry_named(module(), name).name;
}

std::string refusal(const std::string& name) {
  try {
    return "no refusal, but " + named(name);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(EntryName, IsTheOneOfThePtxText) {
  for (const Function& function : module().functions)
    if (function.is_entry) {
      EXPECT_EQ(named(function.name), function.name);
    }
}

TEST(EntryName, IsTheOneOfCpp) {
  EXPECT_EQ(named("scale(int*)"), one_scale);
  EXPECT_EQ(named("scale(float *)"), other_scale);
  EXPECT_EQ(named("ns::scale<float, 4>"), of_floats);
  EXPECT_EQ(named("ns::scale<float,4>"), of_floats);
  EXPECT_EQ(named("ns::scale<ns::A, 1>(ns::A*, float const*)"), of_structs);
  EXPECT_EQ(named("tile<Tile<3>>"), of_tiles);
  EXPECT_EQ(named("en<(E)1, true, 3u>"), enumerated);
  EXPECT_EQ(named("(anonymous namespace)::hidden"), hidden);
}

TEST(EntryName, IsTheEndOfTheOneOfCpp) {
  EXPECT_EQ(named("scale<float, 4>"), of_floats);
  EXPECT_EQ(named("scale<ns::A, 1>"), of_structs);
  EXPECT_EQ(named("tile"), of_tiles);
  EXPECT_EQ(named("en"), enumerated);
  EXPECT_EQ(named("run"), of_lambda);
  EXPECT_EQ(named("ns::run"), of_lambda);
  EXPECT_EQ(named("hidden"), hidden);
}

TEST(EntryName, IsAPartOfEither) {
  EXPECT_EQ(named("scaleIfLi4"), of_floats);
  EXPECT_EQ(named("375eaaae"), hidden);
  EXPECT_EQ(named("lambda"), of_lambda);
  EXPECT_EQ(named("_Z2en"), enumerated);
}

TEST(EntryName, IsRefusedWithTheCandidates) {
  EXPECT_EQ(refusal("scale"),
            "`scale` may be any of 2 kernels of the module: `_Z5scalePi` (scale(int*)), `_Z5scalePf` "
            "(scale(float*))");
  EXPECT_EQ(refusal("ns::scale"),
            "`ns::scale` may be any of 2 kernels of the module: `_ZN2ns5scaleIfLi4EEEvPT_PKf` (void "
            "ns::scale<float, 4>(float*, float const*)), `_ZN2ns5scaleINS_1AELi1EEEvPT_PKf` (void "
            "ns::scale<ns::A, 1>(ns::A*, float const*))");
  for (const char* unknown : {"shrink", "", " ", "scale<double>"})
    EXPECT_EQ(refusal(unknown).find("there is no kernel `" + std::string(unknown) +
                                    "` in the module; it has `_Z5scalePi` (scale(int*)), "),
              0U)
        << refusal(unknown);
  EXPECT_NE(refusal("shrink").find(", `plain`, `i`"), std::string::npos) << refusal("shrink");
}

TEST(EntryName, ListsNoMoreThan20) {
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n";
  for (int i = 0; i < 25; ++i) text += ".entry k" + std::to_string(i) + "() { ret; }\n";
  const Module many = parse(text);
  try {
    entry_named(many, "x");
    FAIL() << "no refusal";
  } catch (const std::invalid_argument& error) {
    const std::string sentence = error.what();
    EXPECT_NE(sentence.find("`k19` and 5 more"), std::string::npos) << sentence;
    EXPECT_EQ(sentence.find("k20"), std::string::npos) << sentence;
  }
  EXPECT_EQ(entry_named(many, "k1").name, "k1");  // although others contain it
}

}  // namespace
}  // namespace tenon::emulator::ptx
