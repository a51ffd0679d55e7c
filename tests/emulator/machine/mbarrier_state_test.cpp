// The mbarrier's phases, counts and transaction bytes, and each misuse.
#include "emulator/machine/mbarrier_state.hpp"

#include <gtest/gtest.h>

namespace tenon::emulator {
namespace {

using Misuse = MbarrierState::Misuse;

MbarrierState of(std::uint32_t count) {
  MbarrierState state;
  EXPECT_EQ(state.initialize(count).misuse, Misuse::none);
  return state;
}

TEST(MbarrierState, a_phase_ends_with_its_last_arrival) {
  MbarrierState s = of(3);
  EXPECT_FALSE(s.arrive(1).phase_ended);
  const std::uint64_t token = s.token();
  EXPECT_EQ(MbarrierState::token_pending(token), 2u);
  EXPECT_FALSE(s.ended(token));
  EXPECT_FALSE(s.ended_parity(0));
  EXPECT_TRUE(s.ended_parity(1)) << "the phase before the first counts as over";
  EXPECT_TRUE(s.arrive(2).phase_ended);
  EXPECT_TRUE(s.ended(token));
  EXPECT_TRUE(s.ended_parity(0));
  EXPECT_FALSE(s.ended_parity(1));
  EXPECT_EQ(s.pending(), 3u);
}

TEST(MbarrierState, a_phase_waits_for_its_bytes_too) {
  MbarrierState s = of(1);
  EXPECT_EQ(s.expect_bytes(96).misuse, Misuse::none);
  EXPECT_FALSE(s.arrive(1).phase_ended);
  EXPECT_FALSE(s.complete_bytes(64).phase_ended);
  EXPECT_EQ(s.description(), "phase 0 (parity 0) waits for 0 of 1 arrival and 32 bytes");
  EXPECT_TRUE(s.complete_bytes(32).phase_ended);
  EXPECT_EQ(s.bytes(), 0);
}

TEST(MbarrierState, bytes_may_arrive_before_they_are_expected) {
  MbarrierState s = of(1);
  EXPECT_EQ(s.complete_bytes(64).misuse, Misuse::none);
  EXPECT_EQ(s.bytes(), -64);
  EXPECT_EQ(s.expect_bytes(64).misuse, Misuse::none);
  EXPECT_TRUE(s.arrive(1).phase_ended);
}

TEST(MbarrierState, more_bytes_than_expected_cannot_end_a_phase) {
  MbarrierState s = of(1);
  EXPECT_EQ(s.complete_bytes(64).misuse, Misuse::none);
  EXPECT_EQ(s.expect_bytes(32).misuse, Misuse::none);
  const MbarrierState::Outcome o = s.arrive(1);
  EXPECT_EQ(o.misuse, Misuse::bytes_without_expectation);
  EXPECT_FALSE(o.phase_ended);
  EXPECT_EQ(describe(o.misuse, s, 1),
            "leaves phase 0 with all arrivals but 32 bytes more than expect_tx announced, so it cannot end");
}

TEST(MbarrierState, a_drop_lowers_the_next_phases) {
  MbarrierState s = of(3);
  s.arrive(1, true);
  EXPECT_EQ(s.pending(), 2u);
  EXPECT_TRUE(s.arrive(2).phase_ended);
  EXPECT_EQ(s.pending(), 2u);
}

TEST(MbarrierState, refuses_what_the_isa_leaves_undefined) {
  MbarrierState s = of(2);
  EXPECT_EQ(s.arrive(3).misuse, Misuse::too_many_arrivals);
  EXPECT_EQ(s.pending(), 2u);
  EXPECT_EQ(s.arrive(0).misuse, Misuse::count_out_of_range);
  EXPECT_EQ(s.arrive(2, false, true).misuse, Misuse::no_complete_completed);
  EXPECT_EQ(s.arrive(1, false, true).misuse, Misuse::none);
  EXPECT_EQ(s.expect_bytes(1u << 20).misuse, Misuse::too_many_bytes);
  EXPECT_EQ(s.initialize(0).misuse, Misuse::count_out_of_range);
  EXPECT_EQ(s.initialize(1u << 20).misuse, Misuse::count_out_of_range);
}

TEST(MbarrierState, an_asynchronous_arrival_is_added_before_it_happens) {
  MbarrierState s = of(1);
  s.add_pending();
  EXPECT_FALSE(s.arrive(1).phase_ended);
  EXPECT_TRUE(s.arrive(1).phase_ended);
  EXPECT_EQ(s.pending(), 1u);
}

TEST(MbarrierState, its_memory_changes_with_every_operation) {
  MbarrierState s = of(4);
  std::uint64_t before = s.memory_image();
  EXPECT_NE(before, 0u);
  s.arrive(1);
  EXPECT_NE(s.memory_image(), before);
  before = s.memory_image();
  s.expect_bytes(8);
  EXPECT_NE(s.memory_image(), before);
}

}  // namespace
}  // namespace tenon::emulator
