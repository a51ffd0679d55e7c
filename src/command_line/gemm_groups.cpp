#include "command_line/gemm_groups.hpp"

#include <numeric>

#include "command_line/exit_status.hpp"
#include "command_line/random.hpp"
#include "command_line/stack.hpp"
#include "host/gemm_grouped_on.hpp"
#include "host/gemm_on.hpp"
#include "quantize/quantize.hpp"

namespace tenon::command {
namespace {

constexpr ScaleMode block = ScaleMode::block_1x128_128x128;

std::int64_t rounded_up(std::int64_t x, std::int64_t step) {
  return (x + step - 1) / step * step;
}

// e4m3 on the device, and its scales on the host too.
struct Quantized {
  Operand elements;
  std::vector<float> scales;
  std::int64_t ld = 0;  // of the scales of blocks
};

// Quantises `parts` matrices of rows x columns below each other, N(0, 1) before, columns contiguous. Each has
// scales of its own: the first of a part's begin scale_rows rows of scales after those of the part before.
Quantized quantized(Device& device, const char* label, std::uint64_t seed, std::int64_t parts,
                    std::int64_t rows, std::int64_t columns, std::int64_t ld, ScaleBlocks blocks) {
  const Operand x = random_operand(label, seed, parts * rows, columns, columns, row_major, Type::f32);
  Quantized q;
  q.elements = poisoned(parts * rows, columns, ld, row_major, Type::e4m3);
  const bool by_columns = blocks == ScaleBlocks::block_128x128;
  q.ld = by_columns ? rounded_up(blocks_of_128(columns), 4) : rounded_up(rows, 4);
  const std::int64_t scale_rows = by_columns ? blocks_of_128(rows) : blocks_of_128(columns);
  const std::int64_t of_part = blocks == ScaleBlocks::per_tensor ? 1
                               : blocks == ScaleBlocks::per_row  ? rows
                                                                 : scale_rows * q.ld;
  q.scales.resize(static_cast<std::size_t>(parts * of_part));
  const std::string purpose = label;
  const DeviceBuffer source(device, x, purpose + " in f32");
  const DeviceBuffer elements(device, q.elements, purpose);
  DeviceBuffer scales(device, "the scales of " + purpose, q.scales.size() * sizeof(float));
  scales.upload(q.scales.data(), q.scales.size() * sizeof(float));
  for (std::int64_t part = 0; part < parts; ++part) {
    Quantize what;
    what.rows = rows, what.columns = columns;
    what.x = {static_cast<const float*>(source.get()) + part * rows * columns, columns, row_major, Type::f32};
    what.q = {static_cast<std::uint8_t*>(elements.get()) + part * rows * ld, ld, Type::e4m3};
    what.blocks = blocks;
    what.scales = static_cast<float*>(scales.get()) + part * of_part;
    what.ld_scales = q.ld;
    require(quantize(device.launcher(), what));
  }
  require(device.synchronize());
  elements.download(q.elements.data.data(), q.elements.data.size());
  scales.download(q.scales.data(), q.scales.size() * sizeof(float));
  return q;
}

// The operands of a request, on the host. B has a matrix for each group, n columns each.
struct Operands {
  Operand a, b, c_before;
  std::vector<float> scales_a, scales_b;
  std::int64_t ld_a = 0, ld_b = 0;  // of block scales
};

Operands draw(const GroupedOrScaled& what, Device& device) {
  const Gemm& p = what.problem;
  const std::int64_t groups = what.groups.empty() ? 1 : static_cast<std::int64_t>(what.groups.size());
  const auto seed = [&](std::uint64_t stream) { return random_bits(what.seed, stream); };
  Operands operands;
  if (what.mode) {
    const bool by_block = *what.mode == block, by_row = *what.mode == ScaleMode::per_row_column;
    Quantized a = quantized(device, "A", seed(0), 1, p.m, p.k, p.a.ld,
                            by_block ? ScaleBlocks::block_1x128
                            : by_row ? ScaleBlocks::per_row
                                     : ScaleBlocks::per_tensor);
    Quantized b = quantized(device, "B", seed(1), groups, p.n, p.k, p.b.ld,
                            by_block ? ScaleBlocks::block_128x128
                            : by_row ? ScaleBlocks::per_row
                                     : ScaleBlocks::per_tensor);
    operands.a = std::move(a.elements), operands.scales_a = std::move(a.scales), operands.ld_a = a.ld;
    operands.b = std::move(b.elements), operands.scales_b = std::move(b.scales), operands.ld_b = b.ld;
    // n x k by rows is k x n by columns.
    std::swap(operands.b.rows, operands.b.columns);
    operands.b.order = column_major;
  } else {
    operands.a = random_operand("A", seed(0), p.m, p.k, p.a.ld, p.a.order, p.a.type);
    operands.b = Stack{groups}.random("B", seed(1), p.k, p.n, p.b.ld, p.b.order, p.b.type);
  }
  operands.c_before = p.beta == 0.0F ? poisoned(p.m, p.n, p.c.ld, row_major, p.c.type)
                                     : random_operand("C", seed(2), p.m, p.n, p.c.ld, row_major, p.c.type);
  return operands;
}

// Rows [first, first + count) of a row-major operand.
Operand rows_of(const Operand& all, std::int64_t first, std::int64_t count) {
  Operand part = all;
  part.rows = count;
  const auto row_bytes = static_cast<std::size_t>(all.ld) * bytes(all.type);
  const std::size_t begin = static_cast<std::size_t>(first) * row_bytes;
  const std::size_t end = std::min(begin + static_cast<std::size_t>(count) * row_bytes, all.data.size());
  part.data.assign(all.data.begin() + static_cast<std::ptrdiff_t>(begin),
                   all.data.begin() + static_cast<std::ptrdiff_t>(end));
  return part;
}

// The worst of the groups, each as a product of its own.
CheckResult check_groups(const GroupedOrScaled& what, const Operands& operands, const Operand& c_after) {
  const std::vector<std::int64_t> rows =
      what.groups.empty() ? std::vector<std::int64_t>{what.problem.m} : what.groups;
  const Stack of_b{static_cast<std::int64_t>(rows.size())};
  std::optional<CheckResult> worst;
  std::int64_t first = 0;
  for (std::size_t g = 0; g < rows.size(); ++g) {
    Gemm one = what.problem;
    one.m = rows[g];
    HostScales scales;
    if (what.mode) {
      // Accumulators leave the tensor core every 128 of k, which is Gemm::promote.
      one.promote = *what.mode == block;
      const std::int64_t of_group = *what.mode == block ? blocks_of_128(one.n) * operands.ld_b : 0;
      scales = {*what.mode, operands.scales_a.data() + (*what.mode == ScaleMode::per_tensor ? 0 : first),
                operands.scales_b.data() + static_cast<std::int64_t>(g) * of_group, operands.ld_a,
                operands.ld_b};
    }
    if (one.m > 0) {
      const CheckResult checked =
          check(one, rows_of(operands.a, first, one.m), of_b.part(operands.b, static_cast<std::int64_t>(g)),
                rows_of(operands.c_before, first, one.m), rows_of(c_after, first, one.m), nullptr,
                Numbers::random, 1.0, {{}, what.mode ? &scales : nullptr});
      if (!worst || worse(checked, *worst)) worst = checked;
    }
    first += rows[g];
  }
  return worst.value_or(CheckResult{});
}

}  // namespace

std::optional<ScaleMode> scale_mode_named(const std::string& text) {
  for (const ScaleMode mode : {ScaleMode::per_tensor, ScaleMode::per_row_column, block}) {
    if (text == name(mode)) return mode;
  }
  return std::nullopt;
}

const char* name(ScaleMode mode) {
  return mode == ScaleMode::per_tensor       ? "tensor"
         : mode == ScaleMode::per_row_column ? "row_column"
                                             : "block";
}

GroupedOrScaledResult run_grouped_or_scaled(const GroupedOrScaled& what, Device& device) {
  const Gemm& p = what.problem;
  const Operands operands = draw(what, device);
  const DeviceBuffer a(device, operands.a, "A"), b(device, operands.b, "B"),
      c(device, operands.c_before, "C");
  DeviceBuffer scale_a(device, "the scales of A", operands.scales_a.size() * sizeof(float));
  DeviceBuffer scale_b(device, "the scales of B", operands.scales_b.size() * sizeof(float));
  scale_a.upload(operands.scales_a.data(), operands.scales_a.size() * sizeof(float));
  scale_b.upload(operands.scales_b.data(), operands.scales_b.size() * sizeof(float));
  const BlockScales scales_a{static_cast<const float*>(scale_a.get()), operands.ld_a},
      scales_b{static_cast<const float*>(scale_b.get()), operands.ld_b};
  Launcher& launcher = device.launcher();
  GroupedOrScaledResult result;
  const auto run = [&](const auto& problem, const auto& multiply) {
    if (const char* kernel = kernel_name(launcher, problem)) result.kernel = kernel;
    require(multiply(launcher, problem));
    require(device.synchronize());
  };
  if (what.groups.empty()) {
    ScaledGemm problem;
    problem.m = p.m, problem.n = p.n, problem.k = p.k;
    problem.a = {a.get(), p.a.ld, p.a.order, p.a.type};
    problem.b = {b.get(), p.b.ld, p.b.order, p.b.type};
    problem.c = {c.get(), p.c.ld, p.c.type};
    problem.alpha = p.alpha, problem.beta = p.beta;
    problem.mode = what.mode.value_or(ScaleMode::per_tensor);
    problem.scale_a = scales_a, problem.scale_b = scales_b;
    problem.kernel = p.kernel;
    problem.multiprocessors = p.multiprocessors;
    problem.overlaps_previous = p.overlaps_previous;
    run(problem, [](Launcher& l, const ScaledGemm& x) { return gemm(l, x); });
  } else {
    std::vector<std::int64_t> offsets{0};
    for (const std::int64_t rows : what.groups) offsets.push_back(offsets.back() + rows);
    DeviceBuffer sizes(device, "the offsets of the groups", offsets.size() * sizeof(std::int64_t));
    sizes.upload(offsets.data(), offsets.size() * sizeof(std::int64_t));
    GroupedGemm problem;
    problem.groups = static_cast<std::int64_t>(what.groups.size());
    problem.m = p.m, problem.n = p.n, problem.k = p.k;
    problem.a = {a.get(), p.a.ld, p.a.order, p.a.type};
    problem.b = {b.get(), p.b.ld, p.b.order, p.b.type};
    problem.b_stride = Stack{problem.groups}.stride(operands.b);
    problem.c = {c.get(), p.c.ld, p.c.type};
    problem.alpha = p.alpha, problem.beta = p.beta;
    problem.sizes = static_cast<const std::int64_t*>(sizes.get());
    problem.kernel = p.kernel;
    problem.multiprocessors = p.multiprocessors;
    problem.overlaps_previous = p.overlaps_previous;
    if (what.mode) {
      problem.scale_a = scales_a, problem.scale_b = scales_b;
      problem.scale_b_stride = blocks_of_128(p.n) * operands.ld_b;
    }
    run(problem, [](Launcher& l, const GroupedGemm& x) { return gemm_grouped(l, x); });
  }
  if (what.check) {
    Operand c_after = operands.c_before;
    c.download(c_after.data.data(), c_after.data.size());
    result.check = check_groups(what, operands, c_after);
  }
  return result;
}

}  // namespace tenon::command
