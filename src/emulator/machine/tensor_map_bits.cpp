// Encodes, decodes and changes the 128 bytes of a tensor map.
#include "emulator/machine/tensor_map_bits.hpp"

#include <algorithm>
#include <cstring>

#include "emulator/machine/text.hpp"

namespace tenon::emulator {

namespace {

// A field: `width` bits of a 32-bit word.
struct Place {
  int word, shift, width;
};
constexpr Place im2col_place{2, 0, 1}, rank_place{2, 4, 3}, type_place{2, 7, 4}, interleave_place{2, 11, 2},
    swizzle_place{2, 13, 2}, fill_place{2, 15, 1}, tfloat32_place{2, 16, 1}, l2_place{2, 17, 2},
    swizzle_atomicity_place{2, 22, 1}, pixels_place{15, 0, 32};
// Copies do not read these two, and tensormap.replace does not write them: the driver's notes about the box.
constexpr Place box_bytes_place{16, 0, 32}, shared_alignment_place{18, 0, 32};

constexpr Place stride_place(int dimension) {  // bits 4 to 35 of the stride
  return {2 + dimension, 0, 32};
}
constexpr Place stride_top_place(int dimension) {  // bits 36 to 39
  return {7, 4 * (dimension - 1), 4};
}
constexpr Place dimension_place(int dimension) {
  return {8 + dimension, 0, 32};
}
constexpr Place element_stride_place(int dimension) {
  return {13, 3 * dimension, 3};
}
constexpr Place box_place(int dimension) {  // of im2col, only the first: the channels
  return dimension == 0 ? Place{13, 24, 8} : Place{14, 8 * (dimension - 1), 8};
}
// The corners of im2col share word 14: the lower half of its bits holds the lower corner, the upper half the
// upper corner.
Place corner_place(int rank, int dimension, bool is_upper) {
  constexpr int widths[] = {16, 8, 5};
  const int width = widths[rank - 3];
  return {14, (is_upper ? 16 : 0) + width * dimension, width};
}

// Bits that the driver leaves zero. Bit 21 of word 2 is not among them: CUTLASS clears it for tensors of less
// than 128 KiB, as some drivers set it, and an H200 copies alike with it and without.
struct ZeroBits {
  int word;
  std::uint32_t mask;
};
constexpr ZeroBits zero_bits[] = {{2, 0xffd8000eU}, {7, 0xffff0000U}, {13, 0x00ff8000U}};

// CUtensorMapDataType by the code of the element type. tfloat32 is float32 with a bit of its own.
constexpr TensorMapType types[] = {TensorMapType::uint8,   TensorMapType::uint16,  TensorMapType::uint32,
                                   TensorMapType::int32,   TensorMapType::uint64,  TensorMapType::int64,
                                   TensorMapType::float16, TensorMapType::float32, TensorMapType::float32_ftz,
                                   TensorMapType::float64, TensorMapType::bfloat16};
constexpr std::uint32_t type_count = sizeof types / sizeof *types, float32_code = 7, float32_ftz_code = 8;

std::uint32_t mask_of(const Place& place) {
  return ~0U >> (32 - place.width);
}

std::uint32_t word_of(const std::uint8_t (&bytes)[128], int word) {
  std::uint32_t value;
  std::memcpy(&value, bytes + 4 * static_cast<std::ptrdiff_t>(word), 4);
  return value;
}

std::uint32_t get(const std::uint8_t (&bytes)[128], const Place& place) {
  return word_of(bytes, place.word) >> place.shift & mask_of(place);
}

int get_signed(const std::uint8_t (&bytes)[128], const Place& place) {
  const int value = static_cast<int>(get(bytes, place)), sign = 1 << (place.width - 1);
  return (value ^ sign) - sign;
}

void set(std::uint8_t (&bytes)[128], const Place& place, std::uint64_t value) {
  const std::uint32_t mask = mask_of(place) << place.shift;
  const std::uint32_t word =
      (word_of(bytes, place.word) & ~mask) | (static_cast<std::uint32_t>(value) << place.shift & mask);
  std::memcpy(bytes + 4 * static_cast<std::ptrdiff_t>(place.word), &word, 4);
}

// PTX counts tfloat32 and its _ftz after the other types. Only they touch their bit: a map of tfloat32 stays
// one when its type becomes float32.
void set_type(std::uint8_t (&bytes)[128], std::uint32_t elemtype) {
  const bool is_tfloat32 = elemtype >= type_count;
  set(bytes, type_place, is_tfloat32 ? elemtype - type_count + float32_code : elemtype);
  if (is_tfloat32) set(bytes, tfloat32_place, 1);
}

std::uint32_t elemtype_of(TensorMapType type) {
  if (type == TensorMapType::tfloat32) return type_count;
  if (type == TensorMapType::tfloat32_ftz) return type_count + 1;
  return static_cast<std::uint32_t>(std::find(types, types + type_count, type) - types);
}

void set_stride(std::uint8_t (&bytes)[128], int dimension, std::uint64_t stride) {
  set(bytes, stride_place(dimension), stride >> 4);
  set(bytes, stride_top_place(dimension), stride >> 36);
}

std::uint32_t box_bytes(const MappedTensor& t) {
  auto bytes = static_cast<std::uint32_t>(t.element_bytes());
  if (t.is_im2col) return bytes * t.box[0] * t.box[1];
  for (int i = 0; i < t.rank; ++i) bytes *= t.box[i] / t.element_strides[i];  // rounded down by the driver
  return bytes;
}

}  // namespace

void replace_field(std::uint8_t (&bytes)[128], MapField field, int ordinal, std::uint64_t value) {
  switch (field) {
    case MapField::global_address:
      std::memcpy(bytes, &value, 8);
      break;
    case MapField::rank:
      set(bytes, rank_place, value);
      break;
    case MapField::box_dim:
      set(bytes, box_place(ordinal), value - 1);
      break;
    case MapField::global_dim:
      set(bytes, dimension_place(ordinal), value - 1);
      break;
    case MapField::global_stride:  // its ordinal 0 is of dimension 1
      set_stride(bytes, ordinal + 1, value);
      break;
    case MapField::element_stride:
      set(bytes, element_stride_place(ordinal), value - 1);
      break;
    case MapField::elemtype:
      set_type(bytes, static_cast<std::uint32_t>(value));
      break;
    case MapField::interleave_layout:
      set(bytes, interleave_place, value);
      break;
    case MapField::swizzle_mode:
      set(bytes, swizzle_place, value);
      set(bytes, swizzle_atomicity_place, 0);
      break;
    case MapField::fill_mode:
      set(bytes, fill_place, value);
      break;
  }
}

void encode(const MappedTensor& t, std::uint8_t (&bytes)[128]) {
  std::memset(bytes, 0, sizeof bytes);
  std::memcpy(bytes, &t.address, 8);
  set(bytes, im2col_place, t.is_im2col ? 1 : 0);
  set(bytes, rank_place, static_cast<std::uint32_t>(t.rank - 1));
  set_type(bytes, elemtype_of(t.type));
  set(bytes, interleave_place, static_cast<std::uint32_t>(t.interleave));
  set(bytes, swizzle_place, static_cast<std::uint32_t>(t.swizzle));
  set(bytes, fill_place, static_cast<std::uint32_t>(t.fill));
  set(bytes, l2_place, static_cast<std::uint32_t>(t.l2_promotion));
  for (int i = 0; i < t.rank; ++i) {
    if (i > 0) set_stride(bytes, i, t.strides[i]);
    set(bytes, dimension_place(i), t.dimensions[i] - 1);
    set(bytes, element_stride_place(i), t.element_strides[i] - 1);
    if (i == 0 || !t.is_im2col) set(bytes, box_place(i), t.box[i] - 1);
  }
  for (int i = 0; t.is_im2col && i < t.rank - 2; ++i) {
    set(bytes, corner_place(t.rank, i, false), static_cast<std::uint32_t>(t.lower_corner[i]));
    set(bytes, corner_place(t.rank, i, true), static_cast<std::uint32_t>(t.upper_corner[i]));
  }
  if (t.is_im2col) set(bytes, pixels_place, t.box[1] - 1);
  set(bytes, box_bytes_place, box_bytes(t));
  set(bytes, shared_alignment_place,
      t.swizzle == Swizzle::none ? 16 : 8 * static_cast<std::uint32_t>(span(t.swizzle)));
}

std::string decode_problem(const std::uint8_t (&bytes)[128]) {
  const std::uint32_t code = get(bytes, type_place), rank = get(bytes, rank_place) + 1;
  if (code >= type_count) return is_but("The code of its element type", code, "must be from 0 to 10");
  if (get(bytes, tfloat32_place) != 0 && code != float32_code && code != float32_ftz_code) {
    return is_but("The code of its element type", code, "with the bit of tfloat32 it must be 7 or 8");
  }
  for (const ZeroBits& zero : zero_bits) {
    if (const std::uint32_t set = word_of(bytes, zero.word) & zero.mask; set != 0) {
      return "Its 32-bit word " + std::to_string(zero.word) + " has the bits " + hex(std::uint64_t{set}) +
             ", which are zero in every map of sm_90.";
    }
  }
  if (get(bytes, im2col_place) != 0 && (rank < 3 || rank > max_tensor_rank)) {
    return is_but("The rank", rank, "a map of im2col needs 3 to 5 dimensions");
  }
  return {};
}

bool decode(const std::uint8_t (&bytes)[128], MappedTensor& t) {
  if (!decode_problem(bytes).empty()) return false;
  std::memcpy(&t.address, bytes, 8);
  t.is_im2col = get(bytes, im2col_place) != 0;
  t.rank = static_cast<int>(get(bytes, rank_place)) + 1;
  const std::uint32_t code = get(bytes, type_place);
  t.type = types[code];
  if (get(bytes, tfloat32_place) != 0)
    t.type = code == float32_code ? TensorMapType::tfloat32 : TensorMapType::tfloat32_ftz;
  t.interleave = static_cast<TensorMapInterleave>(get(bytes, interleave_place));
  t.swizzle = static_cast<Swizzle>(get(bytes, swizzle_place));
  t.fill = static_cast<TensorMapFill>(get(bytes, fill_place));
  t.l2_promotion = static_cast<TensorMapL2Promotion>(get(bytes, l2_place));
  for (int i = 0; i < max_tensor_rank; ++i) {
    t.strides[i] = i == 0 ? static_cast<std::uint64_t>(t.element_bytes())
                          : std::uint64_t{get(bytes, stride_top_place(i))} << 36 |
                                std::uint64_t{get(bytes, stride_place(i))} << 4;
    t.dimensions[i] = std::uint64_t{get(bytes, dimension_place(i))} + 1;
    t.element_strides[i] = get(bytes, element_stride_place(i)) + 1;
    t.box[i] = i == 0 || !t.is_im2col ? get(bytes, box_place(i)) + 1 : 0;
  }
  if (!t.is_im2col) return true;
  t.box[1] = get(bytes, pixels_place) + 1;
  for (int i = 0; i < t.rank - 2; ++i) {
    t.lower_corner[i] = get_signed(bytes, corner_place(t.rank, i, false));
    t.upper_corner[i] = get_signed(bytes, corner_place(t.rank, i, true));
  }
  return true;
}

}  // namespace tenon::emulator
