// The quantisation of tenon/quantize.hpp on any launcher: check, launch.
#include "quantize/quantize.hpp"

#include <limits>

#include "host/cuda_launcher.hpp"
#include "host/validate.hpp"
#include "quantize/quantize_kernel.cuh"

namespace tenon {
namespace quantisation {

// A kernel for each width. Blocks: that an SM shall have room for. extern "C": the name of its entry in PTX.
#define TENON_QUANTIZE(name, width, threads_, blocks, function)                                              \
  extern "C" __global__ void __launch_bounds__(threads_, blocks) name(const __grid_constant__ Arguments p) { \
    with_source<width>(p, [&](const auto& source) { function(p, source); });                                 \
  }
TENON_QUANTIZE(tenon_quantize_1x128, Width::narrow, threads, 5, quantise_1x128)
TENON_QUANTIZE(tenon_quantize_1x128_wide, Width::wide, threads, 4, quantise_1x128)
TENON_QUANTIZE(tenon_quantize_128x128, Width::narrow, threads_of_128x128[0], 2, quantise_128x128)
TENON_QUANTIZE(tenon_quantize_128x128_wide, Width::wide, threads_of_128x128[1], 1, quantise_128x128)
TENON_QUANTIZE(tenon_quantize_row, Width::narrow, threads, 4, quantise_row)
TENON_QUANTIZE(tenon_quantize_row_wide, Width::wide, threads, 3, quantise_row)
TENON_QUANTIZE(tenon_quantize_find, Width::narrow, threads, 6, find_scale)
TENON_QUANTIZE(tenon_quantize_find_wide, Width::wide, threads, 4, find_scale)
TENON_QUANTIZE(tenon_quantize_tensor, Width::narrow, threads, 6, quantise_tensor)
TENON_QUANTIZE(tenon_quantize_tensor_wide, Width::wide, threads, 4, quantise_tensor)
#undef TENON_QUANTIZE

extern "C" __global__ void __launch_bounds__(threads)
    tenon_quantize_clear(const __grid_constant__ Arguments p) {
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  if (threadIdx.x == 0) *p.scales = 0.0F;
}

}  // namespace quantisation

namespace {

constexpr StatusCode invalid = StatusCode::invalid_argument;

std::uintptr_t address(const void* pointer) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

// `rows` rows of `columns` elements.
struct Part {
  const char* what;
  const void* data;
  std::int64_t ld, rows, columns;
  std::size_t element;

  Status check() const noexcept {
    if (data == nullptr) return Status(invalid, "%s is a null pointer", what);
    const auto beyond = static_cast<int>(address(data) % element);
    if (beyond != 0)
      return Status(invalid, "%s is %d bytes past a multiple of %zu but its elements lie on multiples of it",
                    what, beyond, element);
    if (rows > 1 && ld < columns)
      return Status(invalid, "the leading dimension of %s is %lld but must be >= %lld", what,
                    static_cast<long long>(ld), static_cast<long long>(columns));
    return {};
  }
  ByteRanges ranges() const noexcept {
    const std::uint64_t row_bytes = static_cast<std::uint64_t>(columns) * element;
    return {address(data), static_cast<std::uint64_t>(rows), row_bytes,
            rows == 1 ? row_bytes : static_cast<std::uint64_t>(ld) * element};
  }
};

Status check_apart(const Part& written, const Part& other) noexcept {
  if (!overlap(written.ranges(), other.ranges())) return {};
  return Status(invalid, "%s (from %p) overlaps %s (from %p) but needs memory of its own", written.what,
                written.data, other.what, other.data);
}

constexpr std::int64_t blocks_of(std::int64_t size, std::int64_t block) noexcept {
  return (size + block - 1) / block;
}

// The scales as rows.
Part scales_of(const Quantize& q) noexcept {
  switch (q.blocks) {
    case ScaleBlocks::per_tensor:
      return {"scales", q.scales, 1, 1, 1, 4};
    case ScaleBlocks::per_row:
      return {"scales", q.scales, q.rows, 1, q.rows, 4};
    case ScaleBlocks::block_1x128:
      return {"scales", q.scales, q.ld_scales, blocks_of(q.columns, 128), q.rows, 4};
    default:
      return {"scales", q.scales, q.ld_scales, blocks_of(q.rows, 128), blocks_of(q.columns, 128), 4};
  }
}

Status check(const Quantize& q) noexcept {
  const struct {
    const char* name;
    std::int64_t size;
  } sizes[] = {{"rows", q.rows}, {"columns", q.columns}};
  for (const auto& [name, size] : sizes) {
    if (size < 0 || size > largest_dimension)
      return Status(invalid, "%s is %lld but must be 0 to %lld", name, static_cast<long long>(size),
                    static_cast<long long>(largest_dimension));
  }
  if (q.blocks < ScaleBlocks::per_tensor || q.blocks > ScaleBlocks::block_128x128)
    return Status(invalid, "blocks is %d but is a number from 0 to 3", static_cast<int>(q.blocks));
  if (q.x.type != Type::f32 && q.x.type != Type::f16 && q.x.type != Type::bf16)
    return Status(StatusCode::unsupported, "x is %s but must be f32, f16 or bf16", name(q.x.type));
  if (q.q.type != Type::e4m3)
    return Status(StatusCode::unsupported, "q is %s but must be e4m3", name(q.q.type));
  if (q.x.order != row_major)
    return Status(StatusCode::unsupported, "x is column-major but must be row-major");
  if (q.rows == 0 || q.columns == 0) return {};
  const bool gated = q.up.data != nullptr;
  if (gated && (q.up.type != q.x.type || q.up.order != row_major))
    return Status(StatusCode::unsupported, "up is %s and %s but must be %s and row-major", name(q.up.type),
                  q.up.order == row_major ? "row-major" : "column-major", name(q.x.type));
  const std::size_t element = bytes(q.x.type);
  const Part x{"x", q.x.data, q.x.ld, q.rows, q.columns, element};
  const Part up{"up", q.up.data, q.up.ld, q.rows, q.columns, element};
  const Part to{"q", q.q.data, q.q.ld, q.rows, q.columns, 1};
  const Part scales = scales_of(q);
  for (const Part* part : {&x, &to, &scales}) {
    if (Status s = part->check(); !s) return s;
  }
  if (gated) {
    if (Status s = up.check(); !s) return s;
    if (Status s = check_apart(to, up); !s) return s;
    if (Status s = check_apart(scales, up); !s) return s;
  }
  if (Status s = check_apart(to, x); !s) return s;
  if (Status s = check_apart(scales, x); !s) return s;
  return check_apart(to, scales);
}

bool every_row_begins_on(const void* data, std::int64_t ld, std::int64_t rows, std::size_t element,
                         std::uint64_t step) noexcept {
  return address(data) % step == 0 && (rows == 1 || static_cast<std::uint64_t>(ld) * element % step == 0);
}

}  // namespace

Status quantize(Launcher& launcher, const Quantize& what) noexcept {
  if (Status s = check(what); !s) return s;
  if (what.rows == 0 || what.columns == 0) return {};
  DeviceDescription device;
  if (Status s = launcher.describe(&device); !s) return s;
  if (device.sm != 90)
    return Status(StatusCode::device_unsupported, "quantize() needs sm_90 but the device is sm_%d",
                  device.sm);

  using namespace quantisation;
  const std::size_t element = bytes(what.x.type);
  Arguments p{};
  p.x = what.x.data, p.ld_x = what.x.ld;
  p.up = what.up.data, p.ld_up = what.up.ld;
  p.q = static_cast<std::uint8_t*>(what.q.data), p.ld_q = what.q.ld;
  p.scales = what.scales, p.ld_scales = what.ld_scales;
  p.rows = what.rows, p.columns = what.columns;
  p.blocks_across = static_cast<int>(blocks_of(what.columns, 128));
  p.type = what.x.type;
  p.x_by_16 = every_row_begins_on(p.x, p.ld_x, p.rows, element, 16) &&
              (p.up == nullptr || every_row_begins_on(p.up, p.ld_up, p.rows, element, 16));
  p.q_by_8 = every_row_begins_on(p.q, p.ld_q, p.rows, 1, 8);

  struct Entry {
    void (*function)(Arguments);
    const char* name;
  };
  const auto launch = [&](const Entry& entry, std::int64_t grid, int block = threads) {
    if (grid > std::numeric_limits<int>::max())
      return Status(StatusCode::unsupported,
                    "%lld rows of %lld columns are %lld blocks but a grid has at most %d",
                    static_cast<long long>(p.rows), static_cast<long long>(p.columns),
                    static_cast<long long>(grid), std::numeric_limits<int>::max());
    Launch launch;
    launch.what = "quantisation";
    launch.ptx = "quantize";
    launch.function = reinterpret_cast<const void*>(entry.function);
    launch.entry = entry.name;
    launch.grid.x = static_cast<unsigned>(grid);
    launch.block.x = static_cast<unsigned>(block);
    launch.overlaps_previous = true;
    launch.arguments.set(p);
    return launcher.launch(launch);
  };
  const bool gated = p.up != nullptr, wide = gated || p.type == Type::f32;
  const auto of_width = [&](const Entry& narrow, const Entry& other) { return wide ? other : narrow; };
  const std::int64_t tiles = blocks_of(p.rows, tile_rows(p.type, gated)) * p.blocks_across;
  switch (what.blocks) {
    case ScaleBlocks::per_row:
      return launch(of_width({&tenon_quantize_row, "tenon_quantize_row"},
                             {&tenon_quantize_row_wide, "tenon_quantize_row_wide"}),
                    p.rows);
    case ScaleBlocks::block_1x128:
      return launch(of_width({&tenon_quantize_1x128, "tenon_quantize_1x128"},
                             {&tenon_quantize_1x128_wide, "tenon_quantize_1x128_wide"}),
                    tiles);
    case ScaleBlocks::block_128x128:
      return launch(of_width({&tenon_quantize_128x128, "tenon_quantize_128x128"},
                             {&tenon_quantize_128x128_wide, "tenon_quantize_128x128_wide"}),
                    blocks_of(p.rows, 128) * p.blocks_across, threads_of_128x128[wide ? 1 : 0]);
    default:
      break;
  }
  if (Status s = launch({&tenon_quantize_clear, "tenon_quantize_clear"}, 1); !s) return s;
  if (Status s = launch(of_width({&tenon_quantize_find, "tenon_quantize_find"},
                                 {&tenon_quantize_find_wide, "tenon_quantize_find_wide"}),
                        tiles);
      !s)
    return s;
  return launch(of_width({&tenon_quantize_tensor, "tenon_quantize_tensor"},
                         {&tenon_quantize_tensor_wide, "tenon_quantize_tensor_wide"}),
                tiles);
}

Status quantize(const Quantize& what, CUstream_st* stream) noexcept {
  CudaLauncher launcher(stream);
  return quantize(launcher, what);
}

}  // namespace tenon
