// The public launch: from a problem and a kernel type to a launch on a stream, with whatever epilogue
// operation the embedder brings. Header-only.
//
//   using Kernel = tenon::sm90::GemmKernel<tenon::sm90::Config<half, float, 128, 256>, BiasRelu>;
//   tenon::Status s = tenon::launch<Kernel>(problem, BiasRelu{bias}, stream);
//
// Include launch_sm80.hpp or launch_sm90.hpp, which have the kernel types. Nothing is allocated, nothing
// synchronises, and nothing is launched where the status is not ok. Below: cuda_launcher.hpp, epilogue.hpp,
// kernel_no_k.hpp, launch_options.hpp, plan.hpp.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tenon/gemm/check_operands.hpp"
#include "tenon/gemm/cuda_launcher.hpp"
#include "tenon/gemm/element_type.hpp"
#include "tenon/gemm/epilogue.hpp"
#include "tenon/gemm/epilogue_operands.hpp"
#include "tenon/gemm/kernel_no_k.hpp"
#include "tenon/gemm/launch_options.hpp"
#include "tenon/gemm/plan.hpp"

namespace tenon {

// Whether a kernel can apply Op to accumulators of that type.
template <class Op, class Value, class Loaded = typename LoadedOperation<Op>::type>
inline constexpr bool is_epilogue = is_linear<Loaded> || is_operation<Loaded, Value>;

// The launch of C = op(0), for products with k == 0: all but the function and the operation.
inline Output prepare_no_k(const Product& product, Launch* launch) {
  launch->what = "the epilogue of a GEMM with k = 0";
  launch->block.x = 256;
  const int m = static_cast<int>(product.m), n = static_cast<int>(product.n);
  launch->grid.x = static_cast<unsigned>(std::min((n + 255) / 256, 4096));
  launch->grid.y = static_cast<unsigned>(std::min(m, 4096));
  launch->walks_on = true;
  return {product.c.data, product.c.ld, m, n, product.c.type};
}
template <class Value, class TC, class Op>
Status plan_no_k(const Product& product, const Op& op, Launch* launch) {
  launch->function = reinterpret_cast<const void*>(&gemm_of_no_k<Op, Value, TC>);
  launch->arguments.set(prepare_no_k(product, launch), op);
  return {};
}
// The product of a typed problem, as a kernel of these orders takes it.
template <class TA, class TC, class TB>
Product product_of(const GemmProblem<TA, TC, TB>& problem, Order a_order, Order b_order) {
  const ConstMatrix a(problem.a.data, problem.a.ld, a_order, TypeOf<TA>::value);
  const ConstMatrix b(problem.b.data, problem.b.ld, b_order, TypeOf<TB>::value);
  return {problem.m, problem.n, problem.k, a, b, {problem.c.data, problem.c.ld, TypeOf<TC>::value}};
}

// Plans the launch of a kernel without launching it: for graphs, JIT compilers, and devices other than
// CUDA's. *launches: whether there is anything to launch (not if m or n is 0). With LaunchOptions the
// launcher is a LimitedLauncher, which also launches the plan.
//
// Kernel: sm80::GemmKernel, sm90::GemmKernel or another type with their members. Problem: GemmProblem, or
// what extends it for the kernel (BlockScaledProblem). Fails with invalid_argument where
// the problem makes no sense, unsupported where this kernel does not take it (alignment, size), and
// device_unsupported where the device does not run the kernel; each names the value found and the value
// needed.
template <class Kernel, class Problem>
Status plan_launch(const Problem& problem, const typename Kernel::Op& op, Launcher& launcher, Launch* launch,
                   bool* launches) {
  using Config = typename Kernel::Config;
  using TA = typename Problem::TypeA;
  using TB = typename Problem::TypeB;
  using TC = typename Problem::TypeC;
  using Acc = typename Config::Acc;
  constexpr bool wide = std::is_same_v<TC, std::int32_t> || std::is_same_v<TC, double>;
  static_assert(std::is_same_v<TA, typename Config::T> && std::is_same_v<TB, typename Config::TB>,
                "launch: the problem's A and B must have the element types of the kernel's configuration");
  static_assert(
      std::is_same_v<TC, Acc> || !(wide || std::is_same_v<Acc, std::int32_t> || std::is_same_v<Acc, double>),
      "launch: C is int32_t (double) where the kernel accumulates in int32_t (double), and only there");
  static_assert(sizeof(TC) == 2 || wide || std::is_same_v<TC, float>,
                "launch: C is __half, __nv_bfloat16, float, int32_t or double");
  *launches = false;
  const auto product = product_of(problem, Kernel::a_order, Kernel::b_order);
  if (Status s = check_product(product); !s) return s;
  if (product.m == 0 || product.n == 0) return {};
  if constexpr (has_operands<typename Kernel::Op>) {
    if (Status s = check_operands(op, product.n); !s) return s;
  }
  DeviceDescription device;
  if (Status s = launcher.describe(&device); !s) return s;
  if (Status s = Kernel::check(product, device); !s) return s;
  *launches = true;
  if (product.k == 0) {
    using Value = std::conditional_t<wide, TC, float>;
    return plan_no_k<Value, TC>(product, op, launch);
  }
  launch->what = Kernel::name;
  return Kernel::plan(product, op, device, launcher, launch);
}

// Enqueues C = op(A * B) on the stream of the current device and returns.
template <class Kernel, class Problem>
Status launch(const Problem& problem, const typename Kernel::Op& op, cudaStream_t stream = nullptr,
              const LaunchOptions& options = {}) {
  StreamLauncher on_stream(stream);
  LimitedLauncher launcher(on_stream, options);
  Launch plan;
  bool launches = false;
  if (Status s = plan_launch<Kernel>(problem, op, launcher, &plan, &launches); !s) return s;
  return launches ? launcher.launch(plan) : Status();
}

}  // namespace tenon
