// Tensor copies by maps with an interleaved layout (PTX ISA 5.5.6), NC/8HWC8 and NC/16HWC16: the loads of an
// H200, further loads against a direct computation, and what is refused.
#include <stdexcept>

#include "emulator/instructions/interleave_h200.hpp"
#include "emulator/instructions/tensor_kernel.hpp"

namespace tenon::emulator::testing {
namespace {

constexpr std::size_t chunk = 8;  // elements of 16 bits in 16 bytes

TensorMap map_of(const MeasuredInterleave& t, std::uint64_t address) {
  return encode_tiled(t.type, static_cast<int>(t.dimensions.size()), address, t.dimensions.data(),
                      t.strides.data(), t.box.data(), t.steps.data(), t.interleave, t.swizzle,
                      TensorMapL2Promotion::none, TensorMapFill::zeros);
}

void expect_measured(const MeasuredInterleave& t) {
  const std::vector<std::uint16_t> memory = numbered(2048);
  std::vector<std::uint16_t> expected;
  for (const int offset : t.offsets) {
    for (std::size_t i = 0; i < chunk; ++i)
      expected.push_back(offset < 0 ? std::uint16_t{0} : memory[static_cast<std::size_t>(offset) / 2 + i]);
  }
  expect_tensor_load(
      load_of_box(t.at), [&](std::uint64_t address) { return map_of(t, address); }, memory, expected, 1);
}

TEST(Interleave, loads_what_an_H200_loads) {
  for (std::size_t i = 0; i < measured_interleaves.size(); ++i) {
    SCOPED_TRACE("measured case " + std::to_string(i));
    const MeasuredInterleave& t = measured_interleaves[i];
    if (t.offsets.empty()) {
      EXPECT_THROW(map_of(t, 0x10000), std::invalid_argument);
    } else {
      expect_measured(t);
    }
  }
}

// W, H, D, slices of an image, images; padded by a pixel a row.
struct Sliced {
  std::vector<std::uint64_t> dimensions;
  std::vector<std::uint32_t> box, steps;
  TensorMapType type = TensorMapType::uint16;
  TensorMapFill fill = TensorMapFill::zeros;

  std::vector<std::uint64_t> strides() const {  // bytes, from the pixel to all
    std::vector<std::uint64_t> all{16, 16 * (dimensions[0] + 1)};
    for (std::size_t i = 1; i < dimensions.size(); ++i) all.push_back(all.back() * dimensions[i]);
    return all;
  }
  TensorMap map(std::uint64_t address, TensorMapSwizzle swizzle = TensorMapSwizzle::none) const {
    return encode_tiled(type, static_cast<int>(dimensions.size()), address, dimensions.data(),
                        strides().data() + 1, box.data(), steps.data(), TensorMapInterleave::bytes_16,
                        swizzle, TensorMapL2Promotion::none, fill);
  }
  // The first elements of the slices of a box; -1: outside the tensor.
  std::vector<std::int64_t> places(const std::vector<std::int32_t>& at) const {
    std::vector<std::uint32_t> counts = box;
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = (counts[i] + steps[i] - 1) / steps[i];
    counts[counts.size() - 2] = 1;
    std::vector<std::int64_t> all = box_offsets(dimensions, strides(), counts, steps, at);
    for (std::int64_t& place : all) place = place < 0 ? -1 : place / 2;
    return all;
  }
};

void expect_load(const Sliced& t, const std::vector<std::int32_t>& at, std::uint16_t outside = 0) {
  SCOPED_TRACE("at " + joined(at));
  const std::vector<std::uint16_t> memory = numbered(t.strides().back() / 2);
  std::vector<std::uint16_t> expected;
  for (const std::int64_t place : t.places(at)) {
    for (std::size_t i = 0; i < chunk; ++i)
      expected.push_back(place < 0 ? outside : memory[static_cast<std::size_t>(place) + i]);
  }
  expect_tensor_load(
      load_of_box(at), [&](std::uint64_t address) { return t.map(address); }, memory, expected, 2);
}

TEST(Interleave, fills_what_is_outside) {
  const Sliced t{{12, 5, 3, 2}, {8, 4, 1, 2}, {1, 1, 1, 1}};
  expect_load(t, {8, 3, 2, 1});
  expect_load(t, {-8, -2, 0, -1});
  expect_load(t, {0, 0, 3, 0});
  Sliced nan = t;
  nan.type = TensorMapType::bfloat16;
  nan.fill = TensorMapFill::nan_request_zero_fma;
  expect_load(nan, {8, 3, 2, 1}, 0x7ff7);
}

TEST(Interleave, of_5_dimensions_and_with_steps) {
  expect_load({{12, 5, 4, 3, 2}, {8, 4, 3, 1, 2}, {1, 1, 1, 1, 1}}, {8, 1, 0, 2, 0});
  expect_load({{24, 8, 3, 2}, {16, 4, 1, 2}, {3, 2, 1, 1}}, {0, 1, 1, 0});
}

// An H100 stops with an illegal instruction.
TEST(Interleave, cannot_be_stored_by) {
  const Sliced t{{12, 5, 3, 2}, {8, 4, 1, 2}, {1, 1, 1, 1}};
  PtxKernel kernel(
      tensor_parameters,
      tensor_store(
          "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%d0, {0, 0, 0, 0}], [%r1];  // FAULT",
          1024));
  kernel.grid(1, 64)
      .argument(0, t.map(kernel.upload(numbered(2048))))
      .argument(1, kernel.upload(numbered(512)));
  expect_fault(kernel, FindingKind::argument, "an illegal instruction", 1);
}

// The map is encoded, as the driver does, and its copy is a finding.
void expect_refused(const MapAt& map_at, const std::vector<std::int32_t>& at, const std::string& says) {
  PtxKernel kernel(tensor_parameters, tensor_load(load_of_box(at), 128, 128));
  kernel.grid(1, 64)
      .argument(0, map_at(kernel.upload(numbered(2048))))
      .argument(1, kernel.zeros<std::uint16_t>(64));
  expect_fault(kernel, FindingKind::argument, says, 1);
}

TEST(Interleave, of_other_swizzles_and_coordinates_is_not_documented) {
  MeasuredInterleave wide{TensorMapType::uint16,
                          {16, 4, 4},
                          {128, 512},
                          {8, 1, 2},
                          {1, 1, 1},
                          TensorMapInterleave::bytes_32,
                          TensorMapSwizzle::bytes_128,
                          {},
                          {}};
  expect_refused([&](std::uint64_t address) { return map_of(wide, address); }, {0, 0, 0},
                 "The layout interleaved by 32 bytes has a swizzle of 128 bytes");
  Sliced narrow{{8, 4, 4}, {4, 1, 2}, {1, 1, 1}, TensorMapType::float32};
  expect_refused([&](std::uint64_t address) { return narrow.map(address, TensorMapSwizzle::bytes_128); },
                 {0, 0, 0}, "has rows of 64 bytes in a swizzle of 128 bytes; whether they are padded");
  expect_refused(
      [&](std::uint64_t address) { return narrow.map(address); }, {1, 0, 0},
      "The innermost coordinate is 1; in an interleaved layout only multiples of 4 are known to work.");
}

TEST(Interleave, of_im2col_is_not_documented) {
  const std::uint64_t dimensions[] = {8, 4, 4}, strides[] = {16, 64};
  const int corner[] = {0};
  const std::uint32_t steps[] = {1, 1, 1};
  PtxKernel kernel(tensor_parameters,
                   tensor_load("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::"
                               "bytes [%r1], [%d0, {0, 0, 0}], [%r2], {0};  // FAULT",
                               64, 64));
  const TensorMap map =
      encode_im2col(TensorMapType::uint16, 3, kernel.upload(numbered(128)), dimensions, strides, corner,
                    corner, 8, 4, steps, TensorMapInterleave::bytes_16, TensorMapSwizzle::none,
                    TensorMapL2Promotion::none, TensorMapFill::zeros);
  kernel.grid(1, 64).argument(0, map).argument(1, kernel.zeros<std::uint16_t>(32));
  expect_fault(kernel, FindingKind::argument, "The layout interleaved by 16 bytes is of im2col", 1);
}

}  // namespace
}  // namespace tenon::emulator::testing
