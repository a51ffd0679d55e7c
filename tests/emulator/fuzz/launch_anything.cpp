#include <algorithm>
#include <cctype>
#include <cstdint>
#include <vector>

#include "emulator/fuzz/anything.hpp"
#include "tenon/emulator/emulator.hpp"
#include "tenon/emulator/tensor_map.hpp"

namespace tenon::emulator::fuzz {
namespace {

constexpr std::uint64_t most_instructions = 5000;  // of a cluster, by warps
constexpr std::size_t buffer_bytes = 4096, most_buffers = 16, most_entries = 4;

// The number after a word in the line `// launch:`; if it is missing or beyond `most`, a number within the
// range.
std::uint32_t setting(const std::string& text, const std::string& word, std::uint32_t least,
                      std::uint32_t most, std::uint32_t otherwise) {
  const std::size_t line = text.find("// launch:");
  if (line == std::string::npos) return otherwise;
  const std::string words = text.substr(line, std::min<std::size_t>(text.find('\n', line) - line, 200));
  std::size_t at = words.find(" " + word + " ");
  if (at == std::string::npos) return otherwise;
  std::uint32_t value = 0;
  for (at += word.size() + 2; at < words.size() && std::isdigit(static_cast<unsigned char>(words[at])); ++at)
    value = (value * 10 + static_cast<std::uint32_t>(words[at] - '0')) % 1000000;
  return value <= most ? std::max(value, least) : least + value % (most - least + 1);
}

Shape shape_of(const std::string& text) {
  Shape shape;
  shape.grid.x = setting(text, "grid", 1, 8, 1);
  shape.grid.y = setting(text, "gridy", 1, 2, 1);
  shape.block.x = setting(text, "block", 1, 256, 32);
  shape.block.y = setting(text, "blocky", 1, 4, 1);
  shape.shared_bytes = setting(text, "shared", 0, 300000, 0);
  if (const std::uint32_t cluster = setting(text, "cluster", 0, 8, 0)) shape.cluster = Dim3{cluster};
  return shape;
}

Options options_of(const std::string& text) {
  Options options;
  const std::uint32_t schedule = setting(text, "schedule", 0, 1000, 0);
  options.schedule = schedule == 0 ? Schedule::early : schedule == 1 ? Schedule::late : Schedule::random;
  options.seed = schedule;
  options.findings = setting(text, "findings", 0, 1, 1) != 0;
  options.numerics = static_cast<Numerics>(setting(text, "numerics", 0, 5, 0));
  options.threads = static_cast<int>(setting(text, "threads", 1, 2, 1));
  options.instruction_limit = most_instructions;
  return options;
}

TensorMap map_of(Address buffer) {
  const std::uint64_t dimensions[] = {16, 16}, strides[] = {64};
  const std::uint32_t box[] = {16, 16}, steps[] = {1, 1};
  return encode_tiled(TensorMapType::float32, 2, buffer, dimensions, strides, box, steps,
                      TensorMapInterleave::none, TensorMapSwizzle::none, TensorMapL2Promotion::none,
                      TensorMapFill::zeros);
}

class Arguments {
 public:
  explicit Arguments(Emulator& emulator) : emulator_(emulator) {}
  Argument of(const Parameter& parameter, std::uint32_t number) {
    if (parameter.name == "null") return Address{0};
    if (parameter.bytes == 128) return map_of(buffer(true));
    if (parameter.bytes == 8) {
      const Address address = buffer(parameter.name != "out");
      if (parameter.name == "freed") emulator_.free(address);
      return address;
    }
    const std::uint32_t word = 4 + number;
    std::vector<std::uint8_t> bytes(
        static_cast<std::size_t>(std::min<std::int64_t>(parameter.bytes, buffer_bytes)));
    for (std::size_t i = 0; i < bytes.size(); i += 16) bytes[i] = static_cast<std::uint8_t>(word);
    return Argument::of_bytes(bytes.data(), bytes.size());
  }

 private:
  Address buffer(bool is_filled) {
    if (count_++ >= most_buffers) return 0;
    const Address address = emulator_.allocate(buffer_bytes);
    if (!is_filled) return address;
    std::vector<std::uint32_t> values(buffer_bytes / 4);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i + 1);
    emulator_.copy_in(address, values.data(), buffer_bytes);
    return address;
  }

  Emulator& emulator_;
  std::size_t count_ = 0;
};

void launch(Emulator& emulator, const Module& module, const std::string& entry, const std::string& text) {
  std::vector<Argument> arguments;
  Arguments made(emulator);
  for (const Parameter& parameter : module.parameters(entry)) {
    need(parameter.bytes >= 0 && parameter.alignment > 0);
    arguments.push_back(made.of(parameter, static_cast<std::uint32_t>(arguments.size())));
  }
  const Result result = emulator.launch(module, entry, shape_of(text), arguments, options_of(text));
  for (const Finding& finding : result.findings)
    need(finding.count > 0 && finding.ptx_line > 0 && finding.entry == entry && !finding.message.empty());
  std::uint64_t instructions = 0;
  for (const LineCounts& line : result.counters.lines) {
    need(line.ptx_line > 0 && !line.instruction.empty());
    instructions += line.counts.instructions;
  }
  need(instructions == result.counters.total.instructions);
}

}  // namespace

void launch_anything(const std::string& text) {
  Emulator emulator;
  try {
    const Module module = emulator.load(text);
    std::size_t entries = 0;
    for (const std::string& entry : module.entries()) {
      if (entries++ == most_entries) break;
      try {
        launch(emulator, module, entry, text);
      } catch (const Error&) {
        // Not launchable: continue with the next.
      }
    }
  } catch (const Error&) {
    // Not loadable.
  }
}

}  // namespace tenon::emulator::fuzz
