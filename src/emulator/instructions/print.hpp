// The functions of CUDA C++ that a kernel may call without a body in its module: vprintf, which printf calls,
// and __assertfail, which a failed assert calls.
#pragma once

#include <vector>

#include "emulator/instructions/lanewise.hpp"
#include "emulator/machine/function_scope.hpp"

namespace tenon::emulator {

// (result) vprintf (format, arguments): both are generic addresses of 8 bytes.
void decode_printf(Decoding& decoding, FunctionScope& functions, const std::vector<ptx::Operand>& results,
                   const std::vector<ptx::Operand>& arguments);

// __assertfail (message, file, line, function, bytes of a character)
void decode_failed_assertion(Decoding& decoding, FunctionScope& functions,
                             const std::vector<ptx::Operand>& arguments);

}  // namespace tenon::emulator
