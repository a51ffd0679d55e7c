// The small kernels for batches of one type of A and B: three tiles in each layout. sm_90 runs code of its
// own, whose beginning overlaps the end of the grid before it.
#pragma once

#include "gemm/batched_describe.hpp"
#include "tenon/gemm/plan_batched.hpp"

namespace tenon {

template <class Config, Alignment alignment>
void append_small(const char* ptx, std::vector<BatchedKernel>& list) {
  BatchedKernel kernel = describe_batched<Config>("small", alignment == Alignment::any ? "_unaligned" : "");
  kernel.aligned = kernel.whole_chunks = alignment == Alignment::whole_chunks;
  kernel.whole_k = true;
  kernel.threads = Config::threads;
  kernel.shared_bytes = Config::shared_bytes;
  kernel.function = reinterpret_cast<const void*>(&gemm_small<Config, alignment, LinearCombination>);
  kernel.ptx = ptx;
  kernel.overlaps_previous = true;
  kernel.fill = [](const BatchedProduct& batch, float alpha, float beta, const DeviceDescription& device,
                   Launcher&, Launch* launch) {
    return plan_small<Config, alignment>(batch, LinearCombination{alpha, beta}, device, launch);
  };
  list.push_back(kernel);
}

// The rings of a CTA fit into the shared memory of sm_86 and sm_89, 99 KB.
template <class T, Order a, Order b, Alignment alignment>
void append_small_tiles(const char* ptx, std::vector<BatchedKernel>& list) {
  append_small<SmallConfig<T, float, a, b, TileShape<16, 32, 16>, TileShape<16, 32, 0>, 8, 4>, alignment>(
      ptx, list);
  append_small<SmallConfig<T, float, a, b, TileShape<32, 32, 32>, TileShape<32, 32, 0>, 8, 3>, alignment>(
      ptx, list);
  append_small<SmallConfig<T, float, a, b, TileShape<64, 64, 64>, TileShape<32, 32, 0>, 2, 3>, alignment>(
      ptx, list);
}
// Layout tn, whole chunks of k.
template <class Config>
void append_direct(const char* ptx, std::vector<BatchedKernel>& list) {
  BatchedKernel kernel = describe_batched<Config>("direct", "");
  kernel.whole_k = kernel.aligned = kernel.whole_chunks = true;
  kernel.threads = Config::threads;
  kernel.shared_bytes = 0;
  kernel.function = reinterpret_cast<const void*>(&gemm_direct<Config, LinearCombination>);
  kernel.ptx = ptx;
  kernel.overlaps_previous = true;
  kernel.tiles_of_cta = Config::warps;
  kernel.fill = [](const BatchedProduct& batch, float alpha, float beta, const DeviceDescription&, Launcher&,
                   Launch* launch) {
    return plan_direct<Config>(batch, LinearCombination{alpha, beta}, launch);
  };
  list.push_back(kernel);
}

template <class T, Order a, Order b>
void append_small_of_layout(const char* ptx, std::vector<BatchedKernel>& list) {
  append_small_tiles<T, a, b, Alignment::whole_chunks>(ptx, list);
  append_small_tiles<T, a, b, Alignment::any>(ptx, list);
}

template <class T>
void append_small_of_type(const char* ptx, std::vector<BatchedKernel>& list) {
  append_direct<DirectConfig<T, 16, 32, 16, 4, 8>>(ptx, list);
  append_small_of_layout<T, row_major, column_major>(ptx, list);
  append_small_of_layout<T, column_major, column_major>(ptx, list);
  append_small_of_layout<T, row_major, row_major>(ptx, list);
  append_small_of_layout<T, column_major, row_major>(ptx, list);
}

}  // namespace tenon
