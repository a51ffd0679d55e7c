// From a kernel configuration, a compile-time type, to its row in the kernel list.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <string>

#include "gemm/kernel.hpp"
#include "gemm/turned_operands.hpp"
#include "tenon/fragment/element.hpp"
#include "tenon/gemm/arguments.hpp"
#include "tenon/gemm/config.hpp"

namespace tenon {

constexpr bool same_text(const char* a, const char* b) noexcept {
  for (; *a == *b; ++a, ++b) {
    if (*a == '\0') return true;
  }
  return false;
}

// The Type with the name of a C++ element type: __half is f16.
template <class T>
constexpr Type find_type() noexcept {
  for (const Type type : all_types) {
    if (same_text(name(type), Element<T>::name)) return type;
  }
  return Type{-1};
}
template <class T>
inline constexpr Type type_of = find_type<T>();

// "tn": A row-major, B column-major; t is row-major and n column-major, as in BLAS.
inline std::string layout_name(Order a, Order b) {
  return {a == Order::row_major ? 't' : 'n', b == Order::row_major ? 't' : 'n'};
}

// Whether a configuration is Turned.
template <class Config, class = void>
inline constexpr bool is_turned = false;
template <class Config>
inline constexpr bool is_turned<Config, std::enable_if_t<Config::turned>> = true;

// All but what the family adds (name prefix, minimum_sm, copy, threads, shared_bytes, function, fill) and the
// list (ptx).
template <class Config>
Kernel describe(const std::string& family) {
  using Block = typename Config::Block;
  Kernel kernel{};
  kernel.turned = is_turned<Config>;
  kernel.type = type_of<typename Config::T>;
  kernel.type_b = type_of<typename Config::TB>;
  static_assert(type_of<typename Config::T> != Type{-1} && type_of<typename Config::TB> != Type{-1} &&
                    type_of<typename Config::Acc> != Type{-1},
                "describe: the types of A, B and the accumulators must have a name in gemm/types.hpp");
  static_assert(!is_turned<Config> || std::is_same_v<typename Config::T, typename Config::TB>,
                "A and B have each other's places, so they must be of one type");
  // As the caller has them: B^T and A^T are the operands of the transpose of C.
  kernel.a_order = kernel.turned ? flipped(Config::b_order) : Config::a_order;
  kernel.b_order = kernel.turned ? flipped(Config::a_order) : Config::b_order;
  kernel.tile_m = kernel.turned ? Block::n : Block::m;
  kernel.tile_n = kernel.turned ? Block::m : Block::n;
  kernel.tile_k = Block::k;
  kernel.warp_m = kernel.turned ? Config::Warp::n : Config::Warp::m;
  kernel.warp_n = kernel.turned ? Config::Warp::m : Config::Warp::n;
  kernel.accumulate = type_of<typename Config::Acc>;
  kernel.name = family + "_" + name(kernel.type) + "_" +
                (kernel.type_b == kernel.type ? std::string() : name(kernel.type_b) + std::string("_")) +
                name(kernel.accumulate) + "_" + layout_name(kernel.a_order, kernel.b_order) + "_" +
                std::to_string(kernel.tile_m) + "x" + std::to_string(kernel.tile_n) + "x" +
                std::to_string(kernel.tile_k) + "_s" + std::to_string(Config::stages);
  kernel.stages = Config::stages;
  kernel.cluster = 1;
  return kernel;
}

// Tile rows in a band of the raster: 8 rows of tiles keep A's band and a column of B within the L2 at any
// size.
inline constexpr int raster_band = 8;

// Of A (extent: m) or B (extent: n), as Tile says that it lies.
template <class Tile>
MatrixInMemory operand_in_memory(const ConstMatrix& matrix, int extent, int k) {
  return {matrix.data, Tile::element_bytes, Tile::k_major ? extent : k, Tile::k_major ? k : extent,
          matrix.ld};
}

template <class Config>
GemmArguments make_arguments(const Gemm& problem) {
  const int m = static_cast<int>(problem.m), n = static_cast<int>(problem.n), k = static_cast<int>(problem.k);
  return {m,
          n,
          k,
          problem.a.data,
          problem.a.ld,
          problem.b.data,
          problem.b.ld,
          Output{problem.c.data, problem.c.ld, m, n, problem.c.type},
          problem.alpha,
          problem.beta,
          make_raster(m, n, Config::Block::m, Config::Block::n, raster_band),
          problem.scale_a,
          problem.scale_b};
}

}  // namespace tenon
