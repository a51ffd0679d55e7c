// Short texts for the tests of the parser: a module around a body, and the error message of a text.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "emulator/ptx/module.hpp"

namespace tenon::emulator::ptx::test {

// `text` begins in line 4.
inline Module parse_module(const std::string& text) {
  return parse(".version 8.7\n.target sm_90a\n.address_size 64\n" + text);
}

// The text of a kernel `k` with a few registers; `body` begins in line 2 of it, line 5 of the module.
inline std::string kernel_text(const std::string& body) {
  return ".visible .entry k(.param .u64 k_param_0) { .reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %rd<5>; "
         ".reg "
         ".f32 %f<5>;\n" +
         body + "\n}\n";
}

inline Function parse_kernel(const std::string& body) {
  Module module = parse_module(kernel_text(body));
  return module.functions.at(0);
}

// The only instruction of a body.
inline Instruction parse_instruction(const std::string& text) {
  Function function = parse_kernel(text);
  EXPECT_EQ(function.body.size(), 1U) << text;
  return function.body.at(0);
}

inline std::string error_of(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}
inline std::string module_error(const std::string& text) {
  return error_of(".version 8.7\n.target sm_90a\n.address_size 64\n" + text);
}
inline std::string kernel_error(const std::string& body) {
  return module_error(kernel_text(body));
}

inline const std::string& name_of(const Function& function, const Operand& operand) {
  return function.registers.at(std::get<Register>(operand.value).index).name;
}
inline std::int64_t integer_of(const Operand& operand) {
  const auto& value = std::get<Immediate>(operand.value);
  EXPECT_EQ(value.kind, Immediate::Kind::integer);
  return static_cast<std::int64_t>(value.bits);
}

}  // namespace tenon::emulator::ptx::test
