// A model of the tensor core's arithmetic, step by step, for the tests of error_bound.hpp and
// error_statistics.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "host/error_bound.hpp"
#include "reference/float_bits.hpp"

namespace tenon::test {

struct Step {
  int products;   // L
  int fraction;   // F
  int kept = 23;  // bits below the leading one of an f32 result
};
inline constexpr Step ampere{8, 24}, hopper{16, 25}, hopper_tf32{8, 25}, hopper_fp8{32, 13, 13};

// A product as a tensor core sees it: aligned by the exponents of its factors.
struct Product {
  double value;
  int exponent;

  Product(double v) : value(v), exponent(v == 0.0 ? std::numeric_limits<int>::min() : std::ilogb(v)) {}
  Product(double a, Type a_type, double b, Type b_type) : Product(a * b) {
    if (value != 0.0) exponent = exponent_of(a, a_type) + exponent_of(b, b_type);
  }

  static int exponent_of(double x, Type type) {
    const int least = type == Type::e4m3 ? -6 : type == Type::e5m2 ? -14 : -126;
    return std::max(std::ilogb(x), least);
  }
};

// One step: align to the largest exponent, truncate to F bits below it, add, round toward zero to f32 (or to
// nearest f16).
inline double step(double c, const Product* p, int count, const Step& kind, Type accumulate) {
  int largest = Product(c).exponent;
  for (int i = 0; i < count; ++i) largest = std::max(largest, p[i].exponent);
  if (largest == std::numeric_limits<int>::min()) return 0.0;
  const double unit = std::ldexp(1.0, largest - kind.fraction);
  double sum = std::trunc(c / unit);
  for (int i = 0; i < count; ++i) sum += std::trunc(p[i].value / unit);
  const double value = sum * unit;
  if (value == 0.0) return 0.0;
  if (accumulate == Type::f16) {
    return static_cast<double>(
        reference::float_from_f16(reference::f16_from_float(static_cast<float>(value))));
  }
  const double ulp = std::ldexp(1.0, std::ilogb(value) - kind.kept);
  return std::trunc(value / ulp) * ulp;
}

inline double tensor_core(const Product* products, std::size_t size, Step kind, Type accumulate) {
  double c = 0.0;
  for (std::size_t k = 0; k < size; k += static_cast<std::size_t>(kind.products)) {
    const int count =
        static_cast<int>(std::min<std::size_t>(size - k, static_cast<std::size_t>(kind.products)));
    c = step(c, products + k, count, kind, accumulate);
  }
  return c;
}
inline double tensor_core(const std::vector<Product>& products, Step kind, Type accumulate) {
  return tensor_core(products.data(), products.size(), kind, accumulate);
}

// In chunks that the tensor core accumulates from zero, and that are added in f32: promoted accumulators, or
// split-K.
inline double in_chunks(const std::vector<Product>& products, std::size_t chunk, Step kind) {
  float sum = 0.0F;
  for (std::size_t k = 0; k < products.size(); k += chunk) {
    sum += static_cast<float>(
        tensor_core(products.data() + k, std::min(chunk, products.size() - k), kind, Type::f32));
  }
  return static_cast<double>(sum);
}

inline double rounded(float x, Type type) {
  using namespace reference;
  switch (type) {
    case Type::tf32:
      return static_cast<double>(float_from_tf32(tf32_from_float(x)));
    case Type::e4m3:
      return static_cast<double>(float_from_small(small_from_float(x, e4m3_format), e4m3_format));
    case Type::e5m2:
      return static_cast<double>(float_from_small(small_from_float(x, e5m2_format), e5m2_format));
    case Type::f32:
      return static_cast<double>(x);
    default:
      return static_cast<double>(float_from_f16(f16_from_float(x)));
  }
}

// Products of N(0, scale) values of two types; drift > 0 makes them positive, the worst case for truncation.
inline std::vector<Product> random_products(int k, double drift, unsigned seed, Type a_type = Type::f16,
                                            Type b_type = Type::f16, float scale = 1.0F) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<Product> products;
  for (int i = 0; i < k; ++i) {
    double a = rounded(scale * normal(engine), a_type), b = rounded(normal(engine), b_type);
    if (drift > 0) a = std::fabs(a) * drift, b = std::fabs(b);
    products.emplace_back(a, a_type, b, b_type);
  }
  return products;
}

// The products with what they are aligned to.
inline DotProduct exact(const std::vector<Product>& products) {
  DotProduct dot;
  for (const Product& p : products) {
    dot.add(p.value, p.value == 0.0 ? 0.0 : std::max(std::fabs(p.value), std::ldexp(1.0, p.exponent)));
  }
  return dot;
}

}  // namespace tenon::test
