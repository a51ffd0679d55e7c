// The product of the slices: for each modulus the product of the residues of A and B, on int8 tensor cores,
// reduced by the modulus before it is stored, one byte an element. All moduli are one launch of the wgmma
// kernel: their operands are stacked, as those of a batch (Stacked in wgmma_config.hpp), with clusters of
// CTAs that share columns of B of the same modulus.
#pragma once

#include "gemm/slices_common.cuh"
#include "tenon/gemm/wgmma_pieces.hpp"

namespace tenon {
namespace slices {

// A cluster of a stack whose scheduler is the one below.
template <class Shape>
struct ClusterOfStack : Shape {
  TENON_HOST_DEVICE static constexpr ClusterOfStack of(const ClusterExtent&) { return {}; }
};

// Config: WgmmaConfig. The tiles of a modulus are whole cluster tiles.
template <class Config>
struct StackedClusters : Config {
  static constexpr bool stacked = true, splits_tail = false;
  static constexpr int subtiles = 0;  // the store below needs no shared memory: one stage more
  using Cluster = ClusterOfStack<typename Config::Cluster>;
  static_assert(Config::a_order == Order::row_major && Config::b_order == Order::column_major &&
                    Config::Cluster::k == 1,
                "StackedClusters: k must be contiguous in A and B, and not split");
};

// The operation of the product, with what its store needs.
struct ReduceByModulus {
  std::uint8_t* c;  // the residues of all moduli, one below the other
  std::int64_t ld;
  int rows;  // of a modulus
  struct {
    unsigned weights;     // of the bytes of an accumulator
    Reduction reduction;  // start_bits: also what the offset of 2^31 adds modulo p
  } modulus[most_moduli];
};

// A 32-bit integer modulo p, as nearest_residue() has it.
__device__ __forceinline__ std::uint32_t reduced(std::int32_t x, unsigned weights, const Reduction& by) {
  // The bytes of x + 2^31 >= 0 times what they stand for: a sum below 2^18.
  const unsigned sum =
      __dp4a(static_cast<unsigned>(x) ^ 0x80000000U, weights, static_cast<unsigned>(by.start_bits));
  return nearest_residue(__uint_as_float(sum), by);
}

// Lanes store as column_of() says.
class StoreResidues {
 public:
  static constexpr int bytes_of_warp = 0;

  __device__ __forceinline__ StoreResidues(const Output&, const ReduceByModulus& op, const TensorMap&,
                                           std::uint32_t)
      : op_(op) {}

  __device__ __forceinline__ bool has_row(int) const { return true; }

  // By whole warps. part: 16 rows of accumulators a warp; row and column: of the warp's first accumulator.
  template <class Part>
  __device__ __forceinline__ void operator()(const Part& part, int row, int column) const {
    static_assert(Part::columns % 8 == 0, "StoreResidues: lanes store their part of 64 columns");
    const auto& modulus = op_.modulus[row / op_.rows];
    const unsigned weights = modulus.weights;
    const Reduction by = modulus.reduction;
    std::int64_t ld = op_.ld;
    ptx::opaque(ld);  // as in StoreTma: addresses are computed here, not kept across the mainloop
    int lane = lane_id();
    ptx::opaque(lane);
    std::uint8_t* const first = op_.c + (row + lane / 4) * ld + column + lane % 4 * 16;
#pragma unroll
    for (int block = 0; block < Part::columns / 8; ++block) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        std::uint32_t words[4];
#pragma unroll
        for (int w = 0; w < 4; ++w) {
          std::int32_t one[2], other[2];
          part.pair(0, 8 * block + 2 * w, half, one);
          part.pair(0, 8 * block + 2 * w + 1, half, other);
          words[w] = lowest_bytes({reduced(one[0], weights, by), reduced(one[1], weights, by),
                                   reduced(other[0], weights, by), reduced(other[1], weights, by)});
        }
        *reinterpret_cast<uint4*>(first + 8 * half * ld + 64 * block) =
            make_uint4(words[0], words[1], words[2], words[3]);
      }
    }
  }

  __device__ __forceinline__ void finish() const {}

 private:
  const ReduceByModulus& op_;
};

}  // namespace slices

template <class Config, int warps>
struct StoreOf<Config, slices::ReduceByModulus, warps> {
  using type = slices::StoreResidues;
};

// Walks over the tiles of one modulus after the other. raster: of one; whole_tiles: cluster tiles of all.
template <class Shape>
class StackedTileScheduler<slices::ClusterOfStack<Shape>> : public TileScheduler<Shape, false> {
  using Base = TileScheduler<Shape, false>;

 public:
  TENON_HOST_DEVICE constexpr StackedTileScheduler(const Raster& raster, int whole_tiles, int k_tiles,
                                                   int cta, int ctas, const Shape& = {})
      : Base(raster, raster.tiles(), k_tiles, cta, ctas), tiles_(whole_tiles) {}

  TENON_HOST_DEVICE constexpr int end() const { return tiles_; }
  TENON_HOST_DEVICE WorkTile at(int index) const {
    const int modulus = index / this->raster_.tiles();
    WorkTile work = Base::at(index - modulus * this->raster_.tiles());
    work.m += modulus * rows();
    return work;
  }
  // B of a modulus is as many tiles further along n as all moduli before have.
  TENON_HOST_DEVICE WorkTile loaded(WorkTile work) const {
    work.n += work.m / rows() * this->raster_.tiles_n() * Shape::n;
    return work;
  }

 private:
  TENON_HOST_DEVICE constexpr int rows() const { return this->raster_.tiles_m() * Shape::m; }

  int tiles_;
};

}  // namespace tenon
