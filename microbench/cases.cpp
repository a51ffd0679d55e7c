#include "microbench/cases.hpp"

#include <algorithm>
#include <cmath>

#include "host/error_bound.hpp"
#include "host/error_statistics.hpp"
#include "host/validate.hpp"

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
  std::string known;
  for (const Type type : all_types) {
    if (text == tenon::name(type)) return type;
    known += std::string(known.empty() ? "" : ", ") + tenon::name(type);
  }
  throw Failure("types '" + whole + "' name '" + text + "', but a type is one of " + known);
}

Type usual_accumulator(Type input) {
  return input == Type::s8 ? Type::s32 : input == Type::f64 ? Type::f64 : Type::f32;
}

Type usual_output(Type input) {
  if (is_fp8(input)) return Type::bf16;
  return input == Type::tf32 ? Type::f32 : input == Type::s8 ? Type::s32 : input;
}

// Why no kernel computes these types; "" if one does. The library refuses f32 operands, which the reference
// kernels take.
std::string refusal(const Types& types) {
  const Type output = types.output;
  if (types.input == Type::f32 && types.input_b == Type::f32) {
    const bool is_float = output == Type::f16 || output == Type::bf16 || output == Type::f32;
    if (types.accumulate == Type::f32 && !types.promote && is_float) return "";
    return "A and B are f32, which accumulate in f32, and C must be f16, bf16 or f32";
  }
  if (types.accumulate == Type::s32 && output != Type::s32)
    return std::string("C is ") + tenon::name(output) +
           " with s8 inputs but must be s32: the expected result is one of integers";
  if (output == Type::e4m3 || output == Type::e5m2 || output == Type::s8)
    return std::string("C is ") + tenon::name(output) + ", whose rounded elements are not compared here";
  Gemm problem;
  problem.a.type = types.input;
  problem.b.type = types.input_b;
  problem.c.type = output;
  problem.accumulate = types.accumulate;
  problem.promote = types.promote;
  const Status status = validate_shape(problem);
  return status ? "" : status.message();
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

constexpr double sigmas = 6.5;

double largest_result(std::int64_t k) {
  return sigmas * std::sqrt(static_cast<double>(k)) + 20;
}

// accumulate: f32 or f64.
double float_bound(Type accumulate, std::int64_t k) {
  DotProduct dot;
  dot.largest_prefix = largest_result(k);
  return tenon::accumulation_bound(dot, k, accumulate);
}
double f32_bound(std::int64_t k) {
  return float_bound(Type::f32, k);
}

// The quantities that cases.hpp derives for fp8: the standard deviation of the random walk, the bias of a
// typical element, and the number of partial sums that are added in f32.
struct Fp8Error {
  double sigma, bias, chains;
};
Fp8Error fp8_error(const Types& types, std::int64_t k) {
  constexpr std::int64_t promoted_products = 128;
  constexpr double pi = 3.14159265358979, terms_a_product = 34.0 / 32;
  const std::int64_t chain = types.promote ? std::min(k, promoted_products) : k;
  const double cut = 0x1p-13 * largest_result(chain) / sigmas;
  const auto products = static_cast<double>(k);
  return {cut * std::sqrt(terms_a_product * products / 6), cut * std::sqrt(products) / (2 * pi),
          products / static_cast<double>(chain)};
}

}  // namespace

std::string name(const Types& types) {
  std::string text = tenon::name(types.input);
  if (types.input_b != types.input) text += std::string("_") + tenon::name(types.input_b);
  return text + "_" + tenon::name(types.accumulate) + (types.promote ? "p" : "") + "_" +
         tenon::name(types.output);
}

std::vector<Types> parse_types(const std::string& text) {
  std::vector<Types> result;
  for (const std::string& entry : split(text, ',')) {
    const std::vector<std::string> parts = split(entry, '_');
    std::size_t next = 1;
    Types types;
    types.input = types.input_b = parse_type(parts[0], entry);
    // No product accumulates in fp8, so a second fp8 type is B's.
    const bool mixed = parts.size() > 1 && (parts[1] == "e4m3" || parts[1] == "e5m2");
    if (mixed) types.input_b = parse_type(parts[next++], entry);
    types.accumulate = usual_accumulator(types.input);
    if (next < parts.size()) {
      std::string sum = parts[next++];
      types.promote = sum.size() > 1 && sum.back() == 'p';
      if (types.promote) sum.pop_back();
      types.accumulate = parse_type(sum, entry);
    }
    types.output = next < parts.size() ? parse_type(parts[next++], entry) : usual_output(types.input);
    if (next < parts.size()) {
      throw Failure("types '" + entry + "' have " + std::to_string(parts.size()) + " parts, but " +
                    (mixed ? "a_b_accumulate_output are four" : "input_accumulate_output are three"));
    }
    if (const std::string why = refusal(types); !why.empty()) throw Failure("types '" + entry + "': " + why);
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

double accumulation_bound(const Types& types, std::int64_t k) {
  if (types.accumulate == Type::s32) return 0;
  if (types.accumulate == Type::f16) {
    return unit_roundoff(Type::f16) * largest_result(k) * std::sqrt(std::ceil(static_cast<double>(k) / 8));
  }
  if (types.accumulate == Type::f64) return float_bound(Type::f64, k);
  if (!is_fp8(types.input)) return f32_bound(k);
  const Fp8Error error = fp8_error(types, k);
  const double of_one_chain = 1 / std::sqrt(error.chains);
  const double walk = sigmas + (sigmas * sigmas / 2 - sigmas) * of_one_chain;
  const double bias = sigmas + (sigmas * sigmas - sigmas) * of_one_chain;
  return walk * error.sigma + bias * error.bias + (types.promote ? f32_bound(k) : 0);
}

double frobenius_bound(const Types& types, std::int64_t k) {
  if (types.accumulate == Type::s32) return 0;
  return relative_error_limit({types.input, types.accumulate, types.promote}, k,
                              types.accumulate == Type::f64 ? Type::f64 : Type::f32);
}

double bias_bound(const Types& types, const Shape& shape) {
  if (types.accumulate == Type::s32) return 0;
  return bias_limit({types.input, types.accumulate, types.promote}, shape.k, types.output,
                    static_cast<double>(shape.m) * static_cast<double>(shape.n));
}

}  // namespace tenon::microbench
