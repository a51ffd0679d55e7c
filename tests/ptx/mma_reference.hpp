// What an mma form means, in plain C++: its element types, who holds which element, and the product itself.
// Written from the PTX ISA, not from include/tenon: a wrong layout there cannot confirm itself here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/mma_case.hpp"

namespace tenon::test {

enum class Kind { f16, bf16, tf32, f32, f64, e4m3, e5m2, s8, u8, s4, u4, b1, s32 };

int bits(Kind kind);
bool is_integer(Kind kind);
bool is_signed(Kind kind);

// The bit pattern of a value that the kind represents exactly (else an exception), and back.
std::uint64_t encode(Kind kind, double value);
double decode(Kind kind, std::uint64_t pattern);

// A mnemonic, read: "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma.sp::ordered_metadata.sync...".
struct MmaSpec {
  enum class Operation { multiply, and_popc, xor_popc };
  int m, n, k;
  bool a_row_major, b_row_major, satfinite;
  bool sparse;  // A keeps half of its k columns
  Kind d, a, b, c;
  Operation operation;
  std::string rounding;  // "", "rz", "rm", "rp" (f64)

  // m8n8k4 on f16 computes four products; every other form one.
  bool is_quad() const { return m == 8 && n == 8 && k == 4 && a == Kind::f16; }
  int matrices() const { return is_quad() ? 4 : 1; }
  // Of each group of neighbours along k a sparse A keeps one half, chosen in units: one of two tf32, two of
  // four elements, or two of four pairs of 4-bit integers.
  int group_units() const { return a == Kind::tf32 ? 2 : 4; }
  int unit_elements() const { return a == Kind::s4 || a == Kind::u4 ? 2 : 1; }
  int groups() const { return k / (group_units() * unit_elements()); }
};
MmaSpec parse_mnemonic(const std::string& mnemonic);

// `matrices` matrices of rows x columns, dense, row-major.
struct Matrices {
  int matrices, rows, columns;
  std::vector<double> values;

  Matrices(int count, int r, int c) : matrices(count), rows(r), columns(c), values(count * r * c) {}
  double& at(int matrix, int row, int column) { return values[(matrix * rows + row) * columns + column]; }
  double at(int matrix, int row, int column) const {
    return values[(matrix * rows + row) * columns + column];
  }
};

enum class Operand { a, b, c, d };
Registers pack(const MmaSpec& spec, Operand operand, const Matrices& source);
Matrices unpack(const MmaSpec& spec, Operand operand, const Registers& source);

// What a sparse A keeps of each group, row by row: the nibble of the metadata. Two bits are the index of a
// unit of 16 bits or more of the first, two those of the second; of tf32 0b0100 is the first element, 0b1110
// the second.
using Sparsity = std::vector<std::uint8_t>;
std::vector<std::uint8_t> sparsity_nibbles(const MmaSpec& spec);  // all that there are, ascending indices
// A with zeros in place of what is not kept, and the kept elements alone, m x k/2.
Matrices masked(const MmaSpec& spec, const Sparsity& sparsity, const Matrices& a);
Matrices compressed(const MmaSpec& spec, const Sparsity& sparsity, const Matrices& a);
// The register of every lane. The lanes that the selector does not ask hold metadata that is wrong.
Registers pack_metadata(const MmaSpec& spec, const Sparsity& sparsity, int selector);

// D, exactly: sums that are exact in double, wrapped or clamped to s32 for integers; f64 as a chain of fused
// multiply-adds in increasing k that begins with c, in the rounding of the form.
Matrices reference(const MmaSpec& spec, const Matrices& a, const Matrices& b, const Matrices& c);

}  // namespace tenon::test
