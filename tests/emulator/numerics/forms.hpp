// Every dense and sparse form of mma that the emulator knows, and wmma.mma's, as data for tests.
#pragma once

#include <string>
#include <vector>

#include "emulator/numerics/mma.hpp"

namespace tenon::emulator::numerics {

inline Form make_form(Shape shape, ptx::Type a, ptx::Type b, ptx::Type c, ptx::Type d) {
  Form form;
  form.shape = shape;
  form.a = a, form.b = b, form.c = c, form.d = d;
  return form;
}

inline std::vector<Form> dense_forms() {
  using ptx::Type;
  std::vector<Form> forms;
  const auto add = [&](Shape shape, Type a, Type b, Type c, Type d) {
    forms.push_back(make_form(shape, a, b, c, d));
  };
  for (bool a_row : {true, false}) {
    for (bool b_row : {true, false}) {
      for (auto [c, d] : {std::pair{Type::f16, Type::f16}, {Type::f16, Type::f32}, {Type::f32, Type::f32}}) {
        add({8, 8, 4}, Type::f16, Type::f16, c, d);
        forms.back().a_row_major = a_row, forms.back().b_row_major = b_row;
      }
    }
  }
  for (int k : {8, 16}) {
    add({16, 8, k}, Type::f16, Type::f16, Type::f16, Type::f16);
    add({16, 8, k}, Type::f16, Type::f16, Type::f32, Type::f32);
    add({16, 8, k}, Type::bf16, Type::bf16, Type::f32, Type::f32);
  }
  for (int k : {4, 8}) add({16, 8, k}, Type::tf32, Type::tf32, Type::f32, Type::f32);
  for (Rounding rounding : {Rounding::nearest_even, Rounding::to_zero, Rounding::down, Rounding::up}) {
    for (Shape shape : {Shape{8, 8, 4}, Shape{16, 8, 4}, Shape{16, 8, 8}, Shape{16, 8, 16}}) {
      add(shape, Type::f64, Type::f64, Type::f64, Type::f64);
      forms.back().rounding = rounding;
    }
  }
  for (bool saturate : {false, true}) {
    for (auto [x, y] : {std::pair{Type::s8, Type::u8}, {Type::s4, Type::u4}}) {
      const int scale = x == Type::s8 ? 1 : 2;
      for (Shape shape : {Shape{8, 8, 16 * scale}, Shape{16, 8, 16 * scale}, Shape{16, 8, 32 * scale}}) {
        for (Type a : {x, y}) {
          for (Type b : {x, y}) {
            add(shape, a, b, Type::s32, Type::s32);
            forms.back().saturate = saturate;
          }
        }
      }
    }
  }
  for (bool exclusive : {false, true}) {
    for (Shape shape : {Shape{8, 8, 128}, Shape{16, 8, 128}, Shape{16, 8, 256}}) {
      add(shape, Type::b1, Type::b1, Type::s32, Type::s32);
      forms.back().exclusive = exclusive;
    }
  }
  for (int k : {16, 32}) {
    for (Type a : {Type::e4m3, Type::e5m2}) {
      for (Type b : {Type::e4m3, Type::e5m2}) {
        for (Type c : {Type::f16, Type::f32}) add({16, 8, k}, a, b, c, c);
      }
    }
  }
  return forms;
}

inline std::vector<Form> sparse_forms() {
  using ptx::Type;
  std::vector<Form> forms;
  const auto add = [&](int k, Type a, Type b, Type c) {
    Form form = make_form({16, 8, k}, a, b, c, c);
    form.sparse = true;
    for (form.selector = 0; form.selector < sparse_selectors(form.shape, a); ++form.selector) {
      for (bool saturate : {false, true}) {
        form.saturate = saturate;
        if (!saturate || c == Type::s32) forms.push_back(form);
      }
    }
  };
  for (int k : {16, 32}) {
    add(k, Type::f16, Type::f16, Type::f16);
    add(k, Type::f16, Type::f16, Type::f32);
    add(k, Type::bf16, Type::bf16, Type::f32);
  }
  for (int k : {8, 16}) add(k, Type::tf32, Type::tf32, Type::f32);
  for (auto [x, y] : {std::pair{Type::s8, Type::u8}, {Type::s4, Type::u4}}) {
    for (int k : {32, 64}) {
      for (Type a : {x, y}) {
        for (Type b : {x, y}) add(x == Type::s8 ? k : 2 * k, a, b, Type::s32);
      }
    }
  }
  for (Type a : {Type::e4m3, Type::e5m2}) {
    for (Type b : {Type::e4m3, Type::e5m2}) add(64, a, b, Type::f32);
  }
  return forms;
}

inline std::vector<Form> wmma_forms() {
  using ptx::Type;
  std::vector<Form> forms;
  const auto add = [&](Shape shape, Type a, Type c, Type d) {
    forms.push_back(make_form(shape, a, a, c, d));
    forms.back().unit = Unit::wmma;
  };
  for (Shape shape : {Shape{16, 16, 16}, Shape{32, 8, 16}, Shape{8, 32, 16}}) {
    for (Type c : {Type::f16, Type::f32}) {
      for (Type d : {Type::f16, Type::f32}) add(shape, Type::f16, c, d);
    }
    add(shape, Type::bf16, Type::f32, Type::f32);
    add(shape, Type::s8, Type::s32, Type::s32);
    add(shape, Type::u8, Type::s32, Type::s32);
  }
  add({16, 16, 8}, Type::tf32, Type::f32, Type::f32);
  add({8, 8, 4}, Type::f64, Type::f64, Type::f64);
  add({8, 8, 32}, Type::s4, Type::s32, Type::s32);
  add({8, 8, 32}, Type::u4, Type::s32, Type::s32);
  add({8, 8, 128}, Type::b1, Type::s32, Type::s32);
  return forms;
}

inline const char* type_name(ptx::Type type) {
  using ptx::Type;
  switch (type) {
    case Type::f16:
      return "f16";
    case Type::bf16:
      return "bf16";
    case Type::tf32:
      return "tf32";
    case Type::e4m3:
      return "e4m3";
    case Type::e5m2:
      return "e5m2";
    case Type::f32:
      return "f32";
    case Type::f64:
      return "f64";
    case Type::s8:
      return "s8";
    case Type::u8:
      return "u8";
    case Type::s4:
      return "s4";
    case Type::u4:
      return "u4";
    case Type::b1:
      return "b1";
    case Type::s32:
      return "s32";
    default:
      return "?";
  }
}

// The PTX mnemonic of a form of mma; `ordered` for mma.sp::ordered_metadata.
inline std::string mnemonic(const Form& form, bool ordered = false) {
  const auto layout = [](bool row) { return row ? std::string("row") : std::string("col"); };
  std::string text = form.sparse ? ordered ? "mma.sp::ordered_metadata" : "mma.sp" : "mma";
  text += ".sync.aligned.m" + std::to_string(form.shape.m) + "n" + std::to_string(form.shape.n) + "k" +
          std::to_string(form.shape.k) + "." + layout(form.a_row_major) + "." + layout(form.b_row_major);
  if (form.saturate) text += ".satfinite";
  for (ptx::Type type : {form.d, form.a, form.b, form.c}) text += std::string(".") + type_name(type);
  if (form.a == ptx::Type::b1) text += form.exclusive ? ".xor.popc" : ".and.popc";
  if (form.a == ptx::Type::f64) {
    constexpr const char* suffix[] = {".rn", ".rz", ".rm", ".rp"};
    text += suffix[static_cast<int>(form.rounding)];
  }
  return text;
}

}  // namespace tenon::emulator::numerics
