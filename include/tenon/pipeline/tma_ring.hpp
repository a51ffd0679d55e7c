// A ring of stages filled by TMA (sm_90) and guarded by two mbarriers a stage: `full` counts
// the bytes that have landed, `empty` counts the warps that have finished reading. Warps never wait for each
// other: a producer thread runs up to Stages ahead, and so may one consumer warp of another.
//
//   producer:  Stage<4> s;  ring.wait_empty(s);  ring.expect(s, bytes);  copy_box(..., ring.full_barrier(s));
//   consumer:  Stage<4> s;  ring.wait_full(s);  /* read */  __syncwarp();  /* one lane: */ ring.release(s);
//   both:      s = s.next();
//
// CTAs must be one-dimensional, here and in what builds on this: warps are numbered by threadIdx.x. Below:
// stage.hpp, tensor_map.hpp; mbarriers and bulk copies are cuda::ptx's.
#pragma once

#include "tenon/ptx/arch.hpp"  // first: <cuda/ptx> needs nvcc and C++17, too, and says so at length
#include "tenon/ptx/needs_cuda_12_5.hpp"

#include <cuda/ptx>

#include "tenon/pipeline/stage.hpp"
#include "tenon/pipeline/tensor_map.hpp"
#include "tenon/ptx/cluster.hpp"
#include "tenon/ptx/cp_async_bulk_tensor.hpp"
#include "tenon/ptx/elect.hpp"
#include "tenon/ptx/prefetch.hpp"
#include "tenon/ptx/shared_address.hpp"

namespace tenon {

// By whole warps: whether this thread works for all of the CTA's warp `warp`. A thread chosen by its number
// would do the same, but slower (ptx/elect.hpp).
template <class Dependent = void>
__device__ __forceinline__ bool works_for_warp(int warp) {
  return static_cast<int>(threadIdx.x) / 32 == warp && ptx::elect_sync<Dependent>(0xffffffffU);
}

// Fetches the map, for later copies. PTX ISA, "prefetch".
template <class Dependent = void>
__device__ __forceinline__ void prefetch_map(const TensorMap& map) {
  static_assert(ptx::sm_at_least<90, Dependent>,
                "tenon::prefetch_map needs sm_90 or newer: compile with -arch=sm_90");
  ptx::prefetch_tensormap<Dependent>(&map);
}

template <int Stages>
class TmaRing {
 public:
  static constexpr int bytes = 2 * Stages * static_cast<int>(sizeof(std::uint64_t));

  // barriers: `bytes` of shared memory, 8-byte aligned.
  __device__ __forceinline__ explicit TmaRing(std::uint64_t* barriers)
      : full_(barriers), empty_(barriers + Stages) {}

  // By one thread, before the first synchronisation of the CTA or cluster, which may be .relaxed. consumers:
  // calls of release() that free a stage. producers: calls of expect() or arrive() that fill one.
  __device__ __forceinline__ void initialize(int consumers, int producers = 1) const {
    for (int i = 0; i < Stages; ++i) {
      cuda::ptx::mbarrier_init(full_ + i, static_cast<std::uint32_t>(producers));
      cuda::ptx::mbarrier_init(empty_ + i, static_cast<std::uint32_t>(consumers));
    }
    // TMA reads the barriers through its own proxy.
    cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
  }

  // Producer. In the first lap a stage counts as empty: the opposite parity is the one before the first
  // phase.
  __device__ __forceinline__ void wait_empty(Stage<Stages> stage) const {
    wait(empty_ + stage.index, stage.phase ^ 1U);
  }
  // transaction_bytes: of all copies to this stage. Boxes count whole, also where they reach beyond the
  // matrix.
  __device__ __forceinline__ void expect(Stage<Stages> stage, int transaction_bytes) const {
    cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta,
                                         cuda::ptx::space_shared, full_ + stage.index,
                                         static_cast<std::uint32_t>(transaction_bytes));
  }
  // For producers that fill a stage with plain stores: by every thread that stored. After __syncwarp() one
  // lane of each warp would be enough, but racecheck does not see that order.
  __device__ __forceinline__ void arrive(Stage<Stages> stage) const {
    cuda::ptx::mbarrier_arrive(full_ + stage.index);
  }
  // Producer, after its last copy; `stage` would be the next. Waits until all copies have been read. Then a
  // CTA of a cluster may exit, because no other CTA will arrive at its barriers.
  __device__ __forceinline__ void drain(Stage<Stages> stage) const {
    for (int i = 0; i < Stages; ++i, stage = stage.next()) wait_empty(stage);
  }
  __device__ __forceinline__ std::uint64_t* full_barrier(Stage<Stages> stage) const {
    return full_ + stage.index;
  }

  // Consumer, whole warps. Call is_full early to hide its latency.
  __device__ __forceinline__ bool is_full(Stage<Stages> stage) const {
    return cuda::ptx::mbarrier_try_wait_parity(full_ + stage.index, stage.phase);
  }
  __device__ __forceinline__ void wait_full(Stage<Stages> stage) const {
    wait(full_ + stage.index, stage.phase);
  }
  // The same where other CTAs fill the stage with st.async: makes their writes visible.
  __device__ __forceinline__ void wait_full_by_cluster(Stage<Stages> stage) const {
    while (!cuda::ptx::mbarrier_try_wait_parity(cuda::ptx::sem_acquire, cuda::ptx::scope_cluster,
                                                full_ + stage.index, stage.phase)) {
    }
  }
  // By one lane, after __syncwarp(), when its warp has finished reading: when the loads have completed, not
  // when they were issued, since an arrival overtakes loads in flight. nothing: 0, computed from the last
  // register loaded, which orders the two.
  __device__ __forceinline__ void release(Stage<Stages> stage, int nothing = 0) const {
    cuda::ptx::mbarrier_arrive(empty_ + stage.index + nothing);
  }

  // release() in CTA `rank` of the cluster, whose producer writes to this CTA too.
  __device__ __forceinline__ void release_in(Stage<Stages> stage, int rank) const {
    release_at(stage, empty_in(rank));
  }
  // The same in two steps; the first one does not depend on the stage.
  __device__ __forceinline__ std::uint32_t empty_in(int rank) const {
    return ptx::mapa_shared_cluster_u32(ptx::shared_address(empty_), static_cast<std::uint32_t>(rank));
  }
  __device__ __forceinline__ static void release_at(Stage<Stages> stage, std::uint32_t empty) {
    ptx::mbarrier_arrive_shared_cluster_b64(
        empty + static_cast<std::uint32_t>(stage.index * static_cast<int>(sizeof(std::uint64_t))));
  }

 private:
  __device__ __forceinline__ static void wait(std::uint64_t* barrier, std::uint32_t phase) {
    while (!cuda::ptx::mbarrier_try_wait_parity(barrier, phase)) {
    }
  }

  std::uint64_t* full_;
  std::uint64_t* empty_;
};

// Starts the copy of one box of a 2-D tensor map: the box whose first element is (row, column), to
// `destination` in shared memory (as the map's swizzle says), counted on `barrier`. Outside the matrix the
// box is filled with zeros. destination: a multiple of 128 bytes, and of the 1024 that a SharedTile starts
// on.
__device__ __forceinline__ void copy_box(void* destination, const TensorMap& map, int row, int column,
                                         std::uint64_t* barrier) {
  const std::int32_t at[2] = {column, row};
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_cluster, cuda::ptx::space_global, destination, &map, at,
                                  barrier);
}

// The same, to the same address in every CTA of the cluster whose bit is set in `blocks`; each CTA's own
// barrier counts its copy.
__device__ __forceinline__ void copy_box_to_cluster(void* destination, const TensorMap& map, int row,
                                                    int column, std::uint64_t* barrier,
                                                    std::uint16_t blocks) {
  const std::int32_t at[2] = {column, row};
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_cluster, cuda::ptx::space_global, destination, &map, at,
                                  barrier, blocks);
}

// Fetches a box into the L2, for later copies. Later writes go to the L2 too, so a kernel may prefetch before
// the grid that it depends on has ended. PTX ISA, "cp.async.bulk.prefetch.tensor".
template <class Dependent = void>
__device__ __forceinline__ void prefetch_box(const TensorMap& map, int row, int column) {
  static_assert(ptx::sm_at_least<90, Dependent>,
                "tenon::prefetch_box needs sm_90 or newer: compile with -arch=sm_90");
  const std::int32_t at[2] = {column, row};
  ptx::cp_async_bulk_prefetch_tensor_2d_L2_global_tile<Dependent>(&map, at);
}

// Starts the copy of one box from shared memory (`source`, an address in the shared window) to the matrix.
// TMA drops what lies outside the matrix, except that it completes a row's last 16 bytes if the row ends
// within them (seen on an H200; not in the PTX ISA). The copy joins the thread's bulk group: commit the
// group, and wait for it before the source is overwritten. The stored data is the first to be evicted from
// the L2, before data that a kernel still reads. PTX ISA, "cp.async.bulk.tensor", "createpolicy".
template <class Dependent = void>
__device__ __forceinline__ void store_box(const TensorMap& map, int row, int column, std::uint32_t source) {
  static_assert(ptx::sm_at_least<90, Dependent>,
                "tenon::store_box needs sm_90 or newer: compile with -arch=sm_90");
  const std::int32_t at[2] = {column, row};
  ptx::cp_async_bulk_tensor_2d_global_shared_cta_tile_bulk_group_L2_cache_hint<Dependent>(
      &map, at, source, ptx::createpolicy_fractional_L2_evict_first_b64<Dependent>());
}

}  // namespace tenon
