// Defines the functions of tenon/shared/descriptor_words.hpp.
#include "tenon/shared/descriptor_words.hpp"

#include <cstdio>

namespace tenon {

std::string explain(MatrixDescriptor descriptor) {
  const unsigned leading = descriptor.leading_bytes(), stride = descriptor.stride_bytes();
  const int row = row_bytes_of(descriptor.swizzle());
  char text[640];
  int end = std::snprintf(text, sizeof text, "start at byte %u (0x%x) of shared memory; base offset %d; ",
                          descriptor.address(), descriptor.address(), descriptor.base_offset());
  const auto add = [&](const char* format, auto... values) {
    const auto left = sizeof text - static_cast<std::size_t>(end);
    end += std::snprintf(text + end, left, format, values...);
  };
  if (descriptor.swizzle() == Swizzle::none) {
    add("no swizzle: core matrices of 8 rows of 16 bytes. k-major: the next 16 bytes of k are %u bytes on, "
        "the next 8 rows of m (n) %u. mn-major: the next 16 bytes of m (n) are %u bytes on, the next 8 of k "
        "%u",
        leading, stride, stride, leading);
  } else {
    add("swizzle of %d bytes: rows of %d bytes whose 16-byte chunks are permuted; the pattern repeats every "
        "%d bytes. "
        "k-major: the next 8 rows of m (n) are %u bytes on. mn-major: the next 8 of k are %u bytes on, the "
        "next %d bytes "
        "of m (n) "
        "%u",
        row, row, alignment_of(descriptor.swizzle()), stride, stride, row, leading);
  }
  if (descriptor.base_offset() != 0) {
    add("; the pattern begins %d rows of 128 bytes before a multiple of its length",
        descriptor.base_offset());
  } else if (descriptor.swizzle() != Swizzle::none) {
    add("; the pattern begins at multiples of %d", alignment_of(descriptor.swizzle()));
  }
  return text;
}

std::string explain(Tcgen05Instruction instruction) {
  const auto field = [&](int first, int width) { return instruction.field(first, width); };
  const bool plain = instruction.format() == Tcgen05Format::plain;
  const char* const accumulators[] = {"f16", "f32", "s32", "no type"};
  std::string words =
      std::string(plain                                             ? "kind without block scales"
                  : instruction.format() == Tcgen05Format::mxf8f6f4 ? "kind::mxf8f6f4"
                                                                    : "kind::mxf4 or mxf4nvf4") +
      ": D is " + std::to_string(16 * field(24, 5)) + " x " + std::to_string(8 * field(17, 6));
  if (plain) words += " " + std::string(accumulators[field(4, 2)]);
  words += "; types A " + std::to_string(field(7, 3)) + ", B " + std::to_string(field(10, 3));
  const char* const operands[] = {"A", "B"};
  for (int i = 0; i < 2; ++i) {
    if (field(13 + i, 1) != 0) words += std::string("; ") + operands[i] + " negated";
    if (field(15 + i, 1) != 0) words += std::string("; ") + operands[i] + (i == 0 ? " m-major" : " n-major");
  }
  if (field(2, 1) != 0) words += plain ? "; A sparse, selector " + std::to_string(field(0, 2)) : "; A sparse";
  if (plain && field(3, 1) != 0) words += "; accumulators saturate";
  if (!plain) {
    words += std::string("; scales ") + (field(23, 1) != 0 ? "ue8m0" : "ue4m3") + ", those of A from place " +
             std::to_string(field(29, 2)) + ", of B from place " + std::to_string(field(4, 2));
  }
  return words;
}

}  // namespace tenon
