// The product of one wgmma.mma_async: 64 x n accumulators from k products each, operands in shared memory or
// registers.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "emulator/instructions/matrix.hpp"
#include "emulator/machine/matrix_descriptor.hpp"
#include "emulator/numerics/dot_product.hpp"
#include "emulator/numerics/fragments.hpp"

namespace tenon::emulator {

// An instruction as its modifiers and constants describe it.
struct WgmmaForm {
  int n = 0, k = 0;  // of the full matrix, zeros of a sparse A included
  ptx::Type a = ptx::Type::f16, b = ptx::Type::f16, d = ptx::Type::f32;
  bool sparse = false;
  int selector = 0;
  bool a_in_registers = false;
  Major a_major = Major::k, b_major = Major::k;
  bool negate_a = false, negate_b = false;
  bool saturate = false;

  int element_bits() const { return numerics::element_bits(a); }
  int stored_k() const { return sparse ? k / 2 : k; }                                // of A
  int accumulator_registers() const { return d == ptx::Type::f16 ? n / 4 : n / 2; }  // a lane
  numerics::Shape tile() const { return {16, 8, k}; }  // the mma that a warp's share consists of
};

// The inputs of the four warps to one instruction.
struct WgmmaOperands {
  static constexpr int warps = 4;
  std::uint64_t a_descriptor = 0, b_descriptor = 0;
  std::uint64_t metadata[warps][warp_size] = {};
  // Registers of A and of the accumulator: [warp][register] -> 32 lanes.
  std::vector<const std::uint64_t*> a[warps];
  std::vector<std::uint64_t*> d[warps];
  bool accumulate = true;  // scale-d
};

class WgmmaProduct {
 public:
  explicit WgmmaProduct(const WgmmaForm& form);

  // Reads operands in shared memory of `cta` as `actor`, and the registers; writes the accumulators.
  void operator()(numerics::Model model, Cta& cta, const Actor& actor, const WgmmaOperands& operands);

 private:
  static constexpr int m = 64;

  void read_matrix(Cta& cta, const Actor& actor, std::uint64_t descriptor, Major major, int rows, int columns,
                   std::vector<std::uint32_t>& to) const;
  void read_a_registers(const WgmmaOperands& operands);
  void find_columns(const WgmmaOperands& operands);
  void floating(numerics::Model model, const WgmmaOperands& operands);
  void integer(const WgmmaOperands& operands);
  template <class Compute>
  void for_each_result(const WgmmaOperands& operands, Compute&& compute) const;

  WgmmaForm form_;
  std::optional<numerics::Fragment> a_fragment_;
  std::vector<std::uint32_t> a_, b_;   // elements, k fastest: a_[row * stored_k + i], b_[column * k + i]
  std::vector<std::int16_t> columns_;  // of a sparse A: the k of stored element i of a row
};

}  // namespace tenon::emulator
