// Not a program: compiled by ctest with one MISUSE_... defined, to see which sentence nvcc prints.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tenon/fragment/fragment.hpp"

using namespace tenon;

template <bool major>
struct Tile {
  static constexpr bool k_major = major;
  uint32_t base;
  __device__ uint32_t address(int row, int col) const { return base + 64 * row + col; }
};

__global__ void kernel(float* out, uint32_t base) {
  FragmentA<m16n8k16, half> a;
  FragmentB<m16n8k16, half> b;
  Accumulator<m16n8k16, float> c{};
  a.load(Tile<true>{base}, 0, 0);
  b.load(Tile<false>{base}, 0, 0);
#if defined(MISUSE_correct)
  c.mma(a, b);
#elif defined(MISUSE_swapped)
  c.mma(b, a);
#elif defined(MISUSE_other_shape)
  FragmentA<m16n8k8, half> small{};
  c.mma(small, b);
#elif defined(MISUSE_mixed_types)
  FragmentB<m16n8k16, __nv_bfloat16> other{};
  c.mma(a, other);
#elif defined(MISUSE_no_such_shape)
  FragmentA<m16n8k32, half> wide{};
  c.mma(wide, b);
#elif defined(MISUSE_load_f64)
  FragmentA<m16n8k16, double> wide;
  wide.load(Tile<true>{base}, 0, 0);
#elif defined(MISUSE_transposed_bytes)
  FragmentA<m16n8k32, int8_t> bytes;
  bytes.load(Tile<false>{base}, 0, 0);
#elif defined(MISUSE_unknown_type)
  FragmentA<m16n8k16, short> unknown;
  unknown.load(Tile<true>{base}, 0, 0);
#else
#error "name the misuse"
#endif
  c.for_each([&](float& v, int row, int col) { out[8 * row + col] = v; });
}
