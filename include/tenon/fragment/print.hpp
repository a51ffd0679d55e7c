// Layouts made visible: as a table of lanes, as the matrix with an owner in every cell, and the same as a
// picture. Host only. Below: catalogue.hpp.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

#include "tenon/fragment/catalogue.hpp"

namespace tenon {

namespace print {

inline std::string right_aligned(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

inline std::string title(const NamedLayout& layout) {
  std::string text = layout.shape + " " + layout.type + " " + layout.operand + ": " +
                     std::to_string(layout.rows) + " x " + std::to_string(layout.cols) + ", " +
                     std::to_string(layout.elements) + " elements in " + std::to_string(layout.registers) +
                     " registers a lane";
  if (layout.matrices > 1) text += ", " + std::to_string(layout.matrices) + " matrices a warp";
  return text;
}

}  // namespace print

// One line a lane: "lane  1: (0,2) (0,3) | (8,2) (8,3)", its elements in order, a bar between registers.
inline std::string layout_lanes(const NamedLayout& layout) {
  std::string text = print::title(layout) + "\n";
  for (int lane = 0; lane < layout.lanes; ++lane) {
    text += "lane " + print::right_aligned(std::to_string(lane), 2) + ":";
    for (int e = 0; e < layout.elements; ++e) {
      if (e > 0 && layout.register_of(e) != layout.register_of(e - 1)) text += " |";
      const Coord at = layout.coord(lane, e);
      text += " (" + std::to_string(at.row) + "," + std::to_string(at.col) + ")";
    }
    text += "\n";
  }
  return text;
}

// The matrix, lane:element in every cell. Of the matrices of a Volta fragment: the first.
inline std::string layout_matrix(const NamedLayout& layout) {
  const std::size_t width =
      4 + std::to_string(layout.elements - 1).size();  // a blank, two digits of lane, a colon
  std::string text = print::title(layout) + "\n" + std::string(4, ' ');
  for (int col = 0; col < layout.cols; ++col) text += print::right_aligned(std::to_string(col), width);
  text += "\n";
  for (int row = 0; row < layout.rows; ++row) {
    text += print::right_aligned(std::to_string(row), 3) + " ";
    for (int col = 0; col < layout.cols; ++col) {
      const Owner who = layout.owner(row, col);
      text += print::right_aligned(std::to_string(who.lane) + ":" + std::to_string(who.element), width);
    }
    text += "\n";
  }
  return text;
}

// The same as an SVG image: a cell for each element, "T lane" over the element, coloured by the lane: a hue
// for each group of four lanes, lighter from lane to lane within it.
inline std::string layout_svg(const NamedLayout& layout) {
  constexpr int cell_width = 34, cell_height = 28, margin = 34;
  constexpr int hues[8][3] = {{230, 97, 87},  {236, 158, 63}, {214, 200, 60},  {120, 190, 90},
                              {70, 185, 170}, {85, 150, 220}, {140, 120, 220}, {210, 110, 190}};
  const int width = 2 * margin + layout.cols * cell_width, height = 2 * margin + layout.rows * cell_height;
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(width) +
                    "\" height=\"" + std::to_string(height) +
                    "\" font-family=\"monospace\" font-size=\"10\" text-anchor=\"middle\">\n";
  const auto text_at = [&svg](int x, int y, const std::string& text) {
    svg += "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\">" + text + "</text>\n";
  };
  svg += "<title>" + print::title(layout) +
         "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  for (int col = 0; col < layout.cols; ++col) {
    text_at(margin + col * cell_width + cell_width / 2, margin - 6, std::to_string(col));
  }
  for (int row = 0; row < layout.rows; ++row) {
    const int y = margin + row * cell_height;
    text_at(margin / 2, y + cell_height / 2 + 4, std::to_string(row));
    for (int col = 0; col < layout.cols; ++col) {
      const Owner who = layout.owner(row, col);
      const int x = margin + col * cell_width;
      const int* hue = hues[who.lane / 4];
      const int white = 20 * (who.lane % 4) + 10;  // percent
      char fill[8];
      std::snprintf(fill, sizeof fill, "#%02x%02x%02x", hue[0] + (255 - hue[0]) * white / 100,
                    hue[1] + (255 - hue[1]) * white / 100, hue[2] + (255 - hue[2]) * white / 100);
      svg += "<rect x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" width=\"" +
             std::to_string(cell_width) + "\" height=\"" + std::to_string(cell_height) + "\" fill=\"" + fill +
             "\" stroke=\"#555555\"/>\n";
      text_at(x + cell_width / 2, y + 12, "T" + std::to_string(who.lane));
      text_at(x + cell_width / 2, y + 23, std::to_string(who.element));
    }
  }
  return svg + "</svg>\n";
}

}  // namespace tenon
