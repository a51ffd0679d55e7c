// The register budget: every threshold of the sm_90a kernels that exists because ptxas runs out of registers,
// in one place. All were seen with nvcc 13.0.88; with another version, compile with -Xptxas -v and look for
// spills (tests/gemm/sass.cmake forbids them).
//
// A multiprocessor has 65536 registers. setmaxnreg takes them from the producer warpgroup and gives them to
// the consumers; the counts are multiples of 8. Plain C++17; includes no other file of tenon.
#pragma once

#include "tenon/ptx/standard.hpp"

namespace tenon {

// The registers of a thread of each role after setmaxnreg.
template <int Producer, int Consumer, int Consumers = 2>
struct RoleRegisters {
  static constexpr int producer = Producer, consumer = Consumer;
  static_assert(128 * (Producer + Consumers * Consumer) <= 65536,
                "RoleRegisters: one producer and the consumer warpgroups have 65536 registers together");
};

// For kernels whose wgmma reads both operands from shared memory: the producer thread needs few registers.
// With one consumer warpgroup setmaxnreg is not used: there are enough registers for all.
using WgmmaRegisters = RoleRegisters<24, 240>;
// Where the producer keeps addresses of eight maps (kernel_wgmma_unaligned.hpp), or the consumers are warps
// that multiply from registers (kernel_tma.hpp).
using WideProducerRegisters = RoleRegisters<40, 232>;

// Three consumer warpgroups, which have 64 rows each.
using ThreeConsumerRegisters = RoleRegisters<32, 160, 3>;

// Config: WgmmaConfig.
template <class Config>
struct RegisterBudget {
  // 32-bit registers of a consumer thread that hold accumulators.
  static constexpr int accumulators =
      Config::Warp::m * Config::Warp::n / 128 * static_cast<int>(sizeof(typename Config::Acc)) / 4;

  // Tiles whose main loop and epilogue together leave no registers: 128x224 and more of cooperative kernels.
  static constexpr bool large = !Config::pingpong && Config::Block::m * Config::Block::n >= 128 * 224;

  // Whether residue tiles are loaded in smaller boxes (operand_load.hpp). Disabled for the largest tiles,
  // where the producer would spill and the loads of zeros take less time than the multiplication.
  static constexpr bool loads_residue = !Config::splits_tail && !large && !Config::row_interleaved;
  // Whether the producer runs its residue code for whole tiles too. With two consumers it has 24 registers,
  // and the code is compiled twice instead.
  static constexpr bool one_load_loop = loads_residue && Config::consumers == 1;

  // Whether the accumulators leave so few registers that the consumers keep one number across the epilogue
  // and compute the position again (HeldPosition), wait for the grid before them at the start of the kernel,
  // and store fewer rows at a time. About 110 registers beside the accumulators are enough: three consumer
  // warpgroups have 80 fewer.
  static constexpr bool scarce = Config::splits_tail || accumulators > (Config::consumers == 3 ? 48 : 128);
  // Whether a consumer computes its number from its thread's: of ping-pong kernels with 128 accumulators and
  // a fused epilogue, a register that held it would be spilled; with more accumulators, others would be.
  static constexpr bool counts_consumers_anew = Config::pingpong && accumulators <= 128;
  // The producers need more registers where the launch says the cluster or its CTAs divide k; so do the
  // largest ping-pong kernels of swap-AB, which would spill.
  using Roles =
      std::conditional_t<Config::consumers == 3, ThreeConsumerRegisters,
                         std::conditional_t<!Config::Cluster::is_compiled || Config::Cluster::k != 1 ||
                                                (Config::pingpong && Config::swap_ab && accumulators >= 176),
                                            WideProducerRegisters, WgmmaRegisters>>;
  // Rows that a warp stores at a time where TMA cannot write C, or C is read. With 4, ptxas no longer keeps
  // the operands' descriptors in uniform registers of ping-pong kernels; with 2, it spills where registers
  // are scarce.
  static constexpr int rows_at_a_time = scarce ? 1
                                        : Config::pingpong || Config::streams_k || (Config::promotes && large)
                                            ? 2
                                            : 4;
};

}  // namespace tenon
