// A decoded instruction: what the interpreter runs, and how instruction files register their decoders.
//
// An instruction runs for all lanes of a warp with the same program counter. A register has 64 bits per lane
// whatever its type: narrow values are kept zero-extended (the bits above the type's width are 0, for signed
// types too), predicates are 0 or 1, b128 takes two neighbouring slots.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/ptx/module.hpp"

namespace tenon::emulator {

class Warp;
struct Op;
using LaneMask = std::uint32_t;
constexpr int warp_size = 32;

// What a handler did with its lanes.
enum class Flow : std::uint8_t {
  next,      // done: on to the next instruction
  blocked,   // nothing irreversible was done: call again when something has changed
  branched,  // the handler has set where the lanes go on
  exited     // the handler has ended the lanes
};
using Handler = Flow (*)(Warp&, const Op&, LaneMask active);
// What a lane waits for at an instruction, and its state: "the mbarrier at 0x400, which in phase 0 ...".
using Awaited = std::string (*)(Warp&, const Op&, int lane);

// A register or a constant.
struct Value {
  int slot = -1;               // -1: a constant; else a register slot of the function's frame
  std::uint64_t constant = 0;  // in the register form described above
  bool sink = false;           // `_`: reads as 0, writes vanish
};

// What a handler needs besides values: made at decoding, owned by the Op. Derive from it.
struct Detail {
  virtual ~Detail() = default;
};

struct Op {
  Handler handler = nullptr;
  Awaited awaited = nullptr;   // null: a deadlock's message says nothing about it
  std::vector<Value> values;   // operands in order, vectors flattened; the decoder defines their meaning
  std::int64_t offset = 0;     // of the address operand, if any: address = values[i] + offset
  std::uint32_t bits[4] = {};  // small facts for the handler: sizes, modes
  std::unique_ptr<Detail> detail;
  Value guard;  // slot -1: unconditional
  bool guard_negated = false;
  bool aligned = false;  // .aligned: all lanes of the warp must arrive together
  const ptx::Instruction* instruction = nullptr;
};

// What a decoder may ask about the function that holds the instruction.
class Scope {
 public:
  virtual ~Scope() = default;
  // Register, immediate of `type`, special register, or the address of a variable. Throws ptx::Error for
  // other operands.
  virtual Value value(const ptx::Operand& operand, ptx::Type type) = 0;
  // The values of a braced list, or of the single operand.
  virtual std::vector<Value> values(const ptx::Operand& operand, ptx::Type type) = 0;
  // Base of [base+offset]; adds the offset to op.offset.
  virtual Value address(const ptx::Operand& operand, Op& op) = 0;
  virtual ptx::Type register_type(const ptx::Register& reg) = 0;
  virtual int target() const = 0;  // 80 for sm_80, 90 for sm_90a
  virtual int line() const = 0;
};

// Fills an Op (handler, values, ...) from an instruction, or throws ptx::Error with a sentence that names the
// unknown modifier or operand. Every modifier must be checked: one that a decoder skips is an error.
using Decoder = void (*)(const ptx::Instruction&, Scope&, Op&);
using Decoders = std::unordered_map<std::string, Decoder>;  // by opcode: "mma", "ld", ...

// One function per instruction file; machine/decode.cpp calls them all.
void add_integer_instructions(
    Decoders&);  // add sub mul mad div rem min max abs neg bit logic shifts prmt dp4a ...
void add_float_instructions(Decoders&);  // f16 bf16 f32 f64 arithmetic, ex2 lg2 rcp sqrt sin cos tanh ...
void add_conversion_instructions(Decoders&);  // cvt, mov and packing, selp, setp, set, slct
void add_memory_instructions(Decoders&);      // ld st ldu cvta isspacep prefetch atom red
void add_control_instructions(Decoders&);     // bra brx call ret exit trap, bar barrier, membar fence
void add_warp_instructions(Decoders&);        // shfl vote match redux activemask elect
void add_matrix_instructions(Decoders&);      // mma, mma.sp, wmma, ldmatrix, stmatrix, movmatrix
void add_async_copy_instructions(Decoders&);  // cp.async, cp.async.bulk, tensor copies, cp.reduce.async
void add_mbarrier_instructions(Decoders&);    // mbarrier.*, fence.proxy, fence.mbarrier_init
void add_wgmma_instructions(Decoders&);       // wgmma.*, setmaxnreg
void add_texture_instructions(Decoders&);     // tex tld4 txq, suld sust suq
void add_cluster_instructions(Decoders&);     // mapa, getctarank, barrier.cluster

}  // namespace tenon::emulator
