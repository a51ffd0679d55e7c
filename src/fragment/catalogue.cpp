// The list of tenon/fragment/catalogue.hpp: every layout that exists, from the rules of layout.hpp.
#include "tenon/fragment/catalogue.hpp"

#include <cstdint>
#include <cstring>
#include <deque>
#include <ostream>
#include <string>
#include <vector>

namespace tenon {
namespace {

using List = std::vector<NamedLayout>;

template <class Layout>
NamedLayout named_layout(const char* shape, const char* type, const char* operand) {
  NamedLayout layout{};
  layout.shape = shape;
  layout.type = type;
  layout.operand = operand;
  layout.rows = Layout::rows;
  layout.cols = Layout::cols;
  layout.bits = Layout::bits;
  layout.matrices = Layout::matrices;
  layout.elements = Layout::elements;
  layout.registers = Layout::registers;
  layout.lanes = Layout::lanes;
  layout.coord = [](int lane, int element) { return Layout::coord(lane, element); };
  layout.owner = [](int row, int col) { return Layout::owner(row, col); };
  layout.register_of = [](int element) { return Layout::register_of(element); };
  layout.bit_of = [](int element) { return Layout::bit_of(element); };
  return layout;
}

// A and B of one shape in each of the types, as far as the instruction exists.
template <class Shape, class T>
void add_operands_of(List& list, const char* shape) {
  if constexpr (mma_has_operand<Shape, T>()) {
    list.push_back(named_layout<LayoutA<Shape, T>>(shape, Element<T>::name, "a"));
    list.push_back(named_layout<LayoutB<Shape, T>>(shape, Element<T>::name, "b"));
  }
}
template <class Shape, class T>
void add_accumulator_of(List& list, const char* shape) {
  if constexpr (AccumulatorExists<Shape, T>::value) {
    list.push_back(named_layout<LayoutC<Shape, T>>(shape, Element<T>::name, "c"));
  }
}
template <class Shape>
void add_shape(List& list, const char* shape) {
  add_operands_of<Shape, __half>(list, shape);
  add_operands_of<Shape, __nv_bfloat16>(list, shape);
  add_operands_of<Shape, tf32>(list, shape);
  add_operands_of<Shape, double>(list, shape);
  add_operands_of<Shape, e4m3>(list, shape);
  add_operands_of<Shape, e5m2>(list, shape);
  add_operands_of<Shape, std::int8_t>(list, shape);
  add_operands_of<Shape, std::uint8_t>(list, shape);
  add_operands_of<Shape, s4>(list, shape);
  add_operands_of<Shape, u4>(list, shape);
  add_operands_of<Shape, b1>(list, shape);
  add_accumulator_of<Shape, float>(list, shape);
  add_accumulator_of<Shape, __half>(list, shape);
  add_accumulator_of<Shape, double>(list, shape);
  add_accumulator_of<Shape, std::int32_t>(list, shape);
}

// Operands that have a row and a column form.
template <class Shape, class T>
void add_ordered_operands_of(List& list, const char* shape) {
  constexpr const char* type = Element<T>::name;
  list.push_back(named_layout<LayoutA<Shape, T, Major::row>>(shape, type, "a_row"));
  list.push_back(named_layout<LayoutA<Shape, T, Major::column>>(shape, type, "a_col"));
  list.push_back(named_layout<LayoutB<Shape, T, Major::row>>(shape, type, "b_row"));
  list.push_back(named_layout<LayoutB<Shape, T, Major::column>>(shape, type, "b_col"));
}

// f16 of Volta.
void add_volta_shape(List& list) {
  add_ordered_operands_of<m8n8k4, __half>(list, "m8n8k4");
  list.push_back(named_layout<LayoutC<m8n8k4, __half>>("m8n8k4", "f16", "c"));
  list.push_back(named_layout<LayoutC<m8n8k4, float>>("m8n8k4", "f32", "c"));
}

template <class Shape, class T>
void add_wmma_operands_of(List& list, const char* shape) {
  if constexpr (wmma_has_operand<Shape, T>()) add_ordered_operands_of<Shape, T>(list, shape);
}
template <class Shape, class T>
void add_wmma_accumulator_of(List& list, const char* shape) {
  if constexpr (wmma_has_accumulator<Shape, T>())
    list.push_back(named_layout<LayoutC<Shape, T>>(shape, Element<T>::name, "c"));
}
template <class Shape>
void add_wmma_shape(List& list, const char* shape) {
  add_wmma_operands_of<Shape, __half>(list, shape);
  add_wmma_operands_of<Shape, __nv_bfloat16>(list, shape);
  add_wmma_operands_of<Shape, tf32>(list, shape);
  add_wmma_operands_of<Shape, double>(list, shape);
  add_wmma_operands_of<Shape, std::int8_t>(list, shape);
  add_wmma_operands_of<Shape, std::uint8_t>(list, shape);
  add_wmma_accumulator_of<Shape, __half>(list, shape);
  add_wmma_accumulator_of<Shape, float>(list, shape);
  add_wmma_accumulator_of<Shape, double>(list, shape);
  add_wmma_accumulator_of<Shape, std::int32_t>(list, shape);
}

// The layouts of wgmma of one k. Their rule does not know n: those of the widest serve all.
template <int K, class T>
void add_wgmma_operand(List& list, const char* shape, int n) {
  if constexpr (wgmma_has_operand<WgmmaShape<256, K>, T>()) {
    if (wgmma_has_n<T>(n))
      list.push_back(named_layout<LayoutA<WgmmaShape<256, K>, T>>(shape, Element<T>::name, "a"));
  }
}
template <int K, class T>
void add_wgmma_accumulator(List& list, const char* shape, int n) {
  using Widest = WgmmaShape<256, K>;
  if constexpr (AccumulatorExists<Widest, T>::value) {
    if (!wgmma_has_n<T>(n)) return;
    NamedLayout layout = named_layout<LayoutC<Widest, T>>(shape, Element<T>::name, "c");
    layout.cols = n;
    layout.elements = layout.elements * n / 256;
    layout.registers = layout.registers * n / 256;
    list.push_back(layout);
  }
}
template <int K>
void add_wgmma_shapes(List& list, std::deque<std::string>& names) {
  for (int n = 8; n <= 256; n += 8) {
    if (K == 256 && !wgmma_has_n<b1>(n)) continue;
    names.push_back("m64n" + std::to_string(n) + "k" + std::to_string(K));
    const char* shape = names.back().c_str();
    add_wgmma_operand<K, __half>(list, shape, n);
    add_wgmma_operand<K, __nv_bfloat16>(list, shape, n);
    add_wgmma_operand<K, tf32>(list, shape, n);
    add_wgmma_operand<K, e4m3>(list, shape, n);
    add_wgmma_operand<K, e5m2>(list, shape, n);
    add_wgmma_operand<K, std::int8_t>(list, shape, n);
    add_wgmma_operand<K, std::uint8_t>(list, shape, n);
    add_wgmma_operand<K, b1>(list, shape, n);
    add_wgmma_accumulator<K, float>(list, shape, n);
    add_wgmma_accumulator<K, __half>(list, shape, n);
    add_wgmma_accumulator<K, std::int32_t>(list, shape, n);
  }
}

List all_layouts() {
  static std::deque<std::string> names;  // what NamedLayout::shape points to

  List list;
  add_operands_of<m8n8k4, double>(list, "m8n8k4");
  add_accumulator_of<m8n8k4, double>(list, "m8n8k4");
  add_volta_shape(list);
  add_shape<m8n8k16>(list, "m8n8k16");
  add_shape<m8n8k32>(list, "m8n8k32");
  add_shape<m8n8k128>(list, "m8n8k128");
  add_shape<m16n8k4>(list, "m16n8k4");
  add_shape<m16n8k8>(list, "m16n8k8");
  add_shape<m16n8k16>(list, "m16n8k16");
  add_shape<m16n8k32>(list, "m16n8k32");
  add_shape<m16n8k64>(list, "m16n8k64");
  add_shape<m16n8k128>(list, "m16n8k128");
  add_shape<m16n8k256>(list, "m16n8k256");
  add_wmma_shape<wmma16x16x16>(list, "wmma16x16x16");
  add_wmma_shape<wmma32x8x16>(list, "wmma32x8x16");
  add_wmma_shape<wmma8x32x16>(list, "wmma8x32x16");
  add_wmma_shape<wmma16x16x8>(list, "wmma16x16x8");
  add_wmma_shape<wmma8x8x4>(list, "wmma8x8x4");
  add_wgmma_shapes<8>(list, names);
  add_wgmma_shapes<16>(list, names);
  add_wgmma_shapes<32>(list, names);
  add_wgmma_shapes<256>(list, names);
  return list;
}

bool same(const char* x, const char* y) {
  return std::strcmp(x, y) == 0;
}

}  // namespace

NamedLayouts layouts() {
  static const List all = all_layouts();
  return {all.data(), all.data() + all.size()};
}

const NamedLayout* find_layout(const char* shape, const char* type, const char* operand) {
  const char* role = same(operand, "d") ? "c" : operand;
  for (const NamedLayout& layout : layouts()) {
    if (same(layout.shape, shape) && same(layout.type, type) && same(layout.operand, role)) return &layout;
  }
  return nullptr;
}

void print_no_such_layout(std::ostream& out, const char* shape, const char* type, const char* operand) {
  std::string shapes, choices;
  const char* previous = "";
  for (const NamedLayout& layout : layouts()) {
    if (same(layout.shape, shape)) {
      choices += (choices.empty() ? "" : ", ") + std::string(layout.type) + " " + layout.operand;
    }
    // The shapes of wgmma are too many to be read out.
    if (!same(layout.shape, previous) && layout.lanes == 32)
      shapes += (shapes.empty() ? "" : ", ") + std::string(layout.shape);
    previous = layout.shape;
  }
  if (choices.empty()) {
    out << "no shape is called '" << shape << "'; there are " << shapes
        << ", and m64nNk8, m64nNk16, m64nNk32 and m64nNk256 with N from 8 to 256 in steps of 8 (16 from 32 "
           "on for k256)";
  } else {
    out << shape << " has no operand '" << operand << "' of type '" << type << "'; it has " << choices;
  }
}

}  // namespace tenon
