#include "emulator/numerics/mma.hpp"

#include <algorithm>
#include <bitset>
#include <cstddef>

#include "emulator/numerics/exact_sum.hpp"

namespace tenon::emulator::numerics {
namespace {

using ptx::Type;

constexpr int most_rows = 32, most_stored = 64;  // of A: 4 x m8, or m32; k of s4

bool is_m8n8k4_f16(const Form& form) {
  return form.unit == Unit::mma && form.a == Type::f16 && form.shape.k == 4;
}

Fragment fragment_of(const Form& form, Matrix matrix, Type type) {
  if (is_m8n8k4_f16(form)) {
    return m8n8k4_fragment(matrix, type, matrix == Matrix::a ? form.a_row_major : form.b_row_major);
  }
  if (form.unit == Unit::wmma) return wmma_fragment(matrix, form.shape, type);
  return mma_fragment(matrix, form.shape, type, form.sparse);
}

// Row `number` of A, or column `number` of B, whose elements are contiguous.
template <typename Number>
const Number* row_of(const Number* matrix, std::ptrdiff_t number, std::ptrdiff_t length) {
  return matrix + number * length;
}

// Calls `take(coord, bits)` for every element of a fragment.
template <typename Take>
void for_each(const Fragment& fragment, const std::uint64_t (*registers)[32], Take take) {
  const int bits = fragment.element_bits(), elements = fragment.elements();
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const Coord* coord = fragment.coords();
  for (int lane = 0; lane < Fragment::lanes; ++lane) {
    for (int reg = 0; reg < fragment.registers(); ++reg) {
      std::uint64_t value = registers[reg][lane];
      for (int element = 0; element < elements; ++element) {
        take(*coord++, value & mask);
        value >>= bits % 64;  // f64 has one element per register
      }
    }
  }
}

// Sets every element of a fragment from `give(coord)`, zero-extended.
template <typename Give>
void fill_each(const Fragment& fragment, std::uint64_t (*registers)[32], Give give) {
  const int bits = fragment.element_bits();
  const Coord* coord = fragment.coords();
  for (int lane = 0; lane < Fragment::lanes; ++lane) {
    for (int reg = 0; reg < fragment.registers(); ++reg) {
      std::uint64_t value = 0;
      for (int element = 0; element < fragment.elements(); ++element) {
        value |= static_cast<std::uint64_t>(give(*coord++)) << (bits * element);
      }
      registers[reg][lane] = value;
    }
  }
}

// The columns, in the full matrix, of the stored elements of a sparse A.
struct SparseColumns {
  SparseColumns(const Form& form, const Registers& registers) {
    for (int row = 0; row < form.shape.m; ++row) {
      for (int i = 0; i < form.shape.k / 2; ++i) {
        of[row][i] = static_cast<std::int16_t>(
            sparse_column(form.shape, form.a, form.selector, registers.metadata, row, i));
      }
    }
  }
  std::int16_t of[16][most_stored];
};

// m8n8k4 of f16 from sm_80 on: no tensor core has it. The assembler calls a routine of f32 instructions; this
// follows its order (disassembled from ptxas 13.0 for sm_80 and sm_90).
std::uint32_t m8n8k4_by_f32(bool half_result, const std::uint32_t* a, const std::uint32_t* b,
                            std::uint32_t c) {
  const auto fma = [](std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return fused_multiply_add(f32, x, y, z, Rounding::nearest_even);
  };
  const std::uint64_t one = bits_of(1.0F), minus_zero = f32.sign_bit();
  std::uint64_t x[4], y[4];
  for (int i = 0; i < 4; ++i) {
    x[i] = convert(f32, f16, a[i]);
    y[i] = convert(f32, f16, b[i]);
  }
  if (!half_result) {
    std::uint64_t sum = 0;
    for (int i = 0; i < 4; ++i) sum = fma(x[i], y[i], sum);
    return static_cast<std::uint32_t>(fma(sum, one, c));
  }
  const std::uint64_t low = fma(x[1], y[1], fma(x[0], y[0], minus_zero));
  const std::uint64_t high = fma(x[3], y[3], fma(x[2], y[2], minus_zero));
  const std::uint64_t sum = fma(fma(low, one, convert(f32, f16, c)), one, high);
  return static_cast<std::uint32_t>(convert(f16, f32, sum));
}

std::int32_t integer_of(Type type, std::uint64_t bits) {
  const auto value = static_cast<std::int32_t>(bits);
  switch (type) {
    case Type::s8:
      return value - ((value & 0x80) << 1);
    case Type::s4:
      return value - ((value & 8) << 1);
    default:
      return value;
  }
}

}  // namespace

Mma::Mma(const Form& form)
    : form_(form),
      blocks_(is_m8n8k4_f16(form) ? 4 : 1),
      a_(fragment_of(form, Matrix::a, form.a)),
      b_(fragment_of(form, Matrix::b, form.b)),
      c_(fragment_of(form, Matrix::c, form.c)),
      d_(fragment_of(form, Matrix::c, form.d)) {}

void Mma::operator()(Model model, Registers& registers) const {
  switch (form_.a) {
    case Type::f64:
      f64(model, registers);
      break;
    case Type::b1:
      bits(registers);
      break;
    case Type::s8:
    case Type::u8:
    case Type::s4:
    case Type::u4:
      integer(registers);
      break;
    default:
      if (is_m8n8k4_f16(form_) && model != Model::sm_75 && model != Model::ieee) {
        m8n8k4_in_f32(registers);
      } else {
        floating(arithmetic_of(model, form_.unit, form_.a, accumulator(), stored_k()), registers);
      }
  }
}

void Mma::operator()(const Arithmetic& arithmetic, Registers& registers) const {
  floating(arithmetic, registers);
}

void Mma::load_accumulators(const Registers& registers, std::uint32_t* c) const {
  for_each(c_, registers.c, [&](Coord at, std::uint64_t value) {
    c[at.row * form_.shape.n + at.column] =
        static_cast<std::uint32_t>(form_.c == accumulator() ? value : convert(numerics::f32, f16, value));
  });
}

void Mma::store_accumulators(const std::uint32_t* c, Registers& registers) const {
  fill_each(d_, registers.d, [&](Coord at) {
    const std::uint32_t sum = c[at.row * form_.shape.n + at.column];
    return form_.d == accumulator() ? sum : static_cast<std::uint32_t>(convert(f16, numerics::f32, sum));
  });
}

void Mma::m8n8k4_in_f32(Registers& registers) const {
  const int n = form_.shape.n, rows = form_.shape.m * blocks_;
  std::uint32_t x[most_rows * 4], y[most_rows * 4], c[most_rows * 32];
  for_each(a_, registers.a, [&](Coord at, std::uint64_t value) {
    x[at.row * 4 + at.column] = static_cast<std::uint32_t>(value);
  });
  for_each(b_, registers.b, [&](Coord at, std::uint64_t value) {
    y[at.column * 4 + at.row] = static_cast<std::uint32_t>(value);
  });
  load_accumulators(registers, c);
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < n; ++column) {
      std::uint32_t& sum = c[row * n + column];
      sum = m8n8k4_by_f32(form_.d == Type::f16, row_of(x, row, 4), row_of(y, row / 8 * 8 + column, 4), sum);
    }
  }
  store_accumulators(c, registers);
}

void Mma::floating(const Arithmetic& arithmetic, Registers& registers) const {
  const Shape& shape = form_.shape;
  const int n = shape.n, k = shape.k, stored = stored_k(), rows = shape.m * blocks_;
  Factors a, b;
  std::uint32_t c[most_rows * 32];
  load_accumulators(registers, c);
  std::uint32_t patterns[most_rows * most_stored];  // of A, then of B
  for_each(a_, registers.a, [&](Coord at, std::uint64_t value) {
    patterns[at.row * stored + at.column] = static_cast<std::uint32_t>(value);
  });
  a.set(format_of(form_.a), patterns, rows * stored);
  for_each(b_, registers.b, [&](Coord at, std::uint64_t value) {
    patterns[at.column * k + at.row] = static_cast<std::uint32_t>(value);
  });
  b.set(format_of(form_.b), patterns, n * blocks_ * k);
  if (form_.sparse) {
    const SparseColumns columns(form_, registers);
    Factors chosen;  // of B, for one row of A
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < n; ++column) {
        for (int i = 0; i < stored; ++i) {
          const int from = column * k + columns.of[row][i];
          chosen.significand[i] = b.significand[from];
          chosen.exponent[i] = b.exponent[from];
        }
        std::uint32_t& sum = c[row * n + column];
        sum = dot_product(arithmetic, a, row * stored, chosen, 0, stored, sum);
      }
    }
  } else {
    for (int row = 0; row < rows; ++row) {
      const int first = row / shape.m * n;  // column of B
      for (int column = 0; column < n; ++column) {
        std::uint32_t& sum = c[row * n + column];
        sum = dot_product(arithmetic, a, row * k, b, (first + column) * k, k, sum);
      }
    }
  }
  store_accumulators(c, registers);
}

void Mma::f64(Model model, Registers& registers) const {
  const Shape& shape = form_.shape;
  std::uint64_t a[16 * 16], b[8 * 16], c[16 * 8];
  for_each(a_, registers.a, [&](Coord at, std::uint64_t value) { a[at.row * shape.k + at.column] = value; });
  for_each(b_, registers.b, [&](Coord at, std::uint64_t value) { b[at.column * shape.k + at.row] = value; });
  for_each(c_, registers.c, [&](Coord at, std::uint64_t value) { c[at.row * shape.n + at.column] = value; });
  fill_each(d_, registers.d, [&](Coord at) {
    return dot_product_f64(model, form_.rounding, row_of(a, at.row, shape.k), row_of(b, at.column, shape.k),
                           shape.k, c[at.row * shape.n + at.column]);
  });
}

void Mma::integer(Registers& registers) const {
  const Shape& shape = form_.shape;
  const int k = shape.k, stored = form_.sparse ? k / 2 : k;
  std::int32_t a[most_rows * most_stored], b[32 * 2 * most_stored], chosen[most_stored];
  std::uint32_t c[most_rows * 32];
  for_each(a_, registers.a, [&](Coord at, std::uint64_t value) {
    a[at.row * stored + at.column] = integer_of(form_.a, value);
  });
  for_each(b_, registers.b,
           [&](Coord at, std::uint64_t value) { b[at.column * k + at.row] = integer_of(form_.b, value); });
  for_each(c_, registers.c, [&](Coord at, std::uint64_t value) {
    c[at.row * shape.n + at.column] = static_cast<std::uint32_t>(value);
  });
  const auto product = [&](const std::int32_t* x, const std::int32_t* y, std::uint32_t& sum) {
    std::int32_t total = 0;
    for (int i = 0; i < stored; ++i) total += x[i] * y[i];
    sum = integer_result(total, sum, form_.saturate);
  };
  if (form_.sparse) {
    const SparseColumns columns(form_, registers);
    for (int row = 0; row < shape.m; ++row) {
      for (int column = 0; column < shape.n; ++column) {
        for (int i = 0; i < stored; ++i) chosen[i] = b[column * k + columns.of[row][i]];
        product(row_of(a, row, stored), chosen, c[row * shape.n + column]);
      }
    }
  } else {
    for (int row = 0; row < shape.m; ++row) {
      for (int column = 0; column < shape.n; ++column) {
        product(row_of(a, row, k), row_of(b, column, k), c[row * shape.n + column]);
      }
    }
  }
  fill_each(d_, registers.d, [&](Coord at) { return c[at.row * shape.n + at.column]; });
}

void Mma::bits(Registers& registers) const {
  // Bits stay in words of 32: A's columns and B's rows are words.
  const Shape& shape = form_.shape;
  const int words = shape.k / 32;
  std::uint32_t a[16 * 8], b[8 * 8], c[16 * 8];
  for (int lane = 0; lane < Fragment::lanes; ++lane) {
    for (int reg = 0; reg < a_.registers(); ++reg) {
      const Coord at = a_.at(lane, reg, 0);
      a[at.row * words + at.column / 32] = static_cast<std::uint32_t>(registers.a[reg][lane]);
    }
    for (int reg = 0; reg < b_.registers(); ++reg) {
      const Coord at = b_.at(lane, reg, 0);
      b[at.column * words + at.row / 32] = static_cast<std::uint32_t>(registers.b[reg][lane]);
    }
  }
  for_each(c_, registers.c, [&](Coord at, std::uint64_t value) {
    c[at.row * shape.n + at.column] = static_cast<std::uint32_t>(value);
  });
  fill_each(d_, registers.d, [&](Coord at) {
    std::int64_t count = 0;
    for (int word = 0; word < words; ++word) {
      const std::uint32_t x = a[at.row * words + word], y = b[at.column * words + word];
      count += static_cast<std::int64_t>(std::bitset<32>(form_.exclusive ? x ^ y : x & y).count());
    }
    return integer_result(count, c[at.row * shape.n + at.column], false);
  });
}

}  // namespace tenon::emulator::numerics
