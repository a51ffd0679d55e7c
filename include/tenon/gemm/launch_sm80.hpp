// The GEMM of sm_80 for embedders: a kernel type to give to launch(). Runs on compute capability 8.0 and
// newer (fp8: 8.9); operands at any address, with any leading dimension. One CTA computes one tile: with a
// limit of multiprocessors (LaunchOptions) there may be no more tiles than that. Below: config_sm80.hpp,
// launch.hpp, plan_sm80.hpp; for operands that are not of 16 bits, include their header too:
// fragment/tf32.hpp, fp8.hpp or int8.hpp, of f64 warp/operand_cursor_f64.hpp.
#pragma once

#include "tenon/gemm/config_sm80.hpp"
#include "tenon/gemm/launch.hpp"
#include "tenon/gemm/plan_sm80.hpp"

namespace tenon::sm80 {

// C = op(A * B). Config_: Config, or any GemmConfig; Op: see epilogue.hpp.
template <class Config_, class Op_ = std::conditional_t<std::is_same_v<typename Config_::Acc, double>,
                                                        LinearCombinationF64, LinearCombination>>
struct GemmKernel {
  using Config = Config_;
  using Op = Op_;
  static_assert(
      is_epilogue<Op, typename Config::WarpAccumulator::Value>,
      "GemmKernel: an epilogue operation is called as op(float accumulator, int row, int column) and "
      "returns float; with s8 operands both are int32_t, with f64 double");
  static constexpr const char* name = "a cp.async kernel (tenon::sm80::GemmKernel)";
  static constexpr Order a_order = Config::a_order, b_order = Config::b_order;

  static Status check(const Product& product, const DeviceDescription& device) {
    if (device.sm < Config::minimum_sm)
      return Status(StatusCode::device_unsupported, "%s needs sm_%d but the device is sm_%d", name,
                    Config::minimum_sm, device.sm);
    constexpr std::size_t shared = GemmCpAsync<Config, Alignment::any>::shared_bytes;
    if (shared > device.shared_bytes_per_block_optin)
      return Status(StatusCode::device_unsupported,
                    "%s needs %zu bytes of shared memory a CTA but the device has %zu", name, shared,
                    device.shared_bytes_per_block_optin);
    if (Status s = check_tiles(product.m, product.n, Config::Block::m, Config::Block::n); !s) return s;
    if (!device.is_limited() || product.k == 0) return {};
    const std::int64_t tiles = (product.m + Config::Block::m - 1) / Config::Block::m *
                               ((product.n + Config::Block::n - 1) / Config::Block::n);
    if (tiles <= device.multiprocessors) return {};
    return Status(StatusCode::unsupported,
                  "%s has %lld CTAs here, one for each tile of %d x %d, but the call may use %d "
                  "multiprocessors",
                  name, static_cast<long long>(tiles), Config::Block::m, Config::Block::n,
                  device.multiprocessors);
  }
  static Status plan(const Product& product, const Op& op, const DeviceDescription&, Launcher&,
                     Launch* launch) {
    return plan_cp_async<Config, Alignment::any>(product, op, launch);
  }
};

}  // namespace tenon::sm80
