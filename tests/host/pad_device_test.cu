// The padding copy and the scaling of C on a device, bit for bit.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "gemm/pad.hpp"
#include "gemm/scale.hpp"
#include "support/device.hpp"

namespace tenon {
namespace {

using test::Buffer;
using test::launcher;
using Pad = test::DeviceTest;
using Scale = test::DeviceTest;

// Every start within 16 bytes, several leading dimensions, rows shorter and longer than one vector. The
// source ends with its last element, so that compute-sanitizer sees a read past it.
TEST_F(Pad, CopiesRowsOfAnyAlignment) {
  for (int offset = 0; offset < 8; ++offset) {
    for (const std::int64_t length : {1, 7, 8, 9, 31, 257, 2049}) {
      if (test::emulated() && length > 257) continue;
      for (const std::int64_t gap : {0, 1, 2, 5, 8}) {
        for (const std::int64_t lines : {1, 3, 130}) {
          if (test::emulated() && lines * length > 4000) continue;
          const std::int64_t ld = length + gap;
          std::vector<std::uint16_t> source(static_cast<std::size_t>(offset + (lines - 1) * ld + length));
          for (std::size_t i = 0; i < source.size(); ++i)
            source[i] = static_cast<std::uint16_t>(i * 40503U + 1U);
          const std::int64_t out_ld = padded_ld(length);
          const std::size_t guard = 64;
          std::vector<std::uint16_t> expected(static_cast<std::size_t>(lines * out_ld) + guard, 0xABCD);
          const Buffer<std::uint16_t> from(source), to(expected);
          ASSERT_EQ(padded_bytes(lines, length), static_cast<std::size_t>(lines * out_ld) * 2);
          const PadCopy copy{from.get() + offset, lines, length, ld, to.get()};
          const Status s = pad_copies(launcher(), &copy, 1);
          ASSERT_TRUE(s) << s.message();
          for (std::int64_t r = 0; r < lines; ++r) {
            for (std::int64_t c = 0; c < out_ld; ++c) {
              expected[static_cast<std::size_t>(r * out_ld + c)] =
                  c < length ? source[static_cast<std::size_t>(offset + r * ld + c)] : std::uint16_t{0};
            }
          }
          ASSERT_EQ(to.read(), expected)
              << "offset " << offset << ", " << lines << " rows of " << length << ", ld " << ld;
        }
      }
    }
  }
}

// More rows than the blocks of the grid cover at once: they walk on.
TEST_F(Pad, CopiesManyRows) {
  if (test::emulated()) GTEST_SKIP() << "too many rows for the emulator";
  const std::int64_t lines = 1024LL * 1024 + 77, length = 3;
  std::vector<std::uint16_t> source(static_cast<std::size_t>(lines * length));
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::uint16_t>(i);
  const Buffer<std::uint16_t> from(source),
      to(std::vector<std::uint16_t>(static_cast<std::size_t>(lines) * 8, 0xFFFF));
  const PadCopy copy{from.get(), lines, length, length, to.get()};
  ASSERT_TRUE(pad_copies(launcher(), &copy, 1));
  const std::vector<std::uint16_t> out = to.read();
  for (std::int64_t r = 0; r < lines; ++r) {
    for (std::int64_t c = 0; c < 8; ++c) {
      ASSERT_EQ(out[static_cast<std::size_t>(r * 8 + c)],
                c < length ? source[static_cast<std::size_t>(r * length + c)] : 0)
          << "row " << r << ", column " << c;
    }
  }
}

// The second copy has more rows and shorter ones: the grid is made for the larger of each.
TEST_F(Pad, CopiesTwoOperandsInOneLaunch) {
  const std::int64_t lines[] = {5, 300}, length[] = {1000, 33};
  std::vector<std::uint16_t> source(300 * 33 + 5 * 1000);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::uint16_t>(i * 40503U + 1U);
  const Buffer<std::uint16_t> from(source), first(std::vector<std::uint16_t>(5 * 1000, 0xFFFF)),
      second(std::vector<std::uint16_t>(300 * 40, 0xFFFF));
  const Buffer<std::uint16_t>* const to[] = {&first, &second};
  const PadCopy copies[] = {{from.get() + 1, lines[0], length[0], length[0], first.get()},
                            {from.get() + 3, lines[1], length[1], length[1], second.get()}};
  ASSERT_TRUE(pad_copies(launcher(), copies, 2));
  for (int i = 0; i < 2; ++i) {
    const std::vector<std::uint16_t> out = to[i]->read();
    const std::int64_t ld = padded_ld(length[i]);
    for (std::int64_t r = 0; r < lines[i]; ++r) {
      for (std::int64_t c = 0; c < ld; ++c) {
        const std::int64_t at = 1 + 2 * i + r * length[i] + c;
        ASSERT_EQ(out[static_cast<std::size_t>(r * ld + c)],
                  c < length[i] ? source[static_cast<std::size_t>(at)] : 0)
            << "operand " << i << ", row " << r << ", column " << c;
      }
    }
  }
}

template <typename T>
void check_scale(Type type, T (*encode)(float)) {
  const std::int64_t m = 37, n = 300, ld = 303;
  const std::size_t count = static_cast<std::size_t>((m - 1) * ld + n);
  for (const float beta : {0.0F, 0.5F, 1.0F, -3.0F}) {
    std::vector<T> before(count);
    for (std::size_t i = 0; i < count; ++i) before[i] = encode(static_cast<float>(i % 97) - 40.0F);
    before[5] = encode(std::numeric_limits<float>::quiet_NaN());
    const Buffer<T> buffer(before);
    Gemm p;
    p.m = m;
    p.n = n;
    p.beta = beta;
    p.c = {buffer.get(), ld, type};
    const Status s = scale_c(launcher(), p);
    ASSERT_TRUE(s) << s.message();
    const std::vector<T> after = buffer.read();
    for (std::size_t i = 0; i < count; ++i) {
      const float old = static_cast<float>(before[i]), now = static_cast<float>(after[i]);
      if (static_cast<std::int64_t>(i) % ld >= n) {
        ASSERT_EQ(now, old) << "between rows, at " << i;  // never touched
      } else if (beta == 0.0F) {
        ASSERT_EQ(now, 0.0F) << "NaN must not spread, at " << i;
      } else if (std::isnan(old)) {
        ASSERT_TRUE(std::isnan(now));
      } else {
        ASSERT_EQ(now, static_cast<float>(encode(beta * old))) << "beta " << beta << ", at " << i;
      }
    }
  }
}

TEST_F(Scale, ScalesEveryType) {
  check_scale<__half>(Type::f16, [](float x) { return __float2half(x); });
  check_scale<__nv_bfloat16>(Type::bf16, [](float x) { return __float2bfloat16(x); });
  check_scale<float>(Type::f32, [](float x) { return x; });
}

}  // namespace
}  // namespace tenon
