// Tensor maps: their requirements, and the rows of a box.
#include "emulator/machine/tensor_map.hpp"

#include <algorithm>
#include <stdexcept>

#include "emulator/machine/text.hpp"

namespace tenon::emulator {

namespace {

std::string numbered(const char* array, int index) {
  return std::string(array) + "[" + std::to_string(index) + "]";
}

bool is_floating(TensorMapType type) {
  return type == TensorMapType::float16 ||
         (type >= TensorMapType::float32 && type <= TensorMapType::tfloat32_ftz);
}

std::string dimension_problem(const MappedTensor& t) {
  const std::uint64_t alignment = t.interleave == TensorMapInterleave::bytes_32 ? 32 : 16;
  for (int i = 0; i < t.rank; ++i) {
    if (t.dimensions[i] == 0 || t.dimensions[i] > std::uint64_t{1} << 32) {
      return is_but(numbered("dimensions", i), t.dimensions[i], "must be from 1 to 2^32 elements");
    }
    if (!t.is_im2col && (t.box[i] == 0 || t.box[i] > 256)) {
      return is_but(numbered("box", i), t.box[i], "must be from 1 to 256 elements");
    }
    if (t.element_strides[i] == 0 || t.element_strides[i] > 8) {
      return is_but(numbered("element_strides", i), t.element_strides[i], "must be from 1 to 8");
    }
    if (i == 0) continue;
    if (t.strides[i] % alignment != 0 || t.strides[i] >= std::uint64_t{1} << 40) {
      return is_but(numbered("strides", i - 1), t.strides[i],
                    "must be a multiple of " + std::to_string(alignment) + " bytes and less than 2^40");
    }
  }
  return {};
}

}  // namespace

int MappedTensor::element_bytes() const {
  switch (type) {
    case TensorMapType::uint8:
      return 1;
    case TensorMapType::uint16:
    case TensorMapType::float16:
    case TensorMapType::bfloat16:
      return 2;
    case TensorMapType::uint64:
    case TensorMapType::int64:
    case TensorMapType::float64:
      return 8;
    default:
      return 4;
  }
}

std::uint32_t MappedTensor::slice_bytes() const {
  if (interleave == TensorMapInterleave::none) return 0;
  return interleave == TensorMapInterleave::bytes_32 ? 32 : 16;
}

std::uint32_t MappedTensor::count(int dimension) const {
  const bool is_interleaved = slice_bytes() != 0;
  if (is_interleaved && dimension == rank - 2) return 1;
  const std::uint32_t step = dimension == 0 && !is_interleaved ? 1 : element_strides[dimension];
  return (box[dimension] + step - 1) / step;
}

std::uint64_t MappedTensor::rows() const {
  if (is_im2col) return box[1];
  std::uint64_t product = 1;
  for (int i = slice_bytes() != 0 ? 0 : 1; i < rank; ++i) product *= count(i);
  return product;
}

std::uint32_t MappedTensor::row_bytes() const {
  return slice_bytes() != 0 ? slice_bytes() : count(0) * static_cast<std::uint32_t>(element_bytes());
}

std::uint32_t MappedTensor::row_pitch() const {
  const std::uint32_t row = row_bytes();
  if (swizzle == Swizzle::none || slice_bytes() != 0) return row;
  return std::max(row, static_cast<std::uint32_t>(span(swizzle)));
}

std::string problem(const MappedTensor& t) {
  if (t.type > TensorMapType::tfloat32_ftz) {
    return is_but("The type", static_cast<unsigned>(t.type),
                  "the emulator knows CUtensorMapDataType 0 to 12");
  }
  if (t.rank < 1 || t.rank > max_tensor_rank) {
    return "The rank is " + std::to_string(t.rank) + " but must be from 1 to 5.";
  }
  if (t.interleave > TensorMapInterleave::bytes_32 || t.swizzle > Swizzle::bytes_128 ||
      t.l2_promotion > TensorMapL2Promotion::bytes_256 || t.fill > TensorMapFill::nan_request_zero_fma) {
    return "The interleave, swizzle, L2 promotion or fill is not an enumerator of its type (the swizzles "
           "with atoms of 32 or 64 bytes need sm_100).";
  }
  if (t.interleave != TensorMapInterleave::none && t.rank < 3) {
    return is_but("The rank", static_cast<unsigned>(t.rank),
                  "an interleaved layout needs at least 3 dimensions");
  }
  const unsigned alignment = t.interleave == TensorMapInterleave::bytes_32 ? 32 : 16;
  if (t.address % alignment != 0) {
    return is_but("The address", t.address, "must be a multiple of " + std::to_string(alignment));
  }
  if (std::string sentence = dimension_problem(t); !sentence.empty()) return sentence;
  if (std::string sentence = t.is_im2col ? im2col_problem(t) : ""; !sentence.empty()) return sentence;
  const std::uint32_t row = t.box[0] * static_cast<std::uint32_t>(t.element_bytes());
  // The driver refuses 4 and 8 bytes of interleaved layouts too. Those of im2col are not measured.
  if (row % 16 != 0 && !(t.is_im2col && t.slice_bytes() != 0)) {
    return is_but("The innermost row of the box", row, "must be a multiple of 16 bytes");
  }
  if (t.interleave == TensorMapInterleave::none && t.swizzle != Swizzle::none &&
      row > static_cast<unsigned>(span(t.swizzle))) {
    return is_but(
        "The innermost row of the box", row,
        "a swizzle of " + std::to_string(span(t.swizzle)) + " bytes needs a row of at most as many");
  }
  if (t.fill == TensorMapFill::nan_request_zero_fma && !is_floating(t.type)) {
    return "The fill is NaN but the type is an integer; only floating-point tensors can be filled so.";
  }
  return {};
}

std::uint64_t fill_bits(const MappedTensor& t) {
  if (t.fill == TensorMapFill::zeros) return 0;
  // The NaN of elements outside the tensor is 0x7ff7, repeated, whatever the type, as an H200 fills it.
  return 0x7ff77ff77ff77ff7U >> (64 - 8 * t.element_bytes());
}

TensorMap checked_map(const MappedTensor& t) {
  if (const std::string sentence = problem(t); !sentence.empty()) throw std::invalid_argument(sentence);
  TensorMap map;
  encode(t, map.bytes);
  return map;
}

void add_channels(const MappedTensor& t, std::int64_t start, std::uint64_t offset, TensorRow& row) {
  const std::int64_t end = static_cast<std::int64_t>(t.dimensions[0]), length = t.count(0);
  const std::int64_t first = std::clamp<std::int64_t>(-start, 0, length);
  const std::int64_t last = std::clamp<std::int64_t>(end - start, first, length);
  row.first = static_cast<std::uint32_t>(first);
  row.last = static_cast<std::uint32_t>(last);
  row.global = t.address + offset + static_cast<std::uint64_t>(start + first) * t.strides[0];
}

TensorRow tensor_row(const MappedTensor& t, const std::int32_t* coordinates, std::uint32_t row) {
  if (t.slice_bytes() != 0) return slice_row(t, coordinates, row);
  TensorRow result;
  result.shared = row * t.row_pitch();
  std::uint64_t offset = 0;
  bool inside = true;
  for (int i = 1; i < t.rank; ++i) {
    const std::int64_t index =
        std::int64_t{coordinates[i]} + std::int64_t{row % t.count(i)} * std::int64_t{t.element_strides[i]};
    row /= t.count(i);
    inside = inside && index >= 0 && static_cast<std::uint64_t>(index) < t.dimensions[i];
    if (inside) offset += static_cast<std::uint64_t>(index) * t.strides[i];
  }
  if (inside) add_channels(t, coordinates[0], offset, result);
  return result;
}

TensorMap encode_tiled(TensorMapType type, int rank, std::uint64_t address, const std::uint64_t* dimensions,
                       const std::uint64_t* strides, const std::uint32_t* box,
                       const std::uint32_t* element_strides, TensorMapInterleave interleave,
                       TensorMapSwizzle swizzle, TensorMapL2Promotion l2_promotion, TensorMapFill fill) {
  MappedTensor t;
  t.type = type;
  t.rank = rank;
  t.address = address;
  for (int i = 0; i < std::clamp(rank, 0, max_tensor_rank); ++i) {
    t.dimensions[i] = dimensions[i];
    t.strides[i] = i > 0 ? strides[i - 1] : static_cast<std::uint64_t>(t.element_bytes());
    t.box[i] = box[i];
    t.element_strides[i] = element_strides[i];
  }
  t.interleave = interleave;
  t.swizzle = static_cast<Swizzle>(swizzle);
  t.l2_promotion = l2_promotion;
  t.fill = fill;
  return checked_map(t);
}

}  // namespace tenon::emulator
