#include "emulator/instructions/carry.hpp"

#include "emulator/instructions/integer_operations.hpp"

namespace tenon::emulator {
namespace {

using ptx::Type;

// One bit per lane. The flag belongs to the thread, and no call preserves it, so one word per warp is enough.
struct Flags : SideState {
  LaneMask carry = 0;
};

LaneMask& carry_of(Warp& warp) {
  // A CTA keeps family states by offsets into its shared memory, which ends far below these keys.
  constexpr std::uint32_t beyond_shared_memory = 0xffff0000;
  return warp.cta().state_at<Flags>(beyond_shared_memory + static_cast<std::uint32_t>(warp.index())).carry;
}

constexpr std::uint32_t subtracts = 1, reads_flag = 2, writes_flag = 4;

// a + b + carry or a - b - borrow in `width` bits; the flag is the carry out, or the borrow.
Flow carry(Warp& warp, const Op& op, LaneMask active, const Bits* a, const Bits* b) {
  const std::uint32_t mode = op.bits[0];
  const Bits mask = mask_of(static_cast<int>(op.bits[1]));
  LaneMask& flags = carry_of(warp);
  Warp::LaneBuffer sink;
  Bits* const result = warp.scatter(op.values[0], sink);
  for_each_lane(active, [&](int lane) {
    const Bits in = (mode & reads_flag) != 0 ? flags >> lane & 1 : 0;
    const Bits x = a[lane], y = b[lane];
    Bits value;
    bool out;
    if ((mode & subtracts) != 0) {
      value = (x - y - in) & mask;
      out = x < y || (x == y && in != 0);
    } else {
      value = (x + y + in) & mask;
      out = value < x || (value == x && in != 0);
    }
    if ((mode & writes_flag) != 0) flags = (flags & ~lane_bit(lane)) | (out ? lane_bit(lane) : 0);
    result[lane] = value;
  });
  return Flow::next;
}

Flow run_add(Warp& warp, const Op& op, LaneMask active) {
  Warp::LaneBuffer a, b;
  return carry(warp, op, active, warp.gather(op.values[1], a), warp.gather(op.values[2], b));
}

// The product's half is added as a number: its carry is the carry of adding c.
template <class Multiply>
Flow run_mad(Warp& warp, const Op& op, LaneMask active) {
  Warp::LaneBuffer a_buffer, b_buffer, c_buffer, product;
  const Bits* const a = warp.gather(op.values[1], a_buffer);
  const Bits* const b = warp.gather(op.values[2], b_buffer);
  const Bits* const c = warp.gather(op.values[3], c_buffer);
  for (int lane = 0; lane < warp_size; ++lane) {
    switch (static_cast<Type>(op.bits[2])) {
      case Type::s32:
        product[lane] = Multiply::template run<std::int32_t>(a[lane], b[lane]);
        break;
      case Type::u32:
        product[lane] = Multiply::template run<std::uint32_t>(a[lane], b[lane]);
        break;
      case Type::s64:
        product[lane] = Multiply::template run<std::int64_t>(a[lane], b[lane]);
        break;
      default:
        product[lane] = Multiply::template run<std::uint64_t>(a[lane], b[lane]);
        break;
    }
  }
  return carry(warp, op, active, product, c);
}

}  // namespace

bool decode_add_with_carry(Decoding& decoding) {
  const std::string& opcode = decoding.instruction().opcode;
  const bool reads = opcode == "addc" || opcode == "subc";
  const bool writes = decoding.accept("cc");
  if (!reads && !writes) return false;
  const Type type = decoding.type({Type::u32, Type::s32, Type::u64, Type::s64});
  decoding.require_count(3, 3);
  decoding.destination(0, type);
  decoding.source(1, type);
  decoding.source(2, type);
  Op& op = decoding.op();
  op.bits[0] = (opcode[0] == 's' ? subtracts : 0) | (reads ? reads_flag : 0) | (writes ? writes_flag : 0);
  op.bits[1] = static_cast<std::uint32_t>(width(type));
  op.handler = run_add;
  return true;
}

bool decode_mad_with_carry(Decoding& decoding, bool high) {
  const bool reads = decoding.instruction().opcode == "madc";
  const bool writes = decoding.accept("cc");
  if (!reads && !writes) return false;
  const Type type = decoding.type({Type::u32, Type::s32, Type::u64, Type::s64});
  decoding.require_count(4, 4);
  decoding.destination(0, type);
  for (int i = 1; i < 4; ++i) decoding.source(i, type);
  Op& op = decoding.op();
  op.bits[0] = (reads ? reads_flag : 0) | (writes ? writes_flag : 0);
  op.bits[1] = static_cast<std::uint32_t>(width(type));
  op.bits[2] = static_cast<std::uint32_t>(type);
  op.handler = high ? run_mad<integer::MultiplyHigh> : run_mad<integer::MultiplyLow>;
  return true;
}

}  // namespace tenon::emulator
