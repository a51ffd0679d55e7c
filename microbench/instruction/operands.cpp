#include "microbench/instruction/operands.hpp"

#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>

#include "tenon/fragment/number.hpp"

namespace tenon::microbench::instruction {
namespace {

// The Box-Muller transform: std::normal_distribution differs between standard libraries.
class Normal {
 public:
  float operator()() {
    constexpr double scale = 1.0 / 4294967296.0, turn = 6.283185307179586;
    const double radius = std::sqrt(-2 * std::log((generator_() + 0.5) * scale));
    return static_cast<float>(radius * std::cos(turn * generator_() * scale));
  }

 private:
  std::mt19937 generator_{20240229};
};

// One element, in the low `bits` bits.
std::uint64_t element(const std::string& kind, float value) {
  const auto rounded = [value](float scale) { return static_cast<std::int32_t>(std::lround(scale * value)); };
  if (kind == "f16") return encode<FormatF16>(value);
  if (kind == "bf16") return encode<FormatBf16>(value);
  if (kind == "e4m3") return encode<FormatE4m3>(value);
  if (kind == "e5m2") return encode<FormatE5m2>(value);
  if (kind == "tf32") return round_to_tf32(value);
  if (kind == "s8") return encode_signed(rounded(32), 8);
  if (kind == "u8") return encode_unsigned(std::abs(rounded(32)), 8);
  if (kind == "s4") return encode_signed(rounded(2), 4);
  if (kind == "u4") return encode_unsigned(std::abs(rounded(2)), 4);
  if (kind == "b1" || kind == "bits") return value > 0 ? 1 : 0;
  if (kind == "f32") return bits_of(value);
  const double wide = value;
  std::uint64_t pattern = 0;
  std::memcpy(&pattern, &wide, sizeof pattern);
  return pattern;
}

int bits_of_kind(const std::string& kind) {
  if (kind == "f64") return 64;
  if (kind == "f32" || kind == "tf32") return 32;
  if (kind == "f16" || kind == "bf16") return 16;
  if (kind == "e4m3" || kind == "e5m2" || kind == "s8" || kind == "u8") return 8;
  if (kind == "s4" || kind == "u4") return 4;
  if (kind == "b1" || kind == "bits") return 1;
  throw std::invalid_argument("operands of kind '" + kind + "': f16, bf16, tf32, f32, f64, e4m3, e5m2, s8, " +
                              "u8, s4, u4, b1, bits or zeros is needed");
}

}  // namespace

std::vector<std::uint8_t> operands(const std::string& kind, std::size_t bytes) {
  std::vector<std::uint8_t> result(bytes, 0);
  if (kind == "zeros") return result;
  const int bits = bits_of_kind(kind);
  Normal normal;
  if (bits < 8) {
    for (std::uint8_t& byte : result)
      for (int at = 0; at < 8; at += bits) byte |= static_cast<std::uint8_t>(element(kind, normal()) << at);
    return result;
  }
  const std::size_t width = bits / 8;
  for (std::size_t at = 0; at + width <= bytes; at += width) {
    const std::uint64_t pattern = element(kind, normal());
    std::memcpy(result.data() + at, &pattern, width);  // little-endian, as the GPU is
  }
  return result;
}

}  // namespace tenon::microbench::instruction
