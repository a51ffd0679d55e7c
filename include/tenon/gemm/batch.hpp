// Where the matrices of each problem of a batch are, and what a kernel that computes a batch is told at run
// time. All problems have the same sizes, types and leading dimensions. Plain C++17. Below: arguments.hpp,
// problem.hpp.
#pragma once

#include "tenon/gemm/arguments.hpp"
#include "tenon/gemm/problem.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// The A, B or C of all problems: equally far apart, or wherever a list says.
struct BatchedMatrix {
  const void* first = nullptr;  // matrix of problem 0; not used if there is a list
  std::int64_t stride = 0;      // bytes from one problem's matrix to the next; 0: all problems share one
  const void* const* list = nullptr;  // in device memory, one pointer a problem

  TENON_HOST_DEVICE const void* at(int problem) const {
    return list != nullptr ? list[problem] : static_cast<const char*>(first) + problem * stride;
  }
};

// What is asked: `count` products. The data pointers of `product` are not used.
struct BatchedProduct {
  Product product;
  BatchedMatrix a, b, c;
  std::int64_t count = 0;
};

// What a kernel is told.
struct BatchedArguments {
  GemmArguments gemm;  // its a, b and c.data are not used
  BatchedMatrix a, b, c;
  int count;         // problems, >= 1
  Divisor by_tiles;  // tiles of a problem

  TENON_HOST_DEVICE bool has_lists() const {
    return a.list != nullptr || b.list != nullptr || c.list != nullptr;
  }
  // The arguments of one problem.
  TENON_HOST_DEVICE GemmArguments problem(int index) const {
    GemmArguments one = gemm;
    one.a = a.at(index);
    one.b = b.at(index);
    one.c.data = const_cast<void*>(c.at(index));
    return one;
  }
};

// A tile of a batch: the arguments of its problem, and its position there. The tiles count through: all of
// problem 0, all of problem 1, and so on.
struct BatchedWork {
  GemmArguments problem;
  TilePosition tile;
};
TENON_HOST_DEVICE inline BatchedWork work_of(const BatchedArguments& batch, int index) {
  const int tiles = batch.gemm.raster.tiles();
  if (tiles == 1) return {batch.problem(index), {0, 0}};
  const int problem = batch.by_tiles.quotient(index);
  return {batch.problem(problem), batch.gemm.raster.at(index - problem * tiles)};
}

// Whether the matrices of a batch are stacked and its problems whole tiles of tile_m x tile_n, as
// plan_wgmma_stacked() (plan_sm90_stacked.hpp) needs it. A row-major, B column-major.
inline bool is_stacked(const BatchedProduct& batch, int tile_m, int tile_n) {
  const Product& p = batch.product;
  const auto follows = [&](const BatchedMatrix& matrix, std::int64_t rows, std::int64_t ld, Type type) {
    return matrix.list == nullptr &&
           (batch.count == 1 || matrix.stride == rows * ld * static_cast<std::int64_t>(bytes(type)));
  };
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  return p.m % tile_m == 0 && p.n % tile_n == 0 && batch.count <= most / p.m && batch.count <= most / p.n &&
         (p.n / tile_n) <= most / (batch.count * (p.m / tile_m)) && follows(batch.a, p.m, p.a.ld, p.a.type) &&
         follows(batch.b, p.n, p.b.ld, p.b.type) && follows(batch.c, p.m, p.c.ld, p.c.type);
}

}  // namespace tenon
