// Tensor maps: the requirements of cuTensorMapEncodeTiled as sentences, the encoding, the rows of a box.
#include "emulator/machine/tensor_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>

namespace tenon::emulator {
namespace {

// A valid map of 3 dimensions; each test changes one part of it.
struct Arguments {
  TensorMapType type = TensorMapType::float16;
  int rank = 3;
  std::uint64_t address = 0x10000;
  std::uint64_t dimensions[5] = {100, 50, 7, 1, 1};
  std::uint64_t strides[4] = {208, 208 * 50, 1 << 20, 1 << 24};
  std::uint32_t box[5] = {64, 16, 2, 1, 1};
  std::uint32_t element_strides[5] = {1, 1, 1, 1, 1};
  TensorMapInterleave interleave = TensorMapInterleave::none;
  TensorMapSwizzle swizzle = TensorMapSwizzle::bytes_128;
  TensorMapL2Promotion promotion = TensorMapL2Promotion::bytes_128;
  TensorMapFill fill = TensorMapFill::zeros;

  TensorMap encode() const {
    return encode_tiled(type, rank, address, dimensions, strides, box, element_strides, interleave, swizzle,
                        promotion, fill);
  }
  MappedTensor decoded() const {
    MappedTensor t;
    EXPECT_TRUE(decode(encode().bytes, t));
    return t;
  }
};

std::string refusal(const std::function<void(Arguments&)>& change) {
  Arguments a;
  change(a);
  try {
    a.encode();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "accepted";
}

TEST(TensorMap, decodes_to_what_was_encoded) {
  Arguments a;
  a.dimensions[2] = std::uint64_t{1} << 32;
  a.element_strides[1] = 3;
  a.fill = TensorMapFill::nan_request_zero_fma;
  const MappedTensor t = a.decoded();
  EXPECT_EQ(t.type, TensorMapType::float16);
  EXPECT_EQ(t.rank, 3);
  EXPECT_EQ(t.address, 0x10000u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(t.dimensions[i], a.dimensions[i]);
    EXPECT_EQ(t.box[i], a.box[i]);
    EXPECT_EQ(t.element_strides[i], a.element_strides[i]);
  }
  EXPECT_EQ(t.strides[0], 2u);
  EXPECT_EQ(t.strides[1], 208u);
  EXPECT_EQ(t.strides[2], 10400u);
  EXPECT_EQ(t.swizzle, Swizzle::bytes_128);
  EXPECT_EQ(t.fill, TensorMapFill::nan_request_zero_fma);
  EXPECT_EQ(t.count(1), 6u) << "ceil(16 / 3)";
  EXPECT_EQ(t.copy_bytes(), 64u * 2 * 6 * 2);
}

TEST(TensorMap, knows_bytes_that_no_map_has) {
  std::uint8_t other[128];
  std::fill(std::begin(other), std::end(other), std::uint8_t{0xff});
  MappedTensor t;
  EXPECT_FALSE(decode(other, t));
}

TEST(TensorMap, of_zeros_has_a_box_of_one_byte) {  // an H200 stops at it with an illegal instruction
  const std::uint8_t zeros[128] = {};
  MappedTensor t;
  ASSERT_TRUE(decode(zeros, t));
  EXPECT_EQ(problem(t), "The innermost row of the box is 1 but must be a multiple of 16 bytes.");
}

TEST(TensorMap, names_each_requirement_that_is_not_met) {
  EXPECT_EQ(refusal([](Arguments&) {}), "accepted");
  EXPECT_EQ(refusal([](Arguments& a) { a.rank = 0; }), "The rank is 0 but must be from 1 to 5.");
  EXPECT_EQ(refusal([](Arguments& a) { a.rank = 6; }), "The rank is 6 but must be from 1 to 5.");
  EXPECT_EQ(refusal([](Arguments& a) { a.address = 0x10008; }),
            "The address is 65544 but must be a multiple of 16.");
  EXPECT_EQ(refusal([](Arguments& a) { a.dimensions[1] = 0; }),
            "dimensions[1] is 0 but must be from 1 to 2^32 elements.");
  EXPECT_EQ(refusal([](Arguments& a) { a.strides[0] = 200; }),
            "strides[0] is 200 but must be a multiple of 16 bytes and less than 2^40.");
  EXPECT_EQ(refusal([](Arguments& a) { a.strides[1] = std::uint64_t{1} << 40; }),
            "strides[1] is 1099511627776 but must be a multiple of 16 bytes and less than 2^40.");
  EXPECT_EQ(refusal([](Arguments& a) { a.box[2] = 257; }),
            "box[2] is 257 but must be from 1 to 256 elements.");
  EXPECT_EQ(refusal([](Arguments& a) { a.element_strides[1] = 9; }),
            "element_strides[1] is 9 but must be from 1 to 8.");
  EXPECT_EQ(refusal([](Arguments& a) { a.box[0] = 20; }),
            "The innermost row of the box is 40 but must be a multiple of 16 bytes.");
  EXPECT_EQ(refusal([](Arguments& a) { a.box[0] = 128; }),
            "The innermost row of the box is 256 but a swizzle of 128 bytes needs a row of at most as many.");
  EXPECT_EQ(refusal([](Arguments& a) { a.interleave = TensorMapInterleave::bytes_32; }),
            "strides[0] is 208 but must be a multiple of 32 bytes and less than 2^40.");
  EXPECT_EQ(refusal([](Arguments& a) {
              a.interleave = TensorMapInterleave::bytes_16;
              a.rank = 2;
            }),
            "The rank is 2 but an interleaved layout needs at least 3 dimensions.");
  EXPECT_EQ(refusal([](Arguments& a) {
              a.type = TensorMapType::uint16;
              a.fill = TensorMapFill::nan_request_zero_fma;
            }),
            "The fill is NaN but the type is an integer; only floating-point tensors can be filled so.");
}

TEST(TensorMap, rows_of_a_box_walk_the_dimensions_in_order) {
  Arguments a;
  const MappedTensor t = a.decoded();
  EXPECT_EQ(t.rows(), 32u);
  const std::int32_t at[3] = {8, 5, 3};
  std::uint32_t row = 0;
  for (std::uint64_t z = 0; z < 2; ++z) {
    for (std::uint64_t y = 0; y < 16; ++y, ++row) {
      const TensorRow r = tensor_row(t, at, row);
      EXPECT_EQ(r.global, 0x10000 + 8 * 2 + (5 + y) * 208 + (3 + z) * 10400);
      EXPECT_EQ(r.first, 0u);
      EXPECT_EQ(r.last, 64u);
      EXPECT_EQ(r.shared, row * 128);
    }
  }
}

TEST(TensorMap, rows_end_at_the_edges_of_the_tensor) {
  Arguments a;
  const MappedTensor t = a.decoded();
  const std::int32_t left[3] = {-10, 49, 0}, right[3] = {90, -1, 6}, far[3] = {100, 0, 0};
  TensorRow r = tensor_row(t, left, 0);
  EXPECT_EQ(r.first, 10u);
  EXPECT_EQ(r.last, 64u);
  EXPECT_EQ(r.global, 0x10000u + 49 * 208);
  r = tensor_row(t, left, 1);
  EXPECT_EQ(r.first, r.last) << "row 50 of 50";
  r = tensor_row(t, right, 0);
  EXPECT_EQ(r.first, r.last) << "row -1";
  r = tensor_row(t, right, 1);
  EXPECT_EQ(r.first, 0u);
  EXPECT_EQ(r.last, 10u);
  r = tensor_row(t, right, 17);
  EXPECT_EQ(r.first, r.last) << "plane 7 of 7";
  r = tensor_row(t, far, 0);
  EXPECT_EQ(r.first, r.last);
}

TEST(TensorMap, element_strides_step_over_rows) {
  Arguments a;
  a.element_strides[1] = 4;
  const MappedTensor t = a.decoded();
  EXPECT_EQ(t.rows(), 4u * 2);
  const std::int32_t at[3] = {0, 1, 0};
  EXPECT_EQ(tensor_row(t, at, 3).global, 0x10000u + (1 + 3 * 4) * 208);
  EXPECT_EQ(tensor_row(t, at, 4).global, 0x10000u + 208 + 10400);
}

TEST(TensorMap, a_row_shorter_than_the_swizzle_takes_the_whole_span) {
  Arguments a;
  a.box[0] = 16;
  EXPECT_EQ(a.decoded().row_pitch(), 128u);
  a.swizzle = TensorMapSwizzle::none;
  EXPECT_EQ(a.decoded().row_pitch(), 32u);
}

TEST(Swizzle, is_a_permutation_of_chunks_with_the_period_of_eight_rows) {
  for (const Swizzle s : {Swizzle::none, Swizzle::bytes_32, Swizzle::bytes_64, Swizzle::bytes_128}) {
    std::set<std::uint32_t> seen;
    for (std::uint32_t address = 0; address < 2048; ++address) {
      const std::uint32_t to = swizzled(s, address);
      seen.insert(to);
      EXPECT_EQ(to % 16, address % 16);
      EXPECT_EQ(to / span(s), address / span(s)) << "stays in its row";
      EXPECT_EQ(swizzled(s, address + 1024), to + 1024);
      EXPECT_EQ(swizzled(s, to), address) << "is its own inverse";
    }
    EXPECT_EQ(seen.size(), 2048u);
  }
}

TEST(Swizzle, of_128_bytes_is_chunk_xor_row) {
  for (std::uint32_t row = 0; row < 8; ++row) {
    for (std::uint32_t chunk = 0; chunk < 8; ++chunk) {
      EXPECT_EQ(swizzled(Swizzle::bytes_128, row * 128 + chunk * 16), row * 128 + (chunk ^ row) * 16);
    }
  }
}

}  // namespace
}  // namespace tenon::emulator
