#include "microbench/cases.hpp"

#include <cmath>

#include "host/error_bound.hpp"

namespace tenon::microbench {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Type parse_type(const std::string& text, const std::string& whole) {
  for (const Type type : {Type::f16, Type::bf16, Type::f32}) {
    if (text == tenon::name(type)) return type;
  }
  throw Failure("types '" + whole + "' name '" + text + "', but a type is one of f16, bf16, f32");
}

std::int64_t parse_extent(const std::string& text, const std::string& whole) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || text.size() > 9 || std::stoll(text) == 0) {
    throw Failure("shape '" + whole + "' holds '" + text +
                  "', but extents are whole numbers from 1 to 999999999");
  }
  return std::stoll(text);
}

void fill_ld(std::int64_t& ld, std::int64_t needed, const char* name) {
  if (ld == 0) ld = needed;
  if (ld < needed) {
    throw Failure(std::string(name) + " is " + std::to_string(ld) +
                  " but this shape and layout need at least " + std::to_string(needed));
  }
}

}  // namespace

std::string name(const Types& types) {
  return std::string(tenon::name(types.input)) + "_" + tenon::name(types.accumulate) + "_" +
         tenon::name(types.output);
}

std::vector<Types> parse_types(const std::string& text) {
  std::vector<Types> result;
  for (const std::string& entry : split(text, ',')) {
    const std::vector<std::string> parts = split(entry, '_');
    if (parts.size() > 3)
      throw Failure("types '" + entry + "' have more than three parts: input_accumulate_output");
    Types types;
    types.input = parse_type(parts[0], entry);
    types.accumulate = parts.size() > 1 ? parse_type(parts[1], entry) : Type::f32;
    types.output = parts.size() > 2 ? parse_type(parts[2], entry) : types.input;
    const bool f16_accumulate = types.accumulate == Type::f16 && types.input == Type::f16;
    if (types.accumulate != Type::f32 && !f16_accumulate) {
      throw Failure("types '" + entry + "' accumulate in " + tenon::name(types.accumulate) +
                    ", but products are summed in f32, or in f16 for f16 inputs");
    }
    result.push_back(types);
  }
  return result;
}

std::string name(const Layout& layout) {
  return std::string(layout.a == row_major ? "t" : "n") + (layout.b == column_major ? "n" : "t");
}

std::vector<Layout> parse_layouts(const std::string& text) {
  std::vector<Layout> result;
  for (const std::string& entry : split(text == "all" ? "tn,nn,tt,nt" : text, ',')) {
    const bool known = entry.size() == 2 && entry.find_first_not_of("tn") == std::string::npos;
    if (!known) throw Failure("layout '" + entry + "' is not one of tn, nn, tt, nt, all");
    result.push_back(
        {entry[0] == 't' ? row_major : column_major, entry[1] == 'n' ? column_major : row_major});
  }
  return result;
}

std::vector<Shape> parse_shapes(const std::string& text) {
  std::vector<Shape> result;
  for (const std::string& entry : split(text, ',')) {
    std::vector<std::int64_t> v;
    for (const std::string& part : split(entry, ':')) v.push_back(parse_extent(part, entry));
    if (v.size() == 1) {
      result.push_back({v[0], v[0], v[0], 0, 0, 0});
    } else if (v.size() == 3) {
      result.push_back({v[0], v[1], v[2], 0, 0, 0});
    } else if (v.size() == 4) {
      result.push_back({v[0], v[1], v[2], v[3], v[3], v[3]});
    } else if (v.size() == 6) {
      result.push_back({v[0], v[1], v[2], v[3], v[4], v[5]});
    } else {
      throw Failure("shape '" + entry + "' has " + std::to_string(v.size()) +
                    " numbers, but a shape is size, m:n:k, m:n:k:ld or m:n:k:lda:ldb:ldc");
    }
  }
  return result;
}

Shape with_leading_dimensions(Shape shape, const Layout& layout) {
  fill_ld(shape.lda, layout.a == row_major ? shape.k : shape.m, "lda");
  fill_ld(shape.ldb, layout.b == row_major ? shape.n : shape.k, "ldb");
  fill_ld(shape.ldc, shape.n, "ldc");
  return shape;
}

double accumulation_bound(Type accumulate, std::int64_t k) {
  const double largest_sum = 6.5 * std::sqrt(static_cast<double>(k)) + 20;
  if (accumulate == Type::f16) {
    return tenon::unit_roundoff(Type::f16) * largest_sum * std::sqrt(std::ceil(static_cast<double>(k) / 8));
  }
  DotProduct dot;
  dot.largest_prefix = largest_sum;
  return tenon::accumulation_bound(dot, k, accumulate);
}

}  // namespace tenon::microbench
