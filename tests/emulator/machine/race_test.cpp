// Races in shared memory: found if nothing orders two accesses, and not found otherwise, whatever the
// schedule. Each fault is paired with its corrected version.
#include <cstdint>

#include "emulator/machine/kernel.hpp"

namespace tenon::emulator::testing {
namespace {

struct RaceCase {
  const char* what;
  const char* order;  // replaces ORDER in the corrected version
  const char* body;
};

class Races : public ::testing::TestWithParam<RaceCase> {};

std::string with(std::string body, const std::string& order) {
  for (std::size_t at; (at = body.find("ORDER")) != std::string::npos;) body.replace(at, 5, order);
  return module_text("",
                     ".shared .align 16 .b8 tile[1024]; .shared .align 4 .b32 flag;\n"
                     "mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, 4, %r2;\n" +
                         body);
}

TEST_P(Races, AreFoundWithoutTheOrderAndOnlyThen) {
  Kernel wrong(with(GetParam().body, "")), right(with(GetParam().body, GetParam().order));
  for (const Options& options : all_schedules(100)) {
    const Result bad = wrong.run({{2}, {64}}, {}, options);
    the_finding(wrong, bad, FindingKind::race, "// race");
    const Result good = right.run({{2}, {64}}, {}, options);
    EXPECT_TRUE(good.findings.empty()) << listed(good.findings);
  }
}

const RaceCase race_cases[] = {
    {"ReadOfAnotherWarpsWrite", "bar.sync 0;", R"(
      st.shared.u32 [%r3], %r1;
      ORDER
      xor.b32 %r4, %r1, 32; mad.lo.u32 %r4, %r4, 4, %r2;
      ld.shared.u32 %r5, [%r4]; // race)"},
    {"ReadOfAnotherLanesWrite", "bar.warp.sync -1;", R"(
      st.shared.u32 [%r3], %r1;
      ORDER
      xor.b32 %r4, %r1, 1; mad.lo.u32 %r4, %r4, 4, %r2;
      ld.shared.u32 %r5, [%r4]; // race)"},
    {"OverwriteOfWhatIsRead", "bar.sync 0;", R"(
      st.shared.u32 [%r3], %r1;
      bar.sync 0;
      xor.b32 %r4, %r1, 32; mad.lo.u32 %r4, %r4, 4, %r2;
      ld.shared.u32 %r5, [%r4]; // race
      ORDER
      st.shared.u32 [%r3], %r1;)"},
    {"TwoWrites", "bar.sync 0;", R"(
      setp.ge.u32 %p1, %r1, 32;
      @%p1 st.shared.u32 [%r3+128], %r1;
      ORDER
      xor.b32 %r4, %r1, 32; mad.lo.u32 %r4, %r4, 4, %r2;
      @!%p1 st.shared.u32 [%r4+128], %r1; // race)"},
    {"BytesOfOneWord", "bar.sync 0;", R"(
      add.u32 %r4, %r2, %r1;
      st.shared.u8 [%r4], %r1;
      ORDER
      and.b32 %r5, %r1, 60; add.u32 %r5, %r5, %r2;
      ld.shared.u32 %r6, [%r5]; // race)"},
    {"AfterAnAtomic", "bar.sync 0;", R"(
      setp.eq.u32 %p1, %r1, 0;
      @%p1 st.shared.u32 [flag], 0;
      bar.sync 0;
      atom.shared.add.u32 %r4, [flag], 1;
      ORDER
      ld.shared.u32 %r5, [flag]; // race)"},
    {"MessageAfterARelaxedFlag", "membar.cta;", R"(
      setp.ge.u32 %p1, %r1, 32;
      setp.eq.u32 %p2, %r1, 0;
      @%p2 st.shared.u32 [flag], 0;
      bar.sync 0;
      @%p1 bra reader;
      @!%p2 ret;
      st.shared.u32 [tile], 5;
      ORDER
      st.volatile.shared.u32 [flag], 1;
      ret;
    reader:
      ld.volatile.shared.u32 %r4, [flag];
      setp.eq.u32 %p3, %r4, 0;
      @%p3 bra reader;
      ORDER
      ld.shared.u32 %r5, [tile]; // race)"},
};
INSTANTIATE_TEST_SUITE_P(Race, Races, ::testing::ValuesIn(race_cases),
                         [](const auto& info) { return std::string(info.param.what); });

TEST(Race, ReleaseAndAcquireOrderWhatIsAroundThem) {
  const auto text = [](const std::string& store, const std::string& load) {
    return module_text("",
                       ".shared .align 4 .b32 data; .shared .align 4 .b32 flag;\n"
                       R"(
      mov.u32 %r1, %tid.x;
      setp.eq.u32 %p2, %r1, 0; setp.ge.u32 %p1, %r1, 32;
      @%p2 st.shared.u32 [flag], 0;
      bar.sync 0;
      @%p1 bra reader;
      @!%p2 ret;
      st.shared.u32 [data], 5;
      )" + store + R"(
      ret;
    reader:
      )" + load + R"(
      setp.ne.u32 %p3, %r4, 1;
      @%p3 bra reader;
      ld.shared.u32 %r5, [data]; // race)");
  };
  Kernel right(text("st.release.cta.shared.u32 [flag], 1;", "ld.acquire.cta.shared.u32 %r4, [flag];"));
  Kernel by_atomics(
      text("red.release.cta.shared.add.u32 [flag], 1;", "atom.acquire.cta.shared.or.b32 %r4, [flag], 0;"));
  Kernel not_acquired(text("st.release.cta.shared.u32 [flag], 1;", "ld.relaxed.cta.shared.u32 %r4, [flag];"));
  Kernel not_released(text("st.relaxed.cta.shared.u32 [flag], 1;", "ld.acquire.cta.shared.u32 %r4, [flag];"));
  for (const Options& options : all_schedules(20)) {
    const Result first = right.run({{1}, {64}}, {}, options),
                 second = by_atomics.run({{1}, {64}}, {}, options);
    EXPECT_TRUE(first.findings.empty()) << listed(first.findings);
    EXPECT_TRUE(second.findings.empty()) << listed(second.findings);
    the_finding(not_acquired, not_acquired.run({{1}, {64}}, {}, options), FindingKind::race, "// race");
    the_finding(not_released, not_released.run({{1}, {64}}, {}, options), FindingKind::race, "// race");
  }
}

TEST(Race, DisjointBytesOfAWordAreNone) {
  Kernel kernel(
      with("add.u32 %r4, %r2, %r1;\n st.shared.u8 [%r4], %r1;\n ld.shared.u8 %r5, [%r4];\n"
           "st.shared.u8 [%r4], %r5;",
           ""));
  for (const Options& options : all_schedules()) {
    const Result result = kernel.run({{1}, {64}}, {}, options);
    EXPECT_TRUE(result.findings.empty()) << listed(result.findings);
  }
}

TEST(Race, ManyReadersAreAllRemembered) {
  // 64 threads read one word; the thread that overwrites it is ordered after all of them but one.
  Kernel kernel(module_text("", R"(
    .shared .align 4 .b32 word;
    mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
    @%p1 st.shared.u32 [word], 1;
    bar.sync 0;
    setp.eq.u32 %p2, %r1, 37;
    @!%p2 ld.shared.u32 %r2, [word];
    bar.sync 0;
    @%p2 ld.shared.u32 %r2, [word]; // race
    @%p1 st.shared.u32 [word], 2;)"));
  for (const Options& options : all_schedules()) {
    const Finding finding =
        the_finding(kernel, kernel.run({{1}, {64}}, {}, options), FindingKind::race, "// race");
    EXPECT_EQ(finding.first.thread.x, 37u);
  }
}

TEST(Race, NothingIsLookedForWithoutFindings) {
  Kernel kernel(with("st.shared.u32 [tile], %r1;", ""));
  Options options;
  EXPECT_EQ(kernel.run({{1}, {64}}, {}, options).findings.size(), 1u);
  options.findings = false;
  EXPECT_TRUE(kernel.run({{1}, {64}}, {}, options).findings.empty());
}

}  // namespace
}  // namespace tenon::emulator::testing
