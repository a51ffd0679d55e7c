// The conversion kernels on a GPU, compared bit for bit with the host's: all 65536 patterns, every tie, any
// stride.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "product.hpp"
#include "reference/float_bits.hpp"
#include "support/gpu.hpp"

namespace tenon::reference {
namespace {

class Convert : public test::GpuTest, public ::testing::WithParamInterface<Type> {
 protected:
  Type narrow() const { return GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Reference, Convert, ::testing::Values(Type::f16, Type::bf16),
                         [](const auto& info) { return std::string(name(info.param)); });

std::vector<float> all_values(Type type) {
  std::vector<std::uint16_t> patterns(0x10000);
  for (std::size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<std::uint16_t>(i);
  std::vector<float> values(patterns.size());
  decode(type, patterns.data(), values.size(), values.data());
  return values;
}

// Converts rows x columns and compares with `wanted`; any NaN equals any NaN.
void expect_converted(Type from, Type to, const std::vector<float>& values, const std::vector<float>& wanted,
                      std::int64_t columns, std::int64_t pad, int offset) {
  SCOPED_TRACE(::testing::Message() << name(from) << " to " << name(to) << ", " << columns
                                    << " columns, padding " << pad << ", offset " << offset);
  const auto rows = static_cast<std::int64_t>(values.size()) / columns;
  DeviceRows source(from, rows, columns, columns + pad, offset);
  DeviceRows destination(to, rows, columns, columns + pad, offset);
  source.write(values);
  const Status status = convert(rows, columns, {source.data(), columns + pad, row_major, from},
                                {destination.data(), columns + pad, to});
  ASSERT_TRUE(status) << status.message();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const std::vector<float> found = destination.read();
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(wanted[i])) {
      ASSERT_TRUE(std::isnan(found[i])) << i;
    } else {
      ASSERT_EQ(float_to_bits(found[i]), float_to_bits(wanted[i])) << values[i];
    }
  }
  destination.expect_surroundings_untouched();
}

TEST_P(Convert, EveryPatternToF32) {
  const std::vector<float> values = all_values(narrow());
  expect_converted(narrow(), Type::f32, values, values, 0x10000, 0, 0);
  expect_converted(narrow(), Type::f32, values, values, 256, 4, 4);  // four at a time
  expect_converted(narrow(), Type::f32, values, values, 1024, 1,
                   0);                                              // one at a time: the rows are not aligned
  expect_converted(narrow(), Type::f32, values, values, 64, 0, 1);  // one at a time: nor is the first element
}

TEST_P(Convert, EveryTieFromF32) {
  // Each value of the type, and the midpoint between it and the next; around the midpoint, the floats just
  // below and above it.
  const std::vector<float> exact = all_values(narrow());
  std::vector<float> values;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const float next = exact[std::min(i + 1, exact.size() - 1)];
    const float middle = exact[i] + (next - exact[i]) / 2;
    values.insert(values.end(),
                  {exact[i], std::nextafter(middle, -1e38F), middle, std::nextafter(middle, 1e38F)});
  }
  std::vector<unsigned char> rounded(values.size() * bytes(narrow()));
  std::vector<float> wanted(values.size());
  encode(narrow(), values.data(), values.size(), rounded.data());
  decode(narrow(), rounded.data(), wanted.size(), wanted.data());
  expect_converted(Type::f32, narrow(), values, wanted, 0x10000, 0, 0);
  expect_converted(Type::f32, narrow(), values, wanted, 1024, 3, 0);
  expect_converted(Type::f32, narrow(), values, wanted, 512, 8, 1);
}

TEST_P(Convert, AnyWidth) {
  for (std::int64_t columns : {1, 2, 3, 4, 5, 1023, 1024, 1025, 2051}) {
    std::vector<float> values(static_cast<std::size_t>(5 * columns));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i % 251);  // exact in both types
    expect_converted(Type::f32, narrow(), values, values, columns, 4 - columns % 4, 0);
    expect_converted(narrow(), Type::f32, values, values, columns, 4 - columns % 4, 0);
    expect_converted(narrow(), Type::f32, values, values, columns, 0, 3);
  }
}

}  // namespace
}  // namespace tenon::reference
