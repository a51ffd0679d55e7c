// `tenon layout`: which lane holds which element of an instruction's operand.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>

#include "command_line/commands.hpp"
#include "command_line/exit_status.hpp"
#include "command_line/npy.hpp"
#include "command_line/print_json.hpp"
#include "tenon/fragment/catalogue.hpp"
#include "tenon/fragment/print.hpp"

namespace tenon::command {
namespace {

struct LayoutOptions {
  std::string shape, type, operand, svg_path;
  bool json = false, matrix = false, list = false;
};

// Sorted as a lane would list them. A Volta warp holds several matrices: its lanes repeat the coordinates.
nlohmann::ordered_json elements_of(const NamedLayout& layout) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (int lane = 0; lane < layout.lanes; ++lane) {
    for (int element = 0; element < layout.elements; ++element) {
      const Coord at = layout.coord(lane, element);
      list.push_back({{"lane", lane}, {"element", element}, {"row", at.row}, {"col", at.col}});
    }
  }
  return list;
}

void print_names(bool json) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const NamedLayout& layout : layouts()) {
    if (json) {
      list.push_back({{"shape", layout.shape}, {"type", layout.type}, {"operand", layout.operand}});
    } else {
      std::cout << layout.shape << " " << layout.type << " " << layout.operand << "\n";
    }
  }
  if (json) print_json(list);
}

void run(const LayoutOptions& o) {
  if (o.list) {
    if (!o.shape.empty() || o.matrix || !o.svg_path.empty())
      refuse(
          "--list prints every layout: a shape, --matrix or --svg, which are for one, cannot be given with "
          "it");
    return print_names(o.json);
  }
  if (o.matrix && o.json) refuse("--matrix and --json both say how to print the layout: give one of the two");
  if (o.operand.empty()) {
    throw Failure(Exit::bad_input, "give a shape, a type and an operand (m16n8k16 f16 a), or --list");
  }
  const char *shape = o.shape.c_str(), *type = o.type.c_str(), *operand = o.operand.c_str();
  const NamedLayout* layout = find_layout(shape, type, operand);
  if (layout == nullptr) {
    std::ostringstream sentence;
    print_no_such_layout(sentence, shape, type, operand);
    throw Failure(Exit::bad_input, sentence.str());
  }
  if (!o.svg_path.empty()) {
    std::ostringstream svg;
    print_layout_svg(svg, *layout);
    write_file(o.svg_path, svg.str());
  }
  if (o.json) {
    print_json(elements_of(*layout), -1);
  } else if (o.matrix) {
    print_layout_matrix(std::cout, *layout);
  } else if (o.svg_path.empty()) {
    print_layout_lanes(std::cout, *layout);
  } else {
    std::cout << "written  " << o.svg_path << "\n";
  }
}

}  // namespace

void add_layout(CLI::App& application) {
  CLI::App* command =
      application.add_subcommand("layout", "Print which lane holds which element of a fragment");
  const auto o = std::make_shared<LayoutOptions>();
  command->add_option("shape", o->shape,
                      "Instruction: m16n8k16, m16n8k8, ..., wmma16x16x16, wmma32x8x16, ...");
  command->add_option("type", o->type,
                      "Element: f16 bf16 tf32 f64 e4m3 e5m2 s8 u8 s4 u4 b1; accumulators f16 f32 f64 s32");
  command->add_option("operand", o->operand,
                      "a, b, c or d (a_row, a_col, b_row, b_col for wmma and f16 m8n8k4)");
  command->add_flag("--matrix", o->matrix, "Print the matrix with lane:element in every cell");
  command->add_option("--svg", o->svg_path, "Write the matrix as a picture to this file");
  command->add_flag("--list", o->list, "Print every (shape, type, operand) there is");
  command->add_flag("--json", o->json, "Print an array of {lane, element, row, col}");
  command->footer(
      "Examples:\n"
      "  tenon layout m16n8k16 f16 a\n"
      "  tenon layout m16n8k16 f32 c --matrix\n"
      "  tenon layout m16n8k16 f16 b --svg b.svg\n"
      "  tenon layout m16n8k16 f16 a --json");
  command->callback([o] { run(*o); });
}

}  // namespace tenon::command
