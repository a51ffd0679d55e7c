// Numbers in PTX: 12, 017, 0x1F, 0b101, each with or without U; 1.5e-3; 0f and 0d with the bits.
#include <cerrno>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "emulator/ptx/lexer.hpp"

namespace tenon::emulator::ptx {
namespace {

[[noreturn]] void malformed(const Token& number, const std::string& needed) {
  throw Error(number.line, "the number " + cited(number.text) + " is malformed: " + needed);
}

Constant integer(const Token& number, std::string_view digits, int base, const char* needed) {
  Constant result;
  if (!digits.empty() && digits.back() == 'U') {
    result.is_unsigned = true;
    digits.remove_suffix(1);
  }
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, result.bits, base);
  if (stop != end || error == std::errc::invalid_argument) malformed(number, needed);
  if (error == std::errc::result_out_of_range)
    throw Error(number.line, "the number " + cited(number.text) + " does not fit into 64 bits");
  if (result.bits > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    result.is_unsigned = true;
  return result;
}

// 0f and 0d: exactly the digits of the format.
Constant real_bits(const Token& number, std::size_t digits, Immediate::Kind kind) {
  Constant result;
  result.kind = kind;
  const char* const begin = number.text.data() + 2;
  const char* const end = number.text.data() + number.text.size();
  const auto [stop, error] = std::from_chars(begin, end, result.bits, 16);
  if (number.text.size() != digits + 2 || stop != end || error != std::errc())
    malformed(number, std::to_string(digits) + " hexadecimal digits are needed");
  return result;
}

// By strtod, because std::from_chars of libstdc++ 9 and 10 reads no double. The program's locale must not
// matter.
Constant decimal_real(const Token& number) {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  const std::string text(number.text);
  char* stop = nullptr;
  errno = 0;
  const double value = strtod_l(text.c_str(), &stop, plain);
  if (stop != text.c_str() + text.size())
    malformed(number, "digits with a decimal point or an exponent are needed");
  // A subnormal that is rounded is ERANGE too.
  if (errno == ERANGE && (value == 0 || std::isinf(value)))
    throw Error(number.line, "the number " + cited(number.text) + " is outside the range of an f64");
  Constant result;
  result.kind = Immediate::Kind::f64_bits;
  std::memcpy(&result.bits, &value, sizeof(value));
  return result;
}

}  // namespace

Constant literal(const Token& number) {
  const std::string_view text = number.text;
  if (text.size() > 1 && text[0] == '0') {
    switch (text[1]) {
      case 'x':
      case 'X':
        return integer(number, text.substr(2), 16, "hexadecimal digits are needed");
      case 'b':
      case 'B':
        return integer(number, text.substr(2), 2, "binary digits are needed");
      case 'f':
      case 'F':
        return real_bits(number, 8, Immediate::Kind::f32_bits);
      case 'd':
      case 'D':
        return real_bits(number, 16, Immediate::Kind::f64_bits);
      default:
        break;
    }
  }
  if (text.find_first_of(".eE") != std::string_view::npos) return decimal_real(number);
  if (text[0] == '0') return integer(number, text, 8, "octal digits are needed after 0");
  return integer(number, text, 10, "decimal digits are needed");
}

}  // namespace tenon::emulator::ptx
