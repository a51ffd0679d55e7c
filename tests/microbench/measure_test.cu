// The stopwatch on kernels of known duration: they wait for a number of nanoseconds.
#include "microbench/measure.hpp"

#include <chrono>
#include <cstdint>
#include <thread>

#include "support/gpu.hpp"

namespace tenon::microbench {
namespace {

class Measure : public test::GpuTest {};

__global__ void wait_kernel(std::uint64_t nanoseconds) {
  std::uint64_t start = 0;
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < nanoseconds);
}

Contender waiting(std::uint64_t nanoseconds) {
  Contender contender;
  contender.name = "wait";
  contender.flop = 1e9;
  contender.enqueue = [=](cudaStream_t stream, int) -> Status {
    wait_kernel<<<1, 1, 0, stream>>>(nanoseconds);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) return {StatusCode::cuda_error, "%s", cudaGetErrorString(error)};
    return {};
  };
  return contender;
}

TEST_F(Measure, BurstOfLongLaunchesTakesWhatItTakes) {
  Stopwatch stopwatch(0);
  const Figure figure = stopwatch.burst(waiting(500'000), {});
  EXPECT_GT(figure.microseconds, 498);
  EXPECT_LT(figure.microseconds, 530);
  EXPECT_NEAR(figure.tflops, 1e9 / figure.microseconds * 1e-6, 1e-9);
}

TEST_F(Measure, ShortLaunchesAreReplayedFromAGraph) {
  Stopwatch stopwatch(0);
  int calls = 0;
  Contender contender = waiting(10'000);
  const auto enqueue = contender.enqueue;
  contender.enqueue = [&](cudaStream_t stream, int iteration) {
    ++calls;
    return enqueue(stream, iteration);
  };
  const Figure figure = stopwatch.burst(contender, {});
  EXPECT_GT(figure.microseconds, 9);
  EXPECT_LT(figure.microseconds, 16);
  EXPECT_LT(calls, 400) << "launched again for each of the five bursts";
}

// As the launch that loads a kernel does: the burst would be one launch, and its gap most of the figure.
TEST_F(Measure, ASlowFirstLaunchDoesNotShortenTheBurst) {
  Stopwatch stopwatch(0);
  int calls = 0;
  Contender contender = waiting(10'000);
  const auto enqueue = contender.enqueue;
  contender.enqueue = [&](cudaStream_t stream, int iteration) {
    if (calls++ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return enqueue(stream, iteration);
  };
  const Figure figure = stopwatch.burst(contender, {});
  EXPECT_GT(calls, 100) << "about 3 ms of launches";
  EXPECT_LT(figure.microseconds, 16);
}

TEST_F(Measure, SustainedRunsForAboutTheTimeAsked) {
  Stopwatch stopwatch(0);
  Protocol protocol;
  protocol.rest_ms = 30;
  protocol.sustained_ms = 100;
  const auto begin = Telemetry::Clock::now();
  const Figure figure = stopwatch.sustained(waiting(1'000'000), protocol);
  const double seconds = std::chrono::duration<double>(Telemetry::Clock::now() - begin).count();
  EXPECT_GT(figure.microseconds, 998);
  EXPECT_LT(figure.microseconds, 1050);
  EXPECT_GT(seconds, 0.12);
  EXPECT_LT(seconds, 0.5);
}

TEST_F(Measure, TheForeignKernelRunsAsOftenAsItIsLaunched) {
  const ForeignKernel foreign;
  EXPECT_EQ(foreign.launches(), 0U);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(foreign.enqueue(nullptr));
  EXPECT_EQ(foreign.launches(), 3U);
}

// A kernel that takes as long in any company.
TEST_F(Measure, BetweenOthersALaunchTakesWhatItAdds) {
  Stopwatch stopwatch(0);
  for (const int microseconds : {10, 200}) {
    const Contender contender = waiting(static_cast<std::uint64_t>(microseconds) * 1000);
    const Figure alone = stopwatch.burst(contender, {}), between = stopwatch.between(contender, {});
    EXPECT_NEAR(between.microseconds, alone.microseconds, 1.5) << "launched with the same gaps";
    EXPECT_GT(between.foreign_us, 0.3);
    EXPECT_LT(between.foreign_us, 4);
    EXPECT_DOUBLE_EQ(between.microseconds, between.pair_us - between.foreign_us);
    EXPECT_NEAR(between.tflops, 1e9 / between.microseconds * 1e-6, 1e-9);
    EXPECT_EQ(alone.pair_us, 0);
  }
}

TEST_F(Measure, AFailingContenderBetweenOthersIsNamed) {
  Stopwatch stopwatch(0);
  Contender contender;
  contender.name = "refuses";
  contender.enqueue = [](cudaStream_t, int) -> Status {
    return {StatusCode::unsupported, "k is 3 but must be 4"};
  };
  EXPECT_THROW(stopwatch.between(contender, {}), Failure);
  EXPECT_GT(stopwatch.between(waiting(10'000), {}).microseconds, 9) << "the stopwatch works on";
}

TEST_F(Measure, TheClockIsPlausible) {
  int khz = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0), cudaSuccess);
  Stopwatch stopwatch(0);
  const Figure figure = stopwatch.burst(waiting(500'000), {});
  EXPECT_GT(figure.sm_mhz, 0.1e-3 * khz);
  EXPECT_LT(figure.sm_mhz, 1.05e-3 * khz);
}

TEST_F(Measure, RotationSpreadsLaunchesEvenly) {
  Stopwatch stopwatch(0);
  int uses[3] = {};
  Contender contender = waiting(100'000);
  const auto enqueue = contender.enqueue;
  contender.rotation = 3;
  contender.enqueue = [&](cudaStream_t stream, int iteration) {
    ++uses[iteration % 3];
    return enqueue(stream, iteration);
  };
  stopwatch.burst(contender, {});
  // The launch that loads the kernel, and one and ten for the estimate, start with the first set; the bursts
  // are even.
  EXPECT_LE(uses[0] - uses[2], 3);
  EXPECT_GE(uses[2], 5 * 3);
}

TEST_F(Measure, AFailingContenderIsNamed) {
  Stopwatch stopwatch(0);
  Contender contender;
  contender.name = "refuses";
  contender.enqueue = [](cudaStream_t, int) -> Status {
    return {StatusCode::unsupported, "k is 3 but must be 4"};
  };
  try {
    stopwatch.burst(contender, {});
    FAIL() << "nothing was thrown";
  } catch (const Failure& failure) {
    EXPECT_STREQ(failure.what(), "refuses: k is 3 but must be 4");
  }
}

}  // namespace
}  // namespace tenon::microbench
