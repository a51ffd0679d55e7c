// wmma.load and wmma.store (PTX ISA 9.7.14.4.3, 9.7.14.4.4): a fragment between registers and a matrix in
// memory, with a stride between its rows or columns.
//
// Elements of a lane that are adjacent in memory move in one access of up to 16 bytes, as on the hardware.
// The decoder splits a fragment into such accesses.
#include <algorithm>
#include <cstring>
#include <memory>

#include "emulator/instructions/matrix.hpp"
#include "emulator/machine/counters.hpp"
#include "emulator/numerics/forms.hpp"
#include "emulator/numerics/fragments.hpp"

namespace tenon::emulator {
namespace {

using ptx::Space;
using ptx::Type;

// One access of all lanes: part of a register, a register, or several consecutive registers.
struct Piece {
  int first_register = 0, registers = 1;
  int first_bit = 0;  // in the register
  int bytes = 4;
  struct {
    std::int16_t row, position;  // in memory: of a row, or of a column if it is stored by columns; and in it
  } at[warp_size];
};

struct FragmentDetail : Detail {
  std::vector<Piece> pieces;
  int registers = 0, copies = 1;  // as in op.values, and how many copies
  int register_bytes = 4;
  int first = 0;  // of the fragment in op.values
  int address = 0;
  int stride = -1;  // in op.values; -1: the length of a row or column
  std::int64_t natural_stride = 0;
  int element_bits = 32;
  std::uint32_t base_alignment = 4, row_alignment = 4;
  Space space = Space::generic;
  bool matrix_loads = false;  // 16-bit elements in shared memory: read by ldmatrix
};

// Splits a fragment into accesses of a matrix that is stored by its rows (or columns).
std::vector<Piece> split(const numerics::Fragment& fragment, bool by_rows) {
  const int bits = fragment.element_bits(), elements = fragment.elements();
  const auto row = [&](int lane, int reg, int element) {
    const numerics::Coord at = fragment.at(lane, reg, element);
    return by_rows ? at.row : at.column;
  };
  const auto position = [&](int lane, int reg, int element) {
    const numerics::Coord at = fragment.at(lane, reg, element);
    return by_rows ? at.column : at.row;
  };
  // Whether element (reg, element) follows `before` in memory for every lane.
  const auto follows = [&](int reg, int element, int reg_before, int element_before, int distance) {
    for (int lane = 0; lane < warp_size; ++lane) {
      if (row(lane, reg, element) != row(lane, reg_before, element_before) ||
          position(lane, reg, element) != position(lane, reg_before, element_before) + distance) {
        return false;
      }
    }
    return true;
  };
  std::vector<Piece> pieces;
  for (int reg = 0; reg < fragment.registers(); ++reg) {
    bool whole = true;
    for (int element = 1; element < elements; ++element)
      whole = whole && follows(reg, element, reg, 0, element);
    const bool joins = whole && !pieces.empty() && pieces.back().registers == 1 && bits >= 32 &&
                       reg % 2 == 1 && follows(reg, 0, reg - 1, 0, 1);
    if (joins) {
      pieces.back().registers = 2;
      pieces.back().bytes *= 2;
      continue;
    }
    for (int element = 0; element < (whole ? 1 : elements); ++element) {
      Piece piece;
      piece.first_register = reg;
      piece.first_bit = element * bits;
      piece.bytes = whole ? std::max(bits, 32) / 8 : bits / 8;
      for (int lane = 0; lane < warp_size; ++lane) {
        piece.at[lane] = {static_cast<std::int16_t>(row(lane, reg, element)),
                          static_cast<std::int16_t>(position(lane, reg, element))};
      }
      pieces.push_back(piece);
    }
  }
  return pieces;
}

// The addresses of the lanes' accesses of a piece.
void addresses_of(const FragmentDetail& detail, const Piece& piece, const std::uint64_t* base,
                  const std::int64_t* stride, std::uint64_t (&addresses)[warp_size]) {
  for (int lane = 0; lane < warp_size; ++lane) {
    const std::int64_t element = piece.at[lane].row * stride[lane] + piece.at[lane].position;
    addresses[lane] = base[lane] + static_cast<std::uint64_t>(element * detail.element_bits / 8);
  }
}

// The 8 rows of the 8x8 matrix of 16-bit elements that one register of all lanes holds: the lanes with the
// first elements of the rows give the addresses.
void count_matrices(Warp& warp, const FragmentDetail& detail, const std::uint64_t* base,
                    const std::int64_t* stride) {
  std::size_t next = 0;
  while (next < detail.pieces.size()) {
    const Piece& piece = detail.pieces[next];
    std::uint64_t rows[8], addresses[2][warp_size];
    addresses_of(detail, piece, base, stride, addresses[0]);
    if (piece.bytes == 4) {  // lanes 4g .. 4g+3 hold row g
      for (std::size_t row = 0; row < 8; ++row) rows[row] = addresses[0][4 * row];
      next += 1;
    } else {  // the two halves are pieces; lanes t, 4+t, ... hold row 2t+j
      addresses_of(detail, detail.pieces[next + 1], base, stride, addresses[1]);
      for (int row = 0; row < 8; ++row) rows[row] = addresses[row % 2][row / 2];
      next += 2;
    }
    warp.counters().count_shared(warp.pc(), matrix_wavefronts(rows));
  }
}

void count(Warp& warp, const FragmentDetail& detail, const Piece& piece, LaneMask active,
           const std::uint64_t* addresses, Direction direction) {
  const bool shared =
      detail.space == Space::shared ||
      (detail.space == Space::generic && Cluster::space_of(addresses[first_lane(active)]) == Space::shared);
  if (shared) {
    if (!detail.matrix_loads) {
      warp.counters().count_shared(warp.pc(), shared_wavefronts(addresses, active, piece.bytes, direction));
    }
  } else {
    warp.counters().count_global(warp.pc(), global_sectors(addresses, active, piece.bytes));
  }
}

// Reads base and stride of every lane, and reports what the instruction's rules forbid. PTX requires rows
// aligned to the fragment. CUDA's documentation, and padded tiles in practice, need 16 bytes, as the hardware
// does.
void begin(Warp& warp, const Op& op, const FragmentDetail& detail, LaneMask active,
           std::uint64_t (&base)[warp_size], std::int64_t (&stride)[warp_size]) {
  const int leader = first_lane(active);
  for (int lane = 0; lane < warp_size; ++lane) {
    base[lane] = warp.address(value_at(op, detail.address), op, lane);
    stride[lane] = detail.stride < 0
                       ? detail.natural_stride
                       : static_cast<std::int32_t>(warp.read(value_at(op, detail.stride), lane));
  }
  for_each_lane(active, [&](int lane) {
    if (base[lane] == base[leader] && stride[lane] == stride[leader]) return;
    warp.report(FindingKind::argument, lane, base[lane], [&] {
      return "lane " + std::to_string(lane) + " gives another address or stride than lane " +
             std::to_string(leader) + "; all lanes of the warp must give the same";
    });
  });
  if (base[leader] % detail.base_alignment != 0) {
    warp.report(FindingKind::misaligned, leader, base[leader], [&] {
      return "the matrix begins at an address that is " +
             std::to_string(base[leader] % detail.base_alignment) + " over a multiple of " +
             std::to_string(detail.base_alignment) +
             " bytes; it must be a multiple, the size of the fragment";
    });
  }
  const std::int64_t row_bytes = stride[leader] * detail.element_bits / 8;
  if (row_bytes % detail.row_alignment != 0 || stride[leader] * detail.element_bits % 8 != 0) {
    warp.report(FindingKind::misaligned, leader, base[leader], [&] {
      return "the stride is " + std::to_string(stride[leader]) + " elements, " + std::to_string(row_bytes) +
             " bytes, and must be a multiple of " + std::to_string(detail.row_alignment) + " bytes";
    });
  }
}

Flow run_load(Warp& warp, const Op& op, LaneMask active) {
  const auto& detail = static_cast<const FragmentDetail&>(*op.detail);
  std::uint64_t base[warp_size], results[8][warp_size] = {}, addresses[warp_size];
  std::int64_t stride[warp_size];
  begin(warp, op, detail, active, base, stride);
  if (detail.matrix_loads) count_matrices(warp, detail, base, stride);
  for (const Piece& piece : detail.pieces) {
    addresses_of(detail, piece, base, stride, addresses);
    count(warp, detail, piece, active, addresses, Direction::load);
    for_each_lane(active, [&](int lane) {
      std::uint8_t bytes[16] = {};
      warp.load(lane, detail.space, addresses[lane], bytes, static_cast<std::uint32_t>(piece.bytes));
      const auto each = static_cast<std::size_t>(piece.bytes / piece.registers);
      for (int i = 0; i < piece.registers; ++i) {
        std::uint64_t part = 0;
        std::memcpy(&part, bytes + static_cast<std::size_t>(i) * each, each);
        results[piece.first_register + i][lane] |= part << piece.first_bit;
      }
    });
  }
  for (int i = 0; i < detail.registers * detail.copies; ++i) {
    write_lanes(warp, value_at(op, detail.first + i), active, results[i % detail.registers]);
  }
  return Flow::next;
}

Flow run_store(Warp& warp, const Op& op, LaneMask active) {
  const auto& detail = static_cast<const FragmentDetail&>(*op.detail);
  std::uint64_t base[warp_size], addresses[warp_size];
  std::int64_t stride[warp_size];
  begin(warp, op, detail, active, base, stride);
  for (const Piece& piece : detail.pieces) {
    addresses_of(detail, piece, base, stride, addresses);
    count(warp, detail, piece, active, addresses, Direction::store);
    for_each_lane(active, [&](int lane) {
      std::uint8_t bytes[16] = {};
      const auto each = static_cast<std::size_t>(piece.bytes / piece.registers);
      for (int i = 0; i < piece.registers; ++i) {
        const Value& value = value_at(op, detail.first + piece.first_register + i);
        const std::uint64_t part = warp.read(value, lane) >> piece.first_bit;
        std::memcpy(bytes + static_cast<std::size_t>(i) * each, &part, each);
      }
      warp.store(lane, detail.space, addresses[lane], bytes, static_cast<std::uint32_t>(piece.bytes));
    });
  }
  return Flow::next;
}

constexpr numerics::Shape shapes[] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}, {16, 16, 8},
                                      {8, 8, 4},    {8, 8, 32},  {8, 8, 128}};

// Whether any wmma.mma has such a matrix.
bool exists(numerics::Matrix matrix, numerics::Shape shape, Type type, bool is_store) {
  const std::vector<numerics::NamedForm>& all = numerics::forms();
  return std::any_of(all.begin(), all.end(), [&](const numerics::NamedForm& named) {
    const numerics::Form& form = named.form;
    const Type held = matrix == numerics::Matrix::a   ? form.a
                      : matrix == numerics::Matrix::b ? form.b
                      : is_store                      ? form.d
                                                      : form.c;
    return form.unit == numerics::Unit::wmma && form.shape.m == shape.m && form.shape.n == shape.n &&
           form.shape.k == shape.k && held == type;
  });
}

// From .sync to the type; then the positions of the operands.
void decode_fragment(Decoding& decoding, Op& op, numerics::Matrix matrix, bool is_store) {
  auto detail = std::make_unique<FragmentDetail>();
  decoding.require("sync");
  decoding.require("aligned");
  op.aligned = true;
  const bool by_rows = decoding.require_one({"row", "col"}) == 0;
  const numerics::Shape shape = shapes[decoding.require_one(
      {"m16n16k16", "m32n8k16", "m8n32k16", "m16n16k8", "m8n8k4", "m8n8k32", "m8n8k128"})];
  switch (decoding.accept_one({"global", "shared", "shared::cta"})) {
    case -1:
      break;
    case 0:
      detail->space = Space::global;
      break;
    default:
      detail->space = Space::shared;
  }
  constexpr Type types[] = {Type::f16, Type::bf16, Type::tf32, Type::f32, Type::f64, Type::s32,
                            Type::s8,  Type::u8,   Type::s4,   Type::u4,  Type::b1};
  const Type type =
      types[decoding.require_one({"f16", "bf16", "tf32", "f32", "f64", "s32", "s8", "u8", "s4", "u4", "b1"})];
  decoding.finish();
  if (!exists(matrix, shape, type, is_store)) {
    decoding.fail("no wmma.mma of this shape has a matrix of type ." + std::string(numerics::name(type)) +
                  " here");
  }
  const int bits = numerics::element_bits(type);
  if (bits < 8 && by_rows != (matrix == numerics::Matrix::a)) {
    decoding.fail("types below a byte need A in rows (.row) and B in columns (.col)");
  }
  const bool is_old = type == Type::f16 || type == Type::f32 || type == Type::s32 || bits < 16;
  decoding.require_target(is_old ? 70 : 80);

  const numerics::Fragment fragment = numerics::wmma_fragment(matrix, shape, type);
  detail->pieces = split(fragment, by_rows);
  detail->registers = fragment.registers();
  detail->copies = fragment.copies();
  detail->element_bits = bits;
  detail->matrix_loads =
      !is_store && bits == 16 && matrix != numerics::Matrix::c && detail->space == Space::shared;
  const int rows = matrix == numerics::Matrix::b ? shape.k : shape.m;
  const int columns = matrix == numerics::Matrix::a ? shape.k : shape.n;
  detail->natural_stride = by_rows ? columns : rows;
  const int fragment_bytes = fragment.registers() * fragment.copies() * std::max(bits, 32) / 8;
  detail->base_alignment = static_cast<std::uint32_t>(fragment_bytes);
  detail->row_alignment = static_cast<std::uint32_t>(std::min(fragment_bytes, 16));

  const int address = is_store ? 0 : 1, registers = is_store ? 1 : 0;
  decoding.require_count(2, 3);
  detail->first = add_registers(decoding, registers, register_type_of(type),
                                fragment.registers() * fragment.copies(), !is_store, "the fragment");
  detail->address = static_cast<int>(op.values.size());
  op.values.push_back(decoding.scope().address(decoding.operand(address), op));
  if (decoding.count() == 3) {
    detail->stride = static_cast<int>(op.values.size());
    decoding.source(2, Type::b32);
  }
  op.detail = std::move(detail);
  op.handler = is_store ? run_store : run_load;
}

}  // namespace

void decode_wmma_load(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decoding.require("load");
  constexpr numerics::Matrix matrices[] = {numerics::Matrix::a, numerics::Matrix::b, numerics::Matrix::c};
  decode_fragment(decoding, op, matrices[decoding.require_one({"a", "b", "c"})], false);
}

void decode_wmma_store(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decoding.require("store");
  decoding.require("d");
  decode_fragment(decoding, op, numerics::Matrix::c, true);
}

}  // namespace tenon::emulator
