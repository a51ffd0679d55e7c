// TmaRing without a GEMM: TMA loads boxes of a matrix through it, for trip counts below, at and above its
// stages. Each box must have SharedTile's layout in shared memory and zeros outside the matrix. Also tests
// what TMA stores at the edge of a matrix, which the PTX ISA does not say.
#include <gtest/gtest.h>

#include "fragment/managed.hpp"
#include "support/gpu.hpp"
#include "tenon/pipeline/make_tensor_map.hpp"
#include "tenon/pipeline/tma_ring.hpp"
#include "tenon/shared/tile.hpp"

namespace tenon {
namespace {

constexpr int rows = 32, columns = 64;  // of a box: rows of 128 bytes
using Tile = SharedTile<__half, rows, columns>;
constexpr int consumers = 4;  // warps

// Box i starts at (first_row, first_column + 64 i). The consumers write it to out, row by row without gaps.
// released: how many releases the consumer warps had made when the producer's drain() returned.
template <int Stages>
__global__ void copy_boxes(const __grid_constant__ TensorMap map, int first_row, int first_column, int trips,
                           std::uint16_t* out, int* released) {
  __shared__ __align__(1024) std::uint8_t memory[Stages][Tile::bytes];
  __shared__ std::uint64_t barriers[TmaRing<Stages>::bytes / sizeof(std::uint64_t)];
  const TmaRing<Stages> ring(barriers);
  __shared__ int count;
  if (works_for_warp(0)) {
    ring.initialize(consumers);
    count = 0;
  }
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  Stage<Stages> stage;
  if (warp == consumers) {
    if (!works_for_warp(consumers)) return;
    prefetch_map(map);
    for (int i = 0; i < trips; ++i, stage = stage.next()) {
      ring.wait_empty(stage);
      ring.expect(stage, Tile::bytes);
      copy_box(memory[stage.index], map, first_row, first_column + columns * i, ring.full_barrier(stage));
    }
    ring.drain(stage);
    *released = atomicAdd(&count, 0);
    return;
  }
  for (int i = 0; i < trips; ++i, stage = stage.next()) {
    if ((i + warp) % 3 == 0) __nanosleep(500);  // consumers run at different speeds
    if (i % 2 == 0 || !ring.is_full(stage)) ring.wait_full(stage);
    for (int row = warp; row < rows; row += consumers) {
      for (int column = lane; column < columns; column += 32) {
        const auto* from = memory[stage.index] + Tile::offset(row, column);
        out[(i * rows + row) * columns + column] = *reinterpret_cast<const std::uint16_t*>(from);
      }
    }
    __syncwarp();
    if (lane == 0) {
      atomicAdd(&count, 1);
      ring.release(stage);
    }
  }
}

std::uint16_t element(int row, int column) {
  return static_cast<std::uint16_t>(1 + (row * 521 + column) % 65521);
}

template <int Stages>
void expect_boxes(int matrix_rows, int matrix_columns, int first_row, int first_column, int trips) {
  const int ld = (matrix_columns + 7) / 8 * 8 + 8;
  test::Managed<std::uint16_t> matrix(static_cast<std::size_t>(matrix_rows * ld), 0xffff);
  for (int row = 0; row < matrix_rows; ++row) {
    for (int c = 0; c < matrix_columns; ++c) matrix[static_cast<std::size_t>(row * ld + c)] = element(row, c);
  }
  TensorMap map;
  const Status status =
      make_tensor_map({matrix.data(), 2, matrix_rows, matrix_columns, ld}, rows, columns, &map);
  ASSERT_TRUE(status) << status.message();
  test::Managed<std::uint16_t> out(static_cast<std::size_t>(trips * rows * columns + 1), 0xffff);
  test::Managed<int> released(1, -1);
  copy_boxes<Stages>
      <<<1, 32 * (consumers + 1)>>>(map, first_row, first_column, trips, out.data(), released.data());
  ASSERT_TRUE(test::finished());
  ASSERT_EQ(released[0], consumers * trips) << "the producer did not wait for all consumers";
  for (int i = 0; i < trips; ++i) {
    for (int row = 0; row < rows; ++row) {
      for (int c = 0; c < columns; ++c) {
        const int y = first_row + row, x = first_column + columns * i + c;
        const bool inside = y < matrix_rows && x < matrix_columns;
        ASSERT_EQ(out[static_cast<std::size_t>((i * rows + row) * columns + c)], inside ? element(y, x) : 0)
            << Stages << " stages, " << trips << " trips, box " << i << " row " << row << " column " << c;
      }
    }
  }
  ASSERT_EQ(out[out.size() - 1], 0xffff);
}

// sm_90a code runs only on compute capability 9.0.
class TmaRingGpu : public test::GpuTest {
 protected:
  void SetUp() override {
    if (test::gpu_sm() != 90) GTEST_SKIP() << "needs a GPU of sm_90";
  }
};

TEST_F(TmaRingGpu, EveryTripCount) {
  for (const int trips : {0, 1, 2, 3, 4, 5, 8, 9, 40}) {
    const int width = trips == 0 ? columns : columns * trips;
    expect_boxes<1>(rows, width, 0, 0, trips);
    expect_boxes<2>(rows, width, 0, 0, trips);
    expect_boxes<3>(rows, width, 0, 0, trips);
    expect_boxes<4>(rows, width, 0, 0, trips);
  }
}

TEST_F(TmaRingGpu, ZerosOutsideTheMatrix) {
  expect_boxes<2>(rows - 5, 71, 0, 0, 3);  // below, and within a chunk
  expect_boxes<3>(rows, 72, 0, 0, 2);
  expect_boxes<2>(100, 3 * columns, 90, 64, 4);
  expect_boxes<2>(1, 1, 0, 0, 1);
}

// Stores a box of 8 rows of 128 bytes. Each byte holds its own position in the box.
__global__ void store_numbered_box(const __grid_constant__ TensorMap map) {
  __shared__ __align__(1024) std::uint8_t box[8 * 128];
  for (int i = static_cast<int>(threadIdx.x); i < 8 * 128; i += 32) {
    const int row = i / 128, byte = i % 128;
    box[row * 128 + swizzled_chunk<128>(row, byte / 16) * 16 + byte % 16] =
        static_cast<std::uint8_t>(row * 128 + byte);
  }
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  __syncwarp();
  if (works_for_warp(0)) {
    store_box(map, 0, 0, ptx::shared_address(box));
    cuda::ptx::cp_async_bulk_commit_group();
    cuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<0>());
  }
}

using TmaStoreGpu = TmaRingGpu;

// TMA completes the last 16 bytes of each row, even beyond the end of the matrix, and writes nothing further.
TEST_F(TmaStoreGpu, CompletesTheLast16BytesOfARow) {
  for (const int element : {1, 2, 4}) {
    for (const int length : {4, 12, 16, 20, 36, 124, 128}) {  // bytes
      constexpr int pitch = 256, matrix_rows = 5;
      test::Managed<std::uint8_t> matrix(8 * pitch, 0xee);
      TensorMap map;
      const Status status = make_tensor_map(
          {matrix.data(), element, matrix_rows, length / element, pitch / element}, 8, 128 / element, &map);
      ASSERT_TRUE(status) << status.message();
      store_numbered_box<<<1, 32>>>(map);
      ASSERT_TRUE(test::finished());
      const int end = (length + 15) / 16 * 16;
      for (int i = 0; i < 8 * pitch; ++i) {
        const int row = i / pitch, byte = i % pitch;
        const bool stored = row < matrix_rows && byte < end;
        ASSERT_EQ(matrix[static_cast<std::size_t>(i)],
                  stored ? static_cast<std::uint8_t>(row * 128 + byte) : std::uint8_t{0xee})
            << "elements of " << element << " bytes, rows of " << length << ", row " << row << " byte "
            << byte;
      }
    }
  }
}

}  // namespace
}  // namespace tenon
