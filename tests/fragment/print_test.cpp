// The catalogue finds what exists and says what does not; the printers show every element where it is.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tenon/fragment/catalogue.hpp"
#include "tenon/fragment/print.hpp"

namespace tenon {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}
std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string text_of(void (*print)(std::ostream&, const NamedLayout&), const NamedLayout& layout) {
  std::ostringstream out;
  print(out, layout);
  return out.str();
}
std::string no_such_layout(const char* shape, const char* type, const char* operand) {
  std::ostringstream out;
  print_no_such_layout(out, shape, type, operand);
  return out.str();
}

TEST(Catalogue, FindsLayoutsByName) {
  const NamedLayout* a = find_layout("m16n8k16", "f16", "a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->rows, 16);
  EXPECT_EQ(a->cols, 16);
  EXPECT_EQ(a->elements, 8);
  EXPECT_EQ(a->coord(1, 2), (Coord{8, 2}));
  EXPECT_EQ(a->owner(8, 2), (Owner{1, 2}));
  const NamedLayout* c = find_layout("m16n8k16", "f32", "c");
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(find_layout("m16n8k16", "f32", "d"), c);
  for (const char* operand : {"a_row", "a_col", "b_row", "b_col", "c"}) {
    EXPECT_NE(find_layout("wmma16x16x16", "f16", operand), nullptr) << operand;
    EXPECT_NE(find_layout("m8n8k4", "f16", operand), nullptr) << operand;
  }
}

TEST(Catalogue, NamesAreUnique) {
  for (const NamedLayout& layout : layouts()) {
    EXPECT_EQ(find_layout(layout.shape, layout.type, layout.operand), &layout);
  }
}

TEST(Catalogue, SaysWhatIsMissing) {
  EXPECT_EQ(find_layout("m16n8k8", "s8", "a"), nullptr);
  EXPECT_EQ(no_such_layout("m16n8k64", "s8", "a"),
            "m16n8k64 has no operand 'a' of type 's8'; it has s4 a, s4 b, u4 a, u4 b, s32 c");
  EXPECT_EQ(no_such_layout("m64n4k16", "f16", "a"),
            "no shape is called 'm64n4k16'; there are m8n8k4, m8n8k16, m8n8k32, m8n8k128, m16n8k4, m16n8k8, "
            "m16n8k16, "
            "m16n8k32, m16n8k64, m16n8k128, m16n8k256, wmma16x16x16, wmma32x8x16, wmma8x32x16, wmma16x16x8, "
            "wmma8x8x4, and m64nNk8, m64nNk16, m64nNk32 and "
            "m64nNk256 with N "
            "from 8 to 256 in steps of 8 (16 from 32 on for k256)");
}

TEST(Print, LanesShowElementsInOrderWithBarsBetweenRegisters) {
  const std::vector<std::string> lines =
      lines_of(text_of(print_layout_lanes, *find_layout("m16n8k16", "f16", "a")));
  ASSERT_EQ(lines.size(), 33U);
  EXPECT_EQ(lines[0], "m16n8k16 f16 a: 16 x 16, 8 elements in 4 registers a lane");
  EXPECT_EQ(lines[2], "lane  1: (0,2) (0,3) | (8,2) (8,3) | (0,10) (0,11) | (8,10) (8,11)");
  EXPECT_EQ(lines[32], "lane 31: (7,6) (7,7) | (15,6) (15,7) | (7,14) (7,15) | (15,14) (15,15)");
}

TEST(Print, MatrixShowsTheOwnerInEveryCell) {
  const std::vector<std::string> lines =
      lines_of(text_of(print_layout_matrix, *find_layout("m16n8k8", "tf32", "b")));
  ASSERT_EQ(lines.size(), 10U);
  EXPECT_EQ(lines[0], "m16n8k8 tf32 b: 8 x 8, 2 elements in 2 registers a lane");
  EXPECT_EQ(lines[1], "        0    1    2    3    4    5    6    7");
  EXPECT_EQ(lines[2], "  0   0:0  4:0  8:0 12:0 16:0 20:0 24:0 28:0");
  EXPECT_EQ(lines[9], "  7   3:1  7:1 11:1 15:1 19:1 23:1 27:1 31:1");
}

TEST(Print, WarpgroupsHaveThreeDigitsOfLane) {
  const NamedLayout& layout = *find_layout("m64n16k16", "f16", "c");
  const std::vector<std::string> lanes = lines_of(text_of(print_layout_lanes, layout));
  ASSERT_EQ(lanes.size(), 129U);
  EXPECT_EQ(lanes[0], "m64n16k16 f16 c: 64 x 16, 8 elements in 4 registers a lane");
  EXPECT_EQ(lanes[34], "lane  33: (16,2) (16,3) | (24,2) (24,3) | (16,10) (16,11) | (24,10) (24,11)");
  const std::vector<std::string> matrix = lines_of(text_of(print_layout_matrix, layout));
  ASSERT_EQ(matrix.size(), 66U);
  EXPECT_EQ(
      matrix[65],
      " 63  124:2 124:3 125:2 125:3 126:2 126:3 127:2 127:3 124:6 124:7 125:6 125:7 126:6 126:7 127:6 127:7");
}

TEST(Print, TitleNamesTheMatricesOfVolta) {
  const std::string text = text_of(print_layout_matrix, *find_layout("m8n8k4", "f16", "c"));
  EXPECT_EQ(lines_of(text)[0], "m8n8k4 f16 c: 8 x 8, 8 elements in 4 registers a lane, 4 matrices a warp");
}

TEST(Print, SvgHasOneCellForEachElementOfEveryLayout) {
  for (const NamedLayout& layout : layouts()) {
    if (layout.lanes == 128 && std::string(layout.shape).rfind("m64n24k", 0) != 0) continue;  // one n will do
    const std::string svg = text_of(print_layout_svg, layout);
    const auto cells = static_cast<std::size_t>(layout.rows * layout.cols);
    EXPECT_EQ(svg.rfind("<svg xmlns=", 0), 0U);
    EXPECT_EQ(count_of(svg, "<rect "), cells + 1) << layout.shape;  // and the background
    EXPECT_EQ(count_of(svg, ">T0</text>"), static_cast<std::size_t>(layout.elements)) << layout.shape;
    EXPECT_EQ(count_of(svg, "<text "), count_of(svg, "</text>"));
    EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
  }
}

TEST(Print, SvgPlacesTheOwnerAtItsCell) {
  const std::string svg = text_of(print_layout_svg, *find_layout("m16n8k16", "f16", "a"));
  // Row 8, column 2 is lane 1, element 2: 34 + 2 * 34 across, 34 + 8 * 28 down; the texts follow their cell.
  const std::size_t cell = svg.find("<rect x=\"102\" y=\"258\" width=\"34\" height=\"28\"");
  ASSERT_NE(cell, std::string::npos);
  const std::string texts = svg.substr(cell, svg.find("<rect", cell + 1) - cell);
  EXPECT_NE(texts.find("<text x=\"119\" y=\"270\">T1</text>"), std::string::npos);
  EXPECT_NE(texts.find("<text x=\"119\" y=\"282\">2</text>"), std::string::npos);
}

}  // namespace
}  // namespace tenon
