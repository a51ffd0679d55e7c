// Executes one mma wrapper with one warp, whatever its register types: they follow from its signature.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "ptx/device_vector.cuh"
#include "ptx/mma_case.hpp"

namespace tenon::test {

template <class Function>
struct MmaSignature;

template <class D, std::size_t dn, class A, std::size_t an, class B, std::size_t bn, class C, std::size_t cn>
struct MmaSignature<void (*)(D (&)[dn], const A (&)[an], const B (&)[bn], const C (&)[cn])> {
  struct DRegisters {
    D r[dn];
  };
  struct ARegisters {
    A r[an];
  };
  struct BRegisters {
    B r[bn];
  };
  struct CRegisters {
    C r[cn];
  };
};

template <auto function, class S = MmaSignature<decltype(function)>>
__global__ void execute(const void* a, const void* b, const void* c, void* d) {
  const auto lane_a = static_cast<const typename S::ARegisters*>(a)[threadIdx.x];
  const auto lane_b = static_cast<const typename S::BRegisters*>(b)[threadIdx.x];
  const auto lane_c = static_cast<const typename S::CRegisters*>(c)[threadIdx.x];
  typename S::DRegisters lane_d;
  function(lane_d.r, lane_a.r, lane_b.r, lane_c.r);
  static_cast<typename S::DRegisters*>(d)[threadIdx.x] = lane_d;
}

template <auto function>
Registers run_mma(const Registers& a, const Registers& b, const Registers& c) {
  using S = MmaSignature<decltype(function)>;
  const auto expect = [](const Registers& registers, std::size_t lane_bytes, const char* name) {
    if (4 * registers.size() != 32 * lane_bytes)
      throw std::runtime_error(std::string("wrong size of operand ") + name);
  };
  expect(a, sizeof(typename S::ARegisters), "a");
  expect(b, sizeof(typename S::BRegisters), "b");
  expect(c, sizeof(typename S::CRegisters), "c");
  const DeviceVector<std::uint32_t> device_a(a), device_b(b), device_c(c);
  const DeviceVector<std::uint32_t> device_d(Registers(32 * sizeof(typename S::DRegisters) / 4, 0xdeadbeef));
  execute<function><<<1, 32>>>(device_a.data(), device_b.data(), device_c.data(), device_d.data());
  return device_d.read();
}

}  // namespace tenon::test
