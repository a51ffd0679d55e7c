// The cp.async families as rows of the kernel list: operands whose every 16-byte chunk is aligned, and of any
// alignment, each copied as wide as its address allows.
#pragma once

#include "gemm/describe.hpp"
#include "tenon/fragment/fp8.hpp"
#include "tenon/fragment/int8.hpp"
#include "tenon/fragment/tf32.hpp"
#include "tenon/gemm/plan_sm80.hpp"
#include "tenon/warp/operand_cursor_f64.hpp"
#include "tenon/warp/operand_cursor_rounded.hpp"

namespace tenon {

template <class Config, Alignment alignment, class Op>
Status fill_cp_async(const Kernel&, const Gemm& problem, const DeviceDescription&, Launcher&,
                     Launch* launch) {
  return plan_cp_async<Config, alignment>(product_of(problem), operation_of<Config, Op>(problem), launch);
}

template <class Config, Alignment alignment, class Op = CombinationOf<Config>>
void append_cp_async(std::vector<Kernel>& list) {
  Kernel kernel = describe<Config>("cp_async");
  if (alignment == Alignment::any) kernel.name += "_unaligned";
  if (kernel.rounds_f32) kernel.name += "_rounded";
  kernel.fused = std::is_same_v<Op, FusedEpilogue>;
  if (kernel.fused) kernel.name += "_fused";
  kernel.minimum_sm = Config::minimum_sm;
  kernel.exact_sm = false;
  kernel.copy = alignment == Alignment::full_16 ? Copy::cp_async : Copy::any;
  kernel.threads = GemmCpAsync<Config, alignment>::threads;
  kernel.shared_bytes = GemmCpAsync<Config, alignment>::shared_bytes;
  kernel.function = reinterpret_cast<const void*>(&gemm_cp_async<Config, alignment, Op>);
  kernel.fill = &fill_cp_async<Config, alignment, Op>;
  list.push_back(kernel);
}

}  // namespace tenon
