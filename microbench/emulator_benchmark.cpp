// How fast the emulator executes PTX: a 256^3 GEMM on tensor cores, and loops of scalar instructions.
//
// A Google Benchmark program: --benchmark_filter, --benchmark_format=json and the like. In the names
// `threads` counts host threads, and `findings` says whether the emulator looks for races, missing proxy
// fences and reads of unwritten memory.
//   tenon_emulator_benchmark --benchmark_out=emulator.json --benchmark_out_format=json
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tenon/emulator/emulator.hpp"

namespace {

using namespace tenon::emulator;

std::string text_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Options options_of(const benchmark::State& state) {
  Options options;
  options.threads = static_cast<int>(state.range(0));
  options.findings = state.range(1) != 0;
  return options;
}

void count(benchmark::State& state, std::uint64_t instructions) {
  using benchmark::Counter;
  const auto total = static_cast<double>(instructions);
  state.counters["thread_instructions"] = total;
  state.counters["thread_instructions_per_second"] = Counter(total, Counter::kIsIterationInvariantRate);
  state.counters["per_second_and_host_thread"] =
      Counter(total / static_cast<double>(state.range(0)), Counter::kIsIterationInvariantRate);
}

// The hand-written module: 8192 mma.sync.m16n8k16, cp.async, ldmatrix, a grid of four 128 x 128 tiles.
void gemm_256(benchmark::State& state) {
  constexpr std::uint64_t n = 256;
  Emulator emulator;
  const Module module = emulator.load(text_of(TENON_MODULE_PTX));
  std::mt19937 random(1);
  std::vector<std::uint16_t> operands(2 * n * n);  // f16 in +-[0.5, 1)
  for (std::uint16_t& bits : operands) bits = static_cast<std::uint16_t>((random() & 0x83ffU) | 0x3800U);
  const Address a = emulator.allocate(4 * n * n), b = a + 2 * n * n, c = emulator.allocate(2 * n * n);
  emulator.copy_in(a, operands.data(), 4 * n * n);
  constexpr std::uint32_t size = n;
  const std::vector<Argument> arguments = {a, b, c, n, n, n, size, size, size, 1.0F, 0.0F};
  std::uint64_t instructions = 0;
  for (auto _ : state) {
    const Result result =
        emulator.launch(module, module.entries()[0], {{4}, {128}, 65536}, arguments, options_of(state));
    if (!result.findings.empty()) state.SkipWithError(result.findings[0].message.c_str());
    instructions = result.counters.total.thread_instructions;
  }
  count(state, instructions);
}
BENCHMARK(gemm_256)
    ->ArgNames({"threads", "findings"})
    ->ArgsProduct({{1, 2}, {0, 1}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// 64 warps; a loop of `body` and three instructions.
void loop_of(benchmark::State& state, const std::string& body) {
  const std::string text = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry loop(.param .u64 out)
{
  .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %d<8>; .reg .pred %p<2>;
  .shared .align 16 .b8 memory[4096];
  ld.param.u64 %d0, [out];
  mov.u32 %r0, %tid.x; mov.u32 %r1, 0; mov.u32 %r2, 7;
  mov.f32 %f0, 0f3F800000; mov.f32 %f1, 0f3F800001;
  mul.wide.u32 %d1, %r0, 4; add.s64 %d0, %d0, %d1;
  mov.u32 %r3, memory; shl.b32 %r4, %r0, 2; add.s32 %r3, %r3, %r4;
  st.shared.b32 [%r3], %r2;
AGAIN:
)" + body + R"(
  add.s32 %r1, %r1, 1;
  setp.lt.s32 %p0, %r1, 1000;
  @%p0 bra AGAIN;
  st.global.b32 [%d0], %r2;
  ret;
})";
  Emulator emulator;
  const Module module = emulator.load(text);
  const Address out = emulator.allocate(4096);
  std::uint64_t instructions = 0;
  for (auto _ : state) {
    const Result result = emulator.launch(module, "loop", {{2}, {1024}}, {out}, options_of(state));
    if (!result.findings.empty()) state.SkipWithError(result.findings[0].message.c_str());
    instructions = result.counters.total.thread_instructions;
  }
  count(state, instructions);
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

void integers(benchmark::State& state) {
  loop_of(state, repeated("mad.lo.s32 %r2, %r2, %r0, %r1;\n", 8));
}
void reals(benchmark::State& state) {
  loop_of(state, repeated("fma.rn.f32 %f0, %f0, %f1, %f0;\n", 8));
}
void shared_memory(benchmark::State& state) {
  loop_of(state, repeated("ld.shared.b32 %r2, [%r3];\nst.shared.b32 [%r3], %r2;\n", 4));
}
BENCHMARK(integers)->ArgNames({"threads", "findings"})->ArgsProduct({{1, 2}, {0, 1}})->UseRealTime();
BENCHMARK(reals)->ArgNames({"threads", "findings"})->ArgsProduct({{1}, {0, 1}})->UseRealTime();
BENCHMARK(shared_memory)->ArgNames({"threads", "findings"})->ArgsProduct({{1}, {0, 1}})->UseRealTime();

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv, [] {
    benchmark::PrintDefaultHelp();
    std::puts(
        "\nExamples:\n"
        "  tenon_emulator_benchmark --benchmark_filter='gemm|integers'\n"
        "  tenon_emulator_benchmark --benchmark_out=emulator.json --benchmark_out_format=json\n"
        "Exit status: 0 measured, 1 an output file cannot be written, 2 bad usage.");
  });
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
