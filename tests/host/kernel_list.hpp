// A made-up kernel list and made-up devices, to test choices without a GPU.
#pragma once

#include <utility>
#include <vector>

#include "gemm/kernel.hpp"
#include "gemm/select.hpp"

namespace tenon::test {

inline Kernel kernel(const char* name, Copy copy, int tile_m, int tile_n, Order a = row_major,
                     Order b = column_major, Type type = Type::f16) {
  Kernel k{};
  k.name = name;
  k.minimum_sm = copy == Copy::tma ? 90 : 80;
  k.exact_sm = copy == Copy::tma;
  k.copy = copy;
  k.type = k.type_b = type;
  k.accumulate = Type::f32;
  k.a_order = a;
  k.b_order = b;
  k.tile_m = tile_m;
  k.tile_n = tile_n;
  k.tile_k = 32;
  k.stages = 4;
  k.threads = 256;
  k.cluster = 1;
  const bool large = tile_m * tile_n > 128 * 128;
  k.efficiency = copy == Copy::tma                                 ? large ? 0.5859 : 0.5039
                 : copy == Copy::any || tile_m * tile_n <= 64 * 64 ? 0.2871
                 : large                                           ? 0.4688
                                                                   : 0.4512;
  k.resident = copy == Copy::any || (copy == Copy::cp_async && !large) ? 2 : 1;
  k.shared_bytes = static_cast<std::size_t>(tile_m + tile_n) * 32 * 2 * 4;
  return k;
}

// A kernel that needs k contiguous in both operands, with k-tiles of 128 bytes.
inline Kernel k_major_kernel(const char* name, Type type, Type type_b, Type accumulate,
                             bool promotes = false) {
  Kernel k = kernel(name, Copy::tma, 128, 128, row_major, column_major, type);
  k.instruction = Instruction::wgmma;
  k.efficiency = 0.903;
  k.type_b = type_b;
  k.accumulate = accumulate;
  k.promotes = promotes;
  k.tile_k = static_cast<int>(128 / bytes(type));
  return k;
}

// A kernel for two unaligned operands, as the library has them.
inline Kernel unaligned_kernel(const char* name) {
  Kernel k = kernel(name, Copy::tma, 256, 128);
  k.instruction = Instruction::wgmma;
  k.unaligned = k.splits_tail = true;
  k.efficiency = 0.884;
  k.tile_k = 64;
  k.warp_m = 256;
  k.warp_n = 64;
  k.cluster = k.cluster_n = 2;
  return k;
}

// A kernel for an unaligned A and an aligned B.
inline Kernel unaligned_swapab_kernel(const char* name) {
  Kernel k = unaligned_kernel(name);
  k.swap_ab = true;
  std::swap(k.tile_m, k.tile_n);
  std::swap(k.warp_m, k.warp_n);
  k.cluster_n = 1;
  return k;
}

inline const std::vector<Kernel>& kernel_list() {
  static const std::vector<Kernel> list = {
      kernel("module_256x128", Copy::module, 256, 128),
      kernel("tma_256x128", Copy::tma, 256, 128),
      kernel("async_256x128", Copy::cp_async, 256, 128),
      kernel("async_64x64", Copy::cp_async, 64, 64),
      kernel("any_128x128", Copy::any, 128, 128),
      kernel("any_128x128_nt", Copy::any, 128, 128, column_major, row_major),
      k_major_kernel("tf32", Type::tf32, Type::tf32, Type::f32),
      k_major_kernel("e4m3", Type::e4m3, Type::e4m3, Type::f32),
      k_major_kernel("e4m3_promoted", Type::e4m3, Type::e4m3, Type::f32, true),
      k_major_kernel("e4m3_e5m2", Type::e4m3, Type::e5m2, Type::f32),
      k_major_kernel("s8", Type::s8, Type::s8, Type::s32)};
  return list;
}

constexpr DeviceDescription a100{80, 108, 163 * 1024, std::size_t{40} << 20};
constexpr DeviceDescription h200{90, 132, 227 * 1024, std::size_t{50} << 20, 0, 2483};
constexpr DeviceDescription rtx3080{86, 68, 99 * 1024, std::size_t{5} << 20};

// m x n x k, "tn" f16, dense and aligned.
inline Gemm problem(std::int64_t m, std::int64_t n, std::int64_t k) {
  Gemm p;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a = {reinterpret_cast<const void*>(std::uintptr_t{1} << 40), k, row_major, Type::f16};
  p.b = {reinterpret_cast<const void*>(std::uintptr_t{2} << 40), k, column_major, Type::f16};
  p.c = {reinterpret_cast<void*>(std::uintptr_t{3} << 40), n, Type::f32};
  return p;
}

// The same of other types.
inline Gemm problem(std::int64_t m, std::int64_t n, std::int64_t k, Type type) {
  Gemm p = problem(m, n, k);
  p.a.type = p.b.type = type;
  if (type == Type::s8) p.accumulate = p.c.type = Type::s32;
  return p;
}

}  // namespace tenon::test
