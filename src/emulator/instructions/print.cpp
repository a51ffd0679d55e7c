// printf and assert of CUDA C++ (CUDA C++ Programming Guide, "Formatted Output" and "Assertion").
#include "emulator/instructions/print.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "emulator/instructions/call_operands.hpp"
#include "emulator/machine/cta.hpp"

namespace tenon::emulator {
namespace {

// The characters up to the 0. Nothing, with a finding, if they cannot be read.
std::optional<std::string> string_at(Warp& warp, int lane, std::uint64_t address) {
  std::string text;
  for (char c = 0; text.size() < Printed::most_bytes; text += c) {
    if (!warp.load(lane, ptx::Space::generic, address + text.size(), &c, 1)) return std::nullopt;
    if (c == 0) break;
  }
  return text;
}

template <class T>
std::string formatted(const std::string& conversion, T value) {
  const int length = std::snprintf(nullptr, 0, conversion.c_str(), value);
  if (length < 0) return {};
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  std::snprintf(text.data(), text.size(), conversion.c_str(), value);
  text.pop_back();
  return text;
}

// What one thread prints: the format, with values from the buffer of arguments, where each value lies on a
// multiple of its size.
class Formatter {
 public:
  Formatter(Warp& warp, int lane, std::uint64_t arguments) : warp_(warp), lane_(lane), address_(arguments) {}

  std::string text(const std::string& format) {
    std::string result;
    for (std::size_t at = 0; at < format.size();) {
      const std::size_t percent = std::min(format.find('%', at), format.size());
      result.append(format, at, percent - at);
      at = percent;
      if (at < format.size()) result += conversion(format, at);
    }
    return result;
  }
  std::uint32_t arguments() const { return count_; }

 private:
  static constexpr int most_width = 4096;

  template <class T>
  T next() {
    T value{};
    address_ = (address_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    warp_.load(lane_, ptx::Space::generic, address_, &value, sizeof(T));
    address_ += sizeof(T);
    ++count_;
    return value;
  }

  // A width or precision at format[at]: digits, or * for an argument; in the text of a conversion.
  std::string number(const std::string& format, std::size_t& at) {
    if (at < format.size() && format[at] == '*') {
      ++at;
      return std::to_string(std::clamp(next<std::int32_t>(), -most_width, most_width));
    }
    int value = 0;
    const std::size_t first = at;
    for (; at < format.size() && std::isdigit(static_cast<unsigned char>(format[at])) != 0; ++at)
      value = std::min(most_width, value * 10 + (format[at] - '0'));
    return at == first ? std::string() : std::to_string(value);
  }

  // The conversion that begins at format[at], a %; moves `at` behind it. One that printf does not know is
  // printed as it is written.
  std::string conversion(const std::string& format, std::size_t& at) {
    const std::size_t begin = at++;
    std::string spec = "%";
    while (at < format.size() && std::strchr("-+ #0", format[at]) != nullptr) spec += format[at++];
    spec += number(format, at);
    if (at < format.size() && format[at] == '.') {
      ++at;
      const std::string precision = number(format, at);
      if (precision.empty() || precision[0] != '-') spec += '.' + precision;  // a negative one is as none
    }
    const std::size_t size_at = at;
    while (at < format.size() && std::strchr("hlLjzt", format[at]) != nullptr) ++at;
    const std::string size = format.substr(size_at, at - size_at);
    if (at == format.size()) return format.substr(begin);
    const char type = format[at++];
    switch (type) {
      case '%':
        return "%";
      case 'd':
      case 'i':
        return formatted(spec + "lld", signed_integer(size));
      case 'o':
      case 'u':
      case 'x':
      case 'X':
        return formatted(spec + "ll" + type, unsigned_integer(size));
      case 'c':
        return formatted(spec + 'c', next<std::int32_t>());
      case 'p': {
        const unsigned long long address = next<std::uint64_t>();
        return address == 0 ? formatted(spec + 's', "(nil)")
                            : formatted("%#" + spec.substr(1) + "llx", address);
      }
      case 's': {
        const std::uint64_t address = next<std::uint64_t>();
        const auto string = address == 0 ? "(null)" : string_at(warp_, lane_, address);
        return formatted(spec + 's', string.value_or("").c_str());
      }
      case 'a':
      case 'A':
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return formatted(spec + type, next<double>());
      default:
        return format.substr(begin, at - begin);
    }
  }

  long long signed_integer(const std::string& size) {
    if (size == "hh") return static_cast<std::int8_t>(next<std::int32_t>());
    if (size == "h") return static_cast<std::int16_t>(next<std::int32_t>());
    return size.empty() ? next<std::int32_t>() : next<std::int64_t>();
  }
  unsigned long long unsigned_integer(const std::string& size) {
    if (size == "hh") return static_cast<std::uint8_t>(next<std::uint32_t>());
    if (size == "h") return static_cast<std::uint16_t>(next<std::uint32_t>());
    return size.empty() ? next<std::uint32_t>() : next<std::uint64_t>();
  }

  Warp& warp_;
  int lane_;
  std::uint64_t address_;
  std::uint32_t count_ = 0;
};

// values: format, arguments, and the result if there is one. The result is the number of arguments, -1 for a
// null format.
Flow print(Warp& warp, const Op& op, LaneMask active) {
  for_each_lane(active, [&](int lane) {
    const std::uint64_t format_at = argument_value(warp, op, 0, lane, 8);
    std::uint32_t count = ~0U;
    if (format_at != 0) {
      Formatter formatter(warp, lane, argument_value(warp, op, 1, lane, 8));
      if (const auto format = string_at(warp, lane, format_at))
        warp.cluster().printed.add(formatter.text(*format));
      count = formatter.arguments();
    }
    if (op.values.size() < 3) return;
    write_result(warp, op, 2, lane, count, sizeof count);
  });
  return Flow::next;
}

Flow failed_assertion(Warp& warp, const Op& op, LaneMask active) {
  const int lane = first_lane(active);
  const auto string = [&](std::size_t index) {
    return string_at(warp, lane, argument_value(warp, op, index, lane, 8)).value_or("?");
  };
  warp.report(FindingKind::trap, lane, 0, [&] {
    const std::uint64_t line = argument_value(warp, op, 2, lane, 4);
    return warp.cluster().describe(warp.thread(lane)) + ": an assertion failed: `" + string(0) + "` in " +
           string(3) + ", " + string(1) + ":" + std::to_string(line);
  });
  warp.cluster().abort();
  return Flow::blocked;
}

}  // namespace

void decode_printf(Decoding& decoding, FunctionScope& functions, const std::vector<ptx::Operand>& results,
                   const std::vector<ptx::Operand>& arguments) {
  require_arguments(decoding, "vprintf", arguments, 2);
  Op& op = decoding.op();
  for (const ptx::Operand& argument : arguments) push_operand(functions, op, argument, ptx::Type::b64);
  if (!results.empty()) push_operand(functions, op, results[0], ptx::Type::b32);
  op.handler = print;
}

void decode_failed_assertion(Decoding& decoding, FunctionScope& functions,
                             const std::vector<ptx::Operand>& arguments) {
  require_arguments(decoding, "__assertfail", arguments, 5);
  Op& op = decoding.op();
  for (std::size_t i = 0; i < arguments.size(); ++i)
    push_operand(functions, op, arguments[i], i == 2 ? ptx::Type::b32 : ptx::Type::b64);
  op.handler = failed_assertion;
}

}  // namespace tenon::emulator
