// The 64 x N accumulators of a warpgroup's wgmma, inaccessible while instructions may be writing them.
//
//   WgmmaAccumulator<float, 128> c;
//   c.fence();                                                                 // a, b: OperandDescriptor
//   for (int step = 0; step < a.steps; ++step) c.multiply(a, b, step, step > 0);
//   c.commit();
//   c.when_done([&](auto& values) { values.for_each([&](float& v, int row, int col) { ... }); });
//
// The instructions run asynchronously; a register that is read or written meanwhile has an undefined value.
// So the registers are accessible only within when_done(), which waits first and lets the compiler move no
// access out. All calls are made by all 128 threads of a warpgroup. sm_90a. Below: ptx/wgmma.hpp,
// fragment/layout_wgmma.hpp, shared/matrix_descriptor.hpp.
#pragma once

#include "tenon/fragment/registers.hpp"
#include "tenon/ptx/wgmma.hpp"
#include "tenon/shared/matrix_descriptor.hpp"

namespace tenon {

// The type of an operand by its PTX name.
template <class T>
struct WgmmaType {
  static_assert(sizeof(T) == 0,
                "wgmma multiplies __half, __nv_bfloat16, tf32 (floats whose low 13 bits it ignores), e4m3, "
                "e5m2, int8_t, uint8_t and b1");
};
template <>
struct WgmmaType<__half> {
  using type = ptx::type_f16;
};
template <>
struct WgmmaType<__nv_bfloat16> {
  using type = ptx::type_bf16;
};
template <>
struct WgmmaType<tf32> {
  using type = ptx::type_tf32;
};
template <>
struct WgmmaType<e4m3> {
  using type = ptx::type_e4m3;
};
template <>
struct WgmmaType<e5m2> {
  using type = ptx::type_e5m2;
};
template <>
struct WgmmaType<std::int8_t> {
  using type = ptx::type_s8;
};
template <>
struct WgmmaType<std::uint8_t> {
  using type = ptx::type_u8;
};
template <>
struct WgmmaType<b1> {
  using type = ptx::type_b1;
};

// The major-ness of the operands in shared memory, for types of 16 bits; others are always k-major.
template <bool a_k_major, bool b_k_major>
struct WgmmaMajor {
  static constexpr int trans_a = a_k_major ? 0 : 1, trans_b = b_k_major ? 0 : 1;
};

// AccT: float; __half with f16 and fp8 operands; int32_t with s8, u8 and b1. N: 8 to 256, as for wgmma.
template <class AccT, int N>
class WgmmaAccumulator {
 public:
  static constexpr int m = 64, n = N;
  // Which element is where does not depend on k: any that the type has.
  using Layout = LayoutC<WgmmaShape<N, Element<AccT>::number == Number::integer ? 32 : 16>, AccT>;
  // What when_done() passes to its function: for_each(f(value, row, col)), and the registers themselves,
  // reg[].
  using Values = Registers<AccT, Layout>;

  WgmmaAccumulator() = default;
  WgmmaAccumulator(const WgmmaAccumulator&) = delete;  // a copy would read registers in flight
  WgmmaAccumulator& operator=(const WgmmaAccumulator&) = delete;

  // Before a chain of multiply(): orders it after earlier writes, also those to A in registers. a: FragmentA.
  template <class... Fragments>
  __device__ __forceinline__ static void fence(Fragments&... a) {
    ptx::wgmma_fence_sync_aligned(a.reg...);
  }

  // Starts *this = A * B, or *this += A * B if add. TA, TB: element types of A and B; Major: their
  // major-ness, which a descriptor does not contain.
  template <class TA, class TB, class Major = WgmmaMajor<true, true>>
  __device__ __forceinline__ void multiply(MatrixDescriptor a, MatrixDescriptor b, bool add) {
    ptx::wgmma_mma_async_sync_aligned<N, typename WgmmaType<TA>::type, typename WgmmaType<TB>::type, 1, 1,
                                      Major::trans_a, Major::trans_b>(values_.reg, a.bits(), b.bits(), add);
  }
  // The same for two tiles, which determine types and major-ness: instruction `step` of TileA::depth.
  template <class TileA, class TileB>
  __device__ __forceinline__ void multiply(const OperandDescriptor<TileA>& a,
                                           const OperandDescriptor<TileB>& b, int step, bool add) {
    static_assert(TileA::depth == TileB::depth, "WgmmaAccumulator: both tiles must have the same depth");
    static_assert(TileA::extent >= m && TileB::extent >= n,
                  "WgmmaAccumulator: the tiles have fewer rows or columns than the product");
    multiply<typename TileA::Type, typename TileB::Type, WgmmaMajor<TileA::k_major, TileB::k_major>>(
        a.at(step), b.at(step), add);
  }
  // The first n columns alone; the others stay as they are.
  template <int n_, class TileA, class TileB>
  __device__ __forceinline__ void multiply_columns(const OperandDescriptor<TileA>& a,
                                                   const OperandDescriptor<TileB>& b, int step, bool add) {
    using Register = std::remove_reference_t<decltype(values_.reg[0])>;
    constexpr int registers = n_ * static_cast<int>(sizeof(values_.reg) / sizeof(Register)) / N;
    static_assert(n_ <= N && TileA::extent >= m && TileB::extent >= n_,
                  "WgmmaAccumulator: the accumulators or the tiles have fewer columns than the product");
    // Its registers are the first ones: WgmmaShape's layout counts columns in steps of 8.
    auto& first = reinterpret_cast<Register(&)[registers]>(values_.reg);
    ptx::wgmma_mma_async_sync_aligned<n_, typename WgmmaType<typename TileA::Type>::type,
                                      typename WgmmaType<typename TileB::Type>::type, 1, 1,
                                      WgmmaMajor<TileA::k_major, TileB::k_major>::trans_a,
                                      WgmmaMajor<TileA::k_major, TileB::k_major>::trans_b>(
        first, a.at(step).bits(), b.at(step).bits(), add);
  }
  // A in registers, which must not be accessed before the wait.
  template <class TA, class TB, class Major = WgmmaMajor<true, true>, class Shape>
  __device__ __forceinline__ void multiply(const FragmentA<Shape, TA>& a, MatrixDescriptor b, bool add) {
    static_assert(Shape::n == N, "WgmmaAccumulator: A's shape must have the n of the accumulators");
    ptx::wgmma_mma_async_sync_aligned<N, typename WgmmaType<TA>::type, typename WgmmaType<TB>::type, 1, 1,
                                      Major::trans_b>(values_.reg, a.reg, b.bits(), add);
  }

  // Closes a group: all instructions that the warpgroup has started since the last group.
  __device__ __forceinline__ static void commit() { ptx::wgmma_commit_group_sync_aligned(); }

  // Waits until at most `pending` groups, the youngest, run: the operands of the others may be overwritten.
  template <int pending>
  __device__ __forceinline__ static void wait_for_operands() {
    ptx::wgmma_wait_group_sync_aligned<pending>();
  }

  // Waits for these accumulators, then calls f(Values&), which may change them. younger: groups of other
  // accumulators that were committed after the last one of these, and may still run.
  template <int younger = 0, class F>
  __device__ __forceinline__ void when_done(F&& f) {
    ptx::wgmma_wait_group_sync_aligned<younger>(values_.reg);
    f(values_);
    ptx::hold(values_.reg);  // changed before the fence that follows
  }

  // Chosen for the elements themselves, to say in one sentence what is wrong.
  template <class F>
  __device__ void for_each(F&&) {
    static_assert(
        sizeof(F) == 0,
        "WgmmaAccumulator: the accumulators may be in flight; when_done(f) waits and hands f the values");
  }

 private:
  Values values_;
};

// Columns 16 * step to 16 * step + 15 of accumulators, rounded to T, as the A operand of another product: the
// layouts agree, so nothing crosses threads. This is P in softmax(Q K^T) V. NextN: n of that product.
template <class T, int NextN, int N>
__device__ __forceinline__ FragmentA<WgmmaShape<NextN, 16>, T> as_a(
    const Registers<float, LayoutC<WgmmaShape<N, 16>, float>>& accumulators, int step) {
  static_assert(Element<T>::bits == 16, "as_a: the operand must have 16 bits: others lie differently");
  static_assert(N % 16 == 0, "as_a: the accumulators must have a multiple of 16 columns");
  FragmentA<WgmmaShape<NextN, 16>, T> a;
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    a.reg[r] = Packing<T>::pack({accumulators.reg[8 * step + 2 * r], accumulators.reg[8 * step + 2 * r + 1]});
  }
  return a;
}

}  // namespace tenon
