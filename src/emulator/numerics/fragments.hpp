// Fragment layouts: which lane and register of a warp holds which element of a matrix. The decoder of a
// matrix instruction stores them as a table.
//
// PTX ISA 9.7.14.5 (mma, movmatrix), 9.7.14.6 (mma.sp). wmma leaves its fragments unspecified (9.7.14.2): the
// layouts here are those of the mma instructions that implement it.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/ptx/module.hpp"

namespace tenon::emulator::numerics {

struct Shape {
  int m = 0, n = 0, k = 0;
};

enum class Matrix : std::uint8_t { a, b, c };  // c: the result too

struct Coord {
  std::int16_t row = 0, column = 0;  // A: m, k. B: k, n. C: m, n
};

// The table of one matrix: for each lane, each register, each of its elements (lowest bits first).
class Fragment {
 public:
  static constexpr int lanes = 32;

  // `copies`: how often the elements repeat in the registers of a lane.
  Fragment(int registers, int element_bits, int copies = 1)
      : registers_(registers),
        copies_(copies),
        bits_(element_bits),
        elements_(element_bits >= 32 ? 1 : 32 / element_bits),
        coords_(index(lanes, 0, 0)) {}

  int registers() const { return registers_; }  // without copies
  int copies() const { return copies_; }
  int element_bits() const { return bits_; }
  int elements() const { return elements_; }  // of one register

  const Coord& at(int lane, int reg, int element) const { return coords_[index(lane, reg, element)]; }
  const Coord* coords() const {
    return coords_.data();
  }  // element by element, register by register, lane by lane
  void set(int lane, int reg, int element, Coord coord) { coords_[index(lane, reg, element)] = coord; }

 private:
  std::size_t index(int lane, int reg, int element) const {
    const auto first = static_cast<std::size_t>(lane);
    return (first * registers_ + reg) * elements() + element;
  }

  int registers_, copies_, bits_, elements_;
  std::vector<Coord> coords_;
};

// Bits of an element in a register: 1 for b1, 4 for s4 and u4, 32 for tf32.
int element_bits(ptx::Type type);

// For mma of every shape m16n8kK and m8n8kK, except m8n8k4 of f16. For a sparse A: the coordinates of its
// stored elements in the compressed matrix, m x k/2; shape is the instruction's.
Fragment mma_fragment(Matrix matrix, Shape shape, ptx::Type type, bool sparse = false);

// For mma.m8n8k4 of f16: four products at once. The four A are stacked vertically (32 x 4), the four B side
// by side (4 x 32), the four C vertically (32 x 8). `row_major` is the layout of A or B; C ignores it.
Fragment m8n8k4_fragment(Matrix matrix, ptx::Type type, bool row_major);

// For wmma.
Fragment wmma_fragment(Matrix matrix, Shape shape, ptx::Type type);

// For a sparse A: the column in the full matrix (of k) of stored element `index` of `row`, from the metadata
// registers of all lanes. `selector`: which lanes of a group of four provide metadata.
int sparse_column(Shape shape, ptx::Type type, int selector, const std::uint64_t (&metadata)[Fragment::lanes],
                  int row, int index);

// The selectors of a form: 0 .. sparse_selectors - 1.
int sparse_selectors(Shape shape, ptx::Type type);

}  // namespace tenon::emulator::numerics
