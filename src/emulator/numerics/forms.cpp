#include "emulator/numerics/forms.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace tenon::emulator::numerics {
namespace {

using ptx::Type;

constexpr Rounding roundings[] = {Rounding::nearest_even, Rounding::to_zero, Rounding::down, Rounding::up};
constexpr const char* rounding_names[] = {".rn", ".rz", ".rm", ".rp"};

std::string shape_name(Shape shape) {
  return "m" + std::to_string(shape.m) + "n" + std::to_string(shape.n) + "k" + std::to_string(shape.k);
}

class Builder {
 public:
  std::vector<NamedForm> list;

  void mma() {
    const Type f16 = Type::f16, f32 = Type::f32;
    for (const bool a_row : {true, false}) {
      for (const bool b_row : {true, false}) {
        for (auto [c, d] : {std::pair{f16, f16}, {f16, f32}, {f32, f32}}) {
          form_ = Form{};
          form_.a_row_major = a_row;
          form_.b_row_major = b_row;
          add({8, 8, 4}, f16, f16, c, d, 70);
        }
      }
    }
    form_ = Form{};
    for (const int k : {8, 16}) {
      for (const Type c : {f16, f32}) add({16, 8, k}, f16, f16, c, c, k == 8 ? 75 : 80);
      add({16, 8, k}, Type::bf16, Type::bf16, f32, f32, 80);
    }
    for (const int k : {4, 8}) add({16, 8, k}, Type::tf32, Type::tf32, f32, f32, 80);
    for (const Shape shape : {Shape{8, 8, 4}, Shape{16, 8, 4}, Shape{16, 8, 8}, Shape{16, 8, 16}}) {
      for (int i = 0; i < 4; ++i) {
        form_.rounding = roundings[i];
        const int target = shape.m == 8 ? 80 : 90;
        add(shape, Type::f64, Type::f64, Type::f64, Type::f64, target, rounding_names[i]);
        if (i == 0) alternative(without_suffix(list.back().text, 3));
      }
    }
    form_ = Form{};
    for (const bool saturate : {false, true}) {
      form_.saturate = saturate;
      integers({8, 8, 16}, Type::s8, Type::u8, 75);
      integers({16, 8, 16}, Type::s8, Type::u8, 80);
      integers({16, 8, 32}, Type::s8, Type::u8, 80);
      integers({8, 8, 32}, Type::s4, Type::u4, 75);
      integers({16, 8, 32}, Type::s4, Type::u4, 80);
      integers({16, 8, 64}, Type::s4, Type::u4, 80);
    }
    for (const bool exclusive : {true, false}) {
      form_ = Form{};
      form_.exclusive = exclusive;
      for (const Shape shape : {Shape{8, 8, 128}, Shape{16, 8, 128}, Shape{16, 8, 256}}) {
        add(shape, Type::b1, Type::b1, Type::s32, Type::s32, exclusive && shape.m == 8 ? 75 : 80,
            exclusive ? ".xor.popc" : ".and.popc");
      }
    }
    form_ = Form{};
    for (const int k : {16, 32}) {
      for (const Type c : {f32, f16}) fp8(k, c);
    }
  }

  void wgmma() {
    const Type f16 = Type::f16, f32 = Type::f32;
    form_ = Form{};
    form_.unit = Unit::wgmma;
    for (const Type d : {f16, f32}) add_wgmma(16, f16, f16, d);
    add_wgmma(16, Type::bf16, Type::bf16, f32);
    add_wgmma(8, Type::tf32, Type::tf32, f32);
    for (const Type d : {f16, f32}) {
      for (const Type a : {Type::e4m3, Type::e5m2}) {
        for (const Type b : {Type::e4m3, Type::e5m2}) add_wgmma(32, a, b, d);
      }
    }
    for (const bool saturate : {false, true}) {
      form_.saturate = saturate;
      for (const Type a : {Type::s8, Type::u8}) {
        for (const Type b : {Type::s8, Type::u8}) add_wgmma(32, a, b, Type::s32);
      }
    }
  }

  void sparse_mma(bool ordered) {
    ordered_ = ordered;
    form_ = Form{};
    form_.sparse = true;
    for (const int k : {16, 32}) {
      add({16, 8, k}, Type::f16, Type::f16, Type::f16, Type::f16, 80);
      add({16, 8, k}, Type::f16, Type::f16, Type::f32, Type::f32, 80);
      add({16, 8, k}, Type::bf16, Type::bf16, Type::f32, Type::f32, 80);
    }
    for (const int k : {8, 16}) add({16, 8, k}, Type::tf32, Type::tf32, Type::f32, Type::f32, 80);
    for (const bool saturate : {false, true}) {
      form_.saturate = saturate;
      for (const int k : {32, 64}) {
        integers({16, 8, k}, Type::s8, Type::u8, 80);
        integers({16, 8, 2 * k}, Type::s4, Type::u4, 80);
      }
    }
    form_.saturate = false;
    fp8(64, Type::f32);
  }

  void wmma() {
    const Type f16 = Type::f16, f32 = Type::f32;
    form_ = Form{};
    form_.unit = Unit::wmma;
    for (const Shape shape : {Shape{16, 16, 16}, Shape{32, 8, 16}, Shape{8, 32, 16}}) {
      for (const Type d : {f16, f32}) {
        for (const Type c : {f16, f32}) {
          layouts(shape, f16, c, d, 70, std::string(".") + name(d) + "." + name(c));
        }
      }
      layouts(shape, Type::bf16, f32, f32, 80, ".f32.bf16.bf16.f32");
      for (const Type a : {Type::s8, Type::u8}) {
        for (const bool saturate : {false, true}) {
          form_.saturate = saturate;
          layouts(shape, a, Type::s32, Type::s32, 72, types(Type::s32, a, a, Type::s32) + satfinite());
        }
      }
      form_.saturate = false;
    }
    layouts({16, 16, 8}, Type::tf32, f32, f32, 80, ".f32.tf32.tf32.f32");
    for (int i = 0; i < 4; ++i) {
      form_.rounding = roundings[i];
      layouts({8, 8, 4}, Type::f64, Type::f64, Type::f64, 80,
              std::string(rounding_names[i]) + ".f64.f64.f64.f64");
      if (i == 0) layouts({8, 8, 4}, Type::f64, Type::f64, Type::f64, 80, ".f64.f64.f64.f64");
    }
    form_.rounding = Rounding::nearest_even;
    for (const Type a : {Type::s4, Type::u4}) {
      for (const bool saturate : {false, true}) {
        form_.saturate = saturate;
        add_text({8, 8, 32}, a, a, Type::s32, Type::s32, 75,
                 "wmma.mma.sync.aligned.row.col.m8n8k32" + types(Type::s32, a, a, Type::s32) + satfinite());
      }
    }
    form_.saturate = false;
    for (const bool exclusive : {true, false}) {
      form_.exclusive = exclusive;
      add_text({8, 8, 128}, Type::b1, Type::b1, Type::s32, Type::s32, exclusive ? 75 : 80,
               std::string("wmma.mma.") + (exclusive ? "xor" : "and") +
                   ".popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32");
    }
  }

 private:
  static std::string types(Type d, Type a, Type b, Type c) {
    return std::string(".") + name(d) + "." + name(a) + "." + name(b) + "." + name(c);
  }
  static std::string without_suffix(const std::string& text, std::size_t letters) {
    return text.substr(0, text.size() - letters);
  }
  std::string satfinite() const { return form_.saturate ? ".satfinite" : ""; }

  void add_text(Shape shape, Type a, Type b, Type c, Type d, int target, const std::string& text) {
    form_.shape = shape;
    form_.a = a;
    form_.b = b;
    form_.c = c;
    form_.d = d;
    list.push_back({text, form_, target, ordered_, false});
  }
  void alternative(const std::string& text) {
    NamedForm other = list.back();
    other.text = text;
    other.is_alternative = true;
    list.push_back(other);
  }
  void add(Shape shape, Type a, Type b, Type c, Type d, int target, const std::string& suffix = "") {
    std::string text = !form_.sparse ? "mma" : ordered_ ? "mma.sp::ordered_metadata" : "mma.sp";
    text += ".sync.aligned." + shape_name(shape) + (form_.a_row_major ? ".row" : ".col") +
            (form_.b_row_major ? ".row" : ".col") + satfinite() + types(d, a, b, c) + suffix;
    add_text(shape, a, b, c, d, target, text);
  }
  void add_wgmma(int k, Type a, Type b, Type d) {
    add_text({16, 8, k}, a, b, d, d, 90,
             "wgmma.mma_async.sync.aligned.m64n8k" + std::to_string(k) + "." + name(d) + "." + name(a) + "." +
                 name(b) + satfinite());
  }
  void integers(Shape shape, Type x, Type y, int target) {
    for (const Type a : {x, y}) {
      for (const Type b : {x, y}) add(shape, a, b, Type::s32, Type::s32, target);
    }
  }
  void fp8(int k, Type c) {
    for (const Type a : {Type::e4m3, Type::e5m2}) {
      for (const Type b : {Type::e4m3, Type::e5m2}) add({16, 8, k}, a, b, c, c, 89);
    }
  }
  // wmma takes A and B in either layout; the fragments are the same.
  void layouts(Shape shape, Type a, Type c, Type d, int target, const std::string& suffix) {
    const std::string start = "wmma.mma.sync.aligned.", end = "." + shape_name(shape) + suffix;
    add_text(shape, a, a, c, d, target, start + "row.col" + end);
    for (const char* layout : {"row.row", "col.row", "col.col"}) {
      std::string text = start;
      alternative(text.append(layout).append(end));
    }
  }

  Form form_;
  bool ordered_ = false;
};

}  // namespace

const char* name(Type type) {
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

const std::vector<NamedForm>& forms() {
  static const std::vector<NamedForm> all = [] {
    Builder builder;
    builder.mma();
    builder.sparse_mma(false);
    builder.sparse_mma(true);
    builder.wmma();
    return std::move(builder.list);
  }();
  return all;
}

const std::vector<NamedForm>& wgmma_forms() {
  static const std::vector<NamedForm> all = [] {
    Builder builder;
    builder.wgmma();
    return std::move(builder.list);
  }();
  return all;
}

const NamedForm* find_form(const std::string& text) {
  static const std::unordered_map<std::string, const NamedForm*> by_text = [] {
    std::unordered_map<std::string, const NamedForm*> map;
    for (const NamedForm& form : forms()) map.emplace(form.text, &form);
    return map;
  }();
  auto found = by_text.find(text);
  // The ISA puts the rounding of wmma.mma and the .satfinite of mma before the types. nvcc puts the one after
  // them, CUTLASS the other, and ptxas accepts both.
  const std::size_t last = std::min(text.rfind('.'), text.size());
  const std::string modifier = text.substr(last);
  const bool saturates = modifier == ".satfinite";
  const std::size_t types = text.find(saturates ? ".s32." : ".f64.");
  if (found == by_text.end() && types < last && text.rfind(saturates ? "mma" : "wmma", 0) == 0)
    found = by_text.find(text.substr(0, types) + modifier + text.substr(types, last - types));
  return found == by_text.end() ? nullptr : found->second;
}

}  // namespace tenon::emulator::numerics
