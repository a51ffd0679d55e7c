// Tensor copies in the im2col modes: the pixels of a column against a traversal of the box of pixels as PTX
// ISA 5.5.4 describes it, loads with offsets, stores without; what the maps and the instructions refuse.
#include <algorithm>
#include <random>
#include <stdexcept>

#include "emulator/instructions/tensor_kernel.hpp"

namespace tenon::emulator::testing {
namespace {

struct Images {
  std::vector<std::uint64_t> dimensions;  // C, W, H, D, N
  std::vector<int> lower, upper;          // W, H, D
  std::uint32_t channels = 8, pixels = 8;
  std::vector<std::uint32_t> steps;
  TensorMapSwizzle swizzle = TensorMapSwizzle::none;

  int rank() const { return static_cast<int>(dimensions.size()); }
  std::vector<std::uint64_t> strides() const {  // bytes, and of all; rows are padded
    std::vector<std::uint64_t> all{(dimensions[0] * 2 + 15) / 16 * 16 + 16};
    for (std::size_t i = 1; i < dimensions.size(); ++i) all.push_back(all.back() * dimensions[i]);
    return all;
  }
  TensorMap map(std::uint64_t address) const {
    return encode_im2col(TensorMapType::uint16, rank(), address, dimensions.data(), strides().data(),
                         lower.data(), upper.data(), channels, pixels, steps.data(),
                         TensorMapInterleave::none, swizzle, TensorMapL2Promotion::none,
                         TensorMapFill::zeros);
  }
};

// The indices in memory (in elements) of a column's channels, pixel by pixel; -1: outside the tensor.
std::vector<std::int64_t> column_of(const Images& t, std::vector<std::int32_t> at, std::vector<int> offsets) {
  offsets.resize(3);
  std::vector<std::int64_t> places;
  const std::vector<std::uint64_t> strides = t.strides();
  for (std::uint32_t pixel = 0; pixel < t.pixels; ++pixel) {
    for (std::uint32_t c = 0; c < t.channels; ++c) {
      std::int64_t place = at[0] + static_cast<std::int64_t>(c);
      bool inside = place >= 0 && place < static_cast<std::int64_t>(t.dimensions[0]);
      for (std::size_t i = 1; i < at.size(); ++i) {
        const std::int64_t index = at[i] + (i + 1 < at.size() ? offsets[i - 1] : 0);
        inside = inside && index >= 0 && index < static_cast<std::int64_t>(t.dimensions[i]);
        place += index * static_cast<std::int64_t>(strides[i - 1] / 2);
      }
      places.push_back(inside ? place : -1);
    }
    for (std::size_t i = 1; i < at.size(); ++i) {  // to the next pixel, with carry
      at[i] += static_cast<std::int32_t>(t.steps[i]);
      if (i + 1 == at.size() || at[i] <= static_cast<int>(t.dimensions[i]) - 1 + t.upper[i - 1]) break;
      at[i] = t.lower[i - 1];
    }
  }
  return places;
}

// The load of a column, after its prefetch.
std::string load(const std::vector<std::int32_t>& at, const std::vector<int>& offsets) {
  const std::string rank = std::to_string(at.size());
  return "cp.async.bulk.prefetch.tensor." + rank + "d.L2.global.im2col [%d0, {" + joined(at) + "}], {" +
         joined(offsets) + "};\n  cp.async.bulk.tensor." + rank +
         "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%d0, {" + joined(at) +
         "}], [%r2], {" + joined(offsets) + "};";
}

void expect_column(const Images& t, const std::vector<std::int32_t>& at, const std::vector<int>& offsets) {
  SCOPED_TRACE("at " + joined(at) + " moved by " + joined(offsets));
  const std::vector<std::uint16_t> memory = numbered(t.strides().back() / 2);
  std::vector<std::uint16_t> expected;
  for (const std::int64_t place : column_of(t, at, offsets))
    expected.push_back(place < 0 ? std::uint16_t{0} : memory[static_cast<std::size_t>(place)]);
  if (t.swizzle == TensorMapSwizzle::bytes_128) {  // rows of 128 bytes: chunk i of row r lies at i ^ r % 8
    const std::vector<std::uint16_t> straight = expected;
    for (std::size_t i = 0; i < straight.size(); ++i)
      expected[i / 64 * 64 + (i / 8 % 8 ^ i / 64 % 8) * 8 + i % 8] = straight[i];
  }
  expect_tensor_load(
      load(at, offsets), [&](std::uint64_t address) { return t.map(address); }, memory, expected, 1);
}

TEST(Im2col, traverses_the_pixels_of_a_row_an_image_and_the_next_image) {
  // A 3 x 3 filter with a border of 1: nine positions of each image's box.
  const Images images{{16, 7, 5, 3}, {-1, -1}, {-1, -1}, 8, 60, {1, 1, 1, 1}};
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 3; ++x) expect_column(images, {8, -1, -1, 0}, {x, y});
  expect_column(images, {0, 3, 2, 1}, {2, 0});
  expect_column(images, {8, 5, 3, 2}, {1, 1});  // on into an image that does not exist
}

TEST(Im2col, of_3_to_5_dimensions) {
  expect_column({{24, 30, 4}, {-3}, {2}, 16, 50, {1, 1, 1}}, {8, -3, 0}, {5});
  expect_column({{8, 5, 4, 3, 2}, {-1, 0, -2}, {0, -1, 1}, 8, 100, {1, 1, 1, 1, 1}}, {0, 2, 1, -1, 0},
                {1, 0, 2});
}

TEST(Im2col, steps_over_pixels) {
  expect_column({{16, 9, 7, 2}, {-1, -1}, {-1, -1}, 8, 40, {1, 2, 2, 1}}, {0, -1, -1, 0}, {1, 2});
  expect_column({{16, 10, 7, 3}, {0, -1}, {0, 1}, 8, 30, {1, 3, 2, 1}}, {8, 3, 1, 0}, {0, 1});
}

TEST(Im2col, swizzles_a_row_a_pixel) {
  Images images{{64, 7, 5, 2}, {-1, -1}, {-1, -1}, 64, 40, {1, 1, 1, 1}};
  images.swizzle = TensorMapSwizzle::bytes_128;
  expect_column(images, {0, 0, -1, 0}, {1, 1});
}

TEST(Im2col, random_columns) {
  std::mt19937 random(5);
  const auto pick = [&](int first, int last) {
    return first + static_cast<int>(random() % (last - first + 1));
  };
  for (int i = 0; i < 60; ++i) {
    const int rank = pick(3, 5);
    Images t{{static_cast<std::uint64_t>(8 * pick(1, 3))}, {}, {}, static_cast<std::uint32_t>(8 * pick(1, 2)),
             static_cast<std::uint32_t>(pick(1, 64)),      {1}};
    std::vector<std::int32_t> at{8 * pick(0, 2)};
    std::vector<int> offsets;
    for (int d = 1; d < rank; ++d) {
      t.dimensions.push_back(static_cast<std::uint64_t>(pick(3, 8)));
      const bool is_image = d == rank - 1;
      t.steps.push_back(static_cast<std::uint32_t>(is_image ? 1 : pick(1, 3)));
      if (is_image) {
        at.push_back(pick(0, 2));
        continue;
      }
      t.lower.push_back(pick(-2, 1));
      t.upper.push_back(pick(-1, 2));
      offsets.push_back(pick(0, 3));
      at.push_back(pick(t.lower.back(), static_cast<int>(t.dimensions.back()) - 1 + t.upper.back()));
    }
    expect_column(t, at, offsets);
  }
}

TEST(Im2col, stores_without_offsets) {
  const Images t{{16, 7, 5, 3}, {0, 1}, {-1, 0}, 8, 40, {1, 1, 1, 1}};
  const std::vector<std::int32_t> at{8, 2, 1, 0};
  const std::vector<std::uint16_t> data = numbered(t.channels * t.pixels);
  const std::size_t size = t.strides().back() / 2;
  std::vector<std::uint16_t> expected(size);
  const std::vector<std::int64_t> places = column_of(t, at, {});
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i] >= 0) expected[static_cast<std::size_t>(places[i])] = data[i];
  expect_tensor_store(
      "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%d0, {" + joined(at) +
          "}], [%r1];",
      [&](std::uint64_t address) { return t.map(address); }, data, expected, 2);
}

TEST(Im2col, a_map_of_the_other_mode_is_found) {
  Images t{{16, 7, 5, 3}, {0, 0}, {0, 0}, 8, 8, {1, 1, 1, 1}};
  PtxKernel kernel(tensor_parameters, changed(changed(tensor_load(load({0, 0, 0, 0}, {0, 0}), 128, 128),
                                                      ".im2col.mbarrier", ".tile.mbarrier"),
                                              "[%r2], {0, 0};\nREADY:", "[%r2];  // FAULT\nREADY:"));
  const std::uint64_t images = kernel.upload(numbered(t.strides().back() / 2));
  kernel.grid(1, 64).argument(0, t.map(images)).argument(1, kernel.zeros<std::uint16_t>(64));
  expect_fault(kernel, FindingKind::argument, "The tensor map is of im2col, and the instruction is not.", 1);
}

std::string refusal(const Images& t) {
  try {
    t.map(0x1000);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Im2col, maps_satisfy_the_requirements_of_the_driver) {
  if (on_gpu()) GTEST_SKIP() << "of the emulator's own maps";
  const Images right{{16, 7, 5, 3}, {-1, -1}, {-1, -1}, 8, 60, {1, 1, 1, 1}};
  EXPECT_EQ(refusal(right), "accepted");
  Images t = right;
  t.pixels = 1025;
  EXPECT_EQ(refusal(t), "The number of pixels is 1025 but must be from 1 to 1024.");
  t = right;
  t.channels = 264;
  EXPECT_EQ(refusal(t), "The number of channels is 264 but must be from 1 to 256.");
  t = right;
  t.lower[1] = -129;
  EXPECT_EQ(refusal(t), "lower_corner[1] is -129 but must be from -128 to 127.");
  t = right;
  t.upper[0] = -8;
  EXPECT_EQ(refusal(t), "The box of pixels is empty: dimension 1 goes from -1 to -2.");
  t = {{16, 7}, {}, {}, 8, 8, {1, 1}};
  EXPECT_EQ(refusal(t), "The rank is 2 but im2col needs 3 to 5 dimensions.");
}

}  // namespace
}  // namespace tenon::emulator::testing
