// A kernel of one matrix instruction, as PTX text: each warp loads the registers of one set of operands,
// executes the instruction, and stores its result. A GPU runs it, and so does the emulator.
//
//   probe(a, b, c, metadata, d, sets): arrays [set][register][lane], the registers of numerics::Registers.
//
// wgmma m64n8 is tested as an mma m16n8: its four warps get the same set. A and C are in registers, in the
// layout of mma; B goes through shared memory.
#pragma once

#include <string>

#include "emulator/numerics/forms.hpp"

namespace tenon::emulator::numerics {

class FormKernel {
 public:
  static constexpr int warps_per_block = 4;
  // How many sets a block computes, one per warp (wgmma: per four warps).
  static int sets_per_block(const NamedForm& named) {
    return named.form.unit == Unit::wgmma ? 1 : warps_per_block;
  }

  FormKernel(const NamedForm& named, const std::string& target) : mma_(named.form) {
    const Form& form = named.form;
    text_ = ".version 8.7\n.target " + target +
            "\n.address_size 64\n"
            ".visible .entry probe(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pe, "
            ".param .u64 pd, .param .u32 sets)\n{\n"
            ".reg .pred %p;\n.reg .b32 %u<8>, %e;\n.reg .b64 %q<8>;\n";
    const bool is_wgmma = form.unit == Unit::wgmma;
    if (is_wgmma) text_ += ".shared .align 128 .b8 matrix_b[256];\n";
    declare("a", form.a, mma_.a());
    declare("b", form.b, mma_.b());
    declare("c", form.c, mma_.c());
    declare("d", form.d, mma_.d());
    line("mov.u32 %u0, %ctaid.x");
    line("mov.u32 %u1, %tid.x");
    line("shr.u32 %u2, %u1, 5");
    line("mad.lo.u32 %u3, %u0, " + std::to_string(sets_per_block(named)) + ", " +
         (is_wgmma ? "0" : "%u2"));  // the set
    line("and.b32 %u4, %u1, 31");
    line("ld.param.u32 %u5, [sets]");
    line("setp.ge.u32 %p, %u3, %u5");
    line("@%p bra done");
    move("ld", "a", form.a, mma_.a());
    move("ld", "b", form.b, mma_.b());
    move("ld", "c", form.c, mma_.c());
    std::string end = ";\n";
    if (form.sparse) {
      address("e", 1, 4);
      line("ld.global.b32 %e, [%q0]");
      end = ", %e, " + std::to_string(form.selector) + ";\n";
    }
    if (is_wgmma) {
      wgmma(named);
      line("setp.ne.u32 %p, %u2, 0");  // the four warps have the same result
      line("@%p bra done");
    } else {
      text_ += named.text + " " + list("d", mma_.d()) + ", " + list("a", mma_.a()) + ", " +
               list("b", mma_.b()) + ", " + list("c", mma_.c()) + end;
    }
    move("st", "d", form.d, mma_.d());
    text_ += "done:\nret;\n}\n";
  }

  const std::string& text() const { return text_; }

 private:
  static int bytes(const Fragment& fragment) { return fragment.element_bits() == 64 ? 8 : 4; }
  static const char* type_of(ptx::Type type) {
    switch (type) {
      case ptx::Type::f32:
        return "f32";
      case ptx::Type::f64:
        return "f64";
      case ptx::Type::s32:
        return "s32";
      default:
        return "b32";
    }
  }
  void line(const std::string& instruction) { text_ += instruction + ";\n"; }
  void declare(const std::string& matrix, ptx::Type type, const Fragment& fragment) {
    line(std::string(".reg .") + type_of(type) + " %" + matrix + "<" + std::to_string(fragment.registers()) +
         ">");
  }
  // %q0 = the address of this lane's first register of the set
  void address(const std::string& matrix, int registers, int size) {
    line("ld.param.u64 %q0, [p" + matrix + "]");
    line("mad.lo.u32 %u6, %u3, " + std::to_string(32 * registers) + ", %u4");
    line("mul.wide.u32 %q1, %u6, " + std::to_string(size));
    line("add.s64 %q0, %q0, %q1");
  }
  void move(const std::string& opcode, const std::string& matrix, ptx::Type type, const Fragment& fragment) {
    address(matrix, fragment.registers(), bytes(fragment));
    for (int i = 0; i < fragment.registers(); ++i) {
      const std::string reg = "%" + matrix + std::to_string(i);
      const std::string memory = "[%q0+" + std::to_string(32 * bytes(fragment) * i) + "]";
      const std::string start = opcode + ".global." + type_of(type) + " ";
      line(start + (opcode == "ld" ? reg + ", " + memory : memory + ", " + reg));
    }
  }
  // B without a swizzle, k-major: two consecutive core matrices of 8 columns x 16 bytes of k, 128 bytes each
  // (PTX ISA 9.7.15.5.1). A register of the mma fragment is 4 bytes of one of their rows.
  void wgmma(const NamedForm& named) {
    line("mov.u32 %u6, matrix_b");
    line("shl.b32 %u7, %u4, 2");  // lane / 4 is the column, lane % 4 the word
    line("add.u32 %u6, %u6, %u7");
    line("setp.ne.u32 %p, %u2, 0");
    line("@!%p st.shared.b32 [%u6], %b0");
    line("@!%p st.shared.b32 [%u6+128], %b1");
    line("fence.proxy.async");
    line("bar.sync 0");
    line("mov.u32 %u6, matrix_b");
    line("shr.u32 %u6, %u6, 4");
    line("cvt.u64.u32 %q2, %u6");
    line("or.b64 %q2, %q2, " +
         std::to_string((std::uint64_t{128} >> 4 << 16) | (std::uint64_t{256} >> 4 << 32)));
    for (int i = 0; i < mma_.d().registers(); ++i)
      line(std::string("mov.") + type_of(named.form.d) + " %d" + std::to_string(i) + ", %c" +
           std::to_string(i));
    line("wgmma.fence.sync.aligned");
    const bool is_integer = named.form.d == ptx::Type::s32;
    const bool is_16_bit = element_bits(named.form.a) == 16;
    line("setp.eq.u32 %p, 0, 0");
    line(named.text + " " + list("d", mma_.d()) + ", " + list("a", mma_.a()) + ", %q2, %p" +
         (is_integer ? "" : ", 1, 1") + (is_16_bit ? ", 0" : ""));
    line("wgmma.commit_group.sync.aligned");
    line("wgmma.wait_group.sync.aligned 0");
  }
  static std::string list(const std::string& matrix, const Fragment& fragment) {
    std::string text = "{";
    for (int i = 0; i < fragment.registers() * fragment.copies(); ++i) {
      text += (i == 0 ? "%" : ", %") + matrix + std::to_string(i % fragment.registers());
    }
    return text + "}";
  }

  Mma mma_;
  std::string text_;
};

}  // namespace tenon::emulator::numerics
