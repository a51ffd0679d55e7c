// FusedEpilogue as the operation of wgmma kernels: its store. A header of its own, so that kernels without it
// do not read the code of all activations. Below: store_tma_fused.hpp, wgmma_pieces.hpp.
#pragma once

#include "tenon/gemm/store_tma_fused.hpp"
#include "tenon/gemm/wgmma_pieces.hpp"

namespace tenon {

// Not where registers are scarce: StoreRows would spill. (With 128 accumulators in ping-pong kernels, both it
// and the store of gated pairs would: those go to StoreRows there.)
template <class Config>
inline constexpr bool takes_every_epilogue =
    !RegisterBudget<Config>::scarce && !RegisterBudget<Config>::large;

template <class Config, int warps>
struct StoreOf<Config, FusedEpilogue, warps> {
  static_assert(!Config::swap_ab && !Config::row_interleaved && Config::narrowest == Config::Block::n &&
                    Config::Cluster::k == 1 && Config::subtiles >= 2,
                "WgmmaPieces: FusedEpilogue needs two epilogue subtiles a warp, and a tile that is neither "
                "transposed nor row-interleaved nor fitted nor split along k");
  // The barriers of the loads of C or aux come after those of the ring.
  using type = std::conditional_t<
      Config::TileA::element_bytes == 2,
      StoreTmaFused<typename Config::T, Config::subtiles, Config::Warp::m / 64, Config::Warp::n / 64,
                    Config::warps * Config::subtiles * subtile_bytes + TmaRing<Config::stages>::bytes,
                    takes_every_epilogue<Config>, !Config::pingpong || !takes_every_epilogue<Config>>,
      StoreRows<FusedEpilogue>>;
};

}  // namespace tenon
