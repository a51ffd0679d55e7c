// Products of s8 whose sums an epilogue converts, by gemm() on a device: scales of tensors, rows and columns,
// bias, activation, C apart. Against FP64, from sums that are exact.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gemm/kernel.hpp"
#include "host/error_bound.hpp"
#include "host/gemm_on.hpp"
#include "reference/cpu.hpp"
#include "support/as_sm80.hpp"
#include "support/device.hpp"

namespace tenon {
namespace {

using test::Buffer;

struct Case {
  std::int64_t m, n, k;
  Type out = Type::f16;
  Order a_order = row_major, b_order = column_major;
  int pad = 0;  // of every leading dimension
  double alpha = 1.0, beta = 0.0;
  bool scales_of_tensors = false, scales_of_rows = false, scales_of_columns = false, has_bias = false;
  Activation activation = Activation::none;
  bool c_apart = false;  // in f32
  float scale_d = 1.0F;
};

std::vector<float> uniform(std::size_t count, float low, float high, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> any(low, high);
  std::vector<float> values(count);
  for (float& v : values) v = any(random);
  return values;
}

std::vector<unsigned char> encoded(Type type, const std::vector<float>& values) {
  std::vector<unsigned char> elements(values.size() * bytes(type));
  reference::encode(type, values.data(), values.size(), elements.data());
  return elements;
}

class S8Epilogue : public test::DeviceTest {
 protected:
  static void run(const Case& x, Launcher& launcher, const std::string& kernel) {
    SCOPED_TRACE(std::to_string(x.m) + " x " + std::to_string(x.n) + " x " + std::to_string(x.k) + " to " +
                 name(x.out) + ", pad " + std::to_string(x.pad) + ", activation " + name(x.activation));
    const auto size = [](std::int64_t count) { return static_cast<std::size_t>(count); };
    std::mt19937 random(1);
    std::vector<std::int8_t> a(size(x.m * x.k)), b(size(x.k * x.n));  // row-major, dense
    for (auto* operand : {&a, &b}) {
      for (std::int8_t& v : *operand) v = static_cast<std::int8_t>(random() % 256 - 128);
    }
    const auto laid_out = [&](const std::vector<std::int8_t>& from, std::int64_t rows, std::int64_t columns,
                              Order order) {
      const std::int64_t ld = (order == row_major ? columns : rows) + x.pad;
      std::vector<std::int8_t> memory(size(ld * (order == row_major ? rows : columns)), 77);
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j)
          memory[size(order == row_major ? i * ld + j : j * ld + i)] = from[size(i * columns + j)];
      }
      return memory;
    };
    const Buffer<std::int8_t> a_there(laid_out(a, x.m, x.k, x.a_order)),
        b_there(laid_out(b, x.k, x.n, x.b_order));
    const Buffer<float> scale_a({0x1p-7F}), scale_b({0.75F});
    const auto row_scale = uniform(size(x.m), 0.5F, 1.5F, 2),
               column_scale = uniform(size(x.n), 0.5F, 1.5F, 3), bias = uniform(size(x.n), -90.0F, 90.0F, 4);
    const Buffer<float> row_scale_there(row_scale), column_scale_there(column_scale), bias_there(bias);
    const std::int64_t ld = x.n + x.pad;
    std::vector<float> c = uniform(size(x.m * ld), -200.0F, 200.0F, 5);
    const Type c_type = x.c_apart ? Type::f32 : x.out;
    const std::vector<unsigned char> c_elements = encoded(c_type, c);
    reference::decode(c_type, c_elements.data(), c.size(), c.data());
    const Buffer<unsigned char> c_there(c_elements);
    const Buffer<unsigned char> d_there(std::vector<unsigned char>(size(x.m * ld) * bytes(x.out), 0xff));

    Gemm p;
    p.m = x.m, p.n = x.n, p.k = x.k;
    p.a = {a_there.get(), (x.a_order == row_major ? x.k : x.m) + x.pad, x.a_order};
    p.b = {b_there.get(), (x.b_order == row_major ? x.n : x.k) + x.pad, x.b_order};
    p.c = {c_there.get(), ld, c_type};
    if (x.c_apart) p.d = {d_there.get(), ld, x.out};
    p.accumulate = Type::s32;
    p.alpha = x.alpha, p.beta = x.beta;
    if (x.scales_of_tensors) p.scale_a = scale_a.get(), p.scale_b = scale_b.get();
    if (x.scales_of_rows) p.epilogue.row_scale = row_scale_there.get();
    if (x.scales_of_columns) p.epilogue.column_scale = column_scale_there.get();
    if (x.has_bias) p.epilogue.bias = bias_there.get();
    p.epilogue.activation = x.activation;
    const Buffer<float> scale_d({x.scale_d});
    if (x.scale_d != 1.0F) p.epilogue.scale_d = scale_d.get();
    p.workspace_bytes = workspace_size(launcher, p);
    const Buffer<unsigned char> workspace(std::vector<unsigned char>(p.workspace_bytes, 0xff));
    p.workspace = p.workspace_bytes == 0 ? nullptr : workspace.get();
    if (x.k != 0) {
      const char* const chosen = kernel_name(launcher, p);
      ASSERT_NE(chosen, nullptr) << can_implement(launcher, p).message();
      EXPECT_EQ(std::string(chosen).substr(0, kernel.size()), kernel);
    }
    const Status status = gemm(launcher, p);
    ASSERT_TRUE(status) << status.message();
    ASSERT_TRUE(test::device()->synchronize());
    test::expect_no_findings();

    const std::vector<unsigned char> elements = (x.c_apart ? d_there : c_there).read();
    std::vector<float> found(size(x.m * ld));
    int saturated = 0;
    reference::decode(x.out, elements.data(), found.size(), found.data());
    for (std::int64_t i = 0; i < x.m; ++i) {
      for (std::int64_t j = 0; j < ld; ++j) {
        const std::size_t at = size(i * ld + j);
        const std::size_t element = bytes(x.out);
        if (j >= x.n) {  // the pad
          const auto& before = x.c_apart ? std::vector<unsigned char>(element, 0xff)
                                         : std::vector<unsigned char>(&c_elements[at * element],
                                                                      &c_elements[at * element] + element);
          ASSERT_TRUE(std::equal(before.begin(), before.end(), &elements[at * element])) << i << ", " << j;
          continue;
        }
        std::int64_t sum = 0;
        for (std::int64_t q = 0; q < x.k; ++q)
          sum += std::int64_t{a[size(i * x.k + q)]} * b[size(q * x.n + j)];
        double value = static_cast<double>(sum) * x.alpha;
        if (x.scales_of_tensors) value *= 0x1p-7 * 0.75;
        if (x.scales_of_rows) value *= static_cast<double>(row_scale[size(i)]);
        if (x.scales_of_columns) value *= static_cast<double>(column_scale[size(j)]);
        double magnitude = std::fabs(value);
        const auto add = [&](double term) {
          value += term;
          magnitude += std::fabs(term);
        };
        if (x.has_bias) add(static_cast<double>(bias[size(j)]));
        if (x.beta != 0.0) add(x.beta * static_cast<double>(c[at]));
        if (x.activation == Activation::relu) value = std::max(value, 0.0);
        value *= static_cast<double>(x.scale_d);
        magnitude *= static_cast<double>(x.scale_d);
        if (x.out == Type::s8) {  // to nearest, or to a neighbour where the f32 roundings decide
          const double error = 8 * 0x1p-24 * magnitude;
          const float lowest = std::clamp(std::nearbyint(value - error), -128.0, 127.0),
                      highest = std::clamp(std::nearbyint(value + error), -128.0, 127.0);
          saturated += std::fabs(value) > 128.0 ? 1 : 0;
          ASSERT_TRUE(found[at] == lowest || found[at] == highest)
              << "(" << i << ", " << j << ") is " << found[at] << " but should be " << value;
          continue;
        }
        const double before_output = 8 * 0x1p-24 * magnitude;  // a rounding of f32 for each term
        const double bound = before_output + unit_roundoff(x.out) * (std::fabs(value) + before_output) + 1e-7;
        ASSERT_LE(std::fabs(static_cast<double>(found[at]) - value), bound)
            << "(" << i << ", " << j << ") is " << found[at] << " but should be " << value;
      }
    }
    EXPECT_TRUE(x.out != Type::s8 || (saturated > 0 && saturated < x.m * x.n / 2)) << saturated;
  }

  // On this device, and as on sm_80.
  static void run(const Case& x) {
    DeviceDescription device;
    ASSERT_TRUE(test::launcher().describe(&device));
    run(x, test::launcher(), device.sm == 90 ? "wgmma_s8_s32_tn" : "cp_async_s8_s32_tn");
    test::AsSm80 sm_80;
    run(x, sm_80, "cp_async_s8_s32_tn");
  }
};

TEST_F(S8Epilogue, EveryOutput) {
  for (const Type out : {Type::f16, Type::bf16, Type::f32}) {
    Case x{67, 70, 45, out};
    x.alpha = 0x1p-6;
    run(x);
    x.pad = 1;
    x.beta = -0.5;
    run(x);
    x.c_apart = true;
    run(x);
  }
}

TEST_F(S8Epilogue, EveryScale) {
  Case x{131, 200, 300, Type::f16};
  x.alpha = 0.25;
  x.scales_of_tensors = x.scales_of_rows = x.scales_of_columns = x.has_bias = true;
  x.activation = Activation::relu;
  run(x);
  x.out = Type::bf16;
  x.scales_of_tensors = false;
  x.alpha = 0x1p-9;
  run(x);
  x.scales_of_rows = x.has_bias = false;
  x.activation = Activation::none;
  x.pad = 3;
  run(x);
}

// Numbers in, numbers out: scaled, rounded to nearest even, and saturated.
TEST_F(S8Epilogue, OutputsOf8Bits) {
  Case x{67, 75, 130, Type::s8};
  x.alpha = 0x1p-10;
  x.scales_of_columns = x.scales_of_rows = x.has_bias = true;
  run(x);
  x.pad = 1;
  x.scale_d = 0.75F;
  x.activation = Activation::relu;
  run(x);
  x.beta = 0.25;
  x.c_apart = true;
  x.activation = Activation::none;
  run(x);
}

TEST_F(S8Epilogue, OtherLayoutsAreCopied) {
  for (const Order a : {row_major, column_major}) {
    for (const Order b : {row_major, column_major}) {
      Case x{33, 65, 77, Type::f32, a, b};
      x.scales_of_rows = true;
      run(x);
    }
  }
}

// Sums beyond 24 bits lose their last bits when they are converted, and nothing else.
TEST_F(S8Epilogue, LargeSums) {
  run({9, 40, 4096, Type::f32});
}

TEST_F(S8Epilogue, KernelsForItWriteNoIntegers) {
  int kernels_for_it = 0;
  for (const Kernel& kernel : kernels()) {
    if (kernel.type != Type::s8 || !kernel.fused) continue;
    ++kernels_for_it;
    Gemm p;
    p.m = p.n = p.k = 64;
    p.a = {reinterpret_cast<const std::int8_t*>(0x100000), 64};
    p.b = {reinterpret_cast<const std::int8_t*>(0x200000), 64, column_major};
    p.c = {reinterpret_cast<std::int32_t*>(0x300000), 64};
    p.accumulate = Type::s32;
    p.kernel = kernel.name.c_str();
    EXPECT_EQ(can_implement(test::launcher(), p).message(),
              "kernel " + kernel.name + " writes floats or 8 bits but the result is s32");
  }
  EXPECT_EQ(kernels_for_it, 2);
}

TEST_F(S8Epilogue, WithoutAProduct) {
  Case x{9, 40, 0, Type::bf16};
  x.beta = 0.5, x.has_bias = true;
  run(x);
}

}  // namespace
}  // namespace tenon
