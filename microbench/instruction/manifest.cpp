#include "microbench/instruction/manifest.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace tenon::microbench::instruction {
namespace {

using Json = nlohmann::ordered_json;

Kernel kernel_of(const std::string& name, const Json& json) {
  Kernel kernel;
  kernel.name = name;
  kernel.file = json.at("file");
  kernel.family = json.at("family");
  kernel.instruction = json.at("instruction");
  kernel.issuer = json.at("issuer");
  kernel.claim = json.at("claim").get<std::map<std::string, int>>();
  if (json.contains("loop")) {
    kernel.loop = json.at("loop").get<std::map<std::string, int>>();
  } else {
    kernel.unproven = json.value("unproven", "its machine code was not checked");
  }
  kernel.native = json.at("native");
  kernel.operations = json.at("operations");
  kernel.flop = json.at("flop");
  kernel.bytes = json.at("bytes");
  return kernel;
}

Case case_of(const Json& json, const std::map<std::string, Kernel>& kernels) {
  Case result;
  result.name = json.at("name");
  const auto found = kernels.find(json.at("kernel").get<std::string>());
  if (found == kernels.end())
    throw std::invalid_argument("case '" + result.name + "' names a kernel that the manifest lacks");
  result.kernel = &found->second;
  result.measure = json.at("measure");
  for (const auto& [axis, value] : json.at("axes").items())
    result.axes.emplace_back(axis, value.is_string() ? value.get<std::string>() : value.dump());
  result.grid = json.at("grid");
  result.data = json.at("data");
  result.protocol = json.at("protocol");
  result.warps = json.at("warps");
  result.issuers = json.at("issuers");
  result.cluster = json.at("cluster");
  result.shared = json.at("shared");
  result.stride = json.at("stride");
  result.bytes = json.at("bytes");
  result.stages = json.at("stages");
  result.hop = json.at("hop");
  result.window = json.at("window");
  result.advance = json.at("advance");
  result.map = json.at("map");
  result.quick = json.at("quick");
  return result;
}

}  // namespace

Manifest parse_manifest(std::string_view text) {
  const Json json = Json::parse(text);
  Manifest manifest;
  for (const auto& [name, kernel] : json.at("kernels").items())
    manifest.kernels.emplace(name, kernel_of(name, kernel));
  for (const Json& entry : json.at("cases")) manifest.cases.push_back(case_of(entry, manifest.kernels));
  manifest.cubins = json.value("cubins", std::map<std::string, std::string>());
  return manifest;
}

std::string hash_of(std::string_view bytes) {
  std::uint64_t value = 0xCBF29CE484222325U;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
    value = (value ^ word) * 0x100000001B3U;
  }
  constexpr char digits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, value >>= 4) text[i] = digits[value & 15];
  return text;
}

}  // namespace tenon::microbench::instruction
