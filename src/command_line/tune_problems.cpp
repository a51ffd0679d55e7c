// The parsing and the candidates of tune_problems.hpp.
#include "command_line/tune_problems.hpp"

#include <algorithm>
#include <limits>
#include <sstream>
#include <tuple>

#include "command_line/exit_status.hpp"
#include "command_line/split.hpp"
#include "command_line/text_file.hpp"
#include "host/plan.hpp"
#include "host/tuning_table.hpp"
#include "host/validate.hpp"

namespace tenon::command {
namespace {

std::string trimmed(const std::string& text) {
  constexpr const char* space = " \t\r";
  const std::size_t first = text.find_first_not_of(space);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(space) - first + 1);
}

// 0 if the text is not a size.
std::int64_t size_of(const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || text.size() > 10) return 0;
  const std::int64_t size = std::stoll(text);
  return size > largest_dimension ? 0 : size;
}

Type type_named(const std::string& text) {
  for (const Type type : all_types) {
    if (text == name(type)) return type;
  }
  refuse("--types: '" + shortened(text) +
         "' is not a type but must be f16, bf16, tf32, e4m3, e5m2, s8 or f64");
}

std::vector<std::pair<Type, Type>> operand_types(const std::string& text) {
  std::vector<std::pair<Type, Type>> result;
  for (const std::string& item : split(text, ',')) {
    const std::vector<std::string> parts = split(trimmed(item), ':');
    if (parts.size() > 2)
      refuse("--types: '" + shortened(item) + "' names " + std::to_string(parts.size()) +
             " types but A and B have one each, as in e4m3:e5m2");
    result.emplace_back(type_named(parts.front()), type_named(parts.back()));
  }
  return result;
}

std::vector<std::pair<Order, Order>> orders(const std::string& text) {
  std::vector<std::pair<Order, Order>> result;
  for (const std::string& item : split(text, ',')) {
    const std::string layout = trimmed(item);
    if (layout.size() != 2 || layout.find_first_not_of("tn") != std::string::npos) {
      refuse("--layout: '" + shortened(item) + "' is not a layout but must be tn, nn, tt or nt");
    }
    result.emplace_back(layout[0] == 't' ? row_major : column_major,
                        layout[1] == 't' ? row_major : column_major);
  }
  return result;
}

}  // namespace

std::vector<TuneShape> parse_tune_shapes(const std::string& where, const std::string& text) {
  std::vector<TuneShape> shapes;
  for (const std::string& part : split(text, ',')) {
    const std::string item = trimmed(part);
    std::vector<std::int64_t> sizes;
    for (const std::string& size : split(item, ':')) sizes.push_back(size_of(size));
    const bool a_shape = sizes.size() == 1 || sizes.size() == 3;
    if (!a_shape || std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) {
      refuse(std::string(where)
                 .append(": '")
                 .append(shortened(item))
                 .append("' is not a shape but must be SIZE or M:N:K, ") +
             "whole numbers from 1 to " + std::to_string(largest_dimension));
    }
    shapes.push_back({sizes.front(), sizes[sizes.size() / 2], sizes.back()});
  }
  return shapes;
}

std::vector<TuneShape> read_tune_shapes(const std::string& path) {
  std::istringstream file(read_text(path));
  std::vector<TuneShape> shapes;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string content = trimmed(line.substr(0, line.find('#')));
    if (content.empty()) continue;
    for (const TuneShape& shape : parse_tune_shapes(path + ", line " + std::to_string(number), content)) {
      shapes.push_back(shape);
    }
  }
  if (shapes.empty()) refuse(path + ": it holds no shape but must hold at least one");
  return shapes;
}

std::vector<Gemm> tune_problems(const std::vector<TuneShape>& shapes, const TuneTypes& types) {
  std::vector<Gemm> problems;
  for (const auto& [a, b] : operand_types(types.operands)) {
    for (const auto& [a_order, b_order] : orders(types.layouts)) {
      for (const TuneShape& shape : shapes) {
        const auto usual = [operand = a](const std::string& asked) {
          return operand == Type::s8 ? Type::s32 : operand == Type::f64 ? Type::f64 : type_named(asked);
        };
        Gemm p;
        p.m = shape.m, p.n = shape.n, p.k = shape.k;
        p.a = {nullptr, a_order == row_major ? p.k : p.m, a_order, a};
        p.b = {nullptr, b_order == row_major ? p.n : p.k, b_order, b};
        p.c = {nullptr, p.n, usual(types.out)};
        p.accumulate = usual(types.accumulate);
        p.promote = types.promote;
        require(validate_shape(p));
        const auto same = [key = tuning_key(p)](const Gemm& other) { return tuning_key(other) == key; };
        if (std::none_of(problems.begin(), problems.end(), same)) problems.push_back(p);
      }
    }
  }
  return problems;
}

std::string shape_text(const Gemm& problem) {
  return std::to_string(problem.m) + " x " + std::to_string(problem.n) + " x " + std::to_string(problem.k);
}

std::string types_text(const Gemm& problem) {
  std::string text = name(problem.a.type);
  if (problem.b.type != problem.a.type) text += std::string(" x ") + name(problem.b.type);
  text += std::string(" -> ") + name(problem.c.type);
  if (problem.accumulate == Type::f16) text += ", f16 accumulators";
  return problem.promote ? text + ", promoted" : text;
}

std::string layout_text(const Gemm& problem) {
  return {problem.a.order == row_major ? 't' : 'n', problem.b.order == row_major ? 't' : 'n'};
}

std::vector<const Kernel*> tune_candidates(const std::vector<Kernel>& list, const Gemm& problem,
                                           const DeviceDescription& device, Status* why) {
  // A plan depends only on the alignment and the size of a workspace.
  alignas(256) static char anchor = 0;
  Gemm p = problem;
  p.workspace = &anchor;
  p.workspace_bytes = std::numeric_limits<std::size_t>::max();
  p.kernel = nullptr;
  p.tuning = nullptr;
  Plan documented;
  *why = make_plan(list, p, device, &documented);
  if (!*why) return {};
  std::vector<const Kernel*> candidates{documented.kernel};
  for (const Kernel& kernel : list) {
    if (&kernel == documented.kernel || !is_offered(kernel, problem)) continue;
    p.kernel = kernel.name.c_str();
    // A table names a kernel, but does not say whether operands are copied first. So a kernel that needs
    // other copies than the documented choice is not a candidate.
    Plan plan;
    if (make_plan(list, p, device, &plan) && plan.pad_a == documented.pad_a &&
        plan.pad_b == documented.pad_b) {
      candidates.push_back(&kernel);
    }
  }
  return candidates;
}

}  // namespace tenon::command
