// Control flow: branches, calls, returns, exits. And fences, which only update clocks. Barriers are in
// barrier.cpp.
#include <algorithm>

#include "emulator/instructions/heap.hpp"
#include "emulator/instructions/lanewise.hpp"
#include "emulator/instructions/print.hpp"
#include "emulator/machine/function_scope.hpp"

namespace tenon::emulator {

void add_barrier_instructions(Decoders& decoders);  // barrier.cpp

namespace {

FunctionScope& function_scope(Decoding& decoding) {
  return static_cast<FunctionScope&>(decoding.scope());  // decode() makes no other scope
}

const std::string& name_in(const Decoding& decoding, int operand, const char* what) {
  const auto* symbol = std::get_if<ptx::Symbol>(&decoding.operand(operand).value);
  if (symbol == nullptr)
    decoding.fail(std::string("operand ") + std::to_string(operand + 1) + " must be " + what);
  return symbol->name;
}

// --- bra, brx.idx

Flow bra(Warp& warp, const Op& op, LaneMask active) {
  warp.jump(active, op.bits[0]);
  return Flow::branched;
}

void decode_bra(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decoding.accept("uni");  // promises that all lanes branch together, which groups do not need
  decoding.finish();
  decoding.require_count(1, 1);
  op.bits[0] = function_scope(decoding).label(name_in(decoding, 0, "a label"));
  op.handler = bra;
}

Flow brx(Warp& warp, const Op& op, LaneMask active) {
  const auto& pcs = static_cast<const Targets&>(*op.detail).pcs;
  for (LaneMask left = active; left != 0;) {
    const int lane = first_lane(left);
    const std::uint64_t index = warp.read(op.values[0], lane);
    LaneMask same = 0;
    for_each_lane(left, [&](int other) {
      if (warp.read(op.values[0], other) == index) same |= lane_bit(other);
    });
    left &= ~same;
    if (index >= pcs.size()) {
      warp.report(FindingKind::argument, lane, 0, [&] {
        return "the index " + std::to_string(index) + " selects none of the " + std::to_string(pcs.size()) +
               " branch targets";
      });
      warp.cluster().abort();
      return Flow::blocked;
    }
    warp.jump(same, pcs[index]);
  }
  return Flow::branched;
}

void decode_brx(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decoding.require("idx");
  decoding.accept("uni");
  decoding.finish();
  decoding.require_count(2, 2);
  decoding.source(0, ptx::Type::u32);
  auto targets = std::make_unique<Targets>();
  for (const std::string& label :
       function_scope(decoding).branch_targets(name_in(decoding, 1, "a list of branch targets")))
    targets->pcs.push_back(function_scope(decoding).label(label));
  op.detail = std::move(targets);
  op.handler = brx;
}

// --- call, ret, exit

Flow call(Warp& warp, const Op& op, LaneMask active) {
  const auto& site = static_cast<const CallSite&>(*op.detail);
  warp.call(active, *site.callee, site);
  return Flow::branched;
}

bool fits(const CallSite& site, const FunctionCode& callee) {
  const auto same = [](const CallOperand& a, const CallOperand& b) { return a.bytes == b.bytes; };
  return std::equal(site.arguments.begin(), site.arguments.end(), callee.parameters.begin(),
                    callee.parameters.end(), same) &&
         std::equal(site.results.begin(), site.results.end(), callee.results.begin(), callee.results.end(),
                    same);
}

Flow call_indirect(Warp& warp, const Op& op, LaneMask active) {
  const auto& site = static_cast<const CallSite&>(*op.detail);
  const auto& functions = warp.launch().program->by_address;
  for (LaneMask left = active; left != 0;) {
    const int lane = first_lane(left);
    const std::uint64_t address = warp.read(op.values[0], lane);
    LaneMask same = 0;
    for_each_lane(left, [&](int other) {
      if (warp.read(op.values[0], other) == address) same |= lane_bit(other);
    });
    left &= ~same;
    const auto callee = functions.find(address);
    if (callee == functions.end() || !fits(site, *callee->second)) {
      warp.report(FindingKind::argument, lane, address, [&] {
        return callee == functions.end() ? std::string("the address called is that of no function")
                                         : "the parameters of " + callee->second->function->name +
                                               " are not those of the call's prototype";
      });
      warp.cluster().abort();
      return Flow::blocked;
    }
    warp.call(same, *callee->second, site);
  }
  return Flow::branched;
}

const std::vector<ptx::Operand>& list_in(const Decoding& decoding, int operand) {
  const auto* list = std::get_if<ptx::Vector>(&decoding.operand(operand).value);
  if (list == nullptr)
    decoding.fail("a list of arguments in brackets is needed as operand " + std::to_string(operand + 1));
  return list->elements;
}

std::vector<CallOperand> call_operands(Decoding& decoding, const std::vector<ptx::Operand>& operands,
                                       const std::vector<ptx::Variable>& declared, const char* what) {
  if (operands.size() != declared.size()) {
    decoding.fail(std::to_string(operands.size()) + " " + what + " are given where the function declares " +
                  std::to_string(declared.size()));
  }
  std::vector<CallOperand> list;
  for (std::size_t i = 0; i < operands.size(); ++i)
    list.push_back(function_scope(decoding).call_operand(operands[i], declared[i]));
  return list;
}

// call{.uni} {(results),} function {, (arguments)} {, prototype or targets}
void decode_call(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decoding.accept("uni");
  decoding.finish();
  decoding.require_count(1, 4);
  static const std::vector<ptx::Operand> none;
  int at = 0;
  const bool has_results = std::holds_alternative<ptx::Vector>(decoding.operand(0).value);
  const std::vector<ptx::Operand>& results = has_results ? list_in(decoding, at++) : none;
  if (at == decoding.count()) decoding.fail("the function to call is missing");
  const int callee = at++;
  const bool has_arguments =
      at < decoding.count() && std::holds_alternative<ptx::Vector>(decoding.operand(at).value);
  const std::vector<ptx::Operand>& arguments = has_arguments ? list_in(decoding, at++) : none;

  FunctionScope& functions = function_scope(decoding);
  auto site = std::make_unique<CallSite>();
  const ptx::Function* signature = nullptr;
  if (std::holds_alternative<ptx::Symbol>(decoding.operand(callee).value)) {
    const std::string& name = name_in(decoding, callee, "a function");
    if (name == "__assertfail") return decode_failed_assertion(decoding, functions, arguments);
    if (name == "vprintf" && !functions.is_defined(name))
      return decode_printf(decoding, functions, results, arguments);
    if (name == "malloc" && !functions.is_defined(name))
      return decode_malloc(decoding, functions, results, arguments);
    if (name == "free" && !functions.is_defined(name)) return decode_free(decoding, functions, arguments);
    site->callee = &functions.function(name);
    signature = site->callee->function;
    op.handler = call;
  } else {
    op.values.push_back(functions.value(decoding.operand(callee), ptx::Type::b64));
    if (at == decoding.count()) decoding.fail("a call through a register needs a .callprototype");
    signature = functions.prototype(name_in(decoding, at, "a .callprototype"));
    if (signature == nullptr) decoding.fail("a call through a register needs a .callprototype");
    op.handler = call_indirect;
  }
  site->results = call_operands(decoding, results, signature->results, "results");
  site->arguments = call_operands(decoding, arguments, signature->parameters, "arguments");
  op.detail = std::move(site);
}

Flow ret(Warp& warp, const Op&, LaneMask active) {
  return warp.ret(active);
}

Flow exit(Warp& warp, const Op&, LaneMask active) {
  warp.exit(active);
  return Flow::exited;
}

Flow trap(Warp& warp, const Op&, LaneMask active) {
  const bool is_refused_grid = warp.launch().program->asks_for_grid && warp.launch().grid_workspace == 0;
  warp.report(FindingKind::trap, first_lane(active), 0, [&] {
    return warp.cluster().describe(warp.thread(first_lane(active))) +
           " has executed a trap, which ends the kernel" +
           (is_refused_grid
                ? ": this_grid().sync() needs all blocks at a time, and the device cannot hold so many"
                : "");
  });
  warp.cluster().abort();
  return Flow::blocked;
}

Flow brkpt(Warp& warp, const Op&, LaneMask active) {
  warp.report(FindingKind::trap, first_lane(active), 0, [&] {
    return warp.cluster().describe(warp.thread(first_lane(active))) + " has reached a breakpoint";
  });
  return Flow::next;
}

template <Handler handler, bool may_be_uniform>
void decode_plain(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  if (may_be_uniform) decoding.accept("uni");
  decoding.finish();
  decoding.require_count(0, 0);
  op.handler = handler;
}

// --- fences

// Every fence acquires and releases. Narrower scopes and weaker kinds only permit less ordering.
Flow fence(Warp& warp, const Op&, LaneMask active) {
  for_each_lane(active, [&](int lane) { warp.cluster().clocks.fence(warp.thread(lane)); });
  return Flow::next;
}

void decode_membar(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decoding.require_one({"cta", "gl", "sys"});
  decoding.finish();
  decoding.require_count(0, 0);
  op.handler = fence;
}

void decode_fence(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  const int order = decoding.accept_one({"sc", "acq_rel", "acquire", "release"});
  if (order >= 2) {
    decoding.require_target(90);
    decoding.accept_one({"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
  }
  decoding.require_one({"cta", "cluster", "gpu", "sys"});
  decoding.finish();
  decoding.require_count(0, 0);
  op.handler = fence;
}

// --- hints

Flow nothing(Warp&, const Op&, LaneMask) {
  return Flow::next;
}

Flow nanosleep(Warp& warp, const Op& op, LaneMask active) {
  std::uint64_t longest = 0;
  for_each_lane(active, [&](int lane) { longest = std::max(longest, warp.read(op.values[0], lane)); });
  warp.cluster().clock += std::min<std::uint64_t>(longest, 1'000'000);  // no sleep is longer
  warp.poll();
  return Flow::next;
}

void decode_nanosleep(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decoding.type({ptx::Type::u32});
  decoding.finish();
  decoding.require_count(1, 1);
  decoding.source(0, ptx::Type::u32);
  op.handler = nanosleep;
}

// One kernel runs at a time: the grids that it waits for have ended, and the grids that it releases start
// after it.
void decode_griddepcontrol(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decoding.require_one({"launch_dependents", "wait"});
  decoding.finish();
  decoding.require_count(0, 0);
  decoding.require_target(90);
  op.handler = nothing;
}

void decode_pmevent(const ptx::Instruction& instruction, Scope& scope, Op& op) {
  Decoding decoding(instruction, scope, op);
  decoding.accept("mask");
  decoding.finish();
  decoding.require_count(1, 1);
  if (!std::holds_alternative<ptx::Immediate>(decoding.operand(0).value))
    decoding.fail("the event must be a constant");
  op.handler = nothing;
}

}  // namespace

void add_control_instructions(Decoders& decoders) {
  decoders["bra"] = decode_bra;
  decoders["brx"] = decode_brx;
  decoders["call"] = decode_call;
  decoders["ret"] = decode_plain<ret, true>;
  decoders["exit"] = decode_plain<exit, false>;
  decoders["trap"] = decode_plain<trap, false>;
  decoders["brkpt"] = decode_plain<brkpt, false>;
  decoders["membar"] = decode_membar;
  decoders["fence"] = decode_fence;
  decoders["nanosleep"] = decode_nanosleep;
  decoders["griddepcontrol"] = decode_griddepcontrol;
  decoders["pmevent"] = decode_pmevent;
  add_barrier_instructions(decoders);
}

}  // namespace tenon::emulator
