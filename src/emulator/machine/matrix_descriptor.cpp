// Where a wgmma descriptor places a matrix in shared memory.
#include "emulator/machine/matrix_descriptor.hpp"

namespace tenon::emulator {

namespace {

constexpr std::uint32_t chunk = 16;  // bytes
constexpr std::uint32_t window = 1u << 18;

std::uint32_t field(std::uint64_t bits, int first) {
  return static_cast<std::uint32_t>(bits >> first & 0x3fff) << 4;
}

std::uint32_t k_major_offset(const MatrixDescriptor& d, std::uint32_t mn, std::uint32_t k_byte) {
  const std::uint32_t column = k_byte / chunk, within = k_byte % chunk;
  const auto row_bytes = static_cast<std::uint32_t>(span(d.swizzle));
  const std::uint32_t chunks_a_row = row_bytes / chunk;
  return mn / 8 * d.stride_offset + mn % 8 * row_bytes + column / chunks_a_row * d.leading_offset +
         column % chunks_a_row * chunk + within;
}

std::uint32_t mn_major_offset(const MatrixDescriptor& d, std::uint32_t mn_byte, std::uint32_t k) {
  const std::uint32_t column = mn_byte / chunk, within = mn_byte % chunk;
  if (d.swizzle == Swizzle::none) {
    return column * d.stride_offset + k / 8 * d.leading_offset + k % 8 * chunk + within;
  }
  const auto row_bytes = static_cast<std::uint32_t>(span(d.swizzle));
  const std::uint32_t chunks_a_row = row_bytes / chunk;
  return column / chunks_a_row * d.leading_offset + column % chunks_a_row * chunk + k / 8 * d.stride_offset +
         k % 8 * row_bytes + within;
}

}  // namespace

MatrixDescriptor decode_descriptor(std::uint64_t bits) {
  MatrixDescriptor d;
  d.start = field(bits, 0);
  d.leading_offset = field(bits, 16);
  d.stride_offset = field(bits, 32);
  d.base_offset = static_cast<std::uint32_t>(bits >> 49 & 7);
  constexpr Swizzle modes[4] = {Swizzle::none, Swizzle::bytes_128, Swizzle::bytes_64, Swizzle::bytes_32};
  d.swizzle = modes[bits >> 62];
  return d;
}

std::uint32_t element_address(const MatrixDescriptor& d, Major major, int element_bits, int mn, int k) {
  const auto bytes = [&](int index) { return static_cast<std::uint32_t>(index * element_bits) / 8; };
  const std::uint32_t offset = major == Major::k
                                   ? k_major_offset(d, static_cast<std::uint32_t>(mn), bytes(k))
                                   : mn_major_offset(d, bytes(mn), static_cast<std::uint32_t>(k));
  return swizzled(d.swizzle, d.start + offset, d.base_offset) % window;
}

}  // namespace tenon::emulator
