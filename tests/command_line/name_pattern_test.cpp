// The patterns of names, beside their definition by recursion; and what is refused.
#include "command_line/name_pattern.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace tenon::command {
namespace {

bool matches(const std::string& pattern, const std::string& name) {
  return NamePattern(pattern).matches(name);
}

TEST(NamePattern, MatchesWholeNames) {
  EXPECT_TRUE(matches("wgmma_f16", "wgmma_f16"));
  EXPECT_FALSE(matches("wgmma", "wgmma_f16"));
  EXPECT_FALSE(matches("f16", "wgmma_f16"));
  EXPECT_TRUE(matches("*_f16", "wgmma_f16"));
  EXPECT_TRUE(matches("wgmma_*", "wgmma_f16"));
  EXPECT_TRUE(matches("*gm*16*", "wgmma_f16"));
  EXPECT_TRUE(matches("wgmma_f1?", "wgmma_f16"));
  EXPECT_FALSE(matches("wgmma_f16?", "wgmma_f16"));
  EXPECT_TRUE(matches("mma.sync", "mma.sync"));
  EXPECT_FALSE(matches("mma.sync", "mma_sync"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("", "x"));
  EXPECT_FALSE(matches("?", ""));
}

TEST(NamePattern, Alternatives) {
  EXPECT_TRUE(matches("a*|b*", "apple"));
  EXPECT_TRUE(matches("a*|b*", "berry"));
  EXPECT_FALSE(matches("a*|b*", "cherry"));
  EXPECT_TRUE(matches("x|", ""));
}

// The definition, which NamePattern implements fast.
bool defined(const char* p, const char* n) {
  if (*p == '\0') return *n == '\0';
  if (*p == '*') return defined(p + 1, n) || (*n != '\0' && defined(p, n + 1));
  return *n != '\0' && (*p == '?' || *p == *n) && defined(p + 1, n + 1);
}

TEST(NamePattern, IsWhatItsDefinitionSays) {
  std::mt19937 random(7);
  int matched = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string pattern, name;
    for (unsigned j = random() % 7; j > 0; --j) pattern += "ab*?"[random() % 4];
    for (unsigned j = random() % 7; j > 0; --j) name += "ab"[random() % 2];
    const bool wanted = defined(pattern.c_str(), name.c_str());
    ASSERT_EQ(matches(pattern, name), wanted) << pattern << " of " << name;
    matched += wanted ? 1 : 0;
  }
  EXPECT_GT(matched, 10000);
}

TEST(NamePattern, EndsSoon) {
  std::string stars;
  for (int i = 0; i < 127; ++i) stars += "*a";
  EXPECT_FALSE(matches(stars + "b", std::string(100000, 'a')));
}

std::string refusal(const std::string& pattern) {
  try {
    NamePattern{pattern};
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(NamePattern, Refuses) {
  EXPECT_EQ(refusal(std::string(256, 'a')), "");
  EXPECT_EQ(refusal(std::string(257, 'a')),
            "is '" + std::string(60, 'a') + "...' of 257 characters but a pattern must have at most 256");
  EXPECT_EQ(refusal("((.*)*)*x"),
            "is '((.*)*)*x' and has '(' but must be a pattern of whole names: * stands for any characters, ? "
            "for one, | separates alternatives");
  for (const char* pattern : {"^a", "a$", "[ab]", "a+", "a{2}", "\\d"})
    EXPECT_NE(refusal(pattern), "") << pattern;
}

}  // namespace
}  // namespace tenon::command
