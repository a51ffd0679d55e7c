// The carry flag CC.CF (PTX ISA 9.7.2): add.cc addc sub.cc subc mad.cc madc. Builds on lanewise.hpp.
#pragma once

#include "emulator/instructions/lanewise.hpp"

namespace tenon::emulator {

// add, addc, sub, subc if they write or read the flag. False: add and sub without .cc; nothing was done.
bool decode_add_with_carry(Decoding& decoding);
// The same for mad and madc, whose .lo or .hi is already accepted.
bool decode_mad_with_carry(Decoding& decoding, bool high);

}  // namespace tenon::emulator
