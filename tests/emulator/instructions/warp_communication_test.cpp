// Lanes that exchange values: sources, synchronisation, and the findings where the ISA leaves the result
// undefined.
#include <gtest/gtest.h>

#include "emulator/instructions/one_warp.hpp"

namespace tenon::emulator::testing {
namespace {

struct Got {
  Lanes value, predicate;
};

// shfl of 100 + lane.
Got shuffle(const std::string& mode, std::uint64_t b, std::uint64_t c) {
  OneWarp warp("shfl.sync." + mode + ".b32 %r0|%p0, %r1, %r2, %r3, 0xffffffff;");
  for (std::size_t lane = 0; lane < warp_size; ++lane) warp.lanes("%r1")[lane] = 100 + lane;
  warp.set_all("%r2", b);
  warp.set_all("%r3", c);
  EXPECT_EQ(warp.run(), Flow::next);
  EXPECT_TRUE(warp.findings().empty());
  return {warp.get("%r0"), warp.get("%p0")};
}

// c for segments of `width` lanes, as __shfl_sync and similar functions compute it: a mask above, a clamp
// below.
std::uint64_t segments(int width, int clamp) {
  return static_cast<std::uint64_t>((32 - width) << 8 | clamp);
}

TEST(Shuffle, MovesWithinSegments) {
  for (const int width : {2, 4, 8, 16, 32}) {
    for (int amount = 0; amount < width; ++amount) {
      const Got up = shuffle("up", static_cast<std::uint64_t>(amount), segments(width, 0));
      const Got down = shuffle("down", static_cast<std::uint64_t>(amount), segments(width, 31));
      const Got butterfly = shuffle("bfly", static_cast<std::uint64_t>(amount), segments(width, 31));
      const Got index = shuffle("idx", static_cast<std::uint64_t>(amount), segments(width, 31));
      for (int lane = 0; lane < warp_size; ++lane) {
        const int base = lane / width * width, within = lane % width;
        const auto expect = [&](const Got& got, int from, const char* mode) {
          const bool in_range = from >= base && from < base + width;
          const auto at = static_cast<std::size_t>(lane);
          EXPECT_EQ(got.value[at], 100U + static_cast<unsigned>(in_range ? from : lane))
              << mode << " " << amount << " of " << width << ", lane " << lane;
          EXPECT_EQ(got.predicate[at], in_range ? 1U : 0U) << mode << " " << amount << " of " << width;
        };
        expect(up, base + within - amount, "up");
        expect(down, base + within + amount, "down");
        expect(butterfly, base + (within ^ amount), "bfly");
        expect(index, base + amount, "idx");
      }
    }
  }
}

TEST(Shuffle, ClampsByC) {
  const Got down = shuffle("down", 4, 19);  // lanes above 19 are out of range
  const Got index = shuffle("idx", 25, 20);
  const Got beyond = shuffle("idx", 32 + 3, 31);  // b counts modulo 32
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    EXPECT_EQ(down.value[lane], 100 + (lane + 4 <= 19 ? lane + 4 : lane));
    EXPECT_EQ(down.predicate[lane], lane + 4 <= 19 ? 1U : 0U);
    EXPECT_EQ(index.value[lane], 100 + lane);
    EXPECT_EQ(beyond.value[lane], 103U);
  }
}

TEST(Shuffle, ReadsBeforeItWritesAndTakesLanesOwnAmounts) {
  OneWarp warp("shfl.sync.idx.b32 %r1, %r1, %r2, 31, -1;");
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    warp.lanes("%r1")[lane] = lane;
    warp.lanes("%r2")[lane] = 31 - lane;
  }
  warp.run();
  for (std::size_t lane = 0; lane < warp_size; ++lane) EXPECT_EQ(warp.lanes("%r1")[lane], 31 - lane);
}

TEST(Shuffle, WaitsForEveryLaneOfTheMask) {
  OneWarp warp("shfl.sync.idx.b32 %r0, %r1, 0, 31, 0x0000ffff;");
  warp.set_all("%r1", 7);
  EXPECT_EQ(warp.run(0x00007fff), Flow::blocked);
  EXPECT_EQ(warp.lanes("%r0")[0], 0U);
  EXPECT_EQ(warp.run(0x0000ffff), Flow::next);
  EXPECT_EQ(warp.lanes("%r0")[15], 7U);
  EXPECT_EQ(warp.lanes("%r0")[16], 0U);
  EXPECT_TRUE(warp.findings().empty());
}

TEST(Shuffle, DoesNotWaitForLanesThatDoNotExist) {
  OneWarp warp("shfl.sync.down.b32 %r0, %r1, 1, 31, -1;", "sm_90a", 20);
  for (std::size_t lane = 0; lane < warp_size; ++lane) warp.lanes("%r1")[lane] = lane;
  EXPECT_EQ(warp.run(0x000fffff), Flow::next);
  EXPECT_EQ(warp.lanes("%r0")[18], 19U);
  // Lane 19 reads lane 20, which does not exist.
  ASSERT_EQ(warp.findings().size(), 1U);
  EXPECT_EQ(warp.findings()[0].kind, FindingKind::argument);
  EXPECT_EQ(warp.findings()[0].thread, 19U);
  EXPECT_NE(warp.findings()[0].message.find("lane 19 reads lane 20"), std::string::npos);
  EXPECT_EQ(warp.lanes("%r0")[19], 19U);
}

TEST(Shuffle, ServesDisjointMasksAtOnce) {
  OneWarp warp("shfl.sync.idx.b32 %r0, %r1, %r2, 31, %r3;");
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    warp.lanes("%r1")[lane] = lane;
    warp.lanes("%r2")[lane] = lane < 16 ? 3 : 30;
    warp.lanes("%r3")[lane] = lane < 16 ? 0x0000ffff : 0xffff0000;
  }
  EXPECT_EQ(warp.run(), Flow::next);
  for (std::size_t lane = 0; lane < warp_size; ++lane)
    EXPECT_EQ(warp.lanes("%r0")[lane], lane < 16 ? 3U : 30U);
  EXPECT_TRUE(warp.findings().empty());
  // One half is complete, the other is not: the first goes on, the second executes again.
  warp.set_all("%r0", 99);
  EXPECT_EQ(warp.run(0x7fffffff), Flow::branched);
  EXPECT_EQ(warp.lanes("%r0")[0], 3U);
  EXPECT_EQ(warp.lanes("%r0")[16], 99U);
}

TEST(Shuffle, ReportsMasksThatCannotBe) {
  OneWarp outsider("shfl.sync.idx.b32 %r0, %r1, 0, 31, 0x0000000f;");
  EXPECT_EQ(outsider.run(0x0000001f), Flow::next);
  ASSERT_EQ(outsider.findings().size(), 1U);
  EXPECT_NE(outsider.findings()[0].message.find("membermask 0x0000000f, which does not name it"),
            std::string::npos);

  OneWarp disagreeing("vote.sync.ballot.b32 %r0, %p1, %r1;");
  disagreeing.set_all("%r1", 0xffffffff);
  disagreeing.lanes("%r1")[4] = 0x00000010;
  EXPECT_EQ(disagreeing.run(), Flow::next);
  ASSERT_FALSE(disagreeing.findings().empty());
  EXPECT_NE(disagreeing.findings()[0].message.find("lane 4 has the membermask 0x00000010"),
            std::string::npos);
}

TEST(Vote, CountsTheLanesOfTheMask) {
  OneWarp warp(
      "vote.sync.all.pred %p0, %p1, 0x0fffffff; vote.sync.any.pred %p2, %p1, 0x0fffffff;"
      "vote.sync.uni.pred %p3, %p1, 0x0fffffff; vote.sync.ballot.b32 %r0, !%p1, 0x0fffffff;");
  struct Case {
    std::uint32_t set;
    std::uint64_t all, any, uniform;
  };
  for (const Case& one : {Case{0xffffffff, 1, 1, 1}, Case{0x0fffffff, 1, 1, 1}, Case{0, 0, 0, 1},
                          Case{0xf0000000, 0, 0, 1}, Case{0x00000001, 0, 1, 0}}) {
    for (std::size_t lane = 0; lane < warp_size; ++lane) warp.lanes("%p1")[lane] = one.set >> lane & 1;
    EXPECT_EQ(warp.run(0x0fffffff), Flow::next);
    EXPECT_EQ(warp.lanes("%p0")[5], one.all);
    EXPECT_EQ(warp.lanes("%p2")[5], one.any);
    EXPECT_EQ(warp.lanes("%p3")[5], one.uniform);
    EXPECT_EQ(warp.lanes("%r0")[5], ~one.set & 0x0fffffff);
  }
}

TEST(Match, FindsEqualValues) {
  OneWarp any("match.any.sync.b64 %r0, %d1, -1;");
  for (std::size_t lane = 0; lane < warp_size; ++lane) any.lanes("%d1")[lane] = (lane % 3) << 40;
  any.run();
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    std::uint64_t expected = 0;
    for (std::size_t other = 0; other < warp_size; ++other) {
      if (other % 3 == lane % 3) expected |= std::uint64_t{1} << other;
    }
    EXPECT_EQ(any.lanes("%r0")[lane], expected);
  }
  OneWarp all("match.all.sync.b32 %r0|%p0, %r1, 0x000000ff;");
  all.set_all("%r1", 5);
  all.lanes("%r1")[9] = 6;  // not in the mask
  all.run(0xff);
  EXPECT_EQ(all.lanes("%r0")[7], 0xffU);
  EXPECT_EQ(all.lanes("%p0")[7], 1U);
  all.lanes("%r1")[3] = 6;
  all.run(0xff);
  EXPECT_EQ(all.lanes("%r0")[7], 0U);
  EXPECT_EQ(all.lanes("%p0")[7], 0U);
}

TEST(Reduce, AppliesTheOperationToTheMask) {
  const auto reduced = [](const std::string& operation, LaneMask mask) {
    OneWarp warp("redux.sync." + operation + " %r0, %r1, " + std::to_string(mask) + ";");
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      warp.lanes("%r1")[lane] =
          static_cast<std::uint32_t>((lane % 2 != 0 ? -1 : 1) * static_cast<int>(lane * 3));
    }
    EXPECT_EQ(warp.run(mask), Flow::next);
    EXPECT_EQ(warp.lanes("%r0")[1], warp.lanes("%r0")[3]);
    return static_cast<std::uint32_t>(warp.lanes("%r0")[1]);
  };
  EXPECT_EQ(reduced("add.s32", all_lanes), static_cast<std::uint32_t>(-48));
  EXPECT_EQ(reduced("add.u32", 0x0000000f), static_cast<std::uint32_t>(-6));
  EXPECT_EQ(reduced("min.s32", all_lanes), static_cast<std::uint32_t>(-93));
  EXPECT_EQ(reduced("max.s32", all_lanes), 90U);
  EXPECT_EQ(reduced("min.u32", all_lanes), 0U);
  EXPECT_EQ(reduced("max.u32", all_lanes), static_cast<std::uint32_t>(-3));
  std::uint32_t conjunction = ~0U, disjunction = 0, exclusive = 0;
  for (int lane = 1; lane < 4; ++lane) {
    const auto value = static_cast<std::uint32_t>((lane % 2 != 0 ? -1 : 1) * lane * 3);
    conjunction &= value;
    disjunction |= value;
    exclusive ^= value;
  }
  EXPECT_EQ(reduced("and.b32", 0xe), conjunction);
  EXPECT_EQ(reduced("or.b32", 0xe), disjunction);
  EXPECT_EQ(reduced("xor.b32", 0xe), exclusive);
}

TEST(Elect, ChoosesOneOfTheMask) {
  OneWarp warp("elect.sync %r0|%p0, 0x00fff0f0; elect.sync _|%p1, 0x00fff0f0;");
  warp.run(0x00fff0f0);
  for (int lane = 0; lane < warp_size; ++lane) {
    if ((0x00fff0f0 >> lane & 1) == 0) continue;
    EXPECT_EQ(warp.lanes("%r0")[lane], 4U);
    EXPECT_EQ(warp.lanes("%p0")[lane], lane == 4 ? 1U : 0U);
    EXPECT_EQ(warp.lanes("%p1")[lane], lane == 4 ? 1U : 0U);
  }
}

TEST(ActiveMask, NamesTheLanesThatExecuteIt) {
  OneWarp warp("activemask.b32 %r0;");
  warp.run(0x00010203);
  EXPECT_EQ(warp.lanes("%r0")[1], 0x00010203U);
  EXPECT_EQ(warp.lanes("%r0")[2], 0U);
}

TEST(WarpCommunication, RefusesTheFormsWithoutSync) {
  EXPECT_NE(refusal("shfl.idx.b32 %r0, %r1, 0, 31;").find("from sm_70 on"), std::string::npos);
  EXPECT_NE(refusal("vote.all.pred %p0, %p1;").find("from sm_70 on"), std::string::npos);
  EXPECT_NE(refusal("redux.sync.min.f32 %r0, %r1, -1;").find("sm_100a"), std::string::npos);
  EXPECT_NE(refusal("redux.sync.and.u32 %r0, %r1, -1;").find(".b32"), std::string::npos);
  EXPECT_NE(refusal("vote.sync.ballot.pred %p0, %p1, -1;").find(".ballot goes with .b32"), std::string::npos);
  EXPECT_NE(refusal("elect.sync %r0, -1;").find("d|p"), std::string::npos);
}

}  // namespace
}  // namespace tenon::emulator::testing
