// Layouts made visible: as a table of lanes, as the matrix with an owner in every cell, and the same as a
// picture. Host only, compiled: link with tenon::layouts.
//
//   tenon::print_layout_lanes(std::cout, *tenon::find_layout("m16n8k16", "f16", "a"));
//
// Below: catalogue.hpp. Defined in src/fragment/print.cpp.
#pragma once

#include <iosfwd>

#include "tenon/fragment/catalogue.hpp"

namespace tenon {

// One line a lane: "lane  1: (0,2) (0,3) | (8,2) (8,3)", its elements in order, a bar between registers.
void print_layout_lanes(std::ostream& out, const NamedLayout& layout);

// The matrix, lane:element in every cell. Of the matrices of a Volta fragment: the first.
void print_layout_matrix(std::ostream& out, const NamedLayout& layout);

// The same as an SVG image: a cell for each element, "T lane" over the element, coloured by the lane: a hue
// for each group of four lanes, lighter from lane to lane within it.
void print_layout_svg(std::ostream& out, const NamedLayout& layout);

}  // namespace tenon
