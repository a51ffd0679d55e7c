// Every layout by name, for programs that choose one at run time (`tenon layout m16n8k16 f16 a`). Host only,
// compiled: link with tenon::layouts.
//
//   const tenon::NamedLayout* layout = tenon::find_layout("m16n8k16", "f16", "a");    // nullptr: none
//   tenon::Owner owner = layout->owner(8, 2);
//
// Operands are "a", "b" and "c"; "d" finds "c", since D has the layout of C. The shapes of wmma
// (wmma16x16x16,
// ...) and Volta's f16 m8n8k4 have instructions for either order of A and B: there operands are "a_row",
// "a_col", "b_row", "b_col" and "c". Types are those of PTX: f16 bf16 tf32 f64 e4m3 e5m2 s8 u8 s4 u4 b1 for
// operands, f16 f32 f64 s32 for accumulators. Builds on layout.hpp. Defined in src/fragment/catalogue.cpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <iosfwd>

#include "tenon/fragment/layout.hpp"

namespace tenon {

// A layout without its type; the members are those of LayoutOf and of the layout itself.
struct NamedLayout {
  const char *shape, *type, *operand;  // live as long as the program
  int rows, cols, bits, matrices, elements, registers;
  int lanes = 32;
  Coord (*coord)(int lane, int element);
  Owner (*owner)(int row, int col);  // where matrices > 1: the owner in the first of them
  int (*register_of)(int element);
  int (*bit_of)(int element);
};

// A range of layouts, for a range-based for.
struct NamedLayouts {
  const NamedLayout *first, *past_last;
  const NamedLayout* begin() const noexcept { return first; }
  const NamedLayout* end() const noexcept { return past_last; }
};

// All of them, shape by shape.
NamedLayouts layouts();

// nullptr if there is none. Arguments are zero-terminated and not null.
const NamedLayout* find_layout(const char* shape, const char* type, const char* operand);

// Prints the sentence for a find_layout that found nothing: what was asked, and what there is.
void print_no_such_layout(std::ostream& out, const char* shape, const char* type, const char* operand);

}  // namespace tenon
