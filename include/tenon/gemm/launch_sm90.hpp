// The GEMM of Hopper for embedders: kernel types to give to launch(). Compile with
// -gencode arch=compute_90a,code=sm_90a; runs on compute capability 9.0 alone. Below: check_sm90.hpp,
// config_sm90.hpp, launch.hpp, plan_sm90.hpp, plan_sm90_operands.hpp, plan_sm90_unaligned.hpp.
#pragma once

#include "tenon/gemm/check_sm90.hpp"
#include "tenon/gemm/config_sm90.hpp"
#include "tenon/gemm/launch.hpp"
#include "tenon/gemm/plan_sm90.hpp"
#include "tenon/gemm/plan_sm90_operands.hpp"
#include "tenon/gemm/plan_sm90_unaligned.hpp"

namespace tenon::sm90 {

// C = op(A * B). Config_: Config, PingpongConfig, or any WgmmaConfig, Pingpong, SwapAB or RowInterleaved of
// one; Op: see epilogue.hpp.
template <class Config_, class Op_ = LinearCombination>
struct GemmKernel {
  using Config = Config_;
  using Op = Op_;
  using Value = std::conditional_t<std::is_same_v<typename Config::Acc, std::int32_t>, std::int32_t, float>;
  static_assert(is_epilogue<Op, Value>,
                "GemmKernel: an epilogue operation is called as op(accumulator, int row, int column) and "
                "returns the accumulator's type: float, or int32_t where integers are multiplied");
  static_assert(!Config::streams_k,
                "GemmKernel: stream-K needs memory for partial tiles, which plan_wgmma() takes");
  static constexpr const char* name = "a wgmma kernel (tenon::sm90::GemmKernel)";
  // The orders of the problem's A and B: a swap-AB configuration describes B^T and A^T.
  static constexpr Order a_order = Config::swap_ab ? flipped(Config::b_order) : Config::a_order;
  static constexpr Order b_order = Config::swap_ab ? flipped(Config::a_order) : Config::b_order;

  static Status check(const Product& product, const DeviceDescription& device) {
    if (Status s = check_sm90(name, device); !s) return s;
    if (product.k > 0) {
      if (Status s = check_cluster_fits(name, Config::Cluster::of({}).ctas, device); !s) return s;
      ConstMatrix a = product.a;
      if (Config::row_interleaved) a.ld = 0;  // only the first row needs an address that TMA can read
      if (Status s = check_tma_operand('A', a); !s) return s;
      if (Status s = check_tma_operand('B', product.b); !s) return s;
    }
    // The store counts elements of 16 bits in a row of C, or (swap-AB) bytes.
    const std::int64_t most = std::numeric_limits<int>::max() / (Config::swap_ab ? 4 : 2);
    if (product.n > most)
      return Status(StatusCode::unsupported, "%s needs n <= %lld but n is %lld", name,
                    static_cast<long long>(most), static_cast<long long>(product.n));
    return Config::swap_ab ? check_tiles(product.n, product.m, Config::Block::m, Config::Block::n)
                           : check_tiles(product.m, product.n, Config::Block::m, Config::Block::n);
  }
  static Status plan(const Product& product, const Op& op, const DeviceDescription& device,
                     Launcher& launcher, Launch* launch) {
    return plan_wgmma<Config>(product, op, device, launcher, launch);
  }
};

// The same for operands of 16 bits at any address and with any leading dimension, k contiguous in both. With
// swap_ab, B must be as TMA needs it (check_tma_operand() of plan.hpp).
template <class T, class Op_ = LinearCombination, bool swap_ab = false>
struct UnalignedGemmKernel {
  using Config = UnalignedConfig<T, 256, 4, swap_ab>;
  using Op = Op_;
  static_assert(is_epilogue<Op, float>,
                "UnalignedGemmKernel: an epilogue operation is called as op(float accumulator, int row, int "
                "column) and returns float");
  static constexpr const char* name = "a wgmma kernel (tenon::sm90::UnalignedGemmKernel)";
  static constexpr Order a_order = row_major, b_order = column_major;

  static Status check(const Product& product, const DeviceDescription& device) {
    if (Status s = check_sm90(name, device); !s) return s;
    if (product.k > 0) {
      if (Status s = check_cluster_fits(name, Config::cluster, device); !s) return s;
    }
    // With swap-AB the kernel does not realign B: TMA loads it as it lies.
    if (swap_ab && product.k > 0) {
      if (Status s = check_tma_operand('B', product.b); !s) return s;
    }
    return check_tiles(product.m, product.n, 64, 64);
  }
  static Status plan(const Product& product, const Op& op, const DeviceDescription& device,
                     Launcher& launcher, Launch* launch) {
    return plan_unaligned<Config>(product, op, device, launcher, launch);
  }
};

}  // namespace tenon::sm90
