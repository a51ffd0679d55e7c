#include "emulator/machine/register_slots.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <string>
#include <unordered_set>
#include <utility>

#include "emulator/machine/registers_of.hpp"

namespace tenon::emulator {
namespace {

// Limit of the liveness sets, in words. Beyond it, a function's registers are alive everywhere outside their
// own basic block.
constexpr std::size_t most_words = std::size_t{1} << 24;

// Opcodes whose first operand, if it is a register or a list of registers, is written and not read.
bool writes_first_operand(const std::string& opcode) {
  static const std::unordered_set<std::string> opcodes = {
      "mov",       "ld",       "ldu",       "cvt",  "cvta",     "add",   "sub",      "mul",
      "mad",       "mul24",    "mad24",     "sad",  "div",      "rem",   "abs",      "neg",
      "min",       "max",      "popc",      "clz",  "bfind",    "fns",   "brev",     "bfe",
      "bfi",       "szext",    "bmsk",      "dp4a", "dp2a",     "and",   "or",       "xor",
      "not",       "cnot",     "lop3",      "shf",  "shl",      "shr",   "prmt",     "selp",
      "slct",      "set",      "setp",      "fma",  "rcp",      "sqrt",  "rsqrt",    "sin",
      "cos",       "lg2",      "ex2",       "tanh", "copysign", "testp", "mma",      "wmma",
      "shfl",      "ldmatrix", "movmatrix", "vote", "match",    "redux", "elect",    "activemask",
      "mapa",      "addc",     "subc",      "madc", "isspacep", "atom",  "mbarrier", "getctarank",
      "vabsdiff2", "vabsdiff4"};
  return opcodes.count(opcode) != 0;
}

bool ends_block(const ptx::Instruction& instruction) {
  const std::string& opcode = instruction.opcode;
  return opcode == "bra" || opcode == "brx" || opcode == "ret" || opcode == "exit";
}

struct Block {
  int first = 0, last = 0;  // instructions
  std::vector<int> next;    // blocks
};

// The first and the last position where a register is alive.
struct Span {
  int first = -1, last = -1;
  void reach(int position) {
    first = first < 0 ? position : std::min(first, position);
    last = std::max(last, position);
  }
};

class Liveness {
 public:
  explicit Liveness(const ptx::Function& function)
      : function_(function),
        spans_(function.registers.size()),
        crossing_(function.registers.size(), -1),
        written_at_(function.registers.size()) {
    if (function.body.empty()) return;
    find_blocks();
    // A register may be alive between blocks if a block reads it before it writes it.
    for (const Block& block : blocks_)
      visit(block, [&](int reg) {
        int& index = crossing_[static_cast<std::size_t>(reg)];
        if (index < 0) index = static_cast<int>(registers_.size());
        if (index == static_cast<int>(registers_.size())) registers_.push_back(reg);
      });
    words_ = (registers_.size() + 63) / 64;
    if (4 * words_ * blocks_.size() > most_words) {
      for (const int reg : registers_) {
        spans_[static_cast<std::size_t>(reg)].reach(0);
        spans_[static_cast<std::size_t>(reg)].reach(static_cast<int>(function.body.size()));
      }
      return;
    }
    solve();
  }

  const std::vector<Span>& spans() const { return spans_; }

 private:
  using Set = std::vector<std::uint64_t>;

  void find_blocks() {
    const int size = static_cast<int>(function_.body.size());
    std::vector<bool> starts(static_cast<std::size_t>(size) + 1);
    starts[0] = true;
    for (const auto& label : function_.labels) starts[static_cast<std::size_t>(label.second)] = true;
    for (int i = 0; i < size; ++i)
      if (ends_block(function_.body[static_cast<std::size_t>(i)]))
        starts[static_cast<std::size_t>(i) + 1] = true;
    std::vector<int> block_at(static_cast<std::size_t>(size) + 1, -1);
    for (int i = 0; i < size; ++i) {
      if (starts[static_cast<std::size_t>(i)]) blocks_.emplace_back(Block{i, i, {}});
      blocks_.back().last = i;
      block_at[static_cast<std::size_t>(i)] = static_cast<int>(blocks_.size()) - 1;
    }
    const auto add = [&](Block& block, int position) {
      const int next = block_at[static_cast<std::size_t>(position)];  // -1: the end of the function
      if (next >= 0) block.next.push_back(next);
    };
    for (Block& block : blocks_) {
      const ptx::Instruction& end = function_.body[static_cast<std::size_t>(block.last)];
      const bool goes_elsewhere = ends_block(end) && !end.guard;
      if (!goes_elsewhere || end.opcode == "brx") add(block, block.last + 1);
      for (const ptx::Operand& operand : end.operands) {
        const auto* target = std::get_if<ptx::Symbol>(&operand.value);
        const auto label = target == nullptr ? function_.labels.end() : function_.labels.find(target->name);
        if (end.opcode == "bra" && label != function_.labels.end()) add(block, label->second);
      }
      if (end.opcode == "brx")
        for (const auto& label : function_.labels) add(block, label.second);
    }
  }

  // Records every occurrence of a register, and calls `read_first(register)` for each register that the block
  // may read before it writes it. Returns the registers that it certainly writes.
  template <class ReadFirst>
  std::vector<int> visit(const Block& block, ReadFirst&& read_first) {
    std::vector<int> written;
    ++visits_;
    for (int i = block.first; i <= block.last; ++i) {
      const ptx::Instruction& instruction = function_.body[static_cast<std::size_t>(i)];
      const bool writes = !instruction.guard && writes_first_operand(instruction.opcode) &&
                          !instruction.operands.empty() && is_plain(instruction.operands[0]);
      const auto read = [&](const ptx::Register& reg) {
        spans_[static_cast<std::size_t>(reg.index)].reach(i);
        if (written_at_[static_cast<std::size_t>(reg.index)] != visits_) read_first(reg.index);
      };
      if (instruction.guard) read(*instruction.guard);
      for (std::size_t k = writes ? 1 : 0; k < instruction.operands.size(); ++k)
        visit_registers(instruction.operands[k], read);
      if (!writes) continue;
      visit_registers(instruction.operands[0], [&](const ptx::Register& reg) {
        spans_[static_cast<std::size_t>(reg.index)].reach(i);
        written_at_[static_cast<std::size_t>(reg.index)] = visits_;
        written.push_back(reg.index);
      });
    }
    return written;
  }
  static bool is_plain(const ptx::Operand& operand) {
    return std::holds_alternative<ptx::Register>(operand.value) ||
           std::holds_alternative<ptx::Vector>(operand.value);
  }

  // Alive at the start of a block: what it reads first, and what is alive at its end and not written.
  void solve() {
    const std::size_t count = blocks_.size();
    std::vector<Set> begin(count, Set(words_)), end(count, Set(words_)),
        kept(count, Set(words_, ~std::uint64_t{0}));
    for (std::size_t b = 0; b < count; ++b) {
      const auto written = visit(blocks_[b], [&](int reg) { set(begin[b], reg, true); });
      for (const int reg : written)
        if (crossing_[static_cast<std::size_t>(reg)] >= 0) set(kept[b], reg, false);
    }
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (std::size_t b = count; b-- > 0;) {
        for (std::size_t word = 0; word < words_; ++word) {
          std::uint64_t alive = 0;
          for (const int next : blocks_[b].next) alive |= begin[static_cast<std::size_t>(next)][word];
          end[b][word] = alive;
          const std::uint64_t before = begin[b][word];
          begin[b][word] |= alive & kept[b][word];
          has_changed = has_changed || begin[b][word] != before;
        }
      }
    }
    for (std::size_t b = 0; b < count; ++b) {
      reach_all(begin[b], blocks_[b].first);
      reach_all(end[b], blocks_[b].last);
    }
  }
  void set(Set& words, int reg, bool value) const {
    const auto index = static_cast<std::size_t>(crossing_[static_cast<std::size_t>(reg)]);
    const std::uint64_t bit = std::uint64_t{1} << index % 64;
    words[index / 64] = value ? words[index / 64] | bit : words[index / 64] & ~bit;
  }
  void reach_all(const Set& words, int position) {
    for (std::size_t word = 0; word < words_; ++word)
      for (std::uint64_t left = words[word]; left != 0; left &= left - 1) {
        const std::size_t index = 64 * word + static_cast<std::size_t>(__builtin_ctzll(left));
        spans_[static_cast<std::size_t>(registers_[index])].reach(position);
      }
  }

  const ptx::Function& function_;
  std::vector<Block> blocks_;
  std::vector<Span> spans_;      // by register
  std::vector<int> crossing_;    // by register: its index in registers_; -1: alive in single blocks only
  std::vector<int> registers_;   // that may be alive between blocks
  std::vector<int> written_at_;  // by register: the last of `visits_` that found it written
  int visits_ = 0;
  std::size_t words_ = 0;
};

std::vector<bool> not_shared(const ptx::Function& function) {
  std::vector<bool> result(function.registers.size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = function.registers[i].type == ptx::Type::b128;
  for (const auto* variables : {&function.parameters, &function.results})
    for (const ptx::Variable& variable : *variables)
      if (variable.register_index >= 0) result[static_cast<std::size_t>(variable.register_index)] = true;
  for (const ptx::Instruction& instruction : function.body) {
    if (instruction.opcode != "wgmma") continue;
    for (const ptx::Operand& operand : instruction.operands)
      visit_registers(operand,
                      [&](const ptx::Register& reg) { result[static_cast<std::size_t>(reg.index)] = true; });
  }
  return result;
}

}  // namespace

RegisterSlots share_slots(const ptx::Function& function) {
  RegisterSlots slots;
  slots.of.resize(function.registers.size());
  const Liveness liveness(function);
  const std::vector<Span>& spans = liveness.spans();
  const std::vector<bool> own = not_shared(function);
  std::vector<std::pair<int, int>> starts;  // position where it is first alive, register
  for (std::size_t i = 0; i < slots.of.size(); ++i) {
    if (own[i]) {
      slots.of[i] = slots.count;
      slots.count += function.registers[i].type == ptx::Type::b128 ? 2 : 1;
    } else if (spans[i].first >= 0) {
      starts.emplace_back(spans[i].first, static_cast<int>(i));
    }
  }
  std::sort(starts.begin(), starts.end());
  using End = std::pair<int, int>;  // position where its register is last alive, slot
  std::priority_queue<End, std::vector<End>, std::greater<>> taken;
  for (const auto& [first, reg] : starts) {
    int slot = slots.count;
    if (!taken.empty() && taken.top().first < first) {
      slot = taken.top().second;
      taken.pop();
    } else {
      ++slots.count;
    }
    slots.of[static_cast<std::size_t>(reg)] = slot;
    taken.emplace(spans[static_cast<std::size_t>(reg)].last, slot);
  }
  return slots;
}

}  // namespace tenon::emulator
