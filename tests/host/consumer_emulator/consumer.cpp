// Runs a kernel of its own in the emulator.
#include <array>
#include <cstdio>

#include "tenon/emulator/emulator.hpp"

constexpr const char* ptx = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 x) {
  .reg .u64 %a<3>;
  .reg .u32 %r<4>;
  ld.param.u64 %a0, [x];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %a1, %r0, 4;
  add.u64 %a2, %a0, %a1;
  ld.global.u32 %r1, [%a2];
  add.u32 %r2, %r1, %r1;
  st.global.u32 [%a2], %r2;
  ret;
}
)";

int main() {
  tenon::emulator::Emulator emulator;
  std::array<int, 32> values = {};
  for (int i = 0; i < 32; ++i) values[i] = i;
  const auto module = emulator.load(ptx);
  const auto x = emulator.allocate(sizeof values);
  emulator.copy_in(x, values.data(), sizeof values);
  const auto result = emulator.launch(module, "twice", {{1}, {32}}, {x});
  emulator.copy_out(values.data(), x, sizeof values);
  for (const auto& finding : result.findings) std::printf("%s\n", finding.message.c_str());
  return result.findings.empty() && values[31] == 62 ? 0 : 1;
}
