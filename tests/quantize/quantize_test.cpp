// Quantisation to e4m3: scales and elements to the bit against the definition in quantize.hpp, for every way
// of sharing scales and every type; SiLU-and-multiply within its rounding; zeros, NaN, infinity, the largest
// and the least numbers; and the sentences of refusals. In the emulator and on a GPU.
//
// Memory between rows is NaN, and all that is written is poisoned before.
#include "quantize/quantize.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "support/device.hpp"
#include "tenon/fragment/number.hpp"

namespace tenon {
namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// A number of a type as bytes, and the value that it then has.
float encoded(Type type, float value, unsigned char* to) {
  if (type == Type::f32) {
    std::memcpy(to, &value, 4);
    return value;
  }
  const std::uint32_t bits = type == Type::f16 ? encode<FormatF16>(value) : encode<FormatBf16>(value);
  std::memcpy(to, &bits, 2);
  return type == Type::f16 ? decode<FormatF16>(bits) : decode<FormatBf16>(bits);
}

struct Case {
  std::int64_t rows, columns;
  Type type = Type::bf16;
  ScaleBlocks blocks = ScaleBlocks::block_1x128;
  bool gated = false;
  int pad_x = 0, pad_q = 0, pad_scales = 0, shift = 0;  // elements; shift: off an aligned address
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.rows << " x " << c.columns << ' ' << name(c.type) << ", blocks "
             << static_cast<int>(c.blocks) << (c.gated ? ", gated" : "") << ", pads " << c.pad_x << ' '
             << c.pad_q << ' ' << c.pad_scales << ", shift " << c.shift;
}

class Quantised {
 public:
  explicit Quantised(const Case& c)
      : case_(c), x(at(c.rows * c.columns)), up(at(c.gated ? c.rows * c.columns : 0)) {
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    for (std::vector<float>* matrix : {&x, &up})
      for (float& v : *matrix) v = normal(random) * std::ldexp(1.0F, static_cast<int>(random() % 9) - 4);
  }

  float& element(std::int64_t row, std::int64_t column) { return x[at(row * case_.columns + column)]; }
  std::size_t scale_at(std::int64_t row, std::int64_t column) const {
    switch (case_.blocks) {
      case ScaleBlocks::per_tensor:
        return 0;
      case ScaleBlocks::per_row:
        return at(row);
      case ScaleBlocks::block_1x128:
        return at(column / 128 * ld_scales() + row);
      default:
        return at(row / 128 * ld_scales() + column / 128);
    }
  }
  std::int64_t ld_scales() const {
    return (case_.blocks == ScaleBlocks::block_1x128 ? case_.rows : (case_.columns + 127) / 128) +
           case_.pad_scales;
  }

  // Quantises, and checks that nothing else was written. Then `scales` and `q` have the results.
  void run() {
    const Case& c = case_;
    const std::int64_t ld_x = c.columns + c.pad_x, ld_q = c.columns + c.pad_q;
    const std::size_t size = bytes(c.type);
    const auto in_memory = [&](std::vector<float>& values) {
      std::vector<unsigned char> memory(at(c.shift + c.rows * ld_x) * size, 0xff);
      for (std::int64_t i = 0; i < c.rows; ++i)
        for (std::int64_t j = 0; j < c.columns; ++j) {
          float& v = values[at(i * c.columns + j)];
          v = encoded(c.type, v, &memory[at(c.shift + i * ld_x + j) * size]);
        }
      return memory;
    };
    const test::Buffer<unsigned char> device_x(in_memory(x));
    const test::Buffer<unsigned char> device_up(c.gated ? in_memory(up) : std::vector<unsigned char>(16));
    const std::size_t scale_count = c.blocks == ScaleBlocks::per_tensor ? 1
                                    : c.blocks == ScaleBlocks::per_row  ? at(c.rows)
                                    : c.blocks == ScaleBlocks::block_1x128
                                        ? at((c.columns + 127) / 128 * ld_scales())
                                        : at((c.rows + 127) / 128 * ld_scales());
    constexpr float poison = -77.0F;
    const test::Buffer<float> device_scales(std::vector<float>(scale_count + 4, poison));
    const test::Buffer<unsigned char> device_q(
        std::vector<unsigned char>(at(c.shift + c.rows * ld_q + 16), 0xee));
    Quantize what;
    what.rows = c.rows, what.columns = c.columns;
    what.x = {device_x.get() + at(c.shift) * size, ld_x, row_major, c.type};
    if (c.gated) what.up = {device_up.get() + at(c.shift) * size, ld_x, row_major, c.type};
    what.q = {device_q.get() + c.shift, ld_q, Type::e4m3};
    what.blocks = c.blocks;
    what.scales = device_scales.get();
    what.ld_scales = ld_scales();
    const Status status = quantize(test::launcher(), what);
    ASSERT_TRUE(status) << status.message();
    ASSERT_TRUE(test::device()->synchronize());
    scales = device_scales.read();
    std::vector<bool> has_scale(scales.size());
    std::vector<unsigned char> memory = device_q.read();
    q.assign(at(c.rows * c.columns), 0);
    for (std::int64_t i = 0; i < c.rows; ++i) {
      for (std::int64_t j = 0; j < c.columns; ++j) {
        has_scale[scale_at(i, j)] = true;
        unsigned char& to = memory[at(c.shift + i * ld_q + j)];
        q[at(i * c.columns + j)] = to;
        to = 0xee;
      }
    }
    ASSERT_EQ(memory, std::vector<unsigned char>(memory.size(), 0xee)) << "memory beside q was written";
    for (std::size_t i = 0; i < scales.size(); ++i) {
      ASSERT_TRUE(has_scale[i] || scales[i] == poison) << "memory beside the scales was written";
    }
  }

  // The scale and the element that the definition gives for values in f32.
  void expect_defined() {
    SCOPED_TRACE(::testing::Message() << case_);
    run();
    if (::testing::Test::HasFatalFailure()) return;
    std::vector<float> amax(scales.size(), 0.0F);
    for_each([&](std::int64_t i, std::int64_t j, float v) {
      float& largest = amax[scale_at(i, j)];
      if (std::fabs(v) > largest) largest = std::fabs(v);
    });
    for_each([&](std::int64_t i, std::int64_t j, float v) {
      if (::testing::Test::HasFatalFailure()) return;
      const float largest = amax[scale_at(i, j)];
      const float scale = largest == 0.0F ? 1.0F : std::max(largest / 448.0F, 0x1p-126F);
      ASSERT_EQ(scales[scale_at(i, j)], scale) << i << ", " << j;
      ASSERT_EQ(q[at(i * case_.columns + j)], encode<FormatE4m3>(v * (1.0F / scale)))
          << i << ", " << j << ": " << v << " by " << scale;
    });
  }

  template <class F>
  void for_each(const F& f) {
    for (std::int64_t i = 0; i < case_.rows; ++i)
      for (std::int64_t j = 0; j < case_.columns; ++j) f(i, j, element(i, j));
  }
  float value_of(std::int64_t row, std::int64_t column) const {
    return decode<FormatE4m3>(q[at(row * case_.columns + column)]);
  }

 private:
  Case case_;

 public:
  std::vector<float> x, up, scales;
  std::vector<unsigned char> q;
};

class QuantizeTest : public test::DeviceTest {
 protected:
  void SetUp() override {
    test::DeviceTest::SetUp();
    if (!IsSkipped() && !test::emulated() && test::gpu_sm() != 90) GTEST_SKIP() << "needs a GPU of sm_90";
  }
};

constexpr ScaleBlocks all_blocks[] = {ScaleBlocks::per_tensor, ScaleBlocks::per_row, ScaleBlocks::block_1x128,
                                      ScaleBlocks::block_128x128};

TEST_F(QuantizeTest, ScalesAndElementsAreThoseOfTheDefinition) {
  for (const ScaleBlocks blocks : all_blocks) {
    for (const Type type : {Type::f32, Type::f16, Type::bf16}) {
      for (Case c :
           {Case{1, 1}, Case{64, 128}, Case{130, 264}, Case{3, 4200},
            Case{70, 131, type, blocks, false, 3, 1, 2, 1}, Case{200, 384, type, blocks, false, 8, 16, 4, 0},
            Case{129, 127, type, blocks, false, 1, 1, 1, 8}}) {
        c.type = type, c.blocks = blocks;
        Quantised(c).expect_defined();
        if (HasFatalFailure()) return;
      }
    }
  }
}

// silu(x) * up in f32, whose exponential and quotient have an error of some units in the last place: the
// element may round to either neighbour.
TEST_F(QuantizeTest, SiluAndMultiply) {
  for (const ScaleBlocks blocks : all_blocks) {
    for (const Type type : {Type::f32, Type::bf16}) {
      for (Case c : {Case{70, 264}, Case{5, 131, type, blocks, true, 3, 1, 2, 1}}) {
        c.type = type, c.blocks = blocks, c.gated = true;
        SCOPED_TRACE(::testing::Message() << c);
        Quantised quantised(c);
        quantised.run();
        if (HasFatalFailure()) return;
        std::vector<double> amax(quantised.scales.size(), 0.0);
        const auto gated = [&](std::int64_t i, std::int64_t j) {
          const double x = quantised.element(i, j);
          return x / (1 + std::exp(-x)) * double{quantised.up[at(i * c.columns + j)]};
        };
        quantised.for_each([&](std::int64_t i, std::int64_t j, float) {
          double& largest = amax[quantised.scale_at(i, j)];
          largest = std::max(largest, std::fabs(gated(i, j)));
        });
        quantised.for_each([&](std::int64_t i, std::int64_t j, float) {
          if (HasFatalFailure()) return;
          const float scale = quantised.scales[quantised.scale_at(i, j)];
          ASSERT_NEAR(double{scale}, amax[quantised.scale_at(i, j)] / 448, 1e-5 * double{scale});
          const double exact = gated(i, j) / double{scale};
          // Half a unit in the last place of e4m3, of normal numbers or of subnormal ones.
          ASSERT_NEAR(double{quantised.value_of(i, j)}, exact, std::fabs(exact) * (0x1p-4 + 1e-4) + 0x1p-10)
              << i << ", " << j;
        });
      }
    }
  }
}

TEST_F(QuantizeTest, ZerosHaveScaleOne) {
  for (const ScaleBlocks blocks : all_blocks) {
    Quantised quantised({130, 260, Type::bf16, blocks});
    quantised.for_each([&](std::int64_t i, std::int64_t j, float) { quantised.element(i, j) = 0; });
    quantised.element(3, 5) = -0.0F;
    quantised.expect_defined();
    EXPECT_EQ(quantised.scales[quantised.scale_at(129, 259)], 1.0F);
  }
}

TEST_F(QuantizeTest, ANaNStaysItselfAndSparesItsNeighbours) {
  for (const ScaleBlocks blocks : all_blocks) {
    const Case c{130, 260, Type::f32, blocks};
    Quantised with(c), without(c);
    with.element(7, 200) = nan_value;
    without.element(7, 200) = 0;
    with.run();
    without.run();
    ASSERT_EQ(with.scales, without.scales);
    with.for_each([&](std::int64_t i, std::int64_t j, float) {
      const std::size_t here = at(i * c.columns + j);
      if (i == 7 && j == 200) {
        EXPECT_EQ(with.q[here] & 0x7f, 0x7f);
      } else {
        ASSERT_EQ(with.q[here], without.q[here]) << i << ", " << j;
      }
    });
  }
}

TEST_F(QuantizeTest, AnInfinityMakesItsScaleInfinite) {
  for (const ScaleBlocks blocks : all_blocks) {
    const Case c{130, 260, Type::f16, blocks};
    Quantised quantised(c);
    quantised.element(7, 200) = -infinity;
    quantised.run();
    const std::size_t scale = quantised.scale_at(7, 200);
    quantised.for_each([&](std::int64_t i, std::int64_t j, float) {
      ASSERT_EQ(std::isinf(quantised.scales[quantised.scale_at(i, j)]), quantised.scale_at(i, j) == scale);
      if (quantised.scale_at(i, j) != scale) return;
      if (i == 7 && j == 200) {
        EXPECT_TRUE(std::isnan(quantised.value_of(i, j)));
      } else {
        EXPECT_EQ(quantised.value_of(i, j), 0.0F) << i << ", " << j;
      }
    });
  }
}

// Numbers whose scale would be below the least normal number, or whose quotient would overflow.
TEST_F(QuantizeTest, TheLargestAndTheLeastNumbers) {
  for (const ScaleBlocks blocks : all_blocks) {
    for (const float size : {std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min(),
                             0x1p-126F, 0x1p-118F}) {
      Quantised quantised({2, 130, Type::f32, blocks});
      quantised.for_each([&](std::int64_t i, std::int64_t j, float) {
        quantised.element(i, j) = (i + j) % 3 == 0 ? size : (i + j) % 3 == 1 ? -size / 2 : 0.0F;
      });
      quantised.expect_defined();
    }
  }
}

// What is quantised and scaled back is as near as e4m3 allows: 3 bits behind the leading one.
TEST_F(QuantizeTest, RoundTrip) {
  Quantised quantised({64, 256, Type::f32, ScaleBlocks::block_1x128});
  quantised.run();
  quantised.for_each([&](std::int64_t i, std::int64_t j, float v) {
    const float scale = quantised.scales[quantised.scale_at(i, j)];
    ASSERT_NEAR(quantised.value_of(i, j) * scale, v, std::fabs(v) * (0x1p-4F + 1e-6F) + scale * 0x1p-10F);
  });
}

TEST_F(QuantizeTest, NothingIsWrittenWhereThereIsNothing) {
  Quantised({0, 5}).run();
  Quantised({5, 0}).run();
}

// Refusals, which need no device.
class QuantizeRefusal : public ::testing::Test {
 protected:
  Quantize what_;

  QuantizeRefusal() {
    what_.rows = 100, what_.columns = 200;
    what_.x = {address(0x100000), 200, row_major, Type::bf16};
    what_.q = {address(0x200000), 200, Type::e4m3};
    what_.blocks = ScaleBlocks::block_1x128;
    what_.scales = static_cast<float*>(address(0x300000));
    what_.ld_scales = 100;
  }
  // Addresses that are checked, and never dereferenced.
  static void* address(std::uintptr_t value) {
    return reinterpret_cast<void*>(value);  // NOLINT(performance-no-int-to-ptr)
  }
  struct NoDevice final : Launcher {
    int sm = 90, launches = 0;
    Status describe(DeviceDescription* device) noexcept override {
      *device = {sm, 132, std::size_t{227} << 10, std::size_t{50} << 20};
      return {};
    }
    Status make_tensor_map(const MatrixInMemory&, int, int, TensorMap*) noexcept override { return {}; }
    Status launch(const Launch&) noexcept override {
      ++launches;
      return {};
    }
  };
  NoDevice device_;

  void expect(StatusCode code, const char* sentence) {
    const Status s = quantize(device_, what_);
    EXPECT_EQ(s.code(), code) << s.message();
    EXPECT_STREQ(s.message(), sentence);
    EXPECT_EQ(device_.launches, 0);
  }
};

TEST_F(QuantizeRefusal, NothingIsWrong) {
  EXPECT_TRUE(quantize(device_, what_));
  EXPECT_EQ(device_.launches, 1);
}
TEST_F(QuantizeRefusal, ASizeBelowZero) {
  what_.columns = -1;
  expect(StatusCode::invalid_argument, "columns is -1 but must be 0 to 2147479552");
}
TEST_F(QuantizeRefusal, NullPointers) {
  what_.scales = nullptr;
  expect(StatusCode::invalid_argument, "scales is a null pointer");
  what_.x.data = nullptr;
  expect(StatusCode::invalid_argument, "x is a null pointer");
}
TEST_F(QuantizeRefusal, TypesAndOrders) {
  what_.x.type = Type::e5m2;
  expect(StatusCode::unsupported, "x is e5m2 but must be f32, f16 or bf16");
  what_.x.type = Type::bf16, what_.q.type = Type::e5m2;
  expect(StatusCode::unsupported, "q is e5m2 but must be e4m3");
  what_.q.type = Type::e4m3, what_.x.order = column_major;
  expect(StatusCode::unsupported, "x is column-major but must be row-major");
  what_.x.order = row_major, what_.up = {address(0x400000), 200, row_major, Type::f16};
  expect(StatusCode::unsupported, "up is f16 and row-major but must be bf16 and row-major");
  what_.blocks = static_cast<ScaleBlocks>(4);
  expect(StatusCode::invalid_argument, "blocks is 4 but is a number from 0 to 3");
}
TEST_F(QuantizeRefusal, ShortLeadingDimensions) {
  what_.ld_scales = 99;
  expect(StatusCode::invalid_argument, "the leading dimension of scales is 99 but must be >= 100");
  what_.x.ld = 199;
  expect(StatusCode::invalid_argument, "the leading dimension of x is 199 but must be >= 200");
}
TEST_F(QuantizeRefusal, AnAddressBetweenElements) {
  what_.x.data = address(0x100001);
  expect(StatusCode::invalid_argument,
         "x is 1 bytes past a multiple of 2 but its elements lie on multiples of it");
}
TEST_F(QuantizeRefusal, Overlap) {
  what_.q.data = address(0x100100);
  expect(StatusCode::invalid_argument,
         "q (from 0x100100) overlaps x (from 0x100000) but needs memory of its own");
}
TEST_F(QuantizeRefusal, AnotherDevice) {
  device_.sm = 80;
  expect(StatusCode::device_unsupported, "quantize() needs sm_90 but the device is sm_80");
}

}  // namespace
}  // namespace tenon
