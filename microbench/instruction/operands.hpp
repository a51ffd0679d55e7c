// The operands of the timed instructions: N(0,1) in the given type, zeros only on request. Integers are 32
// N(0,1) rounded (8 bits) or 2 N(0,1) (4 bits); single bits are fair coins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::microbench::instruction {

// `kind`: f16, bf16, tf32, f32, f64, e4m3, e5m2, s8, u8, s4, u4, b1, bits or zeros. Throws
// std::invalid_argument with a sentence for any other. Returns the same bytes on every call.
std::vector<std::uint8_t> operands(const std::string& kind, std::size_t bytes);

}  // namespace tenon::microbench::instruction
