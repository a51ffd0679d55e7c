// Packing on the GPU against the arithmetic of number.hpp, which pack_test checks on the host: every float
// there is, and every integer around the limits.
#include <gtest/gtest.h>

#include "fragment/managed.hpp"
#include "support/gpu.hpp"
#include "tenon/fragment/pack.hpp"

namespace tenon {
namespace {

struct Difference {
  unsigned long long count;
  uint32_t input, packed, expected;
};
__device__ void compare(Difference* difference, uint32_t input, uint32_t packed, uint32_t expected) {
  if (packed == expected) return;
  if (atomicAdd(&difference->count, 1ULL) == 0) {
    difference->input = input;
    difference->packed = packed;
    difference->expected = expected;
  }
}

// Of four inputs one runs through all floats; the others are related, so that a swap shows.
__global__ void pack_every_float(Difference* f16, Difference* bf16, Difference* e4m3, Difference* e5m2,
                                 Difference* tf32) {
  const uint64_t step = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  for (uint64_t i = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < 1ULL << 32; i += step) {
    const auto bits = static_cast<uint32_t>(i);
    const float v0 = float_of(bits), v1 = float_of(bits * 5U + 1U), v2 = float_of(bits ^ 0x80000000U),
                v3 = float_of(~bits);
    compare(f16, bits, pack_f16x2(v0, v1), encode<FormatF16>(v0) | encode<FormatF16>(v1) << 16);
    compare(bf16, bits, pack_bf16x2(v0, v1), encode<FormatBf16>(v0) | encode<FormatBf16>(v1) << 16);
    compare(e4m3, bits, pack_e4m3x4(v0, v1, v2, v3),
            encode<FormatE4m3>(v0) | encode<FormatE4m3>(v1) << 8 | encode<FormatE4m3>(v2) << 16 |
                encode<FormatE4m3>(v3) << 24);
    compare(e5m2, bits, pack_e5m2x4(v0, v1, v2, v3),
            encode<FormatE5m2>(v0) | encode<FormatE5m2>(v1) << 8 | encode<FormatE5m2>(v2) << 16 |
                encode<FormatE5m2>(v3) << 24);
    // NaNs whose payload lies in the low 13 bits alone are the exception that round_to_tf32 documents.
    const uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude <= 0x7f800000U || magnitude >= 0x7f802000U)
      compare(tf32, bits, to_tf32(v0), round_to_tf32(v0));
  }
}

class FragmentPack : public test::GpuTest {};

TEST_F(FragmentPack, EveryFloatRoundsAsOnTheHost) {
  test::Managed<Difference> differences(5, Difference{});
  Difference* d = differences.data();
  pack_every_float<<<1024, 256>>>(d, d + 1, d + 2, d + 3, d + 4);
  ASSERT_TRUE(test::finished());
  const char* names[] = {"pack_f16x2", "pack_bf16x2", "pack_e4m3x4", "pack_e5m2x4", "to_tf32"};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(d[i].count, 0U) << names[i] << " of " << std::hex << d[i].input << " is " << d[i].packed
                              << ", expected " << d[i].expected;
  }
}

__global__ void unpack_every_half(Difference* difference) {
  const uint32_t bits = blockIdx.x * blockDim.x + threadIdx.x;
  float values[2];
  unpack_f16x2(bits | (bits ^ 0xffffU) << 16, values);
  // cvt.f32.f16 keeps a NaN's payload; that it is a NaN is all that counts.
  const float low = decode<FormatF16>(bits), high = decode<FormatF16>(bits ^ 0xffffU);
  if (low == low || values[0] == values[0]) compare(difference, bits, bits_of(values[0]), bits_of(low));
  if (high == high || values[1] == values[1]) compare(difference, bits, bits_of(values[1]), bits_of(high));
}
TEST_F(FragmentPack, EveryHalfUnpacksAsOnTheHost) {
  test::Managed<Difference> difference(1, Difference{});
  unpack_every_half<<<256, 256>>>(difference.data());
  ASSERT_TRUE(test::finished());
  EXPECT_EQ(difference[0].count, 0U) << std::hex << difference[0].input;
}

__global__ void pack_integers(const int32_t* values, uint32_t* packed) {
  const int32_t* v = values + 8 * threadIdx.x;
  const int32_t eight[8] = {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]};
  packed[4 * threadIdx.x] = pack_s8x4(v[0], v[1], v[2], v[3]);
  packed[4 * threadIdx.x + 1] = pack_u8x4(v[0], v[1], v[2], v[3]);
  packed[4 * threadIdx.x + 2] = pack_s4x8(eight);
  packed[4 * threadIdx.x + 3] = pack_u4x8(eight);
}
TEST_F(FragmentPack, IntegersSaturateAsOnTheHost) {
  constexpr int threads = 256;
  test::Managed<int32_t> values(8 * threads, 0);
  test::Managed<uint32_t> packed(4 * threads, 0);
  for (int i = 0; i < 8 * threads; ++i) values[i] = i % 7 == 0 ? i * 1000003 : (i * 37) % 700 - 350;
  for (int i = 0; i < 8 * threads; i += 3) values[i] = values[i] % 20;  // within and just beyond four bits
  pack_integers<<<1, threads>>>(values.data(), packed.data());
  ASSERT_TRUE(test::finished());
  for (int i = 0; i < threads; ++i) {
    const int32_t* v = values.data() + 8 * i;
    const int32_t eight[8] = {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]};
    EXPECT_EQ(packed[4 * i], pack_s8x4(v[0], v[1], v[2], v[3]));
    EXPECT_EQ(packed[4 * i + 1], pack_u8x4(v[0], v[1], v[2], v[3]));
    EXPECT_EQ(packed[4 * i + 2], pack_s4x8(eight));
    EXPECT_EQ(packed[4 * i + 3], pack_u4x8(eight));
  }
}

}  // namespace
}  // namespace tenon
