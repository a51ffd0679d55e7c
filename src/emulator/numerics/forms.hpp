// Every form of mma, mma.sp and wmma.mma that the emulator knows, by its PTX text. The decoder looks
// instructions up here, so it accepts only forms that the PTX ISA lists.
#pragma once

#include <string>
#include <vector>

#include "emulator/numerics/mma.hpp"

namespace tenon::emulator::numerics {

struct NamedForm {
  std::string text;             // "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
  Form form;                    // a sparse one with selector 0
  int target;                   // the first: 80 for sm_80
  bool is_ordered = false;      // mma.sp::ordered_metadata
  bool is_alternative = false;  // another spelling, or wmma layout, of the form before
};

// In the order of the PTX ISA (9.7.14.5, 9.7.14.6, 9.7.14.2).
const std::vector<NamedForm>& forms();

// wgmma.mma_async m64n8 with A in registers, as arithmetic: a warp's share of 16 rows is an mma m16n8
// (form.shape) of Unit::wgmma. It is not in forms(): the machine decodes wgmma itself.
const std::vector<NamedForm>& wgmma_forms();

// Null: no form has that text.
const NamedForm* find_form(const std::string& text);

const char* name(ptx::Type type);  // "f16", of a type of matrix instructions

}  // namespace tenon::emulator::numerics
