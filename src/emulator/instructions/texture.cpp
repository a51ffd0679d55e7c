// The instructions of textures and surfaces (PTX ISA 9.7.10 and 9.7.11) are refused by what is missing, which
// an unknown opcode would not say.
#include "emulator/machine/op.hpp"

namespace tenon::emulator {

namespace {

void refuse(const ptx::Instruction& instruction, Scope&, Op&) {
  throw ptx::Error(instruction.line, "the instruction `" + instruction.text() +
                                         "` is not known: the emulator has no textures and surfaces");
}

}  // namespace

void add_texture_instructions(Decoders& decoders) {
  for (const char* opcode : {"tex", "tld4", "txq", "istypep", "suld", "sust", "sured", "suq"})
    decoders[opcode] = refuse;
}

}  // namespace tenon::emulator
