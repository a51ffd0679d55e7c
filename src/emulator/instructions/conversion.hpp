// Pieces of conversions that tests look at alone. Below stands numerics/formats.
#pragma once

#include <cstdint>

namespace tenon::emulator {

// An integer clamped into the range of another integer type, in that type's bits.
std::uint64_t saturated_integer(std::uint64_t a, int from_width, bool from_signed, int to_width,
                                bool to_signed);

// cvt.rna.tf32.f32 as the code that ptxas makes of it does it: half a unit is added to finite numbers and the
// low bits are cut, so a NaN whose payload stands in them alone becomes an infinity. With .satfinite what is
// not finite then is brought one unit down: the infinities to the largest number.
std::uint64_t to_tf32_away(std::uint64_t a, bool satfinite);

}  // namespace tenon::emulator
