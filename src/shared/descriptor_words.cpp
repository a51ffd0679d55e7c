// The words of tenon/shared/descriptor_words.hpp.
#include "tenon/shared/descriptor_words.hpp"

#include <cstdio>

namespace tenon {

std::string explain(MatrixDescriptor descriptor) {
  const unsigned leading = descriptor.leading_bytes(), stride = descriptor.stride_bytes();
  const int line = line_bytes_of(descriptor.swizzle());
  char text[640];
  int end = std::snprintf(text, sizeof text, "start at byte %u (0x%x) of shared memory; base offset %d; ",
                          descriptor.address(), descriptor.address(), descriptor.base_offset());
  const auto add = [&](const char* format, auto... values) {
    const auto left = sizeof text - static_cast<std::size_t>(end);
    end += std::snprintf(text + end, left, format, values...);
  };
  if (descriptor.swizzle() == Swizzle::none) {
    add("no swizzle: core matrices of 8 lines of 16 bytes. k-major: the next 16 bytes of k are %u bytes on, "
        "the "
        "next 8 rows of m (n) %u. mn-major: the next 16 bytes of m (n) are %u bytes on, the next 8 of k %u",
        leading, stride, stride, leading);
  } else {
    add("swizzle of %d bytes: lines of %d bytes whose 16-byte chunks are permuted, anew every %d bytes. "
        "k-major: the "
        "next 8 rows of m (n) are %u bytes on. mn-major: the next 8 of k are %u bytes on, the next %d bytes "
        "of m (n) "
        "%u",
        line, line, alignment_of(descriptor.swizzle()), stride, stride, line, leading);
  }
  if (descriptor.base_offset() != 0) {
    add("; the pattern begins %d lines of 128 bytes before a multiple of its length",
        descriptor.base_offset());
  } else if (descriptor.swizzle() != Swizzle::none) {
    add("; the pattern begins at multiples of %d", alignment_of(descriptor.swizzle()));
  }
  return text;
}

}  // namespace tenon
