// Races with made-up times.
#include "command_line/tune_race.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tenon::command {
namespace {

struct Track {
  std::vector<double> microseconds;  // of the candidates
  double noise = 0.0;                // a call takes up to this fraction longer
  double drift = 0.0;                // every call takes this fraction longer than the one before
  std::vector<int> careful{};        // careful measurements of each candidate
  int calls = 0;
  std::mt19937 random{7};

  RaceResult run(const RaceRules& rules = {}, double seconds_a_call = 0.0) {
    careful.assign(microseconds.size(), 0);
    const auto measure = [this](std::size_t i, Look look) {
      if (look == Look::careful) ++careful[i];
      const double part = static_cast<double>(random() % 1000) / 1000;
      return microseconds[i] * (1 + noise * part) * (1 + drift * calls++);
    };
    return race(
        microseconds.size(), measure, [=] { return seconds_a_call * calls; }, rules);
  }
};

TEST(Race, TheFastestWins) {
  Track track{{10, 12, 9.5, 9.8}};
  const RaceResult result = track.run();
  EXPECT_EQ(result.winner, 2U);
  EXPECT_DOUBLE_EQ(result.microseconds[2], 9.5);
  EXPECT_DOUBLE_EQ(result.microseconds[0], 10);
  EXPECT_DOUBLE_EQ(result.microseconds[1], 12);
  EXPECT_EQ(result.finalist, (std::vector<bool>{true, false, true, true}));
}

TEST(Race, OnePercentIsNotEnough) {
  EXPECT_EQ((Track{{10, 9.91}}.run().winner), 0U);
  EXPECT_EQ((Track{{10, 9.89}}.run().winner), 1U);
}

TEST(Race, NoiseIsNotEnough) {
  // Equal but for 8 % of noise: each of the two others may win at most once in a hundred races.
  int fooled = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Track track{{10, 10, 10}, 0.08};
    track.random.seed(seed);
    if (track.run().winner != 0) ++fooled;
  }
  EXPECT_LE(fooled, 12);
  // With few rounds noise does not win more often.
  RaceRules few;
  few.most_rounds = few.least_rounds;
  fooled = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    Track track{{10, 10, 10}, 0.08};
    track.random.seed(seed);
    if (track.run(few).winner != 0) ++fooled;
  }
  EXPECT_LE(fooled, 12);
}

TEST(Race, NoiseDoesNotHideAFasterCandidate) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Track track{{10, 9, 9.6}, 0.03};
    track.random.seed(seed);
    EXPECT_EQ(track.run().winner, 1U) << seed;
  }
}

TEST(Race, DriftFavoursNoCandidate) {
  EXPECT_EQ((Track{{10, 10, 10}, 0, 0.001}.run().winner), 0U);
  EXPECT_EQ((Track{{10, 10, 10}, 0, -0.001}.run().winner), 0U);
  EXPECT_EQ((Track{{10, 9.6, 10}, 0, 0.001}.run().winner), 1U);
  EXPECT_EQ((Track{{10, 9.6, 10}, 0, -0.001}.run().winner), 1U);
}

TEST(Race, OnlyTheBestAndTheDocumentedChoiceAreTimedCarefully) {
  Track track{{30, 10, 10.9, 11.1, 20}};
  const RaceResult result = track.run();
  EXPECT_EQ(result.winner, 1U);
  EXPECT_EQ(result.finalist, (std::vector<bool>{true, true, true, false, false}));
  EXPECT_EQ(track.careful, (std::vector<int>{31, 31, 31, 0, 0}));
  EXPECT_EQ(result.rounds, 31);
}

TEST(Race, IfNoCandidateComesNearNothingIsTimedCarefully) {
  Track track{{10, 12, 13}};
  const RaceResult result = track.run();
  EXPECT_EQ(result.winner, 0U);
  EXPECT_EQ(result.rounds, 0);
  EXPECT_EQ(track.careful, (std::vector<int>{0, 0, 0}));
  EXPECT_DOUBLE_EQ(result.microseconds[0], 10);
}

TEST(Race, SecondsLimitTheRoundsAboveTheLeastNumber) {
  RaceRules rules;
  rules.seconds = 20;
  EXPECT_EQ((Track{{10, 9}}.run(rules, 1.0).rounds), 10);
  EXPECT_EQ((Track{{10, 9}}.run(rules, 100.0).rounds), rules.least_rounds);
  EXPECT_EQ((Track{{10, 9}}.run(rules, 0.001).rounds), rules.most_rounds);
}

TEST(Race, OneCandidateOrNone) {
  Track alone{{10}};
  EXPECT_EQ(alone.run().winner, 0U);
  EXPECT_DOUBLE_EQ(alone.run().microseconds[0], 10);
  EXPECT_TRUE((Track{{}}.run().microseconds.empty()));
}

}  // namespace
}  // namespace tenon::command
