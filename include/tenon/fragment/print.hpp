// Prints layouts: as a table of lanes, as the matrix with the owner in every cell, and as a picture. Host
// only, compiled: link with tenon::layouts.
//
//   tenon::print_layout_lanes(std::cout, *tenon::find_layout("m16n8k16", "f16", "a"));
//
// Builds on catalogue.hpp. Defined in src/fragment/print.cpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <iosfwd>

#include "tenon/fragment/catalogue.hpp"

namespace tenon {

// Prints a line per lane: "lane 1: (0,2) (0,3) | (8,2) (8,3)", its elements in order, with a bar between
// registers.
void print_layout_lanes(std::ostream& out, const NamedLayout& layout);

// Prints the matrix with lane:element in every cell. Of a Volta fragment it prints the first matrix.
void print_layout_matrix(std::ostream& out, const NamedLayout& layout);

// Prints the same as an SVG image: each cell shows the lane and the element. Each group of four lanes has a
// hue, each lane in it a brightness.
void print_layout_svg(std::ostream& out, const NamedLayout& layout);

}  // namespace tenon
