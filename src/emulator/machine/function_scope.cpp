#include "emulator/machine/function_scope.hpp"

#include <algorithm>
#include <cstring>

#include "emulator/machine/memory.hpp"

namespace tenon::emulator {
namespace {

std::int64_t aligned(std::int64_t offset, std::int64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

std::string quoted(const std::string& text) {
  return "`" + text + "`";
}

struct SpecialName {
  const char* name;
  Special special;
};
constexpr SpecialName special_names[] = {
    {"%tid.x", Special::tid_x},
    {"%tid.y", Special::tid_y},
    {"%tid.z", Special::tid_z},
    {"%ntid.x", Special::ntid_x},
    {"%ntid.y", Special::ntid_y},
    {"%ntid.z", Special::ntid_z},
    {"%ctaid.x", Special::ctaid_x},
    {"%ctaid.y", Special::ctaid_y},
    {"%ctaid.z", Special::ctaid_z},
    {"%nctaid.x", Special::nctaid_x},
    {"%nctaid.y", Special::nctaid_y},
    {"%nctaid.z", Special::nctaid_z},
    {"%clusterid.x", Special::clusterid_x},
    {"%clusterid.y", Special::clusterid_y},
    {"%clusterid.z", Special::clusterid_z},
    {"%nclusterid.x", Special::nclusterid_x},
    {"%nclusterid.y", Special::nclusterid_y},
    {"%nclusterid.z", Special::nclusterid_z},
    {"%cluster_ctaid.x", Special::cluster_ctaid_x},
    {"%cluster_ctaid.y", Special::cluster_ctaid_y},
    {"%cluster_ctaid.z", Special::cluster_ctaid_z},
    {"%cluster_nctaid.x", Special::cluster_nctaid_x},
    {"%cluster_nctaid.y", Special::cluster_nctaid_y},
    {"%cluster_nctaid.z", Special::cluster_nctaid_z},
    {"%cluster_ctarank", Special::cluster_ctarank},
    {"%cluster_nctarank", Special::cluster_nctarank},
    {"%is_explicit_cluster", Special::is_explicit_cluster},
    {"%laneid", Special::laneid},
    {"%warpid", Special::warpid},
    {"%nwarpid", Special::nwarpid},
    {"%smid", Special::smid},
    {"%nsmid", Special::nsmid},
    {"%gridid", Special::gridid},
    {"%lanemask_eq", Special::lanemask_eq},
    {"%lanemask_le", Special::lanemask_le},
    {"%lanemask_lt", Special::lanemask_lt},
    {"%lanemask_ge", Special::lanemask_ge},
    {"%lanemask_gt", Special::lanemask_gt},
    {"%total_smem_size", Special::total_smem_size},
    {"%aggr_smem_size", Special::aggr_smem_size},
    {"%dynamic_smem_size", Special::dynamic_smem_size},
    {"%clock", Special::clock},
    {"%clock_hi", Special::clock_hi},
    {"%clock64", Special::clock64},
    {"%envreg1", Special::grid_workspace_hi},
    {"%envreg2", Special::grid_workspace_lo},
    {"%globaltimer", Special::globaltimer},
    {"%globaltimer_lo", Special::globaltimer_lo},
    {"%globaltimer_hi", Special::globaltimer_hi},
};

bool is_timer(Special special) {
  return special >= Special::clock && special <= Special::globaltimer_hi;
}

// Of an immediate constant.
int constant_bits(ptx::Type type) {
  if (type == ptx::Type::pred) return 1;
  const int bits = 8 * ptx::bytes(type);
  return bits == 0 || bits > 64 ? 64 : bits;
}

bool is_f32(ptx::Type type) {
  return type == ptx::Type::f32 || type == ptx::Type::tf32;
}
bool is_bits(ptx::Type type) {
  return type >= ptx::Type::b8 && type <= ptx::Type::b128;
}

}  // namespace

FunctionScope::FunctionScope(const KernelLayout& layout, FunctionCode& code, Program& program,
                             RegisterSlots slots)
    : layout_(layout),
      function_(*code.function),
      code_(code),
      program_(program),
      slots_(std::move(slots.of)) {
  code_.slots = std::max(slots.count, 1);  // the bases of their frames distinguish lanes at different depths
  lay_out(function_.parameters, true);
  lay_out(function_.results, true);
  lay_out(function_.variables, false);
  const auto operands = [&](const std::vector<ptx::Variable>& variables, std::vector<CallOperand>& list) {
    for (const ptx::Variable& variable : variables) {
      CallOperand operand;
      operand.bytes = variable.size();
      if (variable.register_index >= 0)
        operand.value = register_value({variable.register_index});
      else
        operand.local = local(variable.name) == nullptr ? code_.local_bytes : local(variable.name)->offset;
      list.push_back(operand);
    }
  };
  if (function_.is_entry) return;
  operands(function_.parameters, code_.parameters);
  operands(function_.results, code_.results);
}

// Parameters of an entry are in parameter memory; all other local variables are in the frame.
void FunctionScope::lay_out(const std::vector<ptx::Variable>& variables, bool is_parameter) {
  for (const ptx::Variable& variable : variables) {
    if (variable.register_index >= 0) continue;
    if (variable.space != ptx::Space::local && variable.space != ptx::Space::param) continue;
    std::int64_t& end = is_parameter && function_.is_entry ? program_.parameter_bytes : code_.local_bytes;
    end = aligned(end, variable.alignment);
    if (is_parameter && function_.is_entry) program_.parameter_offsets.push_back(end);
    local_index_.emplace(variable.name, locals_.size());
    locals_.push_back({&variable, end});
    end += variable.size();
  }
}

void FunctionScope::fail(const std::string& sentence) const {
  throw ptx::Error(line_, sentence);
}

const FunctionScope::Local* FunctionScope::local(const std::string& name) const {
  const auto found = local_index_.find(name);
  return found == local_index_.end() ? nullptr : &locals_[found->second];
}

Value FunctionScope::frame_value(Special kind, std::int64_t offset) {
  const auto [found, is_new] = frame_slots_.emplace(std::make_pair(kind, offset), code_.slots);
  if (is_new) {
    code_.frame_slots.push_back({kind, code_.slots++, offset});
    if (is_timer(kind)) code_.timers.push_back(code_.frame_slots.back());
  }
  reads_timer_ |= is_timer(kind);
  Value value;
  value.slot = found->second;
  return value;
}

Value FunctionScope::special(const std::string& name) {
  for (const SpecialName& one : special_names)
    if (name == one.name) {
      program_.asks_for_grid |=
          one.special == Special::grid_workspace_hi || one.special == Special::grid_workspace_lo;
      return frame_value(one.special, 0);
    }
  Value value;
  if (name.rfind("%reserved_smem_offset", 0) == 0) {
    const bool is_end = name == "%reserved_smem_offset_end" || name == "%reserved_smem_offset_cap";
    value.constant = is_end ? shared_reserved : shared_null;
    program_.maps_reserved = true;
    return value;
  }
  const bool is_fourth = name.size() > 2 && name.compare(name.size() - 2, 2, ".w") == 0;
  if (is_fourth || name.rfind("%envreg", 0) == 0 || name.rfind("%pm", 0) == 0 ||
      name == "%current_graph_exec")
    return value;
  fail("the special register " + quoted(name) + " is not known here");
}

Value FunctionScope::register_value(const ptx::Register& reg) const {
  Value value;
  value.slot = slot(reg);
  return value;
}

// The address of a variable in its own space; for a .param or .const variable or a function, the generic
// address.
Value FunctionScope::variable(const ptx::Symbol& symbol) {
  Value value;
  if (const Local* found = local(symbol.name)) {
    const std::int64_t offset = found->offset + symbol.addend;
    if (found->variable->space == ptx::Space::local) return frame_value(Special::local_address, offset);
    const bool is_of_entry = function_.is_entry && found->variable >= function_.parameters.data() &&
                             found->variable < function_.parameters.data() + function_.parameters.size();
    if (!is_of_entry) return frame_value(Special::param_address, offset);
    value.constant = param_window + static_cast<std::uint64_t>(offset);
    return value;
  }
  const auto is_named = [&](const auto& one) { return one.name == symbol.name; };
  const auto in = [&](const std::vector<ptx::Variable>& variables) -> const ptx::Variable* {
    const auto found = std::find_if(variables.begin(), variables.end(), is_named);
    return found == variables.end() ? nullptr : &*found;
  };
  const ptx::Variable* found = in(function_.variables);
  if (found == nullptr) found = in(layout_.module->variables);
  if (found != nullptr && found->space == ptx::Space::shared)
    return frame_value(Special::shared_address, layout_.shared.at(found) + symbol.addend);
  if (found != nullptr) {
    value.constant = layout_.symbols->address(symbol.name);
    if (value.constant == 0)
      fail("the variable " + quoted(symbol.name) + " is declared, but defined nowhere");
    value.constant += static_cast<std::uint64_t>(symbol.addend);
    return value;
  }
  if (const ptx::Function* function = layout_.module->find(symbol.name)) {
    value.constant = function_address(*layout_.module, *function);
    return value;
  }
  fail("nothing of the name " + quoted(symbol.name) + " is declared");
}

Value FunctionScope::constant(const ptx::Immediate& immediate, ptx::Type type) const {
  using Kind = ptx::Immediate::Kind;
  Value value;
  value.constant = immediate.bits;
  if (immediate.kind == Kind::f64_bits && is_f32(type)) {
    double real = 0;
    std::memcpy(&real, &immediate.bits, sizeof real);
    const auto narrow = static_cast<float>(real);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &narrow, sizeof bits);
    value.constant = bits;
  } else if (immediate.kind == Kind::f32_bits && type == ptx::Type::f64) {
    const auto bits = static_cast<std::uint32_t>(immediate.bits);
    float real = 0;
    std::memcpy(&real, &bits, sizeof real);
    const double wide = real;
    std::memcpy(&value.constant, &wide, sizeof wide);
  } else if (immediate.kind != Kind::integer && !is_f32(type) && type != ptx::Type::f64 &&
             !(is_bits(type) && constant_bits(type) == (immediate.kind == Kind::f32_bits ? 32 : 64))) {
    fail("a real constant is given where a constant of another type is needed");
  } else if (immediate.kind == Kind::integer && (is_f32(type) || type == ptx::Type::f64)) {
    fail("the integer " + std::to_string(static_cast<std::int64_t>(immediate.bits)) +
         " is given where a real constant is needed, such as 0f3F800000 or 1.0");
  }
  if (type == ptx::Type::pred)
    value.constant = value.constant != 0 ? 1 : 0;
  else if (constant_bits(type) < 64)
    value.constant &= (std::uint64_t{1} << constant_bits(type)) - 1;
  return value;
}

Value FunctionScope::value(const ptx::Operand& operand, ptx::Type type) {
  if (operand.negated) fail("a negated operand is not allowed here");
  if (!operand.part.empty()) fail("a part of a register is not allowed here");
  if (const auto* reg = std::get_if<ptx::Register>(&operand.value)) return register_value(*reg);
  if (const auto* immediate = std::get_if<ptx::Immediate>(&operand.value)) return constant(*immediate, type);
  if (const auto* name = std::get_if<ptx::SpecialRegister>(&operand.value)) return special(name->name);
  if (const auto* symbol = std::get_if<ptx::Symbol>(&operand.value)) return variable(*symbol);
  if (std::holds_alternative<ptx::Sink>(operand.value)) {
    Value value;
    value.sink = true;
    return value;
  }
  if (const auto* list = std::get_if<ptx::Vector>(&operand.value))
    fail("a list of " + std::to_string(list->elements.size()) + " is given where one operand is needed");
  fail("an address in brackets is given where a register or constant is needed");
}

std::vector<Value> FunctionScope::values(const ptx::Operand& operand, ptx::Type type) {
  const auto* list = std::get_if<ptx::Vector>(&operand.value);
  if (list == nullptr) return {value(operand, type)};
  std::vector<Value> values;
  values.reserve(list->elements.size());
  for (const ptx::Operand& element : list->elements) values.push_back(value(element, type));
  return values;
}

Value FunctionScope::address(const ptx::Operand& operand, Op& op) {
  const auto* address = std::get_if<ptx::Address>(&operand.value);
  if (const auto* tensor = std::get_if<ptx::TensorAddress>(&operand.value)) address = &tensor->map;
  if (address == nullptr) fail("an address in brackets is needed, such as [%rd1+16]");
  op.offset += address->offset;
  if (const auto* reg = std::get_if<ptx::Register>(&address->base)) return register_value(*reg);
  if (const auto* symbol = std::get_if<ptx::Symbol>(&address->base)) return variable(*symbol);
  Value value;
  value.constant = std::get<ptx::Immediate>(address->base).bits;
  return value;
}

ptx::Type FunctionScope::register_type(const ptx::Register& reg) {
  return function_.registers[static_cast<std::size_t>(reg.index)].type;
}

Pc FunctionScope::label(const std::string& name) const {
  const auto found = function_.labels.find(name);
  if (found == function_.labels.end()) fail("there is no label " + quoted(name) + " in this function");
  return code_.entry + static_cast<Pc>(found->second);
}

const std::vector<std::string>& FunctionScope::branch_targets(const std::string& name) const {
  const auto found = function_.branch_targets.find(name);
  if (found == function_.branch_targets.end())
    fail("there is no list .branchtargets of the name " + quoted(name) + " in this function");
  return found->second;
}

const FunctionCode& FunctionScope::function(const std::string& name) const {
  const ptx::Function* function = layout_.module->find(name);
  if (function == nullptr) fail("there is no function " + quoted(name));
  const auto found = layout_.functions.find(function);
  if (found == layout_.functions.end())
    fail("the function " + quoted(name) + " is declared, but has no body");
  return *found->second;
}

bool FunctionScope::is_defined(const std::string& function) const {
  const ptx::Function* found = layout_.module->find(function);
  return found != nullptr && found->is_defined;
}

const ptx::Function* FunctionScope::prototype(const std::string& name) const {
  const auto found = function_.prototypes.find(name);
  return found == function_.prototypes.end() ? nullptr : &found->second;
}

CallOperand FunctionScope::call_operand(const ptx::Operand& operand, const ptx::Variable& declared) {
  CallOperand result;
  result.bytes = declared.size();
  const auto* symbol = std::get_if<ptx::Symbol>(&operand.value);
  const Local* found = symbol == nullptr ? nullptr : local(symbol->name);
  if (found != nullptr && found->variable->space == ptx::Space::param) {
    if (found->variable->size() != declared.size())
      fail("the argument " + quoted(symbol->name) + " has " + std::to_string(found->variable->size()) +
           " bytes, where the function declares " + std::to_string(declared.size()));
    result.local = found->offset;
    return result;
  }
  result.value = value(operand, declared.type);
  return result;
}

}  // namespace tenon::emulator
