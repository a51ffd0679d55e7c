// A kernel ready to run: its decoded instructions and those of every function that it can call, in one array.
// A program counter is an index into that array, and names an instruction in findings and counters.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/machine/op.hpp"
#include "emulator/ptx/module.hpp"
#include "tenon/emulator/types.hpp"

namespace tenon::emulator {

using Pc = std::uint32_t;
constexpr Pc no_pc = ~Pc{0};

// Register slots that a function's frame holds besides its registers, filled when the frame is made: special
// registers, and addresses that depend on the CTA or the frame.
enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  total_smem_size,
  aggr_smem_size,
  dynamic_smem_size,
  grid_workspace_hi,  // %envreg1 and %envreg2: where cooperative groups keep the barrier of the grid
  grid_workspace_lo,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,  // refreshed by each instruction that reads it
  shared_address,  // of a shared variable: its offset with the CTA's rank above
  local_address,   // of a local variable: its offset from the frame's base
  param_address,   // the same as a generic address: a parameter of a device function
};

struct FrameSlot {
  Special special;
  int slot;
  std::int64_t offset = 0;  // of the variable, for the *_address kinds
};

// An argument, parameter or result of a function: in the frame's local bytes (a .param variable), or in a
// register or constant.
struct CallOperand {
  Value value;
  std::int64_t local = -1;  // offset; -1: `value`
  std::int64_t bytes = 0;
};

// The largest stack of a thread, as on the hardware, and the largest parameters of a kernel.
constexpr std::int64_t largest_local = 512 << 10;
constexpr std::int64_t largest_parameters = 32764;

// Of the device that a target is emulated as: H100, A100.
constexpr std::uint32_t multiprocessors(int target) {
  return target >= 90 ? 132 : 108;
}

struct FunctionCode {
  const ptx::Function* function = nullptr;
  Pc entry = 0;
  int slots = 0;                       // of a frame
  std::int64_t local_bytes = 0;        // of a frame: .local and .param variables, parameters, results
  std::vector<FrameSlot> frame_slots;  // unordered
  std::vector<FrameSlot> timers;       // the frame_slots that change while a frame lives
  std::vector<CallOperand> parameters, results;  // where they are in the frame
};

// The detail of a call's Op.
struct CallSite : Detail {
  const FunctionCode* callee = nullptr;  // null: indirect, the address is values[0]
  std::vector<CallOperand> arguments, results;
};

// The detail of a branch's Op: one target, or those of brx.idx.
struct Targets : Detail {
  std::vector<Pc> pcs;
};

struct Step {
  Op op;
  const FunctionCode* code = nullptr;
  InstructionClass kind = InstructionClass::integer;
  std::string text;          // of the opcode, for the counters of every launch
  bool reads_timer = false;  // refresh code->timers first
  bool is_wgmma = false;     // checks asynchronous registers itself
  std::vector<int>
      wgmma_slots;           // of registers that it names and a wgmma of its function too: A, accumulators
  bool only_copies = false;  // a load whose value is only copied to memory (copy_only_loads.hpp)
};

struct Program {
  const ptx::Module* module = nullptr;
  const ptx::Function* entry = nullptr;
  std::vector<Step> steps;
  std::vector<std::unique_ptr<FunctionCode>> functions;               // [0]: the entry
  std::vector<std::unique_ptr<ptx::Instruction>> implicit_returns;    // one after each body
  std::unordered_map<std::uint64_t, const FunctionCode*> by_address;  // for indirect calls
  std::uint32_t static_shared = 0;  // bytes, and the alignment of what follows them
  std::uint32_t dynamic_alignment = 1;
  std::vector<std::int64_t> parameter_offsets;  // of the entry's parameters in parameter memory
  std::int64_t parameter_bytes = 0;
  int target = 0;  // 90 for sm_90a
  bool maps_reserved =
      false;  // the kernel asks for the address of the reserved shared memory, and so may use it
  bool asks_for_grid = false;  // the kernel asks for the workspace of the grid, and so may wait for all of it

  const Op& op(Pc pc) const { return steps[pc].op; }
  int line(Pc pc) const { return steps[pc].op.instruction->line; }
  std::string source(Pc pc) const;  // "file.cu:12" or empty
};

// What decoding asks about things outside the module's text: the addresses of its variables.
class Symbols {
 public:
  virtual ~Symbols() = default;
  virtual std::uint64_t address(const std::string& variable) const = 0;  // .global or .const; 0: none such
};

// The generic address of a function (indirect calls).
std::uint64_t function_address(const ptx::Module& module, const ptx::Function& function);

// Decodes the entry and all that it can call. Throws ptx::Error that names every unknown instruction.
std::unique_ptr<Program> decode(const ptx::Module& module, const ptx::Function& entry,
                                const Symbols& symbols);

}  // namespace tenon::emulator
