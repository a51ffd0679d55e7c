// Every scalar instruction once in each form, with its operands: one PTX module is made from this table. The
// emulator and a GPU run it on the same operands (scalar_on_device.cpp compares them), and the emulator runs
// it alone as whole kernels (scalar_kernel_test.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::emulator::testing {

// The kind of an operand, which determines its register and the tested values.
enum class Kind : std::uint8_t {
  none,
  pred,
  b16,
  b32,
  b64,
  count,  // b32: shifts, positions, lengths
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f64,
  e4m3x2,
  e5m2x2
};

// The allowed distance between hardware and emulator: none, or, for approximations, either of the bounds.
struct Tolerance {
  double ulp = 0, absolute = 0;
};

struct ScalarCase {
  std::string text;  // complete instructions; operands are %x1, %x2, ..., the result %x0 (x: p, h, r or d)
  Kind result = Kind::none;
  std::vector<Kind> operands;
  Tolerance tolerance = {};
};

// The letter of a kind's registers.
inline char letter(Kind kind) {
  switch (kind) {
    case Kind::pred:
      return 'p';
    case Kind::b16:
    case Kind::f16:
    case Kind::bf16:
    case Kind::e4m3x2:
    case Kind::e5m2x2:
      return 'h';
    case Kind::b64:
    case Kind::f64:
      return 'd';
    default:
      return 'r';
  }
}

// "add.u32" with operands -> "add.u32 %r0, %r1, %r2" and any text after them.
inline ScalarCase plain(const std::string& instruction, Kind result, const std::vector<Kind>& operands,
                        Tolerance tolerance = {}, const std::string& rest = "") {
  std::string text = instruction + " %" + letter(result) + "0";
  int index = 1;
  for (const Kind kind : operands) text += std::string(", %") + letter(kind) + std::to_string(index++);
  return {text + rest + ";", result, operands, tolerance};
}

inline void add_integer_cases(std::vector<ScalarCase>& cases) {
  struct Form {
    const char* type;
    Kind kind;
    bool is_signed;
  };
  const Form forms[] = {{"u16", Kind::b16, false}, {"s16", Kind::b16, true},  {"u32", Kind::b32, false},
                        {"s32", Kind::b32, true},  {"u64", Kind::b64, false}, {"s64", Kind::b64, true}};
  const auto both = [&](const std::string& instruction, Kind kind) {
    cases.push_back(plain(instruction, kind, {kind, kind}));
  };
  for (const Form& form : forms) {
    const std::string dot = std::string(".") + form.type;
    for (const char* opcode : {"add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"}) {
      both(opcode + dot, form.kind);
    }
    for (const char* opcode : {"mad.lo", "mad.hi", "sad"}) {
      cases.push_back(plain(opcode + dot, form.kind, {form.kind, form.kind, form.kind}));
    }
    if (form.is_signed) {
      cases.push_back(plain("abs" + dot, form.kind, {form.kind}));
      cases.push_back(plain("neg" + dot, form.kind, {form.kind}));
    }
    cases.push_back(plain("shr" + dot, form.kind, {form.kind, Kind::count}));
    if (form.kind == Kind::b64) continue;
    const Kind wide = form.kind == Kind::b16 ? Kind::b32 : Kind::b64;
    cases.push_back(plain("mul.wide" + dot, wide, {form.kind, form.kind}));
    cases.push_back(plain("mad.wide" + dot, wide, {form.kind, form.kind, wide}));
  }
  for (const char* one : {"add.sat.s32", "sub.sat.s32", "add.u16x2", "add.s16x2", "min.u16x2", "max.s16x2",
                          "min.relu.s16x2", "max.relu.s32", "mul24.lo.u32", "mul24.hi.u32", "mul24.lo.s32",
                          "mul24.hi.s32", "and.b32", "or.b32", "xor.b32"}) {
    both(one, Kind::b32);
  }
  for (const char* one :
       {"mad.hi.sat.s32", "mad24.lo.s32", "mad24.hi.u32", "mad24.hi.sat.s32", "dp4a.u32.u32", "dp4a.s32.u32",
        "dp4a.u32.s32", "dp4a.s32.s32", "dp2a.lo.s32.u32", "dp2a.hi.u32.s32", "prmt.b32", "prmt.b32.f4e",
        "prmt.b32.b4e", "prmt.b32.rc8", "prmt.b32.ecl", "prmt.b32.ecr", "prmt.b32.rc16"}) {
    cases.push_back(plain(one, Kind::b32, {Kind::b32, Kind::b32, Kind::b32}));
  }
  for (const char* one : {"shf.l.clamp.b32", "shf.l.wrap.b32", "shf.r.clamp.b32", "shf.r.wrap.b32"}) {
    cases.push_back(plain(one, Kind::b32, {Kind::b32, Kind::b32, Kind::count}));
  }
  for (const int table : {0x80, 0xfe, 0x96, 0xca, 0xe8, 0x1b}) {
    cases.push_back(
        plain("lop3.b32", Kind::b32, {Kind::b32, Kind::b32, Kind::b32}, {}, ", " + std::to_string(table)));
  }
  for (const char* opcode : {"not", "cnot"}) {
    for (const Kind kind : {Kind::b16, Kind::b32, Kind::b64}) {
      const char* type = kind == Kind::b16 ? ".b16" : kind == Kind::b32 ? ".b32" : ".b64";
      cases.push_back(plain(std::string(opcode) + type, kind, {kind}));
    }
  }
  cases.push_back(plain("shl.b16", Kind::b16, {Kind::b16, Kind::count}));
  cases.push_back(plain("shl.b32", Kind::b32, {Kind::b32, Kind::count}));
  cases.push_back(plain("shl.b64", Kind::b64, {Kind::b64, Kind::count}));
  for (const char* opcode :
       {"popc.b", "clz.b", "bfind.u", "bfind.s", "bfind.shiftamt.u", "bfind.shiftamt.s"}) {
    cases.push_back(plain(std::string(opcode) + "32", Kind::b32, {Kind::b32}));
    cases.push_back(plain(std::string(opcode) + "64", Kind::b32, {Kind::b64}));
  }
  cases.push_back(plain("brev.b32", Kind::b32, {Kind::b32}));
  cases.push_back(plain("brev.b64", Kind::b64, {Kind::b64}));
  for (const char* type : {"u", "s"}) {
    cases.push_back(
        plain(std::string("bfe.") + type + "32", Kind::b32, {Kind::b32, Kind::count, Kind::count}));
    cases.push_back(
        plain(std::string("bfe.") + type + "64", Kind::b64, {Kind::b64, Kind::count, Kind::count}));
    for (const char* mode : {"clamp", "wrap"}) {
      cases.push_back(
          plain(std::string("szext.") + mode + "." + type + "32", Kind::b32, {Kind::b32, Kind::count}));
    }
  }
  cases.push_back(plain("bfi.b32", Kind::b32, {Kind::b32, Kind::b32, Kind::count, Kind::count}));
  cases.push_back(plain("bfi.b64", Kind::b64, {Kind::b64, Kind::b64, Kind::count, Kind::count}));
  cases.push_back(plain("bmsk.clamp.b32", Kind::b32, {Kind::count, Kind::count}));
  cases.push_back(plain("bmsk.wrap.b32", Kind::b32, {Kind::count, Kind::count}));
  for (const char* one : {"vadd.s32.u32.s32 %r0, %r1.b1, %r2.h1",
                          "vadd.u32.u32.u32 %r0.b2, %r1, %r2, %r3",
                          "vadd.s32.s32.u32.sat %r0, %r1, %r2",
                          "vadd.u32.u32.u32.sat %r0.b3, %r1, %r2.h0, %r3",
                          "vsub.u32.u32.u32.sat %r0, %r1, %r2",
                          "vsub.s32.s32.s32.sat.min %r0, %r1, %r2.h1, %r3",
                          "vabsdiff.u32.s32.u32.add %r0, %r1, %r2, %r3",
                          "vabsdiff.s32.s32.s32.sat %r0.h0, %r1.b0, %r2.b2, %r3",
                          "vmin.u32.u32.s32 %r0, %r1, %r2",
                          "vmax.s32.s32.s32.sat.max %r0, %r1.b3, %r2, %r3",
                          "vmax.u32.u32.u32.max %r0, %r1.h0, %r2.h1, %r3",
                          "vshl.u32.s32.u32.clamp %r0, %r1.h1, %r2.b0",
                          "vshl.s32.u32.u32.wrap.add %r0, %r1, %r2, %r3",
                          "vshr.s32.s32.u32.clamp %r0, %r1, %r2.b0",
                          "vshr.u32.u32.u32.wrap %r0.h0, %r1.h1, %r2, %r3",
                          "vset.u32.s32.lt %r0, %r1, %r2",
                          "vset.s32.s32.ge.add %r0, %r1.b0, %r2.b1, %r3",
                          "vset.u32.u32.ne %r0.b1, %r1.h0, %r2.h0, %r3",
                          "vmad.u32.u32.u32 %r0, %r1, %r2, %r3",
                          "vmad.s32.s32.u32 %r0, -%r1, %r2.b1, %r3",
                          "vmad.s32.s32.s32.sat %r0, %r1, %r2, %r3",
                          "vmad.s32.s32.s32.shr15 %r0, %r1, %r2.h0, -%r3",
                          "vmad.s32.s32.u32.po.sat.shr7 %r0, %r1, %r2.h1, %r3"})
    cases.push_back({std::string(one) + ";", Kind::b32, {Kind::b32, Kind::b32, Kind::b32}});
  cases.push_back({"and.b32 %r2, %r2, 31; fns.b32 %r0, %r1, %r2, %r3;",
                   Kind::b32,
                   {Kind::b32, Kind::count, Kind::count}});
  cases.push_back(
      {"add.cc.u32 %r5, %r1, %r2; addc.cc.u32 %r6, %r3, %r4; addc.u32 %r7, 0, 0;"
       "xor.b32 %r0, %r5, %r6; shl.b32 %r7, %r7, 31; xor.b32 %r0, %r0, %r7;",
       Kind::b32,
       {Kind::b32, Kind::b32, Kind::b32, Kind::b32}});
  cases.push_back(
      {"sub.cc.u32 %r5, %r1, %r2; subc.cc.u32 %r6, %r3, %r4; subc.u32 %r7, 9, 0;"
       "xor.b32 %r0, %r5, %r6; shl.b32 %r7, %r7, 20; xor.b32 %r0, %r0, %r7;",
       Kind::b32,
       {Kind::b32, Kind::b32, Kind::b32, Kind::b32}});
  cases.push_back(
      {"mad.lo.cc.u32 %r5, %r1, %r2, %r3; madc.hi.u32 %r6, %r1, %r2, %r4; mov.b64 %d0, {%r5, %r6};",
       Kind::b64,
       {Kind::b32, Kind::b32, Kind::b32, Kind::b32}});
  cases.push_back({"add.cc.u64 %d5, %d1, %d2; addc.u64 %d6, %d3, 0; xor.b64 %d0, %d5, %d6;",
                   Kind::b64,
                   {Kind::b64, Kind::b64, Kind::b64}});
  cases.push_back(
      {"lop3.or.b32 %r5|%p5, %r1, %r2, %r3, 0x68, %p4; selp.b32 %r6, 0x80000000, 0, %p5;"
       "xor.b32 %r0, %r5, %r6;",
       Kind::b32,
       {Kind::b32, Kind::b32, Kind::b32, Kind::pred}});
}

inline void add_float_cases(std::vector<ScalarCase>& cases) {
  struct Form {
    const char* type;
    Kind kind;
    bool has_flush;
  };
  const std::vector<std::string> rounds = {"rn", "rz", "rm", "rp"};
  for (const Form& form : {Form{"f32", Kind::f32, true}, Form{"f64", Kind::f64, false}}) {
    const Kind kind = form.kind;
    for (const std::string& round : rounds) {
      for (const char* flush : {"", ".ftz"}) {
        if (*flush != '\0' && !form.has_flush) continue;
        const std::string modifiers = "." + round + flush + "." + form.type;
        for (const char* opcode : {"add", "sub", "mul", "div"}) {
          cases.push_back(plain(opcode + modifiers, kind, {kind, kind}));
        }
        cases.push_back(plain("fma" + modifiers, kind, {kind, kind, kind}));
        cases.push_back(plain("rcp" + modifiers, kind, {kind}));
        cases.push_back(plain("sqrt" + modifiers, kind, {kind}));
      }
    }
    for (const char* opcode : {"min.", "max.", "copysign."})
      cases.push_back(plain(opcode + std::string(form.type), kind, {kind, kind}));
    for (const char* opcode : {"abs.", "neg."})
      cases.push_back(plain(opcode + std::string(form.type), kind, {kind}));
    for (const char* property : {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
      cases.push_back(plain(std::string("testp.") + property + "." + form.type, Kind::pred, {kind}));
    }
  }
  for (const char* one : {"add.rn.sat.f32", "mul.rz.ftz.sat.f32", "sub.rn.sat.f32", "min.ftz.f32",
                          "max.NaN.f32", "min.xorsign.abs.f32", "max.ftz.NaN.xorsign.abs.f32"}) {
    cases.push_back(plain(one, Kind::f32, {Kind::f32, Kind::f32}));
  }
  cases.push_back(plain("fma.rn.sat.f32", Kind::f32, {Kind::f32, Kind::f32, Kind::f32}));
  cases.push_back(plain("fma.rp.ftz.sat.f32", Kind::f32, {Kind::f32, Kind::f32, Kind::f32}));
  cases.push_back(plain("abs.ftz.f32", Kind::f32, {Kind::f32}));
  cases.push_back(plain("neg.ftz.f32", Kind::f32, {Kind::f32}));

  for (const Form& form : {Form{"f16", Kind::f16, true}, Form{"f16x2", Kind::f16x2, true},
                           Form{"bf16", Kind::bf16, false}, Form{"bf16x2", Kind::bf16x2, false}}) {
    const Kind kind = form.kind;
    const std::string dot = std::string(".") + form.type;
    for (const char* opcode : {"add.rn", "sub.rn", "mul.rn", "min", "max", "min.NaN", "max.xorsign.abs"}) {
      cases.push_back(plain(opcode + dot, kind, {kind, kind}));
    }
    for (const char* opcode : {"fma.rn", "fma.rn.relu", "fma.rn.oob", "fma.rn.oob.relu"})
      cases.push_back(plain(opcode + dot, kind, {kind, kind, kind}));
    for (const char* opcode : {"abs", "neg"}) cases.push_back(plain(opcode + dot, kind, {kind}));
    if (!form.has_flush) continue;
    for (const char* opcode : {"add.rn.ftz", "mul.rn.ftz", "sub.rn.sat", "mul.rn.ftz.sat", "max.ftz"}) {
      cases.push_back(plain(opcode + dot, kind, {kind, kind}));
    }
    for (const char* opcode : {"fma.rn.ftz", "fma.rn.sat", "fma.rn.ftz.relu"}) {
      cases.push_back(plain(opcode + dot, kind, {kind, kind, kind}));
    }
    for (const char* opcode : {"abs.ftz", "neg.ftz"}) cases.push_back(plain(opcode + dot, kind, {kind}));
  }

  // Approximations: the bounds of the PTX ISA and half a unit for the emulator's own rounding.
  const auto approximation = [&](const std::string& instruction, Kind kind, Tolerance tolerance) {
    cases.push_back(plain(instruction, kind, {kind}, tolerance));
  };
  for (const char* flush : {"", ".ftz"}) {
    const std::string type = std::string(flush) + ".f32";
    approximation("rcp.approx" + type, Kind::f32, {1.5, 0});
    approximation("sqrt.approx" + type, Kind::f32, {2.5, 0});
    approximation("rsqrt.approx" + type, Kind::f32, {3, 0});
    approximation("lg2.approx" + type, Kind::f32, {4.5, 2.4e-7});
    approximation("ex2.approx" + type, Kind::f32, {2.5, 0});
    approximation("sin.approx" + type, Kind::f32, {0, 9.6e-7});
    approximation("cos.approx" + type, Kind::f32, {0, 9.6e-7});
    cases.push_back(plain("div.approx" + type, Kind::f32, {Kind::f32, Kind::f32}, {2.5, 0}));
    cases.push_back(plain("div.full" + type, Kind::f32, {Kind::f32, Kind::f32}, {2.5, 0}));
  }
  approximation("tanh.approx.f32", Kind::f32, {8192, 0});
  approximation("tanh.approx.f16", Kind::f16, {0.5, 4.93e-4});
  approximation("tanh.approx.f16x2", Kind::f16x2, {0.5, 4.93e-4});
  approximation("tanh.approx.bf16", Kind::bf16, {0.5, 3.91e-3});
  approximation("tanh.approx.bf16x2", Kind::bf16x2, {0.5, 3.91e-3});
  approximation("ex2.approx.f16", Kind::f16, {2.5, 0});
  approximation("ex2.approx.f16x2", Kind::f16x2, {2.5, 0});
  approximation("ex2.approx.ftz.bf16", Kind::bf16, {2.5, 0});
  approximation("ex2.approx.ftz.bf16x2", Kind::bf16x2, {2.5, 0});
  approximation("rcp.approx.ftz.f64", Kind::f64, {8589934592.0, 0});
  approximation("rsqrt.approx.ftz.f64", Kind::f64, {8589934592.0, 0});
  approximation("rsqrt.approx.f64", Kind::f64, {8, 0});
}

inline void add_conversion_cases(std::vector<ScalarCase>& cases) {
  struct Form {
    std::string type;
    Kind kind;
    int bits;
  };
  const Form integers[] = {{"u8", Kind::b32, 8},   {"s8", Kind::b32, 8},   {"u16", Kind::b16, 16},
                           {"s16", Kind::b16, 16}, {"u32", Kind::b32, 32}, {"s32", Kind::b32, 32},
                           {"u64", Kind::b64, 64}, {"s64", Kind::b64, 64}};
  const Form reals[] = {
      {"f16", Kind::f16, 0}, {"bf16", Kind::bf16, 0}, {"f32", Kind::f32, 0}, {"f64", Kind::f64, 0}};
  const auto convert = [&](const std::string& modifiers, const Form& to, const Form& from) {
    cases.push_back(plain("cvt." + modifiers + to.type + "." + from.type, to.kind, {from.kind}));
  };
  for (const Form& from : integers) {
    for (const Form& to : integers) {
      convert("", to, from);
      const bool to_signed = to.type[0] == 's', from_signed = from.type[0] == 's';
      const bool fits = to_signed ? to.bits > from.bits || (from_signed && to.bits == from.bits)
                                  : !from_signed && to.bits >= from.bits;
      if (!fits) convert("sat.", to, from);  // ptxas refuses it where it has no effect
    }
    for (const Form& real : reals) {
      if (real.kind == Kind::bf16 && from.bits == 8) continue;  // ptxas takes no register for these
      for (const char* round : {"rn.", "rz.", "rm.", "rp."}) convert(round, real, from);
      for (const char* round : {"rni.", "rzi.", "rmi.", "rpi."}) convert(round, from, real);
    }
  }
  const auto exact = [](const Form& to, const Form& from) {
    return to.type == "f64" || (to.type == "f32" && from.type != "f64");
  };
  for (const Form& from : reals) {
    for (const Form& to : reals) {
      if (from.type == to.type) {
        for (const char* round : {"rni.", "rzi.", "rmi.", "rpi."}) convert(round, to, from);
      } else if (exact(to, from)) {
        convert("", to, from);
      } else {
        for (const char* round : {"rn.", "rz.", "rm.", "rp."}) convert(round, to, from);
      }
    }
  }
  for (const char* one :
       {"cvt.ftz.f32.f32", "cvt.sat.f32.f32", "cvt.rni.ftz.sat.f32.f32", "cvt.rn.tf32.f32", "cvt.rz.tf32.f32",
        "cvt.rz.relu.tf32.f32", "cvt.rna.tf32.f32", "cvt.rna.satfinite.tf32.f32"}) {
    cases.push_back(plain(one, Kind::f32, {Kind::f32}));
  }
  cases.push_back(plain("cvt.rzi.ftz.s32.f32", Kind::b32, {Kind::f32}));
  cases.push_back(plain("cvt.rp.ftz.f16.f32", Kind::f16, {Kind::f32}));
  cases.push_back(plain("cvt.rn.sat.f16.f32", Kind::f16, {Kind::f32}));
  cases.push_back(plain("cvt.sat.f16.f16", Kind::f16, {Kind::f16}));
  cases.push_back(plain("cvt.sat.f64.f64", Kind::f64, {Kind::f64}));
  cases.push_back(plain("cvt.rm.ftz.f32.f64", Kind::f32, {Kind::f64}));
  for (const char* round : {"rn", "rz"}) {
    for (const char* more : {"", ".relu", ".satfinite", ".relu.satfinite"}) {
      const std::string modifiers = std::string("cvt.") + round + more;
      cases.push_back(plain(modifiers + ".f16x2.f32", Kind::f16x2, {Kind::f32, Kind::f32}));
      cases.push_back(plain(modifiers + ".bf16x2.f32", Kind::bf16x2, {Kind::f32, Kind::f32}));
      cases.push_back(plain(modifiers + ".f16.f32", Kind::f16, {Kind::f32}));
      cases.push_back(plain(modifiers + ".bf16.f32", Kind::bf16, {Kind::f32}));
    }
  }
  for (const char* relu : {"", ".relu"}) {
    for (const Kind kind : {Kind::e4m3x2, Kind::e5m2x2}) {
      const std::string type = kind == Kind::e4m3x2 ? ".e4m3x2" : ".e5m2x2", more = relu;
      cases.push_back(plain("cvt.rn.satfinite" + more + type + ".f32", kind, {Kind::f32, Kind::f32}));
      cases.push_back(plain("cvt.rn.satfinite" + more + type + ".f16x2", kind, {Kind::f16x2}));
      cases.push_back(plain("cvt.rn" + more + ".f16x2" + type, Kind::f16x2, {kind}));
    }
  }
  cases.push_back(plain("cvt.pack.sat.u16.s32", Kind::b32, {Kind::b32, Kind::b32}));
  cases.push_back(plain("cvt.pack.sat.s16.s32", Kind::b32, {Kind::b32, Kind::b32}));
  for (const char* type : {"u8", "s8", "u4", "s4", "u2", "s2"}) {
    cases.push_back(plain(std::string("cvt.pack.sat.") + type + ".s32.b32", Kind::b32,
                          {Kind::b32, Kind::b32, Kind::b32}));
  }
  cases.push_back({"mov.b32 %r0, {%h1, %h2};", Kind::b32, {Kind::b16, Kind::b16}});
  cases.push_back({"mov.b64 {%r5, %r6}, %d1; mov.b64 %d0, {%r6, %r5};", Kind::b64, {Kind::b64}});
  cases.push_back(
      {"mov.b64 {%h5, %h6, %h7, _}, %d1; mov.b64 %d0, {%h7, %h6, %h5, %h5};", Kind::b64, {Kind::b64}});
  cases.push_back(plain("selp.b64", Kind::b64, {Kind::b64, Kind::b64, Kind::pred}));
  cases.push_back({"selp.b16 %h0, %h1, %h2, !%p3;", Kind::b16, {Kind::b16, Kind::b16, Kind::pred}});
  cases.push_back(plain("slct.b32.s32", Kind::b32, {Kind::b32, Kind::b32, Kind::b32}));
  cases.push_back(plain("slct.b64.f32", Kind::b64, {Kind::b64, Kind::b64, Kind::f32}));
  cases.push_back(plain("slct.ftz.b32.f32", Kind::b32, {Kind::b32, Kind::b32, Kind::f32}));
  for (const char* opcode : {"and", "or", "xor"}) {
    cases.push_back(plain(std::string(opcode) + ".pred", Kind::pred, {Kind::pred, Kind::pred}));
  }
  cases.push_back({"not.pred %p0, %p1;", Kind::pred, {Kind::pred}});
}

inline void add_compare_cases(std::vector<ScalarCase>& cases) {
  const std::vector<std::string> basic = {"eq", "ne", "lt", "le", "gt", "ge"},
                                 unsigned_too = {"lo", "ls", "hi", "hs"},
                                 unordered = {"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  struct Form {
    std::string type;
    Kind kind;
    const std::vector<std::string>* more;
  };
  const std::vector<std::string> none;
  const Form forms[] = {{"u16", Kind::b16, &unsigned_too}, {"s16", Kind::b16, &none},
                        {"u32", Kind::b32, &unsigned_too}, {"s32", Kind::b32, &none},
                        {"u64", Kind::b64, &unsigned_too}, {"s64", Kind::b64, &none},
                        {"f16", Kind::f16, &unordered},    {"bf16", Kind::bf16, &unordered},
                        {"f32", Kind::f32, &unordered},    {"f64", Kind::f64, &unordered}};
  for (const Form& form : forms) {
    std::vector<std::string> comparisons = basic;
    comparisons.insert(comparisons.end(), form.more->begin(), form.more->end());
    for (const std::string& comparison : comparisons) {
      cases.push_back(plain("setp." + comparison + "." + form.type, Kind::pred, {form.kind, form.kind}));
    }
    const std::string x = std::string(" %") + letter(form.kind) + "1, %" + letter(form.kind) + "2";
    const bool half = form.kind == Kind::f16 || form.kind == Kind::bf16;  // these write one predicate only
    for (const std::string combination : {"and", "or", "xor"}) {
      const std::string modifiers = "setp.lt." + combination + "." + form.type;
      if (half) {
        cases.push_back(plain(modifiers, Kind::pred, {form.kind, form.kind, Kind::pred}));
        continue;
      }
      cases.push_back({modifiers + " %p5|%p6," + x +
                           ", !%p3; selp.b32 %r5, 1, 0, %p5; selp.b32 %r6, 2, 0, %p6; or.b32 %r0, %r5, %r6;",
                       Kind::b32,
                       {form.kind, form.kind, Kind::pred}});
    }
    cases.push_back(plain("set.ge.u32." + form.type, Kind::b32, {form.kind, form.kind}));
    cases.push_back(plain("set.ne.xor.s32." + form.type, Kind::b32, {form.kind, form.kind, Kind::pred}));
    if (!half) cases.push_back(plain("set.le.f32." + form.type, Kind::b32, {form.kind, form.kind}));
    if (form.kind != Kind::bf16) {
      cases.push_back(plain("set.lt.f16." + form.type, Kind::b16, {form.kind, form.kind}));
    }
    cases.push_back(plain("set.gt.bf16." + form.type, Kind::b16, {form.kind, form.kind}));
  }
  for (const char* type : {"f16", "bf16"}) {
    const bool is_f16 = std::string(type) == "f16";
    const Kind kind = is_f16 ? Kind::f16 : Kind::bf16, pair = is_f16 ? Kind::f16x2 : Kind::bf16x2;
    const std::string name = type;
    cases.push_back(plain("set.ltu.u16." + name, Kind::b16, {kind, kind}));
    for (const char* to : {"u32", "s32"}) {
      cases.push_back(plain(std::string("set.geu.") + to + "." + name + "x2", Kind::b32, {pair, pair}));
    }
    cases.push_back(plain("set.neu." + name + "x2." + name + "x2", Kind::b32, {pair, pair}));
    cases.push_back({"setp.leu.and." + name +
                         "x2 %p5|%p6, %r1, %r2, %p3; selp.b32 %r5, 1, 0, %p5;"
                         "selp.b32 %r6, 2, 0, %p6; or.b32 %r0, %r5, %r6;",
                     Kind::b32,
                     {pair, pair, Kind::pred}});
  }
  cases.push_back(plain("setp.eq.ftz.f32", Kind::pred, {Kind::f32, Kind::f32}));
  cases.push_back(plain("setp.lt.ftz.f16", Kind::pred, {Kind::f16, Kind::f16}));
  cases.push_back(plain("set.eq.ftz.u32.f32", Kind::b32, {Kind::f32, Kind::f32}));
}

// All lanes participate; amounts and values are the operands, lane by lane.
inline void add_warp_cases(std::vector<ScalarCase>& cases) {
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    for (const std::string c : {"0", "31", "0x1807", "0x101f", "0x1c00"}) {
      cases.push_back({"shfl.sync." + mode + ".b32 %r5|%p5, %r1, %r2, " + c +
                           ", -1; selp.b32 %r6, 0x55, 0, %p5; xor.b32 %r0, %r5, %r6;",
                       Kind::b32,
                       {Kind::b32, Kind::count}});
    }
  }
  for (const char* mode : {"all", "any", "uni"}) {
    cases.push_back({std::string("vote.sync.") + mode + ".pred %p0, %p1, -1;", Kind::pred, {Kind::pred}});
  }
  cases.push_back({"vote.sync.ballot.b32 %r0, !%p1, -1;", Kind::b32, {Kind::pred}});
  cases.push_back({"and.b32 %r1, %r1, 3; match.any.sync.b32 %r0, %r1, -1;", Kind::b32, {Kind::b32}});
  cases.push_back({"match.all.sync.b64 %r5|%p5, %d1, -1; selp.b32 %r6, 1, 0, %p5; xor.b32 %r0, %r5, %r6;",
                   Kind::b32,
                   {Kind::b64}});
  for (const char* one :
       {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32"}) {
    cases.push_back({std::string("redux.sync.") + one + " %r0, %r1, -1;", Kind::b32, {Kind::b32}});
  }
  cases.push_back(
      {"elect.sync %r5|%p5, -1; selp.b32 %r6, 64, 0, %p5; or.b32 %r0, %r5, %r6;", Kind::b32, {Kind::b32}});
  cases.push_back({"activemask.b32 %r0;", Kind::b32, {Kind::b32}});
  cases.push_back(
      {"mov.u32 %r5, %lanemask_lt; mov.u32 %r6, %lanemask_ge; and.b32 %r5, %r5, %r1;"
       "and.b32 %r6, %r6, 0xf0f0f0f0; xor.b32 %r0, %r5, %r6;",
       Kind::b32,
       {Kind::b32}});
}

// SIMD video instructions with a mask and selected parts.
inline void add_video_cases(std::vector<ScalarCase>& cases) {
  const auto add = [&](const std::string& instruction, const char* operands) {
    cases.push_back({instruction + operands, Kind::b32, {Kind::b32, Kind::b32, Kind::b32}});
  };
  const char* const halves[] = {" %r0, %r1.h13, %r2.h02, %r3;", " %r0.h1, %r1.h32, %r2.h21, %r3;"};
  const char* const bytes[] = {" %r0, %r1.b7034, %r2.b1256, %r3;", " %r0.b320, %r1.b0123, %r2.b4567, %r3;"};
  for (const std::string last : {"", ".sat", ".add"}) {
    for (const std::string operation : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"})
      for (const std::string types : {".u32.u32.u32", ".s32.s32.s32", ".u32.s32.u32", ".s32.u32.s32"}) {
        for (const char* operands : halves) add(operation + "2" + types + last, operands);
        for (const char* operands : bytes) add(operation + "4" + types + last, operands);
      }
    if (last == ".sat") continue;
    for (const std::string types : {".u32.u32", ".s32.u32"})
      for (const std::string comparison : {".eq", ".ne", ".lt", ".le", ".gt", ".ge"}) {
        for (const char* operands : halves) add("vset2" + types + comparison + last, operands);
        for (const char* operands : bytes) add("vset4" + types + comparison + last, operands);
      }
  }
}

inline std::vector<ScalarCase> scalar_cases() {
  std::vector<ScalarCase> cases;
  add_integer_cases(cases);
  add_video_cases(cases);
  add_float_cases(cases);
  add_conversion_cases(cases);
  add_compare_cases(cases);
  add_warp_cases(cases);
  return cases;
}

constexpr int scalar_operands = 4;  // at most

// One entry per case, "case_0" and so on, of (out, in1, in2, in3, in4): arrays of 64-bit words, one per
// thread. Each operand takes the low bits of its word; the result is zero-extended. Blocks must be whole
// warps.
inline std::string scalar_module(const std::vector<ScalarCase>& cases) {
  std::string text = ".version 8.6\n.target sm_90a\n.address_size 64\n";
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const ScalarCase& one = cases[i];
    text += ".visible .entry case_" + std::to_string(i) +
            "(.param .u64 out, .param .u64 in1, .param .u64 in2, .param .u64 in3, .param .u64 in4)\n{\n"
            ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"
            ".reg .b32 %i<4>; .reg .b64 %a<4>;\n"
            "mov.u32 %i0, %ctaid.x; mov.u32 %i1, %ntid.x; mov.u32 %i2, %tid.x;\n"
            "mad.lo.u32 %i3, %i0, %i1, %i2; mul.wide.u32 %a0, %i3, 8;\n";
    for (std::size_t k = 0; k < one.operands.size(); ++k) {
      const std::string index = std::to_string(k + 1);
      text += "ld.param.u64 %a1, [in" + index + "]; add.u64 %a1, %a1, %a0; ld.global.u64 %a2, [%a1];\n";
      switch (letter(one.operands[k])) {
        case 'p':
          text += "and.b64 %a2, %a2, 1; setp.ne.u64 %p" + index + ", %a2, 0;\n";
          break;
        case 'h':
          text += "cvt.u16.u64 %h" + index + ", %a2;\n";
          break;
        case 'r':
          text += "cvt.u32.u64 %r" + index + ", %a2;\n";
          break;
        default:
          text += "mov.b64 %d" + index + ", %a2;\n";
          break;
      }
    }
    text += one.text + "\nld.param.u64 %a1, [out]; add.u64 %a1, %a1, %a0;\n";
    switch (letter(one.result)) {
      case 'p':
        text += "selp.u64 %a2, 1, 0, %p0;\n";
        break;
      case 'h':
        text += "cvt.u64.u16 %a2, %h0;\n";
        break;
      case 'r':
        text += "cvt.u64.u32 %a2, %r0;\n";
        break;
      default:
        text += "mov.b64 %a2, %d0;\n";
        break;
    }
    text += "st.global.u64 [%a1], %a2;\nret;\n}\n";
  }
  return text;
}

}  // namespace tenon::emulator::testing
