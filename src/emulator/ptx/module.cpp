#include "emulator/ptx/module.hpp"

namespace tenon::emulator::ptx {

int bytes(Type type) {
  switch (type) {
    case Type::b8:
    case Type::u8:
    case Type::s8:
    case Type::e4m3:
    case Type::e5m2:
      return 1;
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::f16:
    case Type::bf16:
    case Type::e4m3x2:
    case Type::e5m2x2:
      return 2;
    case Type::b32:
    case Type::u32:
    case Type::s32:
    case Type::f16x2:
    case Type::bf16x2:
    case Type::u16x2:
    case Type::s16x2:
    case Type::tf32:
    case Type::f32:
      return 4;
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f32x2:
    case Type::f64:
      return 8;
    case Type::b128:
      return 16;
    case Type::none:
    case Type::pred:
    case Type::u4:
    case Type::s4:
    case Type::b1:
      return 0;
  }
  return 0;
}

std::string Instruction::text() const {
  std::string result = opcode;
  for (const std::string& modifier : modifiers) result.append(1, '.').append(modifier);
  return result;
}

const Function* Module::find(const std::string& name) const {
  const auto alias = aliases.find(name);
  const std::string& real = alias == aliases.end() ? name : alias->second;
  for (const Function& function : functions) {
    if (function.name == real) return &function;
  }
  return nullptr;
}

}  // namespace tenon::emulator::ptx
