// The arguments of `tenon emulate`: the meaning of each --arg, and the kernel arguments made of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "command_line/npy.hpp"
#include "tenon/emulator/emulator.hpp"
#include "tenon/emulator/tensor_map.hpp"

namespace tenon::command {

// The buffer of an argument, "2", or one that no parameter takes, "b2" for the second --buffer.
struct BufferNumber {
  bool is_argument = true;
  int number = 0;  // from 1
};

// A tensor map as its text describes it, sizes outermost first as in numpy.
struct MapText {
  BufferNumber over;
  emulator::TensorMapType type = emulator::TensorMapType::float32;
  int element_bytes = 4;
  std::vector<std::uint64_t> dimensions;  // elements
  std::vector<std::uint64_t> box, steps;  // elements; one per dimension
  std::vector<std::uint64_t> strides;     // bytes, of all dimensions except the last
  std::uint64_t offset = 0;               // bytes, from the start of the buffer
  emulator::TensorMapSwizzle swizzle = emulator::TensorMapSwizzle::none;
  emulator::TensorMapInterleave interleave = emulator::TensorMapInterleave::none;
  emulator::TensorMapFill fill = emulator::TensorMapFill::zeros;
};

// One parsed --arg or --buffer.
struct ArgumentText {
  enum class Kind { value, zeros, unwritten, file, out, inout, same, map, structure, padding, alignment };
  std::string text;
  Kind kind = Kind::value;
  std::string type;                 // value, out: "f32"
  std::vector<std::uint8_t> bytes;  // value
  std::uint64_t size = 0;           // zeros, unwritten, out, padding, alignment: bytes
  std::string in_path, out_path;    // file, inout; out, inout
  std::vector<std::int64_t> shape;  // out
  BufferNumber other;               // same
  std::uint64_t offset = 0;         // same: bytes
  MapText map;
  std::vector<ArgumentText> fields;  // structure; padding and alignment are fields only
  emulator::Address address = 0;     // of its buffer, once EmulatedArguments has made it
};

// The offsets of the fields, as C++ lays out a struct of their types.
struct StructLayout {
  std::uint64_t size = 0, alignment = 1;
  std::vector<std::uint64_t> offsets;  // one per element of ArgumentText::fields
};
// A tensor map is aligned to 128 bytes if the parameter is (parameter_alignment), as CUtensorMap is since
// CUDA 13, and to 64 bytes otherwise.
StructLayout layout_of(const ArgumentText& structure, std::int64_t parameter_alignment = 1);

// Throws Failure(bad_input) with a sentence that repeats the text and says what it must be.
ArgumentText parse_argument(const std::string& text);

// The syntax of --arg, for --help.
const char* argument_help();

// "32,4": up to three sizes of a grid, block or cluster.
emulator::Dim3 parse_size(const std::string& option, const std::string& text);

// The buffers and values of a launch in the emulator, and the files to write after it.
class EmulatedArguments {
 public:
  // Reads input files, opens output files, allocates. Throws Failure(bad_input) if the arguments do not fit
  // the parameters of the entry in number, size or type, or if a file cannot be read or written.
  EmulatedArguments(emulator::Emulator& emulator, const std::string& entry,
                    const std::vector<emulator::Parameter>& parameters,
                    const std::vector<std::string>& arguments, const std::vector<std::string>& buffers);
  const std::vector<emulator::Argument>& values() const { return values_; }
  // After the launch: the written files, each with the number of bytes that the kernel did not write.
  struct Written {
    std::string path;
    std::size_t bytes, unwritten_bytes;
  };
  std::vector<Written> write_outputs();

 private:
  struct Output {
    std::unique_ptr<OutputFile> file;
    std::string path, header;
    emulator::Address address;
    std::size_t bytes;
  };
  void require_memory(const ArgumentText& argument, std::uint64_t size) const;
  // Allocates and fills the buffer of the argument, or the buffers of its fields, and sets its address.
  void make_buffer(ArgumentText& argument);
  emulator::Address address_of(const ArgumentText& argument, const BufferNumber& number) const;
  emulator::TensorMap encoded(const ArgumentText& argument) const;
  // The bytes that are passed for the argument, or stored for the field; a tensor map by value.
  std::vector<std::uint8_t> bytes_of(const ArgumentText& argument,
                                     const emulator::Parameter& parameter) const;
  emulator::Argument make_value(const ArgumentText& argument, const emulator::Parameter& parameter);

  emulator::Emulator& emulator_;
  std::vector<emulator::Argument> values_;
  std::vector<ArgumentText> arguments_, buffers_;
  std::vector<Output> outputs_;
  std::uint64_t bytes_ = 0;  // of all buffers
};

}  // namespace tenon::command
