// Stage: its walk around a ring, and its parities against a model of an mbarrier (PTX ISA,
// "mbarrier.test_wait").
#include "tenon/pipeline/stage.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace tenon {
namespace {

template <int Stages>
void expect_index_and_lap() {
  Stage<Stages> stage;
  for (int i = 0; i < 5 * Stages + 1; ++i, stage = stage.next()) {
    ASSERT_EQ(stage.index, i % Stages);
    ASSERT_EQ(stage.phase, static_cast<std::uint32_t>(i / Stages % 2));
  }
}

TEST(Stage, CountsIndexAndLap) {
  expect_index_and_lap<1>();
  expect_index_and_lap<2>();
  expect_index_and_lap<3>();
  expect_index_and_lap<4>();
  expect_index_and_lap<7>();
  static_assert(Stage<3>{2, 0}.next().index == 0 && Stage<3>{2, 0}.next().phase == 1);
}

template <int Stages>
void expect_after_is_next_repeated() {
  Stage<Stages> start;
  for (int i = 0; i < 2 * Stages; ++i, start = start.next()) {
    Stage<Stages> stage = start;
    for (int count = 0; count <= 4 * Stages + 1; ++count, stage = stage.next()) {
      ASSERT_EQ(start.after(count).index, stage.index) << count << " after " << i;
      ASSERT_EQ(start.after(count).phase, stage.phase) << count << " after " << i;
    }
  }
}

TEST(Stage, AfterIsNextRepeated) {
  expect_after_is_next_repeated<1>();
  expect_after_is_next_repeated<2>();
  expect_after_is_next_repeated<3>();
  expect_after_is_next_repeated<4>();
  expect_after_is_next_repeated<7>();
}

// Completes a phase each time that `expected` arrivals have come. A wait on a parity succeeds while the phase
// of that parity is the one completed last: before any, that is parity 1.
class Barrier {
 public:
  explicit Barrier(int expected) : expected_(expected), pending_(expected) {}
  void arrive() {
    if (--pending_ != 0) return;
    pending_ = expected_;
    ++completed_;
  }
  bool try_wait(std::uint32_t parity) const { return (completed_ % 2 == 0 ? 1U : 0U) == parity; }

 private:
  int expected_, pending_, completed_ = 0;
};

// TmaRing's protocol, with one producer and `consumers`, each advanced at random: every consumer must see
// every item in order, and none may wait forever.
template <int Stages>
void run_ring(int trips, int consumers, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Barrier> full(Stages, Barrier(1)), empty(Stages, Barrier(consumers));
  std::array<int, Stages> held{};
  struct Walker {
    Stage<Stages> stage;
    int done = 0;
  };
  std::vector<Walker> walkers(static_cast<std::size_t>(consumers) + 1);  // the producer is the first
  const auto at = [](const Walker& w) { return static_cast<std::size_t>(w.stage.index); };
  int left = (consumers + 1) * trips;
  for (int turn = 0; left > 0; ++turn) {
    ASSERT_LT(turn, 1000 * (trips + 1) * (consumers + 1)) << "somebody waits for ever";
    const std::size_t who = random() % walkers.size();
    Walker& walker = walkers[who];
    if (walker.done == trips) continue;
    if (who == 0) {
      if (!empty[at(walker)].try_wait(walker.stage.phase ^ 1U)) continue;
      held[at(walker)] = walker.done;
      full[at(walker)].arrive();
    } else {
      if (!full[at(walker)].try_wait(walker.stage.phase)) continue;
      ASSERT_EQ(held[at(walker)], walker.done) << "consumer " << who;
      empty[at(walker)].arrive();
    }
    walker.stage = walker.stage.next();
    ++walker.done;
    --left;
  }
}

template <int Stages>
void run_rings() {
  for (const int trips : {0, 1, 2, Stages - 1, Stages, Stages + 1, 2 * Stages, 2 * Stages + 1, 50}) {
    for (const int consumers : {1, 2, 8}) {
      for (unsigned seed = 0; seed < 10; ++seed) run_ring<Stages>(trips, consumers, seed);
    }
  }
}

TEST(Stage, ItsPhaseIsTheParityOfTheRingsBarriers) {
  run_rings<1>();
  run_rings<2>();
  run_rings<3>();
  run_rings<5>();
}

}  // namespace
}  // namespace tenon
