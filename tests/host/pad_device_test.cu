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

// Elements that are not zero, and mostly differ from their neighbours in a row and in a column.
template <typename T>
std::vector<T> numbered(std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i * 2654435761U >> 7U) | T{1};
  return values;
}

constexpr std::size_t guard = 64;  // elements after a copy, which must not change

// The expected copy: `rows` rows of `length` elements at(row, element), and zeros up to the leading
// dimension.
template <typename T, typename At>
std::vector<T> expected_copy(std::int64_t rows, std::int64_t length, T poison, const At& at) {
  const std::int64_t ld = padded_ld(length, sizeof(T));
  EXPECT_EQ(ld * static_cast<std::int64_t>(sizeof(T)) % 128, 0);
  EXPECT_EQ(padded_bytes(rows, length, sizeof(T)), static_cast<std::size_t>(rows * ld) * sizeof(T));
  std::vector<T> expected(static_cast<std::size_t>(rows * ld) + guard, poison);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < ld; ++i)
      expected[static_cast<std::size_t>(row * ld + i)] = i < length ? at(row, i) : T{0};
  }
  return expected;
}

// One copy of a source that ends with its last element, so that compute-sanitizer and the emulator see a read
// past it.
template <typename T>
void check_copy(std::int64_t offset, std::int64_t rows, std::int64_t length, std::int64_t ld,
                bool transposed) {
  constexpr T poison = static_cast<T>(0xABABABABU);
  const std::vector<T> source = numbered<T>(static_cast<std::size_t>(offset + (rows - 1) * ld + length));
  const auto at = [&](std::int64_t row, std::int64_t i) {
    const std::int64_t source_row = transposed ? i : row, source_column = transposed ? row : i;
    return source[static_cast<std::size_t>(offset + source_row * ld + source_column)];
  };
  const std::vector<T> expected =
      transposed ? expected_copy<T>(length, rows, poison, at) : expected_copy<T>(rows, length, poison, at);
  const Buffer<T> from(source), to(std::vector<T>(expected.size(), poison));
  const PadCopy copy{from.get() + offset, rows, length, ld, to.get(), sizeof(T), transposed};
  const Status s = pad_copies(launcher(), &copy, 1);
  ASSERT_TRUE(s) << s.message();
  ASSERT_EQ(to.read(), expected) << sizeof(T) << " bytes, offset " << offset << ", " << rows << " rows of "
                                 << length << ", ld " << ld;
}

// Every start within 16 bytes, several leading dimensions, rows shorter and longer than a vector.
template <typename T>
void check_rows_of_any_alignment() {
  for (std::int64_t offset = 0; offset < static_cast<std::int64_t>(16 / sizeof(T)); ++offset) {
    for (const std::int64_t length : {1, 3, 7, 8, 9, 16, 17, 31, 257, 2049}) {
      if (test::emulated() && length > 257) continue;
      for (const std::int64_t gap : {0, 1, 2, 5, 8}) {
        for (const std::int64_t rows : {1, 3, 130}) {
          if (test::emulated() && (rows * length > 1000 || gap == 2)) continue;
          ASSERT_NO_FATAL_FAILURE(check_copy<T>(offset, rows, length, length + gap, false));
        }
      }
    }
  }
}

TEST_F(Pad, CopiesRowsOfAnyAlignment) {
  check_rows_of_any_alignment<std::uint16_t>();
}
TEST_F(Pad, CopiesRowsOfBytes) {
  check_rows_of_any_alignment<std::uint8_t>();
}
TEST_F(Pad, CopiesRowsOfWords) {
  check_rows_of_any_alignment<std::uint32_t>();
}

// Sizes around the tiles of 64 x 64, one and several of them. Zeros fill the rows of the copy up to 128
// bytes.
template <typename T>
void check_transposed() {
  for (const std::int64_t rows : {1, 15, 16, 17, 63, 64, 65, 129, 500}) {
    for (const std::int64_t length : {1, 3, 64, 65, 130, 777}) {
      if (test::emulated() && rows * length > 9000) continue;
      for (const std::int64_t offset : {0, 3}) {
        ASSERT_NO_FATAL_FAILURE(check_copy<T>(offset, rows, length, length + offset, true));
      }
    }
  }
}

TEST_F(Pad, TransposesBytes) {
  check_transposed<std::uint8_t>();
}
TEST_F(Pad, TransposesHalves) {
  check_transposed<std::uint16_t>();
}
TEST_F(Pad, TransposesWords) {
  check_transposed<std::uint32_t>();
}

// To rows that begin at any element, with a gap between them that must not change.
TEST_F(Pad, TransposesToRowsOfAnyAlignment) {
  constexpr std::uint16_t poison = 0xABAB;
  for (const std::int64_t rows : {1, 7, 64, 131, 192}) {
    for (const std::int64_t length : {1, 8, 65}) {
      for (const std::int64_t offset : {0, 1, 3, 8, 61}) {
        if (test::emulated() && offset > 3 && rows != 131) continue;
        const std::int64_t source_ld = padded_ld(length, 2), ld = rows + offset;
        std::vector<std::uint16_t> source =
            numbered<std::uint16_t>(static_cast<std::size_t>(rows * source_ld));
        std::vector<std::uint16_t> expected(static_cast<std::size_t>(offset + length * ld) + guard, poison);
        for (std::int64_t row = 0; row < rows; ++row) {
          for (std::int64_t i = 0; i < length; ++i)
            expected[static_cast<std::size_t>(offset + i * ld + row)] =
                source[static_cast<std::size_t>(row * source_ld + i)];
        }
        const Buffer<std::uint16_t> from(source), to(std::vector<std::uint16_t>(expected.size(), poison));
        const Status s =
            transpose_to(launcher(), {from.get(), rows, length, source_ld, to.get() + offset, 2, true}, ld);
        ASSERT_TRUE(s) << s.message();
        ASSERT_EQ(to.read(), expected) << rows << " x " << length << ", offset " << offset;
      }
    }
  }
}

// More tiles than the grid has CTAs, along both dimensions: each CTA transposes several.
TEST_F(Pad, TransposesManyTiles) {
  if (test::emulated()) GTEST_SKIP() << "too many tiles for the emulator";
  check_copy<std::uint8_t>(1, 64 * 1024 + 77, 5, 5, true);
  check_copy<std::uint16_t>(1, 64 * 1024 + 77, 5, 5, true);
  check_copy<std::uint16_t>(3, 9, 64 * 1024 + 77, 64 * 1024 + 78, true);
  check_copy<std::uint32_t>(0, 3, 64 * 1024 + 77, 64 * 1024 + 78, true);
}

// More rows than the grid has CTAs: each CTA copies several.
TEST_F(Pad, CopiesManyRows) {
  if (test::emulated()) GTEST_SKIP() << "too many rows for the emulator";
  const std::int64_t rows = 1024LL * 1024 + 77, length = 3, ld = padded_ld(length, 2);
  std::vector<std::uint16_t> source(static_cast<std::size_t>(rows * length));
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::uint16_t>(i);
  const Buffer<std::uint16_t> from(source),
      to(std::vector<std::uint16_t>(static_cast<std::size_t>(rows * ld), 0xFFFF));
  const PadCopy copy{from.get(), rows, length, length, to.get()};
  ASSERT_TRUE(pad_copies(launcher(), &copy, 1));
  const std::vector<std::uint16_t> out = to.read();
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < ld; ++c) {
      ASSERT_EQ(out[static_cast<std::size_t>(r * ld + c)],
                c < length ? source[static_cast<std::size_t>(r * length + c)] : 0)
          << "row " << r << ", column " << c;
    }
  }
}

// The second copy has more rows, but shorter ones: the grid covers the larger of each extent.
TEST_F(Pad, CopiesTwoOperandsInOneLaunch) {
  const std::int64_t rows[] = {5, 300}, length[] = {1000, 33};
  const std::vector<std::uint16_t> source = numbered<std::uint16_t>(300 * 33 + 5 * 1000);
  const Buffer<std::uint16_t> from(source), first(std::vector<std::uint16_t>(5 * 1024 + guard, 0xFFFF)),
      second(std::vector<std::uint16_t>(300 * 64 + guard, 0xFFFF));
  const Buffer<std::uint16_t>* const to[] = {&first, &second};
  const PadCopy copies[] = {{from.get() + 1, rows[0], length[0], length[0], first.get()},
                            {from.get() + 3, rows[1], length[1], length[1], second.get()}};
  ASSERT_TRUE(pad_copies(launcher(), copies, 2));
  for (int i = 0; i < 2; ++i) {
    const auto at = [&](std::int64_t row, std::int64_t element) {
      return source[static_cast<std::size_t>(1 + 2 * i + row * length[i] + element)];
    };
    ASSERT_EQ(to[i]->read(), expected_copy<std::uint16_t>(rows[i], length[i], 0xFFFF, at)) << "operand " << i;
  }
}

// A copy that transposes and one that does not are two launches.
TEST_F(Pad, CopiesOneOperandAndTransposesTheOther) {
  const std::vector<std::uint8_t> source = numbered<std::uint8_t>(40 * 70 + 50 * 21);
  const Buffer<std::uint8_t> from(source), first(std::vector<std::uint8_t>(70 * 128 + guard, 0xFF)),
      second(std::vector<std::uint8_t>(50 * 128 + guard, 0xFF));
  const PadCopy copies[] = {{from.get(), 40, 70, 70, first.get(), 1, true},
                            {from.get() + 40 * 70, 50, 21, 21, second.get(), 1, false}};
  ASSERT_TRUE(pad_copies(launcher(), copies, 2));
  ASSERT_EQ(first.read(), expected_copy<std::uint8_t>(70, 40, 0xFF, [&](std::int64_t row, std::int64_t i) {
              return source[static_cast<std::size_t>(i * 70 + row)];
            }));
  ASSERT_EQ(second.read(), expected_copy<std::uint8_t>(50, 21, 0xFF, [&](std::int64_t row, std::int64_t i) {
              return source[static_cast<std::size_t>(40 * 70 + row * 21 + i)];
            }));
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
        ASSERT_EQ(now, old) << "between rows, at " << i;
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

// Modulo 2^32.
TEST_F(Scale, ScalesIntegers) {
  const std::int64_t m = 7, n = 300, ld = 303;
  std::vector<std::int32_t> before(static_cast<std::size_t>((m - 1) * ld + n));
  for (std::size_t i = 0; i < before.size(); ++i) before[i] = static_cast<std::int32_t>(i * 2654435761U);
  for (const float beta : {0.0F, 1.0F, -3.0F, 16777215.0F}) {
    const Buffer<std::int32_t> buffer(before);
    Gemm p;
    p.m = m;
    p.n = n;
    p.beta = beta;
    p.c = {buffer.get(), ld, Type::s32};
    const Status s = scale_c(launcher(), p);
    ASSERT_TRUE(s) << s.message();
    const std::vector<std::int32_t> after = buffer.read();
    for (std::size_t i = 0; i < before.size(); ++i) {
      const auto factor = static_cast<std::uint32_t>(static_cast<std::int32_t>(beta));
      const auto wanted = static_cast<std::int32_t>(factor * static_cast<std::uint32_t>(before[i]));
      ASSERT_EQ(after[i], static_cast<std::int64_t>(i) % ld >= n ? before[i] : wanted)
          << "beta " << beta << ", at " << i;
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
