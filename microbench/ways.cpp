#include "microbench/ways.hpp"

#include <sstream>
#include <utility>

#include "microbench/cases.hpp"

namespace tenon::microbench {
namespace {

constexpr std::pair<const char*, bool Ways::*> all[] = {{"burst", &Ways::burst},
                                                        {"between", &Ways::between},
                                                        {"cold", &Ways::cold},
                                                        {"sustained", &Ways::sustained}};

}  // namespace

Ways parse_ways(const std::string& text) {
  Ways ways;
  std::istringstream words((text == "both" ? "burst,sustained" : text) + ",");
  for (std::string word; std::getline(words, word, ',');) {
    bool Ways::*member = nullptr;
    for (const auto& [known, of] : all) {
      if (word == known) member = of;
    }
    if (member == nullptr)
      throw Failure("mode '" + text + "' names '" + word +
                    "', but a mode is both or some of burst, between, cold, sustained, separated by commas");
    if (ways.*member) throw Failure("mode '" + text + "' names " + word + " twice");
    ways.*member = true;
  }
  return ways;
}

std::string name(const Ways& ways) {
  std::string text;
  for (const auto& [word, member] : all) {
    if (ways.*member) text += (text.empty() ? "" : ",") + std::string(word);
  }
  return text;
}

}  // namespace tenon::microbench
