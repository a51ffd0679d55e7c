// ldmatrix, stmatrix and movmatrix (PTX ISA 9.7.14.5.15 to 9.7.14.5.17): 8x8 matrices of 16-bit elements
// between shared memory, whose row addresses the lanes give, and registers, where lane 4g+t holds row g,
// columns 2t and 2t+1.
#include <cstring>

#include "emulator/instructions/matrix.hpp"
#include "emulator/instructions/mbarrier_object.hpp"

namespace tenon::emulator {
namespace {

using ptx::Space;
using ptx::Type;

constexpr int rows = 8, row_bytes = 16;

// op.bits: number of matrices; transposed; space.
struct Move {
  explicit Move(const Op& op)
      : matrices(static_cast<int>(op.bits[0])),
        transposed(op.bits[1] != 0),
        space(static_cast<Space>(op.bits[2])) {}
  int matrices;
  bool transposed;
  Space space;
};

// Matrices as in memory: row r of matrix m is at [8 * m + r].
using Matrices = std::uint16_t[4 * rows][8];

// The element of an 8x8 matrix that register half `half` of a lane holds.
struct Element {
  int row, column;
};
Element element_of(int lane, int half, bool transposed) {
  const int row = lane / 4, column = 2 * (lane % 4) + half;
  return transposed ? Element{column, row} : Element{row, column};
}

// The row addresses as shared addresses. Lanes whose address is outside this CTA's shared memory are dropped.
LaneMask row_addresses(Warp& warp, const Value& base, const Op& op, LaneMask active, const Move& move,
                       std::uint64_t (&addresses)[warp_size]) {
  LaneMask valid = 0;
  for (int lane = 0; lane < rows * move.matrices; ++lane) {
    addresses[lane] = 0;
    if ((active & lane_bit(lane)) == 0) continue;
    std::uint64_t address = warp.address(base, op, lane);
    if (!to_shared_address(warp.cluster(), warp.actor(lane), move.space, address, true,
                           "The row's address")) {
      continue;
    }
    addresses[lane] = address;
    valid |= lane_bit(lane);
  }
  for (int first = 0; first < rows * move.matrices; first += rows) {
    warp.counters().count_shared(warp.pc(), matrix_wavefronts(&addresses[first]));
  }
  return valid;
}

Flow run_ldmatrix(Warp& warp, const Op& op, LaneMask active) {
  const Move move(op);
  std::uint64_t addresses[warp_size];
  const LaneMask valid = row_addresses(warp, value_at(op, move.matrices), op, active, move, addresses);
  Matrices matrices;
  for (int lane = 0; lane < rows * move.matrices; ++lane) {
    std::memset(matrices[lane], 0, row_bytes);
    if ((valid & lane_bit(lane)) != 0) {
      warp.load(lane, Space::shared, addresses[lane], matrices[lane], row_bytes);
    }
  }
  for (int matrix = 0; matrix < move.matrices; ++matrix) {
    std::uint64_t lanes[warp_size];
    for (int lane = 0; lane < warp_size; ++lane) {
      lanes[lane] = 0;
      for (int half = 0; half < 2; ++half) {
        const Element at = element_of(lane, half, move.transposed);
        lanes[lane] |= std::uint64_t{matrices[rows * matrix + at.row][at.column]} << (16 * half);
      }
    }
    write_lanes(warp, value_at(op, matrix), active, lanes);
  }
  return Flow::next;
}

Flow run_stmatrix(Warp& warp, const Op& op, LaneMask active) {
  const Move move(op);
  std::uint64_t addresses[warp_size];
  const LaneMask valid = row_addresses(warp, op.values[0], op, active, move, addresses);
  Matrices matrices;
  for (int matrix = 0; matrix < move.matrices; ++matrix) {
    Warp::LaneBuffer buffer;
    const std::uint64_t* lanes = warp.gather(value_at(op, 1 + matrix), buffer);
    for (int lane = 0; lane < warp_size; ++lane) {
      for (int half = 0; half < 2; ++half) {
        const Element at = element_of(lane, half, move.transposed);
        matrices[rows * matrix + at.row][at.column] = static_cast<std::uint16_t>(lanes[lane] >> (16 * half));
      }
    }
  }
  for (int lane = 0; lane < rows * move.matrices; ++lane) {
    if ((valid & lane_bit(lane)) != 0) {
      warp.store(lane, Space::shared, addresses[lane], matrices[lane], row_bytes);
    }
  }
  return Flow::next;
}

Flow run_movmatrix(Warp& warp, const Op& op, LaneMask active) {
  Warp::LaneBuffer buffer;
  const std::uint64_t* lanes = warp.gather(op.values[1], buffer);
  std::uint64_t result[warp_size];
  for (int lane = 0; lane < warp_size; ++lane) {
    result[lane] = 0;
    for (int half = 0; half < 2; ++half) {
      const Element at = element_of(lane, half, true);
      const std::uint64_t holder = lanes[4 * at.row + at.column / 2];
      result[lane] |= (holder >> (16 * (at.column % 2)) & 0xffff) << (16 * half);
    }
  }
  write_lanes(warp, op.values[0], active, result);
  return Flow::next;
}

// Everything except the operands.
void decode_move(Decoding& decoding, Op& op) {
  decoding.require("sync");
  decoding.require("aligned");
  op.aligned = true;
  if (!decoding.accept("m8n8")) {
    decoding.fail("the emulator knows the shape .m8n8; those of 8, 6 and 4-bit elements need sm_100a");
  }
  op.bits[0] = 1U << decoding.require_one({"x1", "x2", "x4"});
  op.bits[1] = decoding.accept("trans") ? 1 : 0;
  const bool shared = decoding.accept_one({"shared", "shared::cta"}) >= 0;
  op.bits[2] = static_cast<std::uint32_t>(shared ? Space::shared : Space::generic);
  decoding.require("b16");
  decoding.finish();
  decoding.require_count(2, 2);
}

}  // namespace

void decode_ldmatrix(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decode_move(decoding, op);
  decoding.require_target(75);
  add_registers(decoding, 0, Type::b32, static_cast<int>(op.bits[0]), true, "the destination");
  op.values.push_back(scope.address(decoding.operand(1), op));
  op.handler = run_ldmatrix;
}

void decode_stmatrix(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decode_move(decoding, op);
  decoding.require_target(90);
  op.values.push_back(scope.address(decoding.operand(0), op));
  add_registers(decoding, 1, Type::b32, static_cast<int>(op.bits[0]), false, "the source");
  op.handler = run_stmatrix;
}

void decode_movmatrix(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  for (const char* modifier : {"sync", "aligned", "m8n8", "trans", "b16"}) decoding.require(modifier);
  decoding.finish();
  decoding.require_target(75);
  decoding.require_count(2, 2);
  decoding.destination(0, Type::b32);
  decoding.source(1, Type::b32);
  op.aligned = true;
  op.handler = run_movmatrix;
}

}  // namespace tenon::emulator
