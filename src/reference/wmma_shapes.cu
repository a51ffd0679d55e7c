// WMMA in the shapes and types that wmma_basic leaves out: one warp for each tile of C, fragments loaded from
// global memory, as there.
//
//   wmma_32x8x16, wmma_8x32x16   f16 and bf16, accumulated in f32
//   wmma_16x16x8                 tf32, accumulated in f32
//   wmma_s8                      s8 in 16x16x16, accumulated in s32
//   wmma_8x8x4                   f64
#include "reference/launch.cuh"
#include "reference/launch.hpp"
#include "reference/wmma.cuh"

namespace tenon::reference {
namespace {

constexpr int warps = 4;  // a CTA computes four neighbouring tiles; its warps share nothing
constexpr int threads = warps * warp_size;

// M x N x K: the shape. Element: of operands in memory. T: what WMMA calls it.
template <int M, int N, int K, class Element_, class T_, class Sum_>
struct Form {
  static constexpr int m = M, n = N, k = K;
  using Element = Element_;
  using T = T_;
  using Sum = Sum_;
  using Accumulator = wmma::fragment<wmma::accumulator, M, N, K, Sum>;
};

// An operand in memory, as lines of contiguous elements.
template <class Element>
struct Stored {
  const Element* data;
  std::int64_t ld, lines, length;

  Stored(const ConstMatrix& x, std::int64_t rows, std::int64_t columns)
      : data(static_cast<const Element*>(x.data)),
        ld(x.ld),
        lines(x.order == Order::row_major ? rows : columns),
        length(x.order == Order::row_major ? columns : rows) {}
};

// The part of an operand that a fragment holds, in memory and, where it has no place for wmma.load, in shared
// memory: lines that are 16 bytes longer than the data in them.
template <class Element, int lines_, int length_>
struct Part {
  static constexpr int lines = lines_, length = length_;
  static constexpr int ld = length + 16 / static_cast<int>(sizeof(Element));
  struct alignas(32) Staging {
    Element values[lines * ld];
  };

  // Calls load(pointer, ld) with the part that starts at `at`, zeros beyond the edges. wmma.load needs
  // 32-byte alignment and a stride that is a multiple of 16 bytes, as a 32-bit operand.
  template <class Load>
  __device__ static void read(const Stored<Element>& x, Place at, Staging& staging, const Load& load) {
    const Element* const first = x.data + at.line * x.ld + at.offset;
    if (at.line + lines <= x.lines && at.offset + length <= x.length &&
        reinterpret_cast<std::uintptr_t>(first) % 32 == 0 && x.ld * sizeof(Element) % 16 == 0 &&
        x.ld < (1 << 26)) {
      load(first, static_cast<unsigned>(x.ld));
      return;
    }
    for (int i = static_cast<int>(threadIdx.x) % warp_size; i < lines * length; i += warp_size) {
      const std::int64_t line = at.line + i / length, offset = at.offset + i % length;
      staging.values[i / length * ld + i % length] =
          line < x.lines && offset < x.length ? x.data[line * x.ld + offset] : static_cast<Element>(0.0F);
    }
    __syncwarp();
    load(static_cast<const Element*>(staging.values), static_cast<unsigned>(ld));
    __syncwarp();  // the staging may be written again
  }
};

// C of s32 and f64, as Result is of the others. Factors of integers are whole numbers; modulo 2^32.
template <class Sum>
struct ExactResult {
  Sum* data;
  std::int64_t ld;
  double alpha, beta;

  explicit ExactResult(const Gemm& problem)
      : data(static_cast<Sum*>(problem.c.data)), ld(problem.c.ld), alpha(problem.alpha), beta(problem.beta) {}

  __device__ void store(std::int64_t row, std::int64_t column, Sum product) const {
    Sum& c = data[row * ld + column];
    if constexpr (sizeof(Sum) == 8) {
      c = beta != 0.0 ? fma(beta, c, alpha * product) : alpha * product;
    } else {
      const auto word = [](double x) { return static_cast<std::uint32_t>(static_cast<std::int64_t>(x)); };
      std::uint32_t sum = word(alpha) * static_cast<std::uint32_t>(product);
      if (beta != 0.0) sum += word(beta) * static_cast<std::uint32_t>(c);
      c = static_cast<Sum>(sum);
    }
  }
};
template <class Sum>
using ResultOf = std::conditional_t<std::is_same_v<Sum, float>, Result, ExactResult<Sum>>;

template <class F, Order order_a, Order order_b>
__global__ void __launch_bounds__(threads)
    wmma_shape_kernel(std::int64_t m, std::int64_t n, std::int64_t k, Stored<typename F::Element> a,
                      Stored<typename F::Element> b, ResultOf<typename F::Sum> c) {
  using Element = typename F::Element;
  constexpr bool a_rows = order_a == Order::row_major, b_rows = order_b == Order::row_major;
  using PartA = Part<Element, a_rows ? F::m : F::k, a_rows ? F::k : F::m>;
  using PartB = Part<Element, b_rows ? F::k : F::n, b_rows ? F::n : F::k>;
  constexpr int patch_ld = F::n + 8;
  struct alignas(32) Patch {
    typename F::Sum values[F::m * patch_ld];
  };
  __shared__ typename PartA::Staging staging_a[warps];
  __shared__ typename PartB::Staging staging_b[warps];
  __shared__ Patch patches[warps];
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t tiles_across = ceil_div(n, F::n);
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * warps + warp;
  const std::int64_t row = tile / tiles_across * F::m, column = tile % tiles_across * F::n;
  if (row >= m) return;

  typename F::Accumulator sum;
  wmma::fill_fragment(sum, typename F::Sum{0});
  for (std::int64_t p = 0; p < k; p += F::k) {
    wmma::fragment<wmma::matrix_a, F::m, F::n, F::k, typename F::T, Layout<order_a>> fragment_a;
    wmma::fragment<wmma::matrix_b, F::m, F::n, F::k, typename F::T, Layout<order_b>> fragment_b;
    PartA::read(a, place<order_a>(row, p), staging_a[warp],
                [&](const Element* from, unsigned ld) { wmma::load_matrix_sync(fragment_a, from, ld); });
    PartB::read(b, place<order_b>(p, column), staging_b[warp],
                [&](const Element* from, unsigned ld) { wmma::load_matrix_sync(fragment_b, from, ld); });
    wmma::mma_sync(sum, fragment_a, fragment_b, sum);
  }
  // As in store_accumulator(): through shared memory, where every element has a known place.
  Patch& patch = patches[warp];
  wmma::store_matrix_sync(patch.values, sum, patch_ld, wmma::mem_row_major);
  __syncwarp();
  for (int i = static_cast<int>(threadIdx.x) % warp_size; i < F::m * F::n; i += warp_size) {
    const int y = i / F::n, x = i % F::n;
    if (row + y < m && column + x < n) c.store(row + y, column + x, patch.values[y * patch_ld + x]);
  }
}

template <class F>
Status launch_form(const Gemm& p, CUstream_st* stream) {
  using Element = typename F::Element;
  const std::int64_t tiles = ceil_div(p.m, F::m) * ceil_div(p.n, F::n);
  return with_orders<Element>(p, [&](auto instance) {
    using I = decltype(instance);
    return launch(wmma_shape_kernel<F, I::order_a, I::order_b>, ceil_div(tiles, warps), dim3(threads), stream,
                  p.m, p.n, p.k, Stored<Element>(p.a, p.m, p.k), Stored<Element>(p.b, p.k, p.n),
                  ResultOf<typename F::Sum>(p));
  });
}

template <int M, int N>
Status launch_16_bit(const Gemm& p, CUstream_st* stream) {
  return p.a.type == Type::f16 ? launch_form<Form<M, N, 16, __half, __half, float>>(p, stream)
                               : launch_form<Form<M, N, 16, __nv_bfloat16, __nv_bfloat16, float>>(p, stream);
}

}  // namespace

Status launch_wmma_32x8x16(const Gemm& p, CUstream_st* stream) noexcept {
  return launch_16_bit<32, 8>(p, stream);
}
Status launch_wmma_8x32x16(const Gemm& p, CUstream_st* stream) noexcept {
  return launch_16_bit<8, 32>(p, stream);
}
Status launch_wmma_16x16x8(const Gemm& p, CUstream_st* stream) noexcept {
  return launch_form<Form<16, 16, 8, float, wmma::precision::tf32, float>>(p, stream);
}
Status launch_wmma_s8(const Gemm& p, CUstream_st* stream) noexcept {
  return launch_form<Form<16, 16, 16, signed char, signed char, int>>(p, stream);
}
Status launch_wmma_8x8x4(const Gemm& p, CUstream_st* stream) noexcept {
  return launch_form<Form<8, 8, 4, double, double, double>>(p, stream);
}

}  // namespace tenon::reference
