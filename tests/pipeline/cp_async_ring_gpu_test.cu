// CpAsyncRing without a GEMM: rows pass through it to other threads, for trip counts below, at and above its
// stages.
#include <gtest/gtest.h>

#include "fragment/managed.hpp"
#include "support/gpu.hpp"
#include "tenon/pipeline/cp_async_ring.hpp"
#include "tenon/ptx/shared_address.hpp"

namespace tenon {
namespace {

constexpr int threads = 128;

// Copies `trips` rows of 128 words from in to out and reverses each, so that every thread reads words that
// another one copied. Then again through the same memory. Warps pause at different times.
template <int Stages>
__global__ void reverse_rows(const int* in, int* out, int trips) {
  using Ring = CpAsyncRing<Stages>;
  __shared__ int memory[Stages][threads];
  const int t = static_cast<int>(threadIdx.x);
  for (int pass = 0; pass < 2; ++pass) {
    const auto copy = [&](int row) {
      if (row < trips) {
        ptx::cp_async_ca_shared_global_4(ptx::shared_address(&memory[row % Stages][t]),
                                         in + threads * row + t);
      }
      Ring::commit();
    };
    for (int row = 0; row < Stages - 1; ++row) copy(row);
    for (int row = 0; row < trips; ++row) {
      if ((row + t / 32) % 5 == 0) __nanosleep(200);
      Ring::wait_oldest();
      copy(row + Stages - 1);
      out[(pass * trips + row) * threads + t] = memory[row % Stages][threads - 1 - t];
    }
    Ring::drain();  // the second pass starts over in the same memory
  }
}

template <int Stages>
void expect_reversed_rows() {
  for (const int trips : {0, 1, 2, Stages - 1, Stages, Stages + 1, 100}) {
    test::Managed<int> in(static_cast<std::size_t>(trips) * threads + 1, 0);
    test::Managed<int> out(static_cast<std::size_t>(trips) * threads * 2 + 1, -1);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 2654435761U >> 1);
    reverse_rows<Stages><<<1, threads>>>(in.data(), out.data(), trips);
    ASSERT_TRUE(test::finished());
    for (int row = 0; row < 2 * trips; ++row) {
      for (int t = 0; t < threads; ++t) {
        ASSERT_EQ(out[static_cast<std::size_t>(row * threads + t)],
                  in[static_cast<std::size_t>(row % trips * threads + threads - 1 - t)])
            << Stages << " stages, " << trips << " trips, row " << row << " element " << t;
      }
    }
    ASSERT_EQ(out[static_cast<std::size_t>(trips) * threads * 2], -1);
  }
}

class CpAsyncRingGpu : public test::GpuTest {};

TEST_F(CpAsyncRingGpu, EveryRowArrivesWholeAndInOrder) {
  expect_reversed_rows<2>();
  expect_reversed_rows<3>();
  expect_reversed_rows<4>();
  expect_reversed_rows<5>();
}

}  // namespace
}  // namespace tenon
