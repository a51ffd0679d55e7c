// Threads that cooperate, by the means of CUDA C++.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <cstdint>

namespace cg = cooperative_groups;

__constant__ std::uint32_t weights[16] = {1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};
__device__ unsigned int blocks_done = 0;
static __device__ int lock_word = 0;

// A block's sum by shuffles, weighted from constant memory; the last block adds the blocks' sums.
extern "C" __global__ void reduce(const std::uint32_t* in, std::uint32_t* partial, std::uint32_t* out,
                                  int n) {
  __shared__ std::uint32_t of_warp[32];
  __shared__ bool is_last;
  std::uint32_t sum = 0;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * blockDim.x))
    sum += in[i] * weights[i & 15];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
    if (threadIdx.x == 0) {
      partial[blockIdx.x] = sum;
      __threadfence();
      is_last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
    }
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  __threadfence();
  std::uint32_t all = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) all += static_cast<volatile std::uint32_t*>(partial)[i];
  *out = all;
}

// Histograms in dynamic shared memory, added to global memory; maxima by compare and swap.
extern "C" __global__ void histogram(const std::uint8_t* in, std::uint32_t* bins, double* largest, float* sum,
                                     int n) {
  extern __shared__ std::uint32_t local_bins[];
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) local_bins[i] = 0;
  __syncthreads();
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    atomicAdd(&local_bins[in[i]], 1u);
    const double value = in[i] * 1.25 - i;
    auto* word = reinterpret_cast<unsigned long long*>(largest);
    unsigned long long seen = *word;
    while (__longlong_as_double(static_cast<long long>(seen)) < value) {
      const unsigned long long assumed = seen;
      seen = atomicCAS(word, assumed, static_cast<unsigned long long>(__double_as_longlong(value)));
      if (seen == assumed) break;
    }
    atomicAdd(sum, static_cast<float>(in[i]));
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local_bins[i]);
}

// Every atomic function, once per thread.
extern "C" __global__ void atomics(std::uint32_t* words, std::int32_t* numbers, unsigned long long* wide,
                                   double* real) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&words[0], i);
  atomicSub(&words[1], i);
  atomicOr(&words[2], 1u << (i & 31));
  atomicAnd(&words[3], ~(1u << (i & 15)));
  atomicXor(&words[4], i * 2654435761u);
  atomicMax(&words[5], i * 7919u % 1000u);
  atomicMin(&words[6], i * 7919u % 1000u);
  atomicInc(&words[7], 9);
  atomicDec(&words[8], 9);
  atomicExch(&words[9], 77u);
  atomicMax(&numbers[0], static_cast<int>(i) - 50);
  atomicMin(&numbers[1], -static_cast<int>(i));
  atomicAdd(&wide[0], 0x100000001ull * i);
  atomicMax(&wide[1], 0x123456789ull * i);
  atomicAdd(real, 0.5 * i);
  cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device> counter(words[10]);
  counter.fetch_add(3, cuda::memory_order_relaxed);
  // A lock that lanes of one warp contend for: they must make progress independently.
  for (bool is_done = false; !is_done;) {
    if (atomicCAS(&lock_word, 0, 1) == 0) {
      __threadfence();
      volatile std::uint32_t* guarded = &words[11];
      *guarded = *guarded * 3 % 1009 + 1;
      __threadfence();
      atomicExch(&lock_word, 0);
      is_done = true;
    }
  }
}

// Groups: tiles, coalesced threads, reductions and scans over them, votes and matches.
extern "C" __global__ void groups(const int* in, int* out, int n) {
  const cg::thread_block block = cg::this_thread_block();
  const int i = static_cast<int>(block.thread_rank());
  const auto tile = cg::tiled_partition<8>(block);
  const auto warp = cg::tiled_partition<32>(block);
  out[i] = cg::reduce(tile, in[i], cg::plus<int>());
  out[n + i] = cg::inclusive_scan(warp, in[i], cg::plus<int>());
  out[2 * n + i] = tile.shfl(in[i], 3) + static_cast<int>(tile.meta_group_rank());
  out[3 * n + i] = 0;
  if (in[i] % 3 == 0) {
    const auto some = cg::coalesced_threads();
    out[3 * n + i] = static_cast<int>(some.size()) * 100 + static_cast<int>(some.thread_rank());
  }
  out[4 * n + i] = static_cast<int>(__popc(__match_any_sync(~0u, in[i] % 4)));
  out[5 * n + i] = cg::reduce(warp, in[i], cg::greater<int>()) + (warp.any(in[i] == 7) ? 1000 : 0);
  const auto half = cg::labeled_partition(warp, in[i] & 1);
  out[6 * n + i] = cg::reduce(half, in[i], cg::plus<int>());
  out[7 * n + i] = static_cast<int>(__ballot_sync(~0u, in[i] > 50));
  block.sync();
}

// A bitonic sort of a block's elements in shared memory.
extern "C" __global__ void bitonic_sort(float* data) {
  extern __shared__ float values[];
  const unsigned i = threadIdx.x;
  values[i] = data[blockIdx.x * blockDim.x + i];
  __syncthreads();
  for (unsigned size = 2; size <= blockDim.x; size *= 2)
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      const unsigned other = i ^ stride;
      if (other > i) {
        const float a = values[i], b = values[other];
        if ((a > b) == ((i & size) == 0)) {
          values[i] = b;
          values[other] = a;
        }
      }
      __syncthreads();
    }
  data[blockIdx.x * blockDim.x + i] = values[i];
}

// A two-stage pipeline as the standard library has it: c[i] = sum over the rounds of a[round][i].
constexpr int stages = 2, row = 128;
extern "C" __global__ void pipelined(const float4* in, float4* out, int rounds) {
  __shared__ __align__(16) float4 tile[stages][row];
#pragma nv_diag_suppress static_var_with_dynamic_init  // as the CUDA documentation writes it
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  const cg::thread_block block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  float4 sum = {0, 0, 0, 0};
  for (int round = 0, fetched = 0; round < rounds; ++round) {
    for (; fetched < rounds && fetched < round + stages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, tile[fetched % stages], in + fetched * row,
                         cuda::aligned_size_t<16>(sizeof(float4) * row), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    const float4 value = tile[round % stages][(threadIdx.x + 1) % row];
    sum = {sum.x + value.x, sum.y + value.y, sum.z + value.z, sum.w + value.w};
    pipeline.consumer_release();
  }
  out[(threadIdx.x + 1) % row] = sum;
}

// The same with a barrier, and with the group's own copy.
extern "C" __global__ void by_barrier(const int* in, int* out) {
  __shared__ __align__(16) int tile[256], again[256];
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ __align__(8) unsigned char storage[sizeof(Barrier)];
  auto& barrier = *reinterpret_cast<Barrier*>(storage);
  const cg::thread_block block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&barrier, blockDim.x);
  block.sync();
  cuda::memcpy_async(block, tile, in, sizeof tile, barrier);
  barrier.arrive_and_wait();
  cg::memcpy_async(block, again, tile, sizeof again);
  cg::memcpy_async(block, tile, in + 256, sizeof tile);
  cg::wait(block);
  out[threadIdx.x] = again[255 - threadIdx.x] * 3 + tile[threadIdx.x];
}

// Blocks of a cluster read each other's shared memory.
extern "C" __global__ void __cluster_dims__(2, 1, 1) across_blocks(const int* in, int* out) {
  __shared__ int mine[64];
  const cg::cluster_group cluster = cg::this_cluster();
  mine[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  cluster.sync();
  const int* theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
  out[blockIdx.x * 64 + threadIdx.x] = mine[threadIdx.x] * 1000 + theirs[63 - threadIdx.x];
  cluster.sync();
}

// Tiles of four warps synchronise, in memory that the block provides.
extern "C" __global__ void tiles_of_warps(const int* in, int* out) {
  __shared__ cg::block_tile_memory<256> memory;
  __shared__ int values[256];
  const auto tile = cg::tiled_partition<128>(cg::this_thread_block(memory));
  const int i = static_cast<int>(threadIdx.x);
  values[i] = in[i];
  tile.sync();
  const int other = values[i ^ 127];
  tile.sync();
  values[i] = other * 3;
  tile.sync();
  out[i] = values[i ^ 64];
}

// And vote.
extern "C" __global__ void vote_of_warps(const int* in, int* out) {
  __shared__ cg::block_tile_memory<256> memory;
  const auto tile = cg::tiled_partition<128>(cg::this_thread_block(memory));
  const int i = static_cast<int>(threadIdx.x);
  out[i] = tile.any(in[i] == 7);
}

// A warp writes. A lane of another warp waits for it and signals its own warp by a shuffle, which orders no
// memory; a barrier of the warp does. 64 threads.
extern "C" __global__ void told_by_a_shuffle(int* out, int with_barrier) {
  __shared__ int values[32], flag;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  cuda::atomic_ref<int, cuda::thread_scope_block> is_there(flag);
  if (threadIdx.x == 0) is_there.store(0, cuda::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x < 32) {
    values[lane] = 3 * lane;
    __syncwarp();
    if (lane == 0) is_there.store(1, cuda::memory_order_release);
  } else {
    int told = 0;
    if (lane == 0) {
      while ((told = is_there.load(cuda::memory_order_acquire)) == 0) {
      }
    }
    told = __shfl_sync(~0u, told, 0);
    if (with_barrier != 0) __syncwarp();
    out[lane] = told + values[lane];
  }
}

// The marked line has a fault: a barrier is missing. It must be found at its source line.
extern "C" __global__ void racing(int* out) {
  __shared__ int values[64];
  values[threadIdx.x] = static_cast<int>(threadIdx.x);
  out[threadIdx.x] = values[63 - threadIdx.x];  // FAULT
}
