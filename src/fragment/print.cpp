// The printers of tenon/fragment/print.hpp.
#include "tenon/fragment/print.hpp"

#include <cstdio>
#include <iomanip>
#include <ostream>
#include <string>

namespace tenon {
namespace {

void print_title(std::ostream& out, const NamedLayout& layout) {
  out << layout.shape << " " << layout.type << " " << layout.operand << ": " << layout.rows << " x "
      << layout.cols << ", " << layout.elements << " elements in " << layout.registers << " registers a lane";
  if (layout.matrices > 1) out << ", " << layout.matrices << " matrices a warp";
}

void print_text(std::ostream& out, int x, int y, const std::string& text) {
  out << "<text x=\"" << x << "\" y=\"" << y << "\">" << text << "</text>\n";
}

// "#rrggbb" of a lane.
std::string colour(int lane) {
  constexpr int hues[8][3] = {{230, 97, 87},  {236, 158, 63}, {214, 200, 60},  {120, 190, 90},
                              {70, 185, 170}, {85, 150, 220}, {140, 120, 220}, {210, 110, 190}};
  const int* hue = hues[lane / 4 % 8];     // of a warpgroup, each warp has all of them
  const int white = 20 * (lane % 4) + 10;  // percent
  const auto lighter = [white](int x) { return x + (255 - x) * white / 100; };
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", lighter(hue[0]), lighter(hue[1]), lighter(hue[2]));
  return text;
}

}  // namespace

void print_layout_lanes(std::ostream& out, const NamedLayout& layout) {
  print_title(out, layout);
  out << "\n";
  for (int lane = 0; lane < layout.lanes; ++lane) {
    out << "lane " << std::setw(layout.lanes > 100 ? 3 : 2) << lane << ":";
    for (int e = 0; e < layout.elements; ++e) {
      if (e > 0 && layout.register_of(e) != layout.register_of(e - 1)) out << " |";
      const Coord at = layout.coord(lane, e);
      out << " (" << at.row << "," << at.col << ")";
    }
    out << "\n";
  }
}

void print_layout_matrix(std::ostream& out, const NamedLayout& layout) {
  // A blank, the digits of the lane, a colon, the element.
  const int width = 2 + static_cast<int>(std::to_string(layout.lanes - 1).size()) +
                    static_cast<int>(std::to_string(layout.elements - 1).size());
  print_title(out, layout);
  out << "\n    ";
  for (int col = 0; col < layout.cols; ++col) out << std::setw(width) << col;
  out << "\n";
  for (int row = 0; row < layout.rows; ++row) {
    out << std::setw(3) << row << " ";
    for (int col = 0; col < layout.cols; ++col) {
      const Owner who = layout.owner(row, col);
      out << std::setw(width) << std::to_string(who.lane) + ":" + std::to_string(who.element);
    }
    out << "\n";
  }
}

void print_layout_svg(std::ostream& out, const NamedLayout& layout) {
  // Eight columns are as wide as the text of a page on a phone, 360 pixels less its margins.
  constexpr int cell_width = 34, cell_height = 28, margin = 34, edge = 4;
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << margin + layout.cols * cell_width + edge
      << "\" height=\"" << margin + layout.rows * cell_height + edge
      << "\" font-family=\"monospace\" font-size=\"12\" text-anchor=\"middle\">\n<title>";
  print_title(out, layout);
  out << "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  for (int col = 0; col < layout.cols; ++col) {
    print_text(out, margin + col * cell_width + cell_width / 2, margin - 6, std::to_string(col));
  }
  for (int row = 0; row < layout.rows; ++row) {
    const int y = margin + row * cell_height;
    print_text(out, margin / 2, y + cell_height / 2 + 4, std::to_string(row));
    for (int col = 0; col < layout.cols; ++col) {
      const Owner who = layout.owner(row, col);
      const int x = margin + col * cell_width;
      out << "<rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << cell_width << "\" height=\""
          << cell_height << "\" fill=\"" << colour(who.lane) << "\" stroke=\"#555555\"/>\n";
      print_text(out, x + cell_width / 2, y + 12, "T" + std::to_string(who.lane));
      print_text(out, x + cell_width / 2, y + 24, std::to_string(who.element));
    }
  }
  out << "</svg>\n";
}

}  // namespace tenon
