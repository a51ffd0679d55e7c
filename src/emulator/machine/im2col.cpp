// Tensor maps of im2col: their requirements, and the pixels that a copy traverses (PTX ISA 5.5.4).
#include <algorithm>

#include "emulator/machine/tensor_map.hpp"
#include "emulator/machine/text.hpp"

namespace tenon::emulator {

namespace {

// The last position of the box of pixels along a dimension; the first is the lower corner.
std::int64_t last_position(const MappedTensor& t, int dimension) {
  return static_cast<std::int64_t>(t.dimensions[dimension]) - 1 + t.upper_corner[dimension - 1];
}

}  // namespace

std::string im2col_problem(const MappedTensor& t) {
  if (t.rank < 3) return is_but("The rank", t.rank, "im2col needs 3 to 5 dimensions");
  if (t.box[0] == 0 || t.box[0] > 256)
    return is_but("The number of channels", t.box[0], "must be from 1 to 256");
  if (t.box[1] == 0 || t.box[1] > 1024)
    return is_but("The number of pixels", t.box[1], "must be from 1 to 1024");
  const int limit = t.rank == 3 ? 32768 : t.rank == 4 ? 128 : 16;
  for (int i = 1; i < t.rank - 1; ++i) {
    const std::string number = "[" + std::to_string(i - 1) + "]";
    for (const bool is_lower : {true, false}) {
      const int corner = is_lower ? t.lower_corner[i - 1] : t.upper_corner[i - 1];
      if (corner < -limit || corner >= limit)
        return is_but((is_lower ? "lower_corner" : "upper_corner") + number, corner,
                      "must be from " + std::to_string(-limit) + " to " + std::to_string(limit - 1));
    }
    if (last_position(t, i) < t.lower_corner[i - 1])
      return "The box of pixels is empty: dimension " + std::to_string(i) + " goes from " +
             std::to_string(t.lower_corner[i - 1]) + " to " + std::to_string(last_position(t, i)) + ".";
  }
  return {};
}

TensorRow pixel_row(const MappedTensor& t, const std::int32_t* coordinates, const std::uint16_t* offsets,
                    std::uint32_t row) {
  TensorRow result;
  result.shared = row * t.row_pitch();
  std::int64_t steps = row;  // remaining steps in this dimension
  std::uint64_t offset = 0;
  bool inside = true;
  for (int i = 1; i < t.rank; ++i) {
    const bool is_image = i == t.rank - 1;
    std::int64_t position = coordinates[i];
    const std::int64_t step = t.element_strides[i];
    if (is_image) {
      position += steps * step;
    } else {
      const std::int64_t first = t.lower_corner[i - 1], last = last_position(t, i);
      const std::int64_t here =
          std::max<std::int64_t>((last - position) / step, 0) + 1;  // positions of this row
      const std::int64_t line = (last - first) / step + 1;
      const bool wraps = steps >= here;
      position = wraps ? first + (steps - here) % line * step : position + steps * step;
      steps = wraps ? 1 + (steps - here) / line : 0;
      position += offsets[i - 1];
    }
    inside = inside && position >= 0 && static_cast<std::uint64_t>(position) < t.dimensions[i];
    if (inside) offset += static_cast<std::uint64_t>(position) * t.strides[i];
  }
  if (inside) add_channels(t, coordinates[0], offset, result);
  return result;
}

TensorMap encode_im2col(TensorMapType type, int rank, std::uint64_t address, const std::uint64_t* dimensions,
                        const std::uint64_t* strides, const int* lower_corner, const int* upper_corner,
                        std::uint32_t channels, std::uint32_t pixels, const std::uint32_t* element_strides,
                        TensorMapInterleave interleave, TensorMapSwizzle swizzle,
                        TensorMapL2Promotion l2_promotion, TensorMapFill fill) {
  MappedTensor t;
  t.type = type;
  t.rank = rank;
  t.address = address;
  const int dimensions_there = std::clamp(rank, 0, max_tensor_rank);
  for (int i = 0; i < dimensions_there; ++i) {
    t.dimensions[i] = dimensions[i];
    t.strides[i] = i > 0 ? strides[i - 1] : static_cast<std::uint64_t>(t.element_bytes());
    t.element_strides[i] = element_strides[i];
  }
  for (int i = 0; i + 2 < dimensions_there; ++i) {
    t.lower_corner[i] = lower_corner[i];
    t.upper_corner[i] = upper_corner[i];
  }
  t.is_im2col = true;
  t.box[0] = channels;
  t.box[1] = pixels;
  t.interleave = interleave;
  t.swizzle = static_cast<Swizzle>(swizzle);
  t.l2_promotion = l2_promotion;
  t.fill = fill;
  return checked_map(t);
}

}  // namespace tenon::emulator
