#include "microbench/random_suites.hpp"

#include <algorithm>

#include "microbench/draw.hpp"

namespace tenon::microbench {
namespace {

// A kind of product: types and layout as text, the range of m and the least n and k, and of what each extent
// is a multiple.
struct Kind {
  const char* types;
  const char* layout;
  std::int64_t least_m, most_m, least, step_m, step;
};
constexpr std::int64_t largest = 12288;

std::vector<Product> draw_in_turn(const std::vector<Kind>& kinds, std::uint64_t seed, int count) {
  Draw draw(seed);
  std::vector<Product> products;
  for (int i = 0; i < count; ++i) {
    const Kind& kind = kinds[static_cast<std::size_t>(i) % kinds.size()];
    Product product{parse_types(kind.types).front(), parse_layouts(kind.layout).front(), {}};
    product.shape.m = draw.log_uniform(kind.least_m, kind.most_m, kind.step_m);
    product.shape.n = draw.log_uniform(kind.least, largest, kind.step);
    product.shape.k = draw.log_uniform(kind.least, largest, kind.step);
    product.shape = with_leading_dimensions(product.shape, product.layout);
    products.push_back(product);
  }
  return products;
}

// f16 and bf16 in every layout, C of 16 bits and of 32; m of the kind.
std::vector<Kind> kinds_of_16_bits(const Kind& like) {
  std::vector<Kind> kinds;
  for (const char* types : {"bf16", "f16", "bf16_f32_f32", "f16_f32_f32"}) {
    for (const char* layout : {"tn", "nn", "nt", "tt"}) {
      Kind kind = like;
      kind.types = types, kind.layout = layout;
      // Rows of a column-major A begin on multiples of 16 bytes only if m is a multiple of 8.
      if (layout[0] == 'n') kind.step_m = 8, kind.least_m = std::max<std::int64_t>(kind.least_m, 8);
      kinds.push_back(kind);
    }
  }
  return kinds;
}

std::vector<Product> draw_random(std::uint64_t seed, int count) {
  static const std::vector<Kind> kinds = kinds_of_16_bits({"", "", 128, largest, 128, 8, 8});
  return draw_in_turn(kinds, seed, count);
}
std::vector<Product> draw_random_small(std::uint64_t seed, int count) {
  static const std::vector<Kind> kinds = kinds_of_16_bits({"", "", 1, 128, 512, 1, 8});
  return draw_in_turn(kinds, seed, count);
}
std::vector<Product> draw_random_types(std::uint64_t seed, int count) {
  std::vector<Kind> kinds;
  for (const char* layout : {"tn", "nn", "nt", "tt"}) {
    for (const char* types : {"e4m3", "s8", "tf32"})
      kinds.push_back({types, "tn", 128, largest, 128, 16, 16});
    kinds.push_back({"f16_f16", layout, 128, largest, 128, 8, 8});
  }
  return draw_in_turn(kinds, seed, count);
}
std::vector<Product> draw_h100(std::uint64_t seed, int count) {
  return draw_in_turn({{"bf16", "tn", 128, largest, 128, 8, 8},
                       {"bf16", "tn", 1, 128, 512, 1, 8},
                       {"f16", "nn", 128, largest, 128, 8, 8}},
                      seed, count);
}

}  // namespace

const std::vector<RandomSuite>& random_suites() {
  static const std::vector<RandomSuite> all = {
      {"random", "f16 and bf16 in every layout, C of 16 bits and f32", draw_random},
      {"random_small", "the same with m up to 128", draw_random_small},
      {"random_types", "e4m3, s8, tf32, and f16 accumulated in f16 in every layout", draw_random_types},
      {"h100", "bf16 tn, bf16 tn with m up to 128, f16 nn: a short look at another device", draw_h100}};
  return all;
}

const RandomSuite* find_random_suite(const std::string& name) {
  const auto found = std::find_if(random_suites().begin(), random_suites().end(),
                                  [&](const RandomSuite& suite) { return suite.name == name; });
  return found == random_suites().end() ? nullptr : &*found;
}

}  // namespace tenon::microbench
