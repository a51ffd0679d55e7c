// The bits of tensor maps against those of a driver and an H200, which tensor_maps_h200.json holds: what
// cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col made of arguments, and the 32-bit words that
// tensormap.replace changed in zeros, in ones and in a map.
#include "emulator/machine/tensor_map_bits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace tenon::emulator {
namespace {

using nlohmann::json;

const json& measured() {
  static const json all = [] {
    std::ifstream file(TENON_TENSOR_MAPS_MEASURED);
    EXPECT_TRUE(file) << TENON_TENSOR_MAPS_MEASURED;
    return json::parse(file);
  }();
  return all;
}

struct Bytes {
  std::uint8_t bytes[128] = {};
};

// Trailing zeros are left out.
Bytes from_hex(const std::string& text) {
  Bytes result;
  for (std::size_t i = 0; i < text.size() / 2; ++i)
    result.bytes[i] = static_cast<std::uint8_t>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  return result;
}

template <class T>
void copy_list(const json& list, T* to) {
  std::copy_n(list.get<std::vector<T>>().begin(), list.size(), to);
}

MappedTensor tensor_of(const json& record) {
  MappedTensor t;
  t.type = static_cast<TensorMapType>(record["type"].get<int>());
  t.rank = record["rank"];
  t.address = record["address"];
  copy_list(record["dimensions"], t.dimensions);
  t.strides[0] = static_cast<std::uint64_t>(t.element_bytes());
  copy_list(record["strides"], t.strides + 1);
  copy_list(record["element_strides"], t.element_strides);
  t.interleave = static_cast<TensorMapInterleave>(record["interleave"].get<int>());
  t.swizzle = static_cast<Swizzle>(record["swizzle"].get<int>());
  t.l2_promotion = static_cast<TensorMapL2Promotion>(record["l2_promotion"].get<int>());
  t.fill = static_cast<TensorMapFill>(record["fill"].get<int>());
  t.is_im2col = record.contains("pixels");
  if (t.is_im2col) {
    t.box[0] = record["channels"];
    t.box[1] = record["pixels"];
    copy_list(record["lower"], t.lower_corner);
    copy_list(record["upper"], t.upper_corner);
  } else {
    copy_list(record["box"], t.box);
  }
  return t;
}

void expect_same(const MappedTensor& found, const MappedTensor& t) {
  EXPECT_EQ(found.type, t.type);
  EXPECT_EQ(found.rank, t.rank);
  EXPECT_EQ(found.address, t.address);
  for (int i = 0; i < t.rank; ++i) {
    EXPECT_EQ(found.dimensions[i], t.dimensions[i]) << i;
    EXPECT_EQ(found.strides[i], t.strides[i]) << i;
    EXPECT_EQ(found.box[i], t.box[i]) << i;
    EXPECT_EQ(found.element_strides[i], t.element_strides[i]) << i;
  }
  EXPECT_EQ(found.interleave, t.interleave);
  EXPECT_EQ(found.swizzle, t.swizzle);
  EXPECT_EQ(found.l2_promotion, t.l2_promotion);
  EXPECT_EQ(found.fill, t.fill);
  EXPECT_EQ(found.is_im2col, t.is_im2col);
  for (int i = 0; i < max_tensor_rank - 2; ++i) {
    EXPECT_EQ(found.lower_corner[i], t.lower_corner[i]) << i;
    EXPECT_EQ(found.upper_corner[i], t.upper_corner[i]) << i;
  }
}

TEST(TensorMapBits, are_those_that_the_driver_encodes) {
  int count = 0;
  for (const char* kind : {"tiled", "im2col"}) {
    for (const json& record : measured()[kind]) {
      SCOPED_TRACE(record.dump());
      const Bytes expected = from_hex(record["bytes"]);
      const MappedTensor tensor = tensor_of(record);
      Bytes encoded;
      encode(tensor, encoded.bytes);
      EXPECT_EQ(std::memcmp(encoded.bytes, expected.bytes, 128), 0);
      MappedTensor decoded;
      ASSERT_TRUE(decode(expected.bytes, decoded)) << decode_problem(expected.bytes);
      expect_same(decoded, tensor);
      ++count;
    }
  }
  EXPECT_GT(count, 90);
}

MapField field_of(const std::string& name) {
  constexpr const char* names[] = {"global_address", "rank",           "box_dim",  "global_dim",
                                   "global_stride",  "element_stride", "elemtype", "interleave_layout",
                                   "swizzle_mode",   "fill_mode"};
  const auto* const found = std::find(std::begin(names), std::end(names), name);
  EXPECT_NE(found, std::end(names)) << name;
  return static_cast<MapField>(found - names);
}

TEST(TensorMapBits, change_by_a_replacement_as_on_an_h200) {
  int count = 0;
  for (const json& record : measured()["replaced"]) {
    SCOPED_TRACE(record.dump());
    const std::string from = record["from"];
    const Bytes start = from_hex(measured()["starts"][from]);
    Bytes expected = start, replaced = start;
    for (const auto& [word, value] : record["words"].items()) {
      const std::uint32_t bits = value;
      std::memcpy(expected.bytes + 4 * std::stoul(word), &bits, 4);
    }
    replace_field(replaced.bytes, field_of(record["field"]), record["ordinal"], record["value"]);
    EXPECT_EQ(std::memcmp(replaced.bytes, expected.bytes, 128), 0);
    ++count;
  }
  EXPECT_GT(count, 200);
}

// CUTLASS clears bit 21 of the second 64-bit word, which some drivers set, for tensors of less than 128 KiB.
TEST(TensorMapBits, a_bit_that_the_host_changes_makes_no_difference) {
  const json& record = measured()["tiled"][0];
  for (const bool is_set : {false, true}) {
    Bytes map = from_hex(record["bytes"]);
    std::uint64_t word;
    std::memcpy(&word, map.bytes + 8, 8);
    word = (word & ~(1ULL << 21)) | (is_set ? 1ULL << 21 : 0);
    std::memcpy(map.bytes + 8, &word, 8);
    MappedTensor decoded;
    ASSERT_TRUE(decode(map.bytes, decoded)) << decode_problem(map.bytes);
    expect_same(decoded, tensor_of(record));
  }
}

// The sentence about a map of uint8 in 3 dimensions with these bits set, too.
std::string problem_with(int word, std::uint32_t bits) {
  Bytes map = from_hex(measured()["tiled"][0]["bytes"]);
  std::uint32_t value;
  std::memcpy(&value, map.bytes + 4 * word, 4);
  value |= bits;
  std::memcpy(map.bytes + 4 * word, &value, 4);
  MappedTensor decoded;
  EXPECT_FALSE(decode(map.bytes, decoded));
  return decode_problem(map.bytes);
}

TEST(TensorMapBits, that_no_map_has_are_named) {
  EXPECT_EQ(problem_with(2, 0x580), "The code of its element type is 11 but must be from 0 to 10.");
  EXPECT_EQ(problem_with(2, 0x51), "The rank is 8 but a map of im2col needs 3 to 5 dimensions.");
  EXPECT_EQ(problem_with(2, 0x400000),
            "Its 32-bit word 2 has the bits 0x400000, which are zero in every map of sm_90.");
  EXPECT_EQ(problem_with(7, 0x10000),
            "Its 32-bit word 7 has the bits 0x10000, which are zero in every map of sm_90.");
  EXPECT_EQ(problem_with(13, 0x8000),
            "Its 32-bit word 13 has the bits 0x8000, which are zero in every map of sm_90.");
}

TEST(TensorMapBits, of_tfloat32_are_refused_where_an_h200_stops_at_an_illegal_instruction) {
  EXPECT_EQ(problem_with(2, 0x10000),
            "The code of its element type is 0 but with the bit of tfloat32 it must be 7 or 8.");
  const auto stops =
      measured()["copies"]["types_that_bit_16_makes_an_illegal_instruction"].get<std::vector<int>>();
  for (const json& record : measured()["tiled"]) {
    Bytes map = from_hex(record["bytes"]);
    map.bytes[10] |= 1;
    MappedTensor decoded;
    EXPECT_EQ(decode(map.bytes, decoded),
              std::count(stops.begin(), stops.end(), record["type"].get<int>()) == 0)
        << record;
  }
}

}  // namespace
}  // namespace tenon::emulator
