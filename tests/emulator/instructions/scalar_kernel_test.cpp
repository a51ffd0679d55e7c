// Every scalar instruction in a kernel of its own, through the public interface: parsed, decoded, launched,
// with operands from memory. The threads' results must equal those of the handlers on a single warp. The
// tests of the families check the handlers, and on a GPU scalar_on_device.cpp does.
#include <gtest/gtest.h>

#include "emulator/instructions/scalar_operands.hpp"
#include "tenon/emulator/emulator.hpp"

namespace tenon::emulator::testing {
namespace {

constexpr std::size_t threads = 512, block = 128;

TEST(ScalarKernel, StoresWhatTheHandlersCompute) {
  const std::vector<ScalarCase> cases = scalar_cases();
  Emulator emulator;
  const Module module = emulator.load(scalar_module(cases));
  ASSERT_EQ(module.entries().size(), cases.size());
  Address arrays[1 + scalar_operands];
  for (Address& array : arrays) array = emulator.allocate(8 * threads);
  for (std::size_t index = 0; index < cases.size(); ++index) {
    const ScalarCase& one = cases[index];
    SCOPED_TRACE(one.text);
    OperandSource source(index);
    std::vector<Bits> operands[scalar_operands], found(threads);
    for (auto& operand : operands) operand.resize(threads);
    for (std::size_t thread = 0; thread < threads; ++thread) {
      const std::vector<Bits> own = source(one.operands, thread);
      for (std::size_t i = 0; i < own.size(); ++i) operands[i][thread] = own[i];
    }
    for (int i = 0; i < scalar_operands; ++i) {
      emulator.copy_in(arrays[1 + i], operands[i].data(), 8 * threads);
    }
    const Result result =
        emulator.launch(module, "case_" + std::to_string(index), {{threads / block}, {block}},
                        {arrays[0], arrays[1], arrays[2], arrays[3], arrays[4]});
    for (const Finding& finding : result.findings) ADD_FAILURE() << finding.message;
    emulator.copy_out(found.data(), arrays[0], 8 * threads);

    OneWarp warp(one.text);
    for (std::size_t first = 0; first < threads; first += warp_size) {
      for (std::size_t i = 0; i < one.operands.size(); ++i) {
        const char kind = letter(one.operands[i]);
        std::uint64_t* lanes = warp.lanes(std::string("%") + kind + std::to_string(i + 1));
        for (std::size_t lane = 0; lane < warp_size; ++lane)
          lanes[lane] = truncated(operands[i][first + lane], kind);
      }
      ASSERT_EQ(warp.run(), Flow::next);
      const std::uint64_t* lanes = warp.lanes(std::string("%") + letter(one.result) + "0");
      for (std::size_t lane = 0; lane < warp_size; ++lane)
        ASSERT_EQ(found[first + lane], lanes[lane]) << first + lane;
    }
  }
}

// A warp diverges, each half shuffles within itself, and the halves reconverge.
TEST(ScalarKernel, ShufflesInDivergedHalves) {
  const char* text = R"(
.version 8.6
.target sm_90a
.address_size 64
.visible .entry halves(.param .u64 out)
{
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %d<4>;
  mov.u32 %r0, %tid.x;
  setp.lt.u32 %p0, %r0, 16;
  @%p0 bra lower;
  xor.b32 %r2, %r0, 1;
  shfl.sync.idx.b32 %r1, %r0, %r2, 31, 0xffff0000;
  bra.uni both;
lower:
  sub.u32 %r2, 15, %r0;
  shfl.sync.idx.b32 %r1, %r0, %r2, 31, 0x0000ffff;
both:
  redux.sync.add.u32 %r3, %r1, 0xffffffff;
  mad.lo.u32 %r4, %r3, 100, %r1;
  ld.param.u64 %d0, [out];
  mul.wide.u32 %d1, %r0, 4;
  add.u64 %d2, %d0, %d1;
  st.global.u32 [%d2], %r4;
  ret;
})";
  Emulator emulator;
  const Module module = emulator.load(text);
  const Address out = emulator.allocate(4 * warp_size);
  const Result result = emulator.launch(module, "halves", {{1}, {warp_size}}, {out});
  for (const Finding& finding : result.findings) ADD_FAILURE() << finding.message;
  std::vector<std::uint32_t> found(warp_size);
  emulator.copy_out(found.data(), out, 4 * warp_size);
  for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
    EXPECT_EQ(found[lane], 49600 + (lane < 16 ? 15 - lane : lane ^ 1));
  }
}

}  // namespace
}  // namespace tenon::emulator::testing
