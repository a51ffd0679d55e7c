// alloca, stacksave, stackrestore (PTX ISA 9.7.18): local memory on top of the stack frame. This stack grows
// upwards. So the pointer of an alloca is the lowest address of its memory, as PTX says, but it is not the
// stack pointer afterwards.
#include "emulator/instructions/lanewise.hpp"

namespace tenon::emulator {
namespace {

using ptx::Type;

constexpr std::uint64_t default_alignment = 8, largest_alignment = 1 << 23;

// values: the pointer, the size; op.bits[0]: the alignment
Flow allocate(Warp& warp, const Op& op, LaneMask active) {
  for_each_lane(active, [&](int lane) {
    const std::uint64_t size = warp.read(op.values[1], lane);
    if (const auto address = warp.push_local(lane, size, op.bits[0])) {
      warp.write(op.values[0], lane, *address);
      return;
    }
    warp.report(FindingKind::out_of_bounds, lane, 0, [&] {
      return warp.cluster().describe(warp.thread(lane)) + " allocates " + std::to_string(size) +
             " bytes on its stack, which holds " + std::to_string(warp.local_top(lane)) + " of at most " +
             std::to_string(largest_local);
    });
    warp.cluster().abort();
  });
  return warp.cluster().is_aborted() ? Flow::blocked : Flow::next;
}

Flow save(Warp& warp, const Op& op, LaneMask active) {
  for_each_lane(active, [&](int lane) { warp.write(op.values[0], lane, warp.local_top(lane)); });
  return Flow::next;
}

Flow restore(Warp& warp, const Op& op, LaneMask active) {
  for_each_lane(active, [&](int lane) {
    const std::uint64_t top = warp.read(op.values[0], lane);
    if (warp.pop_local(lane, top)) return;
    warp.report(FindingKind::argument, lane, top, [&] {
      return warp.cluster().describe(warp.thread(lane)) + " restores the stack pointer " +
             std::to_string(top) + ", which no stacksave of this function has read; the stack holds " +
             std::to_string(warp.local_top(lane)) + " bytes";
    });
  });
  return Flow::next;
}

void decode_alloca(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  const Type type = decoding.type({Type::u32, Type::u64});
  decoding.finish();
  decoding.require_count(2, 3);
  decoding.destination(0, type);
  decoding.source(1, type);
  std::uint64_t alignment = default_alignment;
  if (decoding.count() == 3) {
    const auto* constant = std::get_if<ptx::Immediate>(&decoding.operand(2).value);
    if (constant == nullptr || constant->bits == 0 || constant->bits > largest_alignment ||
        (constant->bits & (constant->bits - 1)) != 0)
      decoding.fail("the alignment must be a constant power of two of at most 2^23");
    alignment = std::max(alignment, constant->bits);
  }
  op.bits[0] = static_cast<std::uint32_t>(alignment);
  op.handler = allocate;
}

void decode_save(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  const Type type = decoding.type({Type::u32, Type::u64});
  decoding.finish();
  decoding.require_count(1, 1);
  decoding.destination(0, type);
  op.handler = save;
}

void decode_restore(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  const Type type = decoding.type({Type::u32, Type::u64});
  decoding.finish();
  decoding.require_count(1, 1);
  decoding.source(0, type);
  op.handler = restore;
}

}  // namespace

void add_stack_instructions(Decoders& decoders) {
  decoders["alloca"] = decode_alloca;
  decoders["stacksave"] = decode_save;
  decoders["stackrestore"] = decode_restore;
}

}  // namespace tenon::emulator
