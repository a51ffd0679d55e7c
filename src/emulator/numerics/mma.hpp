// One matrix instruction of a warp on the registers of its 32 lanes: mma, mma.sp and wmma.mma. This
// determines the result's bits, with the layouts of fragments.hpp and the arithmetic of dot_product.hpp.
#pragma once

#include <cstdint>

#include "emulator/numerics/dot_product.hpp"
#include "emulator/numerics/fragments.hpp"
#include "emulator/numerics/model.hpp"

namespace tenon::emulator::numerics {

// An instruction as its modifiers describe it.
struct Form {
  Shape shape;
  ptx::Type a = ptx::Type::none, b = ptx::Type::none, c = ptx::Type::none, d = ptx::Type::none;
  Unit unit = Unit::mma;
  bool a_row_major = true, b_row_major = false;  // used by m8n8k4 of f16 only
  bool sparse = false;
  int selector = 0;
  bool saturate = false;                       // .satfinite of integers
  bool exclusive = false;                      // b1: .xor.popc, else .and.popc
  Rounding rounding = Rounding::nearest_even;  // of f64
};

// Registers of a warp, [register][lane], each in the low bits of its 64.
struct Registers {
  std::uint64_t a[8][32], b[8][32], c[8][32], d[8][32];
  std::uint64_t metadata[32];
};

class Mma {
 public:
  explicit Mma(const Form& form);

  const Form& form() const { return form_; }
  // a, b, c and d are the instruction's operands. registers().a[a.registers()] and so on must be set, and
  // metadata for a sparse form. Copies (wmma of f16) are neither read nor written.
  const Fragment& a() const { return a_; }
  const Fragment& b() const { return b_; }
  const Fragment& c() const { return c_; }
  const Fragment& d() const { return d_; }

  void operator()(Model model, Registers& registers) const;
  // With custom parameters instead of a model's; for forms with an f32 or f16 result.
  void operator()(const Arithmetic& arithmetic, Registers& registers) const;

 private:
  void floating(const Arithmetic& arithmetic, Registers& registers) const;
  void m8n8k4_in_f32(Registers& registers) const;
  // The type of the accumulation: if c and d differ (m8n8k4 and wmma of f16) it is f32, with a conversion
  // before or after.
  ptx::Type accumulator() const { return form_.c == form_.d ? form_.d : ptx::Type::f32; }
  int stored_k() const { return form_.sparse ? form_.shape.k / 2 : form_.shape.k; }
  void load_accumulators(const Registers& registers, std::uint32_t* c) const;
  void store_accumulators(const std::uint32_t* c, Registers& registers) const;
  void f64(Model model, Registers& registers) const;
  void integer(Registers& registers) const;
  void bits(Registers& registers) const;

  Form form_;
  int blocks_;  // independent products
  Fragment a_, b_, c_, d_;
};

}  // namespace tenon::emulator::numerics
