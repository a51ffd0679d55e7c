// Makes a kernel's arguments in the emulator: EmulatedArguments of emulate_arguments.hpp.
#include "command_line/emulate_arguments.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "command_line/exit_status.hpp"

namespace tenon::command {
namespace {

using Kind = ArgumentText::Kind;

bool is_buffer(Kind kind) {
  return kind == Kind::zeros || kind == Kind::unwritten || kind == Kind::file || kind == Kind::out ||
         kind == Kind::inout;
}

std::string parameter_text(const emulator::Parameter& parameter) {
  return parameter.name + " (" + parameter.type +
         (parameter.type[0] == 'b' && parameter.type != "b" + std::to_string(8 * parameter.bytes)
              ? ", " + std::to_string(parameter.bytes) + " bytes"
              : "") +
         ")";
}

void check_number(const std::string& entry, const std::vector<emulator::Parameter>& parameters,
                  std::size_t found) {
  if (found == parameters.size()) return;
  std::string list;
  for (const emulator::Parameter& parameter : parameters)
    list += (list.empty() ? ": " : ", ") + parameter_text(parameter);
  refuse("the kernel " + entry + " has " + std::to_string(parameters.size()) +
         (parameters.size() == 1 ? " parameter" : " parameters") + list + "; --arg is given " +
         std::to_string(found) + (found == 1 ? " time" : " times"));
}

// ", its fields at 0 4 8", which shows where a layout differs from the kernel's.
std::string offsets_text(const ArgumentText& argument, const emulator::Parameter& parameter) {
  if (argument.kind != Kind::structure) return "";
  std::string text = ", its fields at";
  for (const std::uint64_t offset : layout_of(argument, parameter.alignment).offsets)
    text += " " + std::to_string(offset);
  return text;
}

// A value of the parameter's size may still have the wrong kind: 5 is not 5.0.
void check_type(const emulator::Parameter& parameter, const ArgumentText& argument, std::size_t bytes) {
  const std::string start = argument.text + ": the parameter " + parameter_text(parameter) + " ";
  if (bytes != static_cast<std::size_t>(parameter.bytes))
    refuse(start + "has " + std::to_string(parameter.bytes) + " bytes but this argument has " +
           std::to_string(bytes) + offsets_text(argument, parameter));
  if (argument.kind == Kind::structure && parameter.type[0] != 'b') refuse(start + "takes no struct");
  if (argument.kind != Kind::value || argument.type.empty()) return;
  const auto is_real = [](const std::string& type) { return type[0] == 'f' || type == "bf16"; };
  if (argument.type[0] == 'b' && argument.type != "bf16") return;
  if (parameter.type[0] == 'b') return;
  if (is_real(parameter.type) != is_real(argument.type))
    refuse(start + "takes " + (is_real(parameter.type) ? "a real number" : "an integer") + "; b" +
           std::to_string(8 * bytes) + " passes bits as they are");
}

}  // namespace

EmulatedArguments::EmulatedArguments(emulator::Emulator& emulator, const std::string& entry,
                                     const std::vector<emulator::Parameter>& parameters,
                                     const std::vector<std::string>& arguments,
                                     const std::vector<std::string>& buffers)
    : emulator_(emulator) {
  for (const std::string& text : arguments) arguments_.push_back(parse_argument(text));
  check_number(entry, parameters, arguments_.size());
  for (const std::string& text : buffers) {
    buffers_.push_back(parse_argument(text));
    if (!is_buffer(buffers_.back().kind))
      refuse("--buffer " + text + ": a buffer is one of zeros, unwritten, file, out, inout");
    make_buffer(buffers_.back());
  }
  for (ArgumentText& argument : arguments_) make_buffer(argument);
  for (std::size_t i = 0; i < arguments_.size(); ++i)
    values_.push_back(make_value(arguments_[i], parameters[i]));
}

// The emulator keeps a flag per byte. Beyond the machine's memory the system would kill this process.
void EmulatedArguments::require_memory(const ArgumentText& argument, std::uint64_t size) const {
  const auto memory = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (size > memory / 2 || bytes_ + size > memory / 2)
    refuse(argument.text + ": with this buffer of " + std::to_string(size) +
           " bytes, the buffers need more memory than this machine has");
}

void EmulatedArguments::make_buffer(ArgumentText& argument) {
  for (ArgumentText& field : argument.fields) make_buffer(field);
  if (!is_buffer(argument.kind)) return;
  std::uint64_t size = argument.size;
  NpyArray array;
  std::error_code unreadable;  // read_npy_array reports it in words
  if (!argument.in_path.empty()) {
    size = std::filesystem::file_size(argument.in_path, unreadable);
    if (!unreadable) require_memory(argument, size);
    array = read_npy_array(argument.in_path);
    size = array.data.size();
  }
  require_memory(argument, size);
  bytes_ += size;
  const emulator::Address address = argument.address = emulator_.allocate(size);
  if (argument.kind == Kind::zeros) emulator_.fill(address, 0, size);
  if (!array.data.empty()) emulator_.copy_in(address, array.data.data(), size);
  if (argument.out_path.empty()) return;
  const bool is_out = argument.kind == Kind::out;
  std::string header =
      npy_header(is_out ? argument.type : array.descr, is_out ? argument.shape : array.shape);
  if (!is_out && array.fortran_order) {  // the order of the input file
    const std::size_t at = header.find("False");
    header.replace(at, 5, "True ");
  }
  auto file = std::make_unique<OutputFile>(argument.out_path);
  for (const Output& other : outputs_) {
    if (other.file->path() == file->path())
      refuse(argument.text + ": the output " + other.path + " is the same file, but each needs its own");
  }
  outputs_.push_back({std::move(file), argument.out_path, header, address, size});
}

emulator::Address EmulatedArguments::address_of(const ArgumentText& argument,
                                                const BufferNumber& number) const {
  const std::vector<ArgumentText>& all = number.is_argument ? arguments_ : buffers_;
  const std::string what = (number.is_argument ? "argument " : "buffer b") + std::to_string(number.number);
  const auto index = static_cast<std::size_t>(number.number - 1);
  if (index >= all.size()) refuse(argument.text + ": there is no " + what);
  if (all[index].address == 0)
    refuse(argument.text + ": " + what +
           (all[index].kind == Kind::structure ? " is a struct: --buffer makes a buffer that others refer to"
                                               : " is not a buffer"));
  return all[index].address;
}

emulator::TensorMap EmulatedArguments::encoded(const ArgumentText& argument) const {
  const MapText& m = argument.map;
  const auto reversed = [](const auto& sizes) {
    return std::vector<std::uint64_t>(sizes.rbegin(), sizes.rend());
  };
  const auto narrow = [](const std::vector<std::uint64_t>& sizes) {
    return std::vector<std::uint32_t>(sizes.rbegin(), sizes.rend());
  };
  const std::vector<std::uint64_t> dimensions = reversed(m.dimensions), strides = reversed(m.strides);
  const std::vector<std::uint32_t> box = narrow(m.box), steps = narrow(m.steps);
  try {
    return emulator::encode_tiled(m.type, static_cast<int>(dimensions.size()),
                                  address_of(argument, m.over) + m.offset, dimensions.data(), strides.data(),
                                  box.data(), steps.data(), m.interleave, m.swizzle,
                                  emulator::TensorMapL2Promotion::none, m.fill);
  } catch (const std::invalid_argument& error) {
    refuse(argument.text + ": " + error.what());
  }
}

std::vector<std::uint8_t> EmulatedArguments::bytes_of(const ArgumentText& argument,
                                                      const emulator::Parameter& parameter) const {
  switch (argument.kind) {
    case Kind::value:
      return argument.bytes;
    case Kind::padding:
      return std::vector<std::uint8_t>(argument.size);
    case Kind::alignment:
      return {};
    case Kind::map:
      return emulator::Argument(encoded(argument)).bytes;
    case Kind::same:
      return emulator::Argument(address_of(argument, argument.other) + argument.offset).bytes;
    case Kind::structure:
      break;
    default:
      return emulator::Argument(argument.address).bytes;
  }
  const StructLayout layout = layout_of(argument, parameter.alignment);
  std::vector<std::uint8_t> bytes(layout.size);
  for (std::size_t i = 0; i < argument.fields.size(); ++i) {
    const std::vector<std::uint8_t> field = bytes_of(argument.fields[i], parameter);
    std::copy(field.begin(), field.end(), bytes.begin() + static_cast<std::ptrdiff_t>(layout.offsets[i]));
  }
  return bytes;
}

emulator::Argument EmulatedArguments::make_value(const ArgumentText& argument,
                                                 const emulator::Parameter& parameter) {
  if (argument.kind == Kind::map && parameter.bytes == 8) {
    const emulator::TensorMap map = encoded(argument);
    const emulator::Address address = emulator_.allocate(sizeof map);
    emulator_.copy_in(address, &map, sizeof map);
    return address;
  }
  const std::vector<std::uint8_t> bytes = bytes_of(argument, parameter);
  check_type(parameter, argument, bytes.size());
  return emulator::Argument::of_bytes(bytes.data(), bytes.size());
}

std::vector<EmulatedArguments::Written> EmulatedArguments::write_outputs() {
  std::vector<Written> written;
  for (Output& output : outputs_) {
    std::vector<unsigned char> data(output.bytes);
    emulator_.copy_out(data.data(), output.address, data.size());
    output.file->write(output.header.data(), output.header.size());
    output.file->write(data.data(), data.size());
    output.file->commit();
    written.push_back({output.path, output.bytes, emulator_.unwritten(output.address, output.bytes)});
  }
  outputs_.clear();
  return written;
}

}  // namespace tenon::command
