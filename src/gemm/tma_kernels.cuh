// The TMA family as rows of the kernel list (sm_90a): operands that the copy engine can address.
#pragma once

#include <algorithm>

#include "gemm/describe.hpp"
#include "gemm/tensor_map.hpp"
#include "tenon/gemm/gemm_tma.hpp"

namespace tenon {

template <class Tile>
Status make_operand_map(const ConstMatrix& matrix, int extent, int k, TensorMap* map) {
  return make_tensor_map(matrix.data, Tile::k_major ? extent : k, Tile::k_major ? k : extent, matrix.ld,
                         Tile::lines, Tile::panel_columns, map);
}

template <class Config>
Status launch_tma(const Kernel& self, const Gemm& problem, CUstream_st* stream) {
  using Block = GemmTma<Config>;
  const GemmArguments arguments = make_arguments<Config>(problem);
  TensorMap map_a, map_b;
  if (Status s = make_operand_map<typename Config::TileA>(problem.a, arguments.m, arguments.k, &map_a); !s)
    return s;
  if (Status s = make_operand_map<typename Config::TileB>(problem.b, arguments.n, arguments.k, &map_b); !s)
    return s;

  const auto kernel = gemm_tma<Config>;
  int device = 0, multiprocessors = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess) {
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Block::shared_bytes);
  }
  if (error != cudaSuccess) return launch_status(self, error);
  const int blocks = std::min(multiprocessors, arguments.raster.tiles());
  kernel<<<static_cast<unsigned>(blocks), Block::threads, Block::shared_bytes, stream>>>(map_a, map_b,
                                                                                         arguments);
  return launch_status(self, cudaGetLastError());
}

template <class Config>
void append_tma(std::vector<Kernel>& list) {
  Kernel kernel = describe<Config>("tma");
  kernel.minimum_sm = 90;
  kernel.exact_sm = true;
  kernel.copy = Copy::tma;
  kernel.threads = GemmTma<Config>::threads;
  kernel.shared_bytes = GemmTma<Config>::shared_bytes;
  kernel.function = reinterpret_cast<const void*>(&gemm_tma<Config>);
  kernel.launch = &launch_tma<Config>;
  list.push_back(kernel);
}

template <class T, class Acc, class Block, class Warp, int stages>
void append_tma_kernels(std::vector<Kernel>& list) {
  append_tma<GemmConfig<T, Acc, row_major, column_major, Block, Warp, stages>>(list);
  append_tma<GemmConfig<T, Acc, column_major, column_major, Block, Warp, stages>>(list);
  append_tma<GemmConfig<T, Acc, row_major, row_major, Block, Warp, stages>>(list);
  append_tma<GemmConfig<T, Acc, column_major, row_major, Block, Warp, stages>>(list);
}

}  // namespace tenon
