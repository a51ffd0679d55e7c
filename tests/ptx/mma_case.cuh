// Executes one mma wrapper with one warp, whatever its register types: they follow from its signature.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ptx/device_vector.cuh"
#include "ptx/mma_case.hpp"

namespace tenon::test {

template <class T, std::size_t n>
struct LaneRegisters {
  T r[n];
};

template <class Function>
struct MmaSignature;

template <class D_, std::size_t dn, class A_, std::size_t an, class B_, std::size_t bn, class C_,
          std::size_t cn, class... Metadata>
struct MmaSignature<void (*)(D_ (&)[dn], const A_ (&)[an], const B_ (&)[bn], const C_ (&)[cn], Metadata...)> {
  static constexpr bool sparse = sizeof...(Metadata) == 1;
  using A = LaneRegisters<A_, an>;
  using B = LaneRegisters<B_, bn>;
  using C = LaneRegisters<C_, cn>;
  using D = LaneRegisters<D_, dn>;
};

template <auto function, class S = MmaSignature<decltype(function)>>
__device__ void multiply(const void* a, const void* b, const void* c, const std::uint32_t* e, void* d) {
  const auto lane_a = static_cast<const typename S::A*>(a)[threadIdx.x];
  const auto lane_b = static_cast<const typename S::B*>(b)[threadIdx.x];
  const auto lane_c = static_cast<const typename S::C*>(c)[threadIdx.x];
  typename S::D lane_d;
  if constexpr (S::sparse) {
    function(lane_d.r, lane_a.r, lane_b.r, lane_c.r, e[threadIdx.x]);
  } else {
    function(lane_d.r, lane_a.r, lane_b.r, lane_c.r);
  }
  static_cast<typename S::D*>(d)[threadIdx.x] = lane_d;
}

using MmaKernel = void (*)(const void*, const void*, const void*, const std::uint32_t*, void*);

template <MmaKernel kernel>
Registers launch_mma(const MmaOperands& operands) {
  const DeviceVector<std::uint32_t> a(operands.a), b(operands.b), c(operands.c), e(operands.e), d(operands.d);
  kernel<<<1, 32>>>(a.data(), b.data(), c.data(), e.data(), d.data());
  return d.read();
}

}  // namespace tenon::test
