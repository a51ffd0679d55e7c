// The arithmetic of wgmma, and the layout of its operands in shared memory and registers.
#include "emulator/instructions/wgmma_product.hpp"

#include <algorithm>
#include <bitset>
#include <cstring>

namespace tenon::emulator {

namespace {

using ptx::Type;

bool is_integer_form(const WgmmaForm& form) {
  return form.d == Type::s32;
}

std::uint32_t low_bits(int count) {
  return count == 32 ? ~0u : (1u << count) - 1;
}

// 1-bit elements are processed 32 at a time.
int unit_bits(const WgmmaForm& form) {
  return form.a == Type::b1 ? 32 : form.element_bits();
}

std::int64_t integer_of(Type type, std::uint32_t bits) {
  return type == Type::s8 ? static_cast<std::int8_t>(bits) : static_cast<std::int64_t>(bits);
}

// The index of element `column` of a row, for consecutive rows of `pitch` elements.
std::size_t index(int row, int pitch, int column = 0) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(pitch) + static_cast<std::size_t>(column);
}

// Whether a byte was written of the chunks that hold the row. An address outside of the block's memory counts
// as written: reading it is a fault.
bool is_written(Cta& cta, const MatrixDescriptor& d, Major major, int bits, int row, int columns,
                int columns_of_chunk) {
  for (int column = 0; column < columns; column += columns_of_chunk) {
    const std::uint32_t offset = element_address(d, major, bits, row, column);
    if (std::uint64_t{offset} + 16 > cta.shared.size()) return true;
    if (std::memchr(cta.shared.written(offset), 1, 16) != nullptr) return true;
  }
  return false;
}

}  // namespace

WgmmaProduct::WgmmaProduct(const WgmmaForm& form) : form_(form) {
  if (form.a_in_registers) {
    a_fragment_ = numerics::mma_fragment(numerics::Matrix::a, form.tile(), form.a, form.sparse);
  }
}

// In chunks of 16 bytes along the contiguous dimension, as on the hardware. Rows (of B: columns) that
// nobody wrote are no fault: a kernel may load only those that the matrix has, and does not store the results
// of the others.
void WgmmaProduct::read_matrix(Cta& cta, const Actor& actor, std::uint64_t descriptor, Major major, int rows,
                               int columns, std::vector<std::uint32_t>& to) const {
  const MatrixDescriptor d = decode_descriptor(descriptor);
  const int bits = unit_bits(form_), bytes = bits / 8, elements = 16 / bytes;
  to.assign(index(rows, columns), 0);
  const int rows_of_chunk = major == Major::k ? 1 : elements;
  const int columns_of_chunk = major == Major::k ? elements : 1;
  for (int row = 0; row < rows; row += rows_of_chunk) {
    const bool unwritten = !is_written(cta, d, major, bits, row, columns, columns_of_chunk);
    for (int column = 0; column < columns; column += columns_of_chunk) {
      std::uint8_t data[16];
      const std::uint32_t offset = element_address(d, major, bits, row, column);
      cta.cluster.load(actor, ptx::Space::shared, shared_address(cta.rank, offset), data, 16, Order::weak, 0,
                       unwritten);
      for (int e = 0; e < elements; ++e) {
        const int r = major == Major::k ? row : row + e, c = major == Major::k ? column + e : column;
        std::memcpy(&to[index(r, columns, c)], &data[index(e, bytes)], static_cast<std::size_t>(bytes));
      }
    }
  }
}

void WgmmaProduct::read_a_registers(const WgmmaOperands& operands) {
  const numerics::Fragment& fragment = *a_fragment_;
  const int units = form_.stored_k() * form_.element_bits() / unit_bits(form_);
  a_.assign(index(m, units), 0);
  const bool whole = form_.a == Type::b1;  // a register is a unit, identified by its first bit
  const int elements = whole ? 1 : fragment.elements(), bits = unit_bits(form_);
  for (int warp = 0; warp < WgmmaOperands::warps; ++warp) {
    for (int reg = 0; reg < fragment.registers(); ++reg) {
      const std::uint64_t* lanes = operands.a[warp][static_cast<std::size_t>(reg)];
      for (int lane = 0; lane < warp_size; ++lane) {
        for (int e = 0; e < elements; ++e) {
          const numerics::Coord coord = fragment.at(lane, reg, e);
          const int row = 16 * warp + coord.row, column = whole ? coord.column / 32 : coord.column;
          a_[index(row, units, column)] =
              static_cast<std::uint32_t>(lanes[lane] >> e * bits) & low_bits(bits);
        }
      }
    }
  }
}

void WgmmaProduct::find_columns(const WgmmaOperands& operands) {
  const int count = form_.stored_k();
  columns_.resize(index(m, count));
  for (int row = 0; row < m; ++row) {
    for (int i = 0; i < count; ++i) {
      columns_[index(row, count, i)] = static_cast<std::int16_t>(numerics::sparse_column(
          form_.tile(), form_.a, form_.selector, operands.metadata[row / 16], row % 16, i));
    }
  }
}

void WgmmaProduct::operator()(numerics::Model model, Cta& cta, const Actor& actor,
                              const WgmmaOperands& operands) {
  const int units_a = form_.stored_k() * form_.element_bits() / unit_bits(form_);
  const int units_b = form_.k * form_.element_bits() / unit_bits(form_);
  if (form_.a_in_registers) {
    read_a_registers(operands);
  } else {
    read_matrix(cta, actor, operands.a_descriptor, form_.a_major, m, units_a, a_);
  }
  read_matrix(cta, actor, operands.b_descriptor, form_.b_major, form_.n, units_b, b_);
  if (form_.sparse) find_columns(operands);
  is_integer_form(form_) ? integer(operands) : floating(model, operands);
}

// compute(row, column, accumulator) -> result, for every element of the accumulator (PTX ISA 9.7.15.5.1.1.2).
template <class Compute>
void WgmmaProduct::for_each_result(const WgmmaOperands& operands, Compute&& compute) const {
  const bool half = form_.d == Type::f16;
  for (int row = 0; row < m; ++row) {
    const int warp = row / 16, within = row % 16;
    for (int column = 0; column < form_.n; ++column) {
      const int lane = within % 8 * 4 + column % 8 / 2;
      const int element = column / 8 * 4 + within / 8 * 2 + column % 2;
      std::uint64_t& reg = operands.d[warp][static_cast<std::size_t>(half ? element / 2 : element)][lane];
      const int shift = half ? element % 2 * 16 : 0;
      const std::uint32_t mask = half ? 0xffff : ~0u;
      const std::uint32_t before = operands.accumulate ? static_cast<std::uint32_t>(reg >> shift) & mask : 0;
      const std::uint64_t after = compute(row, column, before) & mask;
      reg = (reg & ~(std::uint64_t{mask} << shift) & 0xffffffff) | after << shift;
    }
  }
}

void WgmmaProduct::floating(numerics::Model model, const WgmmaOperands& operands) {
  const int count = form_.stored_k(), k = form_.k;
  const numerics::Arithmetic arithmetic =
      numerics::arithmetic_of(model, numerics::Unit::wgmma, form_.a, form_.d, count);
  const numerics::Format &format_a = numerics::format_of(form_.a), &format_b = numerics::format_of(form_.b);
  const auto a = std::make_unique<numerics::Factors>(), b = std::make_unique<numerics::Factors>();
  if (form_.negate_a)
    for (std::uint32_t& pattern : a_) pattern ^= static_cast<std::uint32_t>(format_a.sign_bit());
  if (form_.negate_b)
    for (std::uint32_t& pattern : b_) pattern ^= static_cast<std::uint32_t>(format_b.sign_bit());
  a->set(format_a, a_.data(), m * count);
  if (!form_.sparse) b->set(format_b, b_.data(), form_.n * k);
  std::vector<std::uint32_t> chosen(index(form_.n, count));
  int gathered = -1;  // the row whose columns of B are in b
  const auto gather = [&](int row) {
    const std::int16_t* columns = &columns_[index(row, count)];
    if (gathered >= 0 && std::equal(columns, columns + count, &columns_[index(gathered, count)])) return;
    gathered = row;
    for (int column = 0; column < form_.n; ++column)
      for (int i = 0; i < count; ++i) chosen[index(column, count, i)] = b_[index(column, k, columns[i])];
    b->set(format_b, chosen.data(), form_.n * count);
  };
  for_each_result(operands, [&](int row, int column, std::uint32_t c) {
    if (form_.sparse && column == 0) gather(row);
    return numerics::dot_product(arithmetic, *a, row * count, *b, column * count, count, c);
  });
}

void WgmmaProduct::integer(const WgmmaOperands& operands) {
  const int count = form_.a == Type::b1 ? form_.k / 32 : form_.stored_k();
  const int pitch = form_.a == Type::b1 ? form_.k / 32 : form_.k;
  for_each_result(operands, [&](int row, int column, std::uint32_t c) {
    const std::uint32_t* a = &a_[index(row, count)];
    const std::uint32_t* b = &b_[index(column, pitch)];
    std::int64_t sum = 0;
    for (int i = 0; i < count; ++i) {
      if (form_.a == Type::b1) {
        sum += static_cast<std::int64_t>(std::bitset<32>(a[i] & b[i]).count());
        continue;
      }
      const int at = form_.sparse ? columns_[index(row, count, i)] : i;
      sum += integer_of(form_.a, a[i]) * integer_of(form_.b, b[at]);
    }
    return numerics::integer_result(sum, c, form_.saturate);
  });
}

}  // namespace tenon::emulator
