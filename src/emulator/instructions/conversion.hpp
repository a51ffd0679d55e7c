// Parts of conversions that tests check directly. Builds on numerics/formats.
#pragma once

#include <cstdint>

namespace tenon::emulator {

// An integer clamped into the range of another integer type, in that type's bits.
std::uint64_t saturated_integer(std::uint64_t a, int from_width, bool from_signed, int to_width,
                                bool to_signed);

// cvt.rna.tf32.f32 as the code that ptxas generates: half a unit is added to finite numbers, and the low bits
// are cleared, so that a NaN whose payload is only in them becomes an infinity. With .satfinite, a result
// that is not finite is then decremented by one unit: infinities become the largest number.
std::uint64_t to_tf32_away(std::uint64_t a, bool satfinite);

}  // namespace tenon::emulator
