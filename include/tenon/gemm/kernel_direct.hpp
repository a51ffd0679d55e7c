// The GEMM of many small products whose operands go straight from global memory to registers: one warp
// computes one tile of C and holds all of its A and B.
//
// mma.sync sums over k in any order, as long as A and B agree. So a lane does not fetch the elements of k
// that its fragments hold by layout.hpp, but 16 contiguous bytes of each of its rows (8 bytes where k is at
// most 16), and the warp multiplies with k permuted. Shared memory, which bounds the kernels that stage small
// tiles there (kernel_small.hpp), is not used. All loads of a tile are in flight at once. k is contiguous in
// A and B. Below: batch.hpp, store_chunks.hpp, store_registers.hpp, pipeline/grid_dependency.hpp.
#pragma once

#include "tenon/ptx/needs_newer_clang.hpp"
#include "tenon/ptx/needs_sm_80.hpp"

#include "tenon/gemm/batch.hpp"
#include "tenon/gemm/config.hpp"
#include "tenon/gemm/store_chunks.hpp"
#include "tenon/gemm/store_registers.hpp"
#include "tenon/pipeline/grid_dependency.hpp"
#include "tenon/ptx/opaque.hpp"

namespace tenon {

// T_: __half or __nv_bfloat16. M, N, K: the tile, N a multiple of 32; K, at most 64, is the largest k that
// the kernel takes. Warps: of a CTA. Resident: CTAs of a multiprocessor.
template <class T_, int M, int N, int K, int Warps, int Resident>
struct DirectConfig {
  using T = T_;
  using TB = T_;
  using Acc = float;
  using Block = TileShape<M, N, K>;
  using Warp = TileShape<M, N, 0>;
  static constexpr Order a_order = Order::row_major, b_order = Order::column_major;
  static constexpr int stages = 1, warps = Warps, threads = 32 * Warps, resident = Resident;
  static_assert(
      M % 16 == 0 && N % 32 == 0 && (K == 16 || K % 32 == 0),
      "DirectConfig: tiles have a multiple of 16 rows and of 32 columns, and k is 16 or a multiple of 32");
};

// 8 or 16 bytes of a row, as registers.
template <int words>
struct RowPiece;
template <>
struct RowPiece<4> {
  using Vector = uint4;
  __device__ __forceinline__ static void load(std::uint32_t (&word)[4], const void* from) {
    const uint4 v = __ldcg(static_cast<const uint4*>(from));
    word[0] = v.x, word[1] = v.y, word[2] = v.z, word[3] = v.w;
  }
};
template <>
struct RowPiece<2> {
  using Vector = uint2;
  __device__ __forceinline__ static void load(std::uint32_t (&word)[2], const void* from) {
    const uint2 v = __ldcg(static_cast<const uint2*>(from));
    word[0] = v.x, word[1] = v.y;
  }
};

template <class Config>
struct GemmDirect {
  using T = typename Config::T;
  using Block = typename Config::Block;
  static constexpr int words = Block::k == 16 ? 2 : 4;   // of a piece
  static constexpr int pieces = Block::k / (8 * words);  // along k: 4 lanes of 2 * words elements
  static constexpr int row_blocks = Block::m / 8, column_blocks = Block::n / 8;
  static constexpr int columns_at_a_time = 32;
  using Accumulators = WarpTile<T, float, Block::m, columns_at_a_time>;

  // The pieces that this lane holds: of rows g, g + 8, ... of A, or columns of B.
  template <int blocks>
  struct Operand {
    std::uint32_t word[blocks][pieces][words];

    // first: the operand's row (column) of this lane's group. left: rows (columns) from there on; k: of them.
    __device__ __forceinline__ void load(const std::uint16_t* first, std::int64_t ld, int left, int k) {
      const int t = lane_id() % 4;
#pragma unroll
      for (int i = 0; i < blocks; ++i) {
#pragma unroll
        for (int p = 0; p < pieces; ++p) {
          const int at = (4 * p + t) * 2 * words;
#pragma unroll
          for (int x = 0; x < words; ++x) word[i][p][x] = 0;
          if (8 * i < left && at < k) RowPiece<words>::load(word[i][p], first + (8 * i * ld + at));
        }
      }
    }
  };

  // By a whole warp: the tile of a problem.
  template <class Op>
  __device__ __forceinline__ static void run(const GemmArguments& p, TilePosition tile, const Op& op) {
    const int g = lane_id() / 4, row = tile.m * Block::m, column = tile.n * Block::n;
    Operand<row_blocks> a;
    Operand<column_blocks> b;
    a.load(static_cast<const std::uint16_t*>(p.a) + (row + g) * p.lda, p.lda, p.m - row - g, p.k);
    b.load(static_cast<const std::uint16_t*>(p.b) + (column + g) * p.ldb, p.ldb, p.n - column - g, p.k);
#pragma unroll
    for (int part = 0; part < Block::n / columns_at_a_time; ++part) {
      Accumulators accumulators;
      accumulators.clear();
#pragma unroll
      for (int k_step = 0; k_step < pieces * words / 2; ++k_step) {
        const int piece = 2 * k_step / words, x = 2 * k_step % words;
#pragma unroll
        for (int i = 0; i < Accumulators::rows; ++i) {
          FragmentA<m16n8k16, T> of_a;
          of_a.reg[0] = a.word[2 * i][piece][x];
          of_a.reg[1] = a.word[2 * i + 1][piece][x];
          of_a.reg[2] = a.word[2 * i][piece][x + 1];
          of_a.reg[3] = a.word[2 * i + 1][piece][x + 1];
#pragma unroll
          for (int j = 0; j < Accumulators::columns; ++j) {
            FragmentB<m16n8k16, T> of_b;
            const int block = part * columns_at_a_time / 8 + j;
            of_b.reg[0] = b.word[block][piece][x];
            of_b.reg[1] = b.word[block][piece][x + 1];
            accumulators.c[i][j].mma(of_a, of_b);
          }
        }
      }
      const int first = column + part * columns_at_a_time;
      if (first >= p.c.n) return;
      store(p.c, op, accumulators, row, first);
    }
  }

 private:
  template <class Op>
  __device__ __forceinline__ static void store(const Output& c, const Op& op, Accumulators& accumulators,
                                               int row, int column) {
    if constexpr (std::is_same_v<Op, LinearCombination>) {
      if (op.beta == 0.0F && takes_whole_chunks(c)) {
        store_chunks(c, op.alpha, accumulators, row, column);
        return;
      }
    }
    const StoreRegisters<Op> registers(c, op);
    registers(accumulators, row, column);
  }
};

// Makes the compiler compute where the operands are before it waits for the grid before.
__device__ __forceinline__ void hold(GemmArguments& problem) {
  const auto hidden = [](const void* address) {
    return reinterpret_cast<const void*>(ptx::opaque_copy(reinterpret_cast<std::uintptr_t>(address)));
  };
  problem.a = hidden(problem.a);
  problem.b = hidden(problem.b);
  ptx::opaque(problem.lda, problem.ldb);
}

// C = op(A * B) of each problem of a batch with k <= Config::Block::k, one warp a tile. A and B begin on
// multiples of 16 bytes, with rows (columns) of a multiple of 8 elements. Launch it as plan_batched.hpp says.
template <class Config, class Op>
__global__ void __launch_bounds__(Config::threads, Config::resident)
    gemm_direct(const __grid_constant__ BatchedArguments batch, const __grid_constant__ Op op) {
  const int index = static_cast<int>(blockIdx.x) * Config::warps + static_cast<int>(threadIdx.x) / 32;
  if (index >= batch.count * batch.gemm.raster.tiles()) return;
  if (batch.has_lists()) wait_for_previous_grid();  // which may have written them
  BatchedWork work = work_of(batch, index);
  hold(work.problem);
  wait_for_previous_grid();
  let_next_grid_begin();  // not before: see SmallConfig::is_tiny
  GemmDirect<Config>::run(work.problem, work.tile, op);
}

}  // namespace tenon
