// The cp.async kernels for batches of one type of A and B: operands whose every 16-byte chunk is aligned, and
// of any alignment, in each layout.
#pragma once

#include "gemm/batched_describe.hpp"
#include "tenon/gemm/plan_batched.hpp"

namespace tenon {

template <class Config, Alignment alignment>
void append_cp_async_batched(const char* ptx, std::vector<BatchedKernel>& list) {
  BatchedKernel kernel =
      describe_batched<Config>("cp_async", alignment == Alignment::full_16 ? "" : "_unaligned");
  kernel.aligned = alignment == Alignment::full_16;
  kernel.threads = GemmCpAsync<Config, alignment>::threads;
  kernel.shared_bytes = GemmCpAsync<Config, alignment>::shared_bytes;
  kernel.function =
      reinterpret_cast<const void*>(&gemm_cp_async_batched<Config, alignment, LinearCombination>);
  kernel.ptx = ptx;
  kernel.tiles_of_cta = 1;
  kernel.fill = [](const BatchedProduct& batch, float alpha, float beta, const DeviceDescription&, Launcher&,
                   Launch* launch) {
    return plan_cp_async_batched<Config, alignment>(batch, LinearCombination{alpha, beta}, launch);
  };
  list.push_back(kernel);
}

template <class T, Order a, Order b>
void append_cp_async_batched_of_layout(const char* ptx, std::vector<BatchedKernel>& list) {
  append_cp_async_batched<GemmConfig<T, float, a, b, TileShape<128, 128, 32>, TileShape<64, 64, 0>, 4>,
                          Alignment::full_16>(ptx, list);
  append_cp_async_batched<GemmConfig<T, float, a, b, TileShape<128, 128, 32>, TileShape<64, 32, 0>, 2>,
                          Alignment::any>(ptx, list);
}

template <class T>
void append_cp_async_batched_of_type(const char* ptx, std::vector<BatchedKernel>& list) {
  append_cp_async_batched_of_layout<T, row_major, column_major>(ptx, list);
  append_cp_async_batched_of_layout<T, column_major, column_major>(ptx, list);
  append_cp_async_batched_of_layout<T, row_major, row_major>(ptx, list);
  append_cp_async_batched_of_layout<T, column_major, row_major>(ptx, list);
}

}  // namespace tenon
