// The checks of options.hpp, as CLI11 validators.
#include "command_line/options.hpp"

#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "command_line/text_file.hpp"
#include "host/validate.hpp"

namespace tenon::command {
namespace {

// Replaces the text by the number as CLI11 reads it: a zero in front would make it octal.
template <class Integer>
bool read_decimal(std::string& text, Integer least, Integer most) {
  Integer value{};
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, value, 10);
  if (error != std::errc() || after != end || value < least || value > most) return false;
  text = std::to_string(value);
  return true;
}

// range: for --help, where it is one to choose from; "" else.
template <class Integer>
CLI::Validator decimal(Integer least, Integer most, const std::string& range = "") {
  return {[least, most](std::string& text) {
            const std::string found = text;
            if (read_decimal(text, least, most)) return std::string();
            return "'" + shortened(found) + "' is not a whole number from " + std::to_string(least) + " to " +
                   std::to_string(most) + " in decimal digits";
          },
          range};
}

bool read_real(const std::string& text, double& value) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text[0])) != 0) return false;
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return *end == '\0' && end == text.c_str() + text.size();
}

}  // namespace

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const bool is_narrow = most <= std::numeric_limits<std::int32_t>::max();
  return decimal(least, most, is_narrow ? std::to_string(least) + ".." + std::to_string(most) : "");
}

CLI::Validator seed_number() {
  return decimal(std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max());
}

CLI::Validator matrix_size() {
  return decimal(std::int64_t{0}, largest_dimension);
}

CLI::Validator leading_dimension() {
  return decimal(std::int64_t{0}, std::numeric_limits<std::int64_t>::max());
}

CLI::Validator float_number() {
  return {[](std::string& text) {
            double wide = 0;
            if (!read_real(text, wide))
              return "'" + shortened(text) + "' is not a number such as 1.5 or -2e-3";
            const bool names_infinity = text.find_first_of("0123456789") == std::string::npos;
            errno = 0;
            const float value = std::strtof(text.c_str(), nullptr);
            const bool vanished = value == 0.0F && (wide != 0.0 || errno == ERANGE);
            if ((std::isinf(value) && !names_infinity) || vanished) {
              return "'" + shortened(text) + "' is not a number that a float holds: " +
                     (vanished ? "it would become 0" : "it would become infinite");
            }
            return std::string();
          },
          ""};
}

CLI::Validator number_within(double least, double most) {
  char range[80];
  std::snprintf(range, sizeof range, "%g..%g", least, most);
  return {[least, most](std::string& text) {
            double value = 0;
            if (read_real(text, value) && value >= least && value <= most) return std::string();  // no nan
            char needed[80];
            std::snprintf(needed, sizeof needed, "' is not a number from %g to %g", least, most);
            return "'" + shortened(text) + needed;
          },
          range};
}

CLI::Validator output_type() {
  return CLI::IsMember({"f16", "bf16", "f32", "s32", "f64", "e4m3", "e5m2", "s8"});
}
CLI::Validator sum_type() {
  return CLI::IsMember({"f32", "f16", "s32", "f64"});
}
CLI::Validator layout_name() {
  return CLI::IsMember({"tn", "nn", "tt", "nt"});
}

void refuse_mistaken_values(CLI::App& application) {
  const CLI::Validator no_mistake{
      [](std::string& text) -> std::string {
        if (text.empty()) return "the value is empty but must not be";
        const bool is_option = text == "-h" || (text.size() > 2 && text.compare(0, 2, "--") == 0);
        if (!is_option) return "";
        return "'" + shortened(text) +
               "' is given as the value, but looks like an option (a file of that name is ./" +
               shortened(text) + ")";
      },
      ""};
  for (CLI::App* command : application.get_subcommands({})) {
    refuse_mistaken_values(*command);  // of its own subcommands
    for (CLI::Option* option : command->get_options()) {
      // transform() puts it in front of what else is asked of the value.
      if (option->get_items_expected_min() > 0) option->transform(no_mistake);
    }
  }
}

}  // namespace tenon::command
