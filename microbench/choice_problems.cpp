#include "microbench/choice_problems.hpp"

#include <algorithm>

#include "microbench/draw.hpp"
#include "microbench/record.hpp"

namespace tenon::microbench {
namespace {

constexpr std::int64_t smallest_extent = 16, largest_extent = 12288;

Types draw_types(Draw& draw, const std::vector<std::string>& names) {
  return parse_types(draw.one_of(names)).front();
}

Layout draw_layout(Draw& draw, const std::vector<std::string>& names) {
  return parse_layouts(draw.one_of(names)).front();
}

const std::vector<std::string> types_of_16_bits = {"f16", "bf16", "f16_f32_f32", "bf16_f32_f32"};

Shape draw_shape(Draw& draw, std::int64_t step) {
  const auto extent = [&] { return draw.log_uniform(smallest_extent, largest_extent, step); };
  Shape shape{};
  shape.m = extent();
  shape.n = extent();
  shape.k = extent();
  return shape;
}

const std::vector<std::string> all_layouts = {"tn", "nn", "nt", "tt"};

ChoiceProblem draw_aligned(Draw& draw) {
  return {"aligned", draw_types(draw, types_of_16_bits), draw_layout(draw, all_layouts), draw_shape(draw, 8)};
}

ChoiceProblem draw_decode(Draw& draw) {
  const std::string types = draw.one_of<std::string>({"bf16", "f16", "bf16_f32_f32", "f16_f32_f32", "e4m3"});
  const Layout layout = draw_layout(draw, types == "e4m3" ? std::vector<std::string>{"tn"} : all_layouts);
  Shape shape{};
  // Rows of a column-major A begin on multiples of 16 bytes only if m is a multiple of 8.
  shape.m = layout.a == column_major ? draw.log_uniform(8, 128, 8) : draw.log_uniform(1, 128, 1);
  const std::int64_t step = types == "e4m3" ? 16 : 8;
  shape.n = draw.log_uniform(512, largest_extent, step);
  shape.k = draw.log_uniform(512, largest_extent, step);
  return {"decode", parse_types(types).front(), layout, shape};
}

// A linear layer of a language model, for the tokens of a prompt or of a batch.
ChoiceProblem draw_tokens(Draw& draw) {
  Shape shape{};
  shape.m = draw.log_uniform(64, 4096, 1);
  shape.n = draw.log_uniform(512, 28672, 128);
  shape.k = draw.log_uniform(512, 16384, 128);
  return {"tokens", draw_types(draw, {"bf16", "f16"}), parse_layouts("tn").front(), shape};
}

Shape draw_large_shape(Draw& draw) {
  const auto extent = [&] { return draw.log_uniform(2048, largest_extent, 64); };
  Shape shape{};
  shape.m = extent();
  shape.n = extent();
  shape.k = extent();
  return shape;
}

ChoiceProblem draw_large(Draw& draw) {
  const Shape shape = draw_large_shape(draw);
  return {"large", draw_types(draw, types_of_16_bits), draw_layout(draw, all_layouts), shape};
}

ChoiceProblem draw_large_types(Draw& draw) {
  const Shape shape = draw_large_shape(draw);
  const auto types = draw.one_of<std::string>({"e4m3", "e4m3_f32p_bf16", "s8", "tf32", "f16_f16"});
  const Layout layout = draw_layout(draw, types == "f16_f16" ? all_layouts : std::vector<std::string>{"tn"});
  return {"large_types", parse_types(types).front(), layout, shape};
}

// Tiles of 128x128 for at most half of the 132 multiprocessors of a Hopper GPU, and a k that split-K is for.
ChoiceProblem draw_few_tiles(Draw& draw) {
  Shape shape{};
  do {
    shape.m = draw.log_uniform(64, largest_extent, 8);
    shape.n = draw.log_uniform(64, largest_extent, 8);
  } while ((shape.m + 127) / 128 * ((shape.n + 127) / 128) > 66);
  shape.k = draw.log_uniform(1024, largest_extent, 8);
  return {"few_tiles", draw_types(draw, types_of_16_bits), draw_layout(draw, all_layouts), shape};
}

ChoiceProblem draw_unaligned(Draw& draw) {
  ChoiceProblem problem{"unaligned", draw_types(draw, types_of_16_bits),
                        draw_layout(draw, {"tn", "tn", "tn", "nn", "nt", "tt"}), draw_shape(draw, 8)};
  if (draw.uniform() < 0.5) {
    // Any subset of the extents that leaves rows (columns) of a matrix unaligned.
    const auto odd_or_same = [&](std::int64_t extent) {
      if (draw.uniform() < 0.4) return extent;
      return std::min(extent, largest_extent - 8) + draw.one_of<std::int64_t>({1, 3, 5, 7});
    };
    Shape odd{};
    do {
      odd = {odd_or_same(problem.shape.m), odd_or_same(problem.shape.n), odd_or_same(problem.shape.k)};
      odd = with_leading_dimensions(odd, problem.layout);
    } while (odd.lda % 8 == 0 && odd.ldb % 8 == 0 && odd.ldc % 8 == 0);
    problem.shape = odd;
    return problem;
  }
  problem.shape = with_leading_dimensions(problem.shape, problem.layout);
  std::int64_t Shape::*const ld = draw.one_of<std::int64_t Shape::*>({&Shape::lda, &Shape::ldb, &Shape::ldc});
  problem.shape.*ld += 1;
  return problem;
}

ChoiceProblem draw_of_type(Draw& draw, const std::string& group) {
  if (group == "fp8")
    return {group, draw_types(draw, {"e4m3", "e4m3_f32p_bf16"}), parse_layouts("tn").front(),
            draw_shape(draw, 16)};
  if (group == "f16_sums")
    return {group, draw_types(draw, {"f16_f16"}), draw_layout(draw, all_layouts), draw_shape(draw, 8)};
  return {group, parse_types(group).front(), parse_layouts("tn").front(),
          draw_shape(draw, group == "s8" ? 16 : 8)};
}

}  // namespace

const std::vector<std::string>& choice_groups() {
  static const std::vector<std::string> groups = {"aligned",   "decode",      "tokens",   "large",
                                                  "unaligned", "fp8",         "s8",       "tf32",
                                                  "f16_sums",  "large_types", "few_tiles"};
  return groups;
}

std::vector<ChoiceProblem> draw_choice_problems(std::uint64_t seed, int count,
                                                const std::vector<std::string>& groups) {
  static const std::vector<std::string> usual = {
      "aligned", "decode",  "unaligned", "tokens",    "fp8",       "aligned", "decode", "s8",
      "tokens",  "aligned", "decode",    "unaligned", "tf32",      "aligned", "tokens", "decode",
      "large",   "fp8",     "aligned",   "aligned",   "unaligned", "f16_sums"};
  const std::vector<std::string>& cycle = groups.empty() ? usual : groups;
  Draw draw(seed);
  std::vector<ChoiceProblem> problems;
  for (int i = 0; i < count; ++i) {
    const std::string& group = cycle[static_cast<std::size_t>(i) % cycle.size()];
    ChoiceProblem problem = group == "aligned"       ? draw_aligned(draw)
                            : group == "decode"      ? draw_decode(draw)
                            : group == "tokens"      ? draw_tokens(draw)
                            : group == "large"       ? draw_large(draw)
                            : group == "large_types" ? draw_large_types(draw)
                            : group == "few_tiles"   ? draw_few_tiles(draw)
                            : group == "unaligned"   ? draw_unaligned(draw)
                                                     : draw_of_type(draw, group);
    problem.shape = with_leading_dimensions(problem.shape, problem.layout);
    problems.push_back(std::move(problem));
  }
  return problems;
}

Gemm gemm_of(const ChoiceProblem& problem) {
  const auto address = [](std::uintptr_t number) { return reinterpret_cast<void*>(number << 40U); };
  Gemm p;
  p.m = problem.shape.m;
  p.n = problem.shape.n;
  p.k = problem.shape.k;
  p.a = {address(1), problem.shape.lda, problem.layout.a, problem.types.input};
  p.b = {address(2), problem.shape.ldb, problem.layout.b, problem.types.input_b};
  p.c = {address(3), problem.shape.ldc, problem.types.output};
  p.accumulate = problem.types.accumulate;
  p.promote = problem.types.promote;
  return p;
}

std::string describe(const ChoiceProblem& problem) {
  const Shape& s = problem.shape;
  return name(problem.types) + " " + describe_layout(s, problem.layout) + " " + std::to_string(s.m) + " x " +
         std::to_string(s.n) + " x " + std::to_string(s.k);
}

}  // namespace tenon::microbench
