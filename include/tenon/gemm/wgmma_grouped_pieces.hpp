// The pieces of the kernels for grouped products, and their consumers. Below: producer_tma_grouped.hpp,
// producer_tma_grouped_block_scaled.hpp, wgmma_grouped_k.hpp, wgmma_grouped_rows.hpp, wgmma_roles.hpp,
// pipeline/turns.hpp.
#pragma once

#include "tenon/gemm/producer_tma_grouped.hpp"
#include "tenon/gemm/producer_tma_grouped_block_scaled.hpp"
#include "tenon/gemm/wgmma_grouped_k.hpp"
#include "tenon/gemm/wgmma_grouped_rows.hpp"
#include "tenon/gemm/wgmma_roles.hpp"
#include "tenon/pipeline/turns.hpp"

namespace tenon {

// A configuration as the grouped kernels take it. Config: a WgmmaConfig with one CTA in a cluster or two
// along m, or Pingpong or BlockScaled of one.
template <class Config>
struct Grouped : Config {
  static_assert(!Config::swap_ab && !Config::row_interleaved &&
                    (!Config::promotes || is_block_scaled<Config>),
                "Grouped: the configuration must be a WgmmaConfig, or Pingpong or BlockScaled of one");
  static constexpr bool splits_tail = false, divides_k = false;
};

// The same for groups that divide k. Config: a WgmmaConfig.
template <class Config>
struct GroupedK : Grouped<Config> {
  static constexpr bool divides_k = true;
};

// What the producer loads beside the operands.
template <class Config>
struct BesideOperands {
  using type = OperandsAlone<Config>;
};
template <class C>
struct BesideOperands<Grouped<BlockScaled<C>>> {
  using type = GroupedBlockScales<Grouped<BlockScaled<C>>>;
};
template <class C>
struct OperandPieces<Grouped<BlockScaled<C>>> {
  using Producer =
      ProducerGrouped<Grouped<BlockScaled<C>>, typename BesideOperands<Grouped<BlockScaled<C>>>::type>;
  using Mainloop = BlockScaledMainloopOf<Grouped<BlockScaled<C>>>;
};

// Config: Grouped.
template <class Config>
struct GroupedPieces {
  using Pieces = WgmmaPieces<Config>;
  using Block = typename Config::Block;
  using Cluster = typename Config::Cluster;
  using Budget = RegisterBudget<Config>;
  using Ring = typename Pieces::Ring;
  using Producer = ProducerGrouped<Config, typename BesideOperands<Config>::type>;
  template <bool divides_k, class C>
  struct GroupsOf {
    using type = RowGroups<C>;
  };
  template <class C>
  struct GroupsOf<true, C> {
    using type = KGroups<C>;
  };
  using Groups = typename GroupsOf<Config::divides_k, Config>::type;
  using Scheduler = typename Groups::Scheduler;
  // The producer walks through the groups.
  using Roles = WgmmaRoles<Config, WideProducerRegisters>;
  // TMA would write rows of the next group too.
  template <class Op>
  using Store = StoreTma<Op, Config::subtiles, Budget::rows_at_a_time, true, AboveLastRow>;

  // Stores the accumulators of a warpgroup. map_c, staging: see StoreTma.
  template <class Op>
  __device__ __forceinline__ static void store(typename Config::Accumulators& accumulators,
                                               const GroupedTile& tile, const GroupedArguments& p, int row,
                                               const Op& operation, const TensorMap& map_c,
                                               std::uint32_t staging) {
    Output c = p.c;
    c.m = tile.end_row;
    const Store<Op> store(c, operation, map_c, staging);
    // The warp's number from lane 0, by which ptxas knows that a warp branches on its row as one. Otherwise
    // it would move the operands' descriptors to uniform registers before every instruction of the mainloop.
    const int first =
        tile.row + row + 16 * __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 32 % 4, 0);
    accumulators.for_each_part([&](const auto& rows, int of_part) {
      if (store.has_row(first + of_part)) store(rows, first + of_part, tile.column);
    });
  }
};

// All consumer warpgroups compute a part of the rows of each work tile. Each finds its next tile while the
// last instructions of this one run.
template <class Config>
struct GroupedCooperativeConsumers {
  using Pieces = GroupedPieces<Config>;

  // By all of a consumer warpgroup. ring_memory: address of the ring's stages in the shared window; staging:
  // of the epilogue subtiles.
  template <class Op>
  __device__ __forceinline__ static void run(int consumer, const GroupedArguments& p,
                                             typename Pieces::Scheduler& scheduler,
                                             const typename Pieces::Ring& ring, std::uint32_t ring_memory,
                                             const Op& operation, const TensorMap& map_c,
                                             std::uint32_t staging) {
    const int row = consumer * Config::Warp::m;  // in the tile
    typename Config::Accumulators accumulators;
    Stage<Config::stages> stage;
    int index = scheduler.first();
    bool found = scheduler.find(index);
    while (found) {
      const GroupedTile now = scheduler.at(index);
      StageConsumer<Config> stages(ring, ring_memory, stage, now.work, {});
      Pieces::Groups::multiply(accumulators, stages, now, p, consumer, row, [&] {
        index += scheduler.step();
        found = scheduler.find(index);
      });
      Pieces::store(accumulators, now, p, row, operation, map_c, staging);
    }
  }
};

// Two consumer warpgroups take the CTA's work tiles in turn: see PingpongConsumers.
template <class Config>
struct GroupedPingpongConsumers {
  using Pieces = GroupedPieces<Config>;
  static constexpr int consumers = Config::consumers;

  template <class Op>
  __device__ __forceinline__ static void run(int consumer, const GroupedArguments& p,
                                             typename Pieces::Scheduler& scheduler,
                                             const typename Pieces::Ring& ring, std::uint32_t ring_memory,
                                             const Op& operation, const TensorMap& map_c,
                                             std::uint32_t staging) {
    const int k_tiles = scheduler.k_tiles();
    typename Config::Accumulators accumulators;
    Stage<Config::stages> stage;
    stage = stage.after(consumer * k_tiles);
    const Turns<consumers> turns(consumer);
    int index = scheduler.first() + consumer * scheduler.step();
    bool found = scheduler.find(index);
    while (found) {
      const GroupedTile now = scheduler.at(index);
      StageConsumer<Config> stages(ring, ring_memory, stage, now.work, {});
      turns.wait();
      Pieces::Groups::multiply(accumulators, stages, now, p, consumer, 0, [&] {
        turns.pass();
        index += consumers * scheduler.step();
        found = scheduler.find(index);
      });
      stage = stage.after((consumers - 1) * k_tiles);
      Pieces::store(accumulators, now, p, 0, operation, map_c, staging);
    }
  }
};

}  // namespace tenon
