// gemm() with an epilogue and a D apart from C, by every kernel that has FusedEpilogue and by the library's
// choice, compared with double precision. The operands are small integers and everything else is a multiple
// of 1/8, so that the pre-activation is exact in f32: without a transcendental function D must be right to
// the bit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "gemm/kernel.hpp"
#include "host/gemm_on.hpp"
#include "reference/activation.hpp"
#include "reference/cpu.hpp"
#include "support/device.hpp"

namespace tenon::test {
namespace {

using Bytes = std::vector<unsigned char>;

Bytes encoded(Type type, const std::vector<float>& values) {
  Bytes elements(values.size() * bytes(type));
  reference::encode(type, values.data(), values.size(), elements.data());
  return elements;
}
std::vector<float> decoded(Type type, const Bytes& elements) {
  std::vector<float> values(elements.size() / bytes(type));
  reference::decode(type, elements.data(), values.size(), values.data());
  return values;
}

// What is asked of the epilogue. Shifts and pads are elements by which matrices begin off an aligned address
// and rows lie apart.
struct Case {
  std::int64_t m, n, k;
  Activation activation = Activation::none;
  bool bias = false, row_bias = false, scales = false, aux = false;
  float alpha = 1.0F, beta = 0.0F;
  bool in_place = false;
  Type d_type = Type::f32, c_type = Type::f32, vector_type = Type::f32;
  int pad = 0, shift = 0;
  bool gated = false, scale_d = false, absmax = false, bias_gradient = false;
  int aux_shift = 0, bias_shift = 0;  // further elements, of aux and of the bias alone
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.m << " x " << c.n << " x " << c.k << ", " << name(c.activation) << (c.bias ? ", bias" : "")
             << (c.row_bias ? ", row bias" : "") << (c.scales ? ", scales" : "") << (c.aux ? ", aux" : "")
             << ", alpha " << c.alpha << ", beta " << c.beta << (c.in_place ? " in place" : "") << ", D "
             << name(c.d_type) << (c.gated ? ", gated" : "") << (c.scale_d ? ", scale_d" : "")
             << (c.absmax ? ", absmax" : "") << (c.bias_gradient ? ", bias gradient" : "") << ", C "
             << name(c.c_type) << ", vectors " << name(c.vector_type) << ", pad " << c.pad << ", shift "
             << c.shift << ", aux shift " << c.aux_shift << ", bias shift " << c.bias_shift;
}

// Multiples of 1/8 from -2 to 2.
std::vector<float> eighths(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = static_cast<float>(static_cast<int>(random() % 33) - 16) / 8;
  return values;
}
std::vector<float> powers_of_two(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = std::ldexp(1.0F, static_cast<int>(random() % 3) - 1);
  return values;
}

// A row-major m x n matrix in device memory, in a buffer of NaN.
struct DeviceMatrix {
  std::int64_t m, n, ld;
  Type type;
  int shift;
  std::vector<float> host;
  Buffer<unsigned char> buffer;

  DeviceMatrix(std::int64_t m_, std::int64_t n_, std::int64_t ld_, Type type_, int shift_,
               const std::vector<float>* values)
      : m(m_),
        n(n_),
        ld(ld_),
        type(type_),
        shift(shift_),
        host(filled(values)),
        buffer(encoded(type, host)) {}
  std::vector<float> filled(const std::vector<float>* values) const {
    std::vector<float> all(static_cast<std::size_t>(shift + m * ld + 16),
                           std::numeric_limits<float>::quiet_NaN());
    for (std::int64_t i = 0; values != nullptr && i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j)
        all[static_cast<std::size_t>(shift + i * ld + j)] = (*values)[static_cast<std::size_t>(i * n + j)];
    }
    return all;
  }
  void* data() const { return buffer.get() + static_cast<std::size_t>(shift) * bytes(type); }
  // The elements, after a check that nothing else was written.
  std::vector<float> read() const {
    const std::vector<float> all = decoded(type, buffer.read());
    std::vector<float> values(static_cast<std::size_t>(m * n));
    std::int64_t written = 0;
    for (std::size_t at = 0; at < all.size(); ++at) {
      const std::int64_t place = static_cast<std::int64_t>(at) - shift;
      const bool inside = place >= 0 && place < m * ld && place % ld < n;
      if (inside) {
        values[static_cast<std::size_t>(place / ld * n + place % ld)] = all[at];
      } else if (type == Type::s8 ? all[at] != 0 : !std::isnan(all[at])) {  // s8 has no NaN
        ++written;
      }
    }
    EXPECT_EQ(written, 0) << "elements outside the matrix were written";
    return values;
  }
};

// The problem on the device, and what must come out.
void check(const Case& c, const Kernel* kernel, Type a_type, Order a_order, Order b_order) {
  SCOPED_TRACE(::testing::Message() << c << (kernel != nullptr ? ", " + kernel->name : std::string()));
  const std::int64_t m = c.m, n = c.n, k = c.k;
  const auto integers = [&](std::int64_t count, unsigned seed) {
    std::vector<float> values = eighths(count, seed);
    for (float& v : values) v = std::round(v);
    return values;
  };
  const std::vector<float> a = integers(m * k, 1), b = integers(k * n, 2);
  // Rows (columns) on multiples of 16 bytes.
  const auto operand = [&](const std::vector<float>& x, std::int64_t rows, std::int64_t columns,
                           Order order) {
    std::vector<float> stored(x.size());
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j)
        stored[static_cast<std::size_t>(order == row_major ? i * columns + j : j * rows + i)] =
            x[static_cast<std::size_t>(i * columns + j)];
    }
    const std::int64_t count = order == row_major ? rows : columns,
                       length = order == row_major ? columns : rows;
    return DeviceMatrix(count, length, (length + 15) / 16 * 16 + 16, a_type, 0, &stored);
  };
  const DeviceMatrix device_a = operand(a, m, k, a_order), device_b = operand(b, k, n, b_order);
  const std::vector<float> c_values = eighths(m * n, 3), bias = eighths(n, 4), row_bias = eighths(m, 5),
                           row_scale = powers_of_two(m, 6), column_scale = powers_of_two(n, 7),
                           pre_values = eighths(m * n, 8);
  const Type c_type = c.in_place ? c.d_type : c.c_type;
  const std::int64_t columns = c.gated ? n / 2 : n;  // of D
  const DeviceMatrix d(m, columns, columns + c.pad, c.d_type, c.shift, c.in_place ? &c_values : nullptr),
      addend(m, n, n + 2 * c.pad, c_type, c.shift, &c_values),
      aux(m, n, n + c.pad, c.vector_type, c.shift + c.aux_shift,
          reads_aux(c.activation) ? &pre_values : nullptr);
  std::vector<float> shifted_bias(static_cast<std::size_t>(c.bias_shift),
                                  std::numeric_limits<float>::quiet_NaN());
  shifted_bias.insert(shifted_bias.end(), bias.begin(), bias.end());
  const Buffer<unsigned char> device_bias(encoded(c.vector_type, shifted_bias)),
      device_row_bias(encoded(c.vector_type, row_bias));
  const Buffer<float> device_row_scale(row_scale), device_column_scale(column_scale);
  const float scale_d = c.scale_d ? 4.0F : 1.0F;
  const Buffer<float> device_scale_d(std::vector<float>{scale_d}), absmax(std::vector<float>{0.125F});
  const Buffer<float> bias_gradient(std::vector<float>(static_cast<std::size_t>(n), 1.0F));

  Gemm problem;
  problem.m = m, problem.n = n, problem.k = k;
  problem.a = {device_a.data(), device_a.ld, a_order, a_type};
  problem.b = {device_b.data(), device_b.ld, b_order, a_type};
  problem.alpha = c.alpha, problem.beta = c.beta;
  problem.c = c.in_place ? Matrix(d.data(), d.ld, d.type) : Matrix(addend.data(), addend.ld, addend.type);
  problem.d = {d.data(), d.ld, d.type};
  if (kernel != nullptr) problem.kernel = kernel->name.c_str(), problem.accumulate = kernel->accumulate;
  EpilogueOptions& e = problem.epilogue;
  e.activation = c.activation;
  e.lower = -1.25F, e.upper = 2.5F;
  if (c.bias)
    e.bias = {device_bias.get() + static_cast<std::size_t>(c.bias_shift) * bytes(c.vector_type),
              c.vector_type};
  if (c.row_bias) e.row_bias = {device_row_bias.get(), c.vector_type};
  if (c.scales) e.row_scale = device_row_scale.get(), e.column_scale = device_column_scale.get();
  e.gated = c.gated;
  if (c.scale_d) e.scale_d = device_scale_d.get();
  if (c.absmax) e.absmax = absmax.get();
  if (c.bias_gradient) e.bias_gradient = bias_gradient.get();
  const bool has_aux = c.aux || reads_aux(c.activation);
  if (has_aux) e.aux = {aux.data(), aux.ld, aux.type};

  Status status = can_implement(launcher(), problem);
  const bool has_product = k > 0 && c.alpha != 0.0F;
  if (kernel != nullptr && has_product && kernel->takes_epilogue != nullptr &&
      !kernel->takes_epilogue(problem)) {
    EXPECT_EQ(status.code(), StatusCode::unsupported);
    EXPECT_NE(std::string(status.message()).find("another epilogue"), std::string::npos) << status.message();
    return;
  }
  ASSERT_TRUE(status) << status.message();
  status = gemm(launcher(), problem);
  ASSERT_TRUE(status) << status.message();
  status = device()->synchronize();
  ASSERT_TRUE(status) << status.message();

  const std::vector<float> computed = d.read(), computed_aux = aux.read();
  std::vector<double> pre(static_cast<std::size_t>(m * n));
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const auto at = static_cast<std::size_t>(i * n + j);
      double x = 0;
      for (std::int64_t p = 0; p < k; ++p)
        x += static_cast<double>(a[static_cast<std::size_t>(i * k + p)]) *
             static_cast<double>(b[static_cast<std::size_t>(p * n + j)]);
      x *= static_cast<double>(c.alpha);
      if (c.scales)
        x *= static_cast<double>(row_scale[static_cast<std::size_t>(i)]) *
             static_cast<double>(column_scale[static_cast<std::size_t>(j)]);
      x += static_cast<double>(c.beta) * static_cast<double>(c_values[at]);
      if (c.bias) x += static_cast<double>(bias[static_cast<std::size_t>(j)]);
      if (c.row_bias) x += static_cast<double>(row_bias[static_cast<std::size_t>(i)]);
      pre[at] = x;
      if (has_aux && !reads_aux(c.activation)) {
        const float rounded = decoded(c.vector_type, encoded(c.vector_type, {static_cast<float>(x)}))[0];
        if (computed_aux[at] != rounded && wrong++ == 0)
          ADD_FAILURE() << "aux(" << i << ", " << j << ") is " << computed_aux[at] << " but must be "
                        << rounded;
      }
    }
  }
  // A unit in the last place where the function is transcendental, and what f32 makes of it.
  const double unit = c.d_type == Type::f16    ? 0x1p-10
                      : c.d_type == Type::bf16 ? 0x1p-7
                      : c.d_type == Type::e4m3 ? 0x1p-3
                      : c.d_type == Type::e5m2 ? 0x1p-2
                                               : 0;
  const double step = c.d_type == Type::s8 ? 1 : c.d_type == Type::e4m3 ? 0x1p-9 : 0;
  double largest = 0.125, largest_error = 0;
  std::vector<double> sums(static_cast<std::size_t>(n), 1.0), errors(sums.size(), 0.0);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto from = static_cast<std::size_t>(i * n + (c.gated ? 2 * j : j));
      const double x = pre[from];
      double result =
          reference::activated(c.activation, x, static_cast<double>(pre_values[from]), -1.25, 2.5);
      double error =
          reference::is_exact(c.activation) ? 0 : reference::activation_error(c.activation, x, result, 0);
      if (c.gated) {
        const double value = pre[from + 1];
        error = error * std::fabs(value) + 0x1p-23 * std::fabs(result * value);
        result *= value;
      }
      if (std::fabs(result) > largest) largest = std::fabs(result), largest_error = error;
      sums[static_cast<std::size_t>(j)] += result;
      errors[static_cast<std::size_t>(j)] += error + 0x1p-20 * std::fabs(result);
      const double exact = result * static_cast<double>(scale_d);
      const auto nearest = decoded(c.d_type, encoded(c.d_type, {static_cast<float>(exact)}))[0];
      const double allowed =
          error == 0 ? 0 : unit * std::fabs(exact) + step + error * static_cast<double>(scale_d);
      const double found = static_cast<double>(computed[static_cast<std::size_t>(i * columns + j)]);
      if (!(std::fabs(found - static_cast<double>(nearest)) <= allowed) && wrong++ == 0)
        ADD_FAILURE() << "D(" << i << ", " << j << ") is " << found << " but must be " << exact;
    }
  }
  if (c.absmax) {
    EXPECT_NEAR(static_cast<double>(absmax.read()[0]), largest, largest_error + 0x1p-23 * largest);
  }
  if (c.bias_gradient) {
    const std::vector<float> gradient = bias_gradient.read();
    for (std::size_t j = 0; j < gradient.size(); ++j)
      EXPECT_NEAR(static_cast<double>(gradient[j]), sums[j], errors[j] + 0x1p-20) << "column " << j;
  }
  EXPECT_EQ(wrong, 0) << "elements are wrong";
}

std::vector<Case> cases() {
  using A = Activation;
  std::vector<Case> all;
  // What wgmma kernels leave to TMA: a bias of D's type, or none, with relu, gelu or nothing; within D and at
  // its edges.
  for (const A activation : {A::relu, A::gelu, A::none}) {
    for (const Type type : {Type::bf16, Type::f16}) {
      Case c{130, 264, 72, activation, activation != A::none};
      c.d_type = c.vector_type = type;
      c.alpha = 0.5F;
      all.push_back(c);
    }
  }
  // An aux that TMA stores or loads; n and m end within a subtile.
  for (const Type type : {Type::bf16, Type::f16}) {
    for (const A activation : {A::gelu, A::dgelu, A::relu, A::drelu, A::none}) {
      Case c{130, 264, 72, activation, activation != A::drelu};
      c.d_type = c.vector_type = type;
      c.alpha = 0.5F, c.aux = !reads_aux(activation), c.pad = activation == A::relu ? 0 : 8;
      all.push_back(c);
    }
  }
  // What keeps an aux, or a bias, from TMA.
  for (const A activation : {A::relu, A::drelu}) {
    Case c{70, 136, 40, activation, true};
    c.d_type = c.vector_type = Type::bf16, c.aux = !reads_aux(activation);
    c.aux_shift = 4;
    all.push_back(c);
    c.aux_shift = 0, c.bias_shift = 1;
    all.push_back(c);
    c.bias_shift = 0, c.c_type = Type::bf16, c.beta = 0.5F;
    all.push_back(c);
    c.beta = 0.0F, c.vector_type = Type::f16;
    all.push_back(c);
  }
  // A C that TMA loads, apart and in place, over several tiles; gated pairs.
  for (const bool in_place : {false, true}) {
    for (const Type type : {Type::bf16, Type::f16}) {
      Case c{200, 392, 40, in_place ? A::relu : A::none, in_place};
      c.d_type = c.c_type = c.vector_type = type;
      c.beta = 0.5F, c.in_place = in_place, c.pad = 8;
      all.push_back(c);
    }
  }
  for (const A activation : {A::silu, A::gelu, A::none}) {
    for (const Type type : {Type::bf16, Type::f16, Type::f32}) {
      Case c{130, 400, 40, activation, true};
      c.d_type = c.vector_type = type;
      c.gated = true, c.aux = type == Type::f32, c.absmax = c.aux;
      all.push_back(c);
      c.aux = true, c.absmax = false;
      if (type == Type::bf16) all.push_back(c);
    }
  }
  // Outputs of 8 bits with a scale, aligned and not; the gradient of a bias.
  for (const Type type : {Type::e4m3, Type::e5m2, Type::s8}) {
    for (const int shift : {0, 3}) {
      Case c{70, 139, 40, shift == 0 ? A::relu : A::silu, true};
      c.d_type = type, c.shift = c.pad = shift;
      c.scale_d = c.absmax = true, c.gated = false;
      all.push_back(c);
      c.n = 148, c.gated = true;
      all.push_back(c);
    }
  }
  for (const A activation : {A::drelu, A::dgelu, A::none}) {
    Case c{150, 139, 40, activation};
    c.d_type = Type::bf16, c.vector_type = Type::f16, c.bias_gradient = c.absmax = true;
    all.push_back(c);
  }
  // Every activation with a bias, in every type of D, at sizes that leave residues of every tile.
  for (const Type d : {Type::f32, Type::f16, Type::bf16}) {
    for (const A activation : all_activations) {
      Case c{70, 136, 40, activation, true};
      c.d_type = d, c.vector_type = d, c.c_type = d;
      c.aux = !reads_aux(activation);
      all.push_back(c);
    }
  }
  // Everything at once: aligned, unaligned, in place.
  for (const int pad : {0, 1, 8}) {
    for (const bool in_place : {false, true}) {
      Case c{131, 203, 72, A::relu, true, true, true, true};
      c.alpha = 0.5F, c.beta = -2.0F, c.pad = pad, c.in_place = in_place;
      c.d_type = Type::bf16, c.c_type = Type::f32, c.vector_type = Type::f16;
      c.shift = pad == 1 ? 1 : 0;
      all.push_back(c);
    }
  }
  // C in each type, apart, without an epilogue.
  for (const Type type : {Type::f32, Type::f16, Type::bf16}) {
    Case c{40, 72, 24};
    c.beta = 1.0F, c.c_type = type, c.d_type = Type::f16;
    all.push_back(c);
  }
  for (const std::int64_t size : {1, 2, 9}) {
    Case c{size, size, size, A::clamp, true, true};
    c.beta = 1.0F;
    all.push_back(c);
  }
  // Nothing to multiply: the epilogue of zeros.
  Case zero{5, 19, 0, A::clamp, true, true, true, true};
  zero.beta = 0.5F;
  all.push_back(zero);
  Case no_alpha = zero;
  no_alpha.k = 16, no_alpha.alpha = 0.0F, no_alpha.d_type = Type::f16, no_alpha.pad = 1;
  all.push_back(no_alpha);
  Case sums{7, 18, 0, A::clamp, true, true};
  sums.bias_gradient = sums.absmax = sums.scale_d = true, sums.d_type = Type::e4m3;
  all.push_back(sums);
  sums.bias_gradient = false, sums.gated = true;
  all.push_back(sums);
  return all;
}

class FusedEpilogueTest : public DeviceTest {};

TEST_F(FusedEpilogueTest, EveryKernelComputesEveryCase) {
  int found = 0;
  for (const Kernel& kernel : kernels()) {
    if (!kernel.fused) continue;
    DeviceDescription description;
    ASSERT_TRUE(launcher().describe(&description));
    if (kernel.exact_sm && description.sm != kernel.minimum_sm) continue;
    if (kernel.type != kernel.type_b) continue;
    ++found;
    // In the emulator the other types and layouts run the first cases alone: their epilogue is the same code.
    const bool all = !emulated() || (kernel.type == Type::bf16 && kernel.a_order == row_major &&
                                     kernel.b_order == column_major);
    int run = 0;
    for (const Case& c : cases()) {
      if (!all && run++ >= 8) break;
      check(c, &kernel, kernel.type, kernel.a_order, kernel.b_order);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GE(found, 2);
}

// C, or an aux that is read, comes by TMA to where D is staged, and an aux that is written leaves from there:
// with copies that land late or at random times, a missing wait shows. Several tiles a CTA, so that the
// places are used again.
TEST_F(FusedEpilogueTest, CopiesOfCAndAuxMayLandAtAnyTime) {
  int found = 0;
  for (const Kernel& kernel : kernels()) {
    if (!kernel.fused || kernel.instruction != Instruction::wgmma || kernel.type != Type::bf16 ||
        kernel.a_order != row_major || kernel.b_order != column_major)
      continue;
    DeviceDescription description;
    ASSERT_TRUE(launcher().describe(&description));
    if (description.sm != kernel.minimum_sm) continue;
    ++found;
    for (const bool in_place : {false, true}) {
      Case c{kernel.tile_m * 3 + 10, kernel.tile_n * 5, 136, in_place ? Activation::relu : Activation::none,
             in_place};
      c.d_type = c.c_type = c.vector_type = Type::bf16;
      c.beta = 0.5F, c.in_place = in_place;
      check(c, &kernel, kernel.type, kernel.a_order, kernel.b_order);
      if (HasFatalFailure()) return;
    }
    for (const Activation activation : {Activation::relu, Activation::drelu}) {
      Case c{kernel.tile_m * 3 + 10, kernel.tile_n * 5, 72, activation, true};
      c.d_type = c.vector_type = Type::bf16, c.aux = !reads_aux(activation);
      check(c, &kernel, kernel.type, kernel.a_order, kernel.b_order);
      if (HasFatalFailure()) return;
    }
    for (const bool aux : {false, true}) {
      Case gated{kernel.tile_m * 3 + 10, kernel.tile_n * 5, 72, Activation::silu, true};
      gated.d_type = gated.vector_type = Type::bf16, gated.gated = true, gated.aux = aux;
      check(gated, &kernel, kernel.type, kernel.a_order, kernel.b_order);
      if (HasFatalFailure()) return;
    }
  }
  if (found == 0) GTEST_SKIP() << "needs a device of sm_90";
}

TEST_F(FusedEpilogueTest, TheLibraryChoosesAKernelForEveryCase) {
  for (const Case& c : cases()) check(c, nullptr, Type::bf16, row_major, column_major);
}

TEST_F(FusedEpilogueTest, ANaNOfTheProductReachesDThroughEveryActivation) {
  for (const Activation activation : all_activations) {
    std::vector<float> a(16 * 16, 1.0F);
    a[5 * 16 + 3] = std::numeric_limits<float>::quiet_NaN();
    const DeviceMatrix device_a(16, 16, 16, Type::bf16, 0, &a);
    const std::vector<float> ones(16 * 16, 1.0F);
    const DeviceMatrix device_b(16, 16, 16, Type::bf16, 0, &ones), aux(16, 16, 16, Type::f32, 0, &ones),
        d(16, 16, 16, Type::f32, 0, nullptr);
    Gemm problem;
    problem.m = problem.n = problem.k = 16;
    problem.a = {device_a.data(), 16, row_major, Type::bf16};
    problem.b = {device_b.data(), 16, column_major, Type::bf16};
    problem.d = {d.data(), 16, Type::f32};
    problem.epilogue.activation = activation;
    problem.epilogue.upper = 1.0F;
    if (reads_aux(activation)) problem.epilogue.aux = {aux.data(), 16, Type::f32};
    const Status status = gemm(launcher(), problem);
    ASSERT_TRUE(status) << status.message();
    ASSERT_TRUE(device()->synchronize());
    const std::vector<float> values = decoded(Type::f32, d.buffer.read());
    for (int i = 0; i < 16; ++i) {
      for (int j = 0; j < 16; ++j)
        EXPECT_EQ(std::isnan(values[static_cast<std::size_t>(16 * i + j)]), i == 5)
            << name(activation) << ' ' << i << ' ' << j;
    }
  }
}

}  // namespace
}  // namespace tenon::test
