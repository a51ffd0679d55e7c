// Every layout by name, for programs that learn at run time which one they want (`tenon layout m16n8k16 f16
// a`). Host only.
//
//   const tenon::NamedLayout* layout = tenon::find_layout("m16n8k16", "f16", "a");    // nullptr: there is
//   none tenon::Owner who = layout->owner(8, 2);
//
// Operands are "a", "b" and "c" (D has the layout of C, and "d" finds it). Where the order of the matrix
// belongs to the instruction, for wmma16x16x16 and for the f16 m8n8k4 of Volta, they are "a_row", "a_col",
// "b_row", "b_col" and "c". Types are PTX's: f16 bf16 tf32 f64 e4m3 e5m2 s8 u8 s4 u4 b1 for operands, f16 f32
// f64 s32 for accumulators. Below: layout.hpp.
#pragma once

#include <string>
#include <vector>

#include "tenon/fragment/layout.hpp"

namespace tenon {

// A layout without its type; the members are those of LayoutOf and of the layout itself.
struct NamedLayout {
  std::string shape, type, operand;
  int rows, cols, bits, matrices, elements, registers;
  int lanes = 32;
  Coord (*coord)(int lane, int element);
  Owner (*owner)(int row, int col);  // where matrices > 1: the owner in the first of them
  int (*register_of)(int element);
  int (*bit_of)(int element);
};

template <class Layout>
NamedLayout named_layout(const std::string& shape, const std::string& type, const std::string& operand) {
  NamedLayout layout;
  layout.shape = shape;
  layout.type = type;
  layout.operand = operand;
  layout.rows = Layout::rows;
  layout.cols = Layout::cols;
  layout.bits = Layout::bits;
  layout.matrices = Layout::matrices;
  layout.elements = Layout::elements;
  layout.registers = Layout::registers;
  layout.coord = [](int lane, int element) { return Layout::coord(lane, element); };
  layout.owner = [](int row, int col) { return Layout::owner(row, col); };
  layout.register_of = [](int element) { return Layout::register_of(element); };
  layout.bit_of = [](int element) { return Layout::bit_of(element); };
  return layout;
}

namespace catalogue {

using List = std::vector<NamedLayout>;

template <class Shape>
std::string shape_name() {
  return "m" + std::to_string(Shape::m) + "n" + std::to_string(Shape::n) + "k" + std::to_string(Shape::k);
}

// A and B of one shape in each of the types, as far as the instruction exists.
template <class Shape, class T>
void add_operands_of(List& list) {
  if constexpr (mma_has_operand<Shape, T>()) {
    list.push_back(named_layout<LayoutA<Shape, T>>(shape_name<Shape>(), Element<T>::name, "a"));
    list.push_back(named_layout<LayoutB<Shape, T>>(shape_name<Shape>(), Element<T>::name, "b"));
  }
}
template <class Shape, class T>
void add_accumulator_of(List& list) {
  if constexpr (AccumulatorExists<Shape, T>::value) {
    list.push_back(named_layout<LayoutC<Shape, T>>(shape_name<Shape>(), Element<T>::name, "c"));
  }
}
template <class Shape>
void add_shape(List& list) {
  add_operands_of<Shape, __half>(list);
  add_operands_of<Shape, __nv_bfloat16>(list);
  add_operands_of<Shape, tf32>(list);
  add_operands_of<Shape, double>(list);
  add_operands_of<Shape, e4m3>(list);
  add_operands_of<Shape, e5m2>(list);
  add_operands_of<Shape, std::int8_t>(list);
  add_operands_of<Shape, std::uint8_t>(list);
  add_operands_of<Shape, s4>(list);
  add_operands_of<Shape, u4>(list);
  add_operands_of<Shape, b1>(list);
  add_accumulator_of<Shape, float>(list);
  add_accumulator_of<Shape, __half>(list);
  add_accumulator_of<Shape, double>(list);
  add_accumulator_of<Shape, std::int32_t>(list);
}

// f16 where the operands have a row and a column form.
template <class Shape>
void add_ordered_shape(List& list, const std::string& shape) {
  list.push_back(named_layout<LayoutA<Shape, __half, Major::row>>(shape, "f16", "a_row"));
  list.push_back(named_layout<LayoutA<Shape, __half, Major::column>>(shape, "f16", "a_col"));
  list.push_back(named_layout<LayoutB<Shape, __half, Major::row>>(shape, "f16", "b_row"));
  list.push_back(named_layout<LayoutB<Shape, __half, Major::column>>(shape, "f16", "b_col"));
  list.push_back(named_layout<LayoutC<Shape, __half>>(shape, "f16", "c"));
  list.push_back(named_layout<LayoutC<Shape, float>>(shape, "f32", "c"));
}

}  // namespace catalogue

inline const std::vector<NamedLayout>& layouts() {
  static const std::vector<NamedLayout> all = [] {
    catalogue::List list;
    catalogue::add_shape<m8n8k4>(list);
    catalogue::add_ordered_shape<m8n8k4>(list, "m8n8k4");
    catalogue::add_shape<m8n8k16>(list);
    catalogue::add_shape<m8n8k32>(list);
    catalogue::add_shape<m8n8k128>(list);
    catalogue::add_shape<m16n8k4>(list);
    catalogue::add_shape<m16n8k8>(list);
    catalogue::add_shape<m16n8k16>(list);
    catalogue::add_shape<m16n8k32>(list);
    catalogue::add_shape<m16n8k64>(list);
    catalogue::add_shape<m16n8k128>(list);
    catalogue::add_shape<m16n8k256>(list);
    catalogue::add_ordered_shape<wmma16x16x16>(list, "wmma16x16x16");
    return list;
  }();
  return all;
}

inline const NamedLayout* find_layout(const std::string& shape, const std::string& type,
                                      const std::string& operand) {
  const std::string role = operand == "d" ? "c" : operand;
  for (const NamedLayout& layout : layouts()) {
    if (layout.shape == shape && layout.type == type && layout.operand == role) return &layout;
  }
  return nullptr;
}

// The sentence for a find_layout that found nothing: what was asked, and what there is.
inline std::string no_such_layout(const std::string& shape, const std::string& type,
                                  const std::string& operand) {
  std::string shapes, choices, previous;
  for (const NamedLayout& layout : layouts()) {  // sorted by shape
    if (layout.shape == shape) choices += (choices.empty() ? "" : ", ") + layout.type + " " + layout.operand;
    if (layout.shape != previous) shapes += (shapes.empty() ? "" : ", ") + layout.shape;
    previous = layout.shape;
  }
  if (choices.empty()) return "no shape is called '" + shape + "'; there are " + shapes;
  return shape + " has no operand '" + operand + "' of type '" + type + "'; it has " + choices;
}

}  // namespace tenon
