// A streaming multiprocessor in software: loads PTX, runs kernels, reports what is wrong with them.
//
//   tenon::emulator::Emulator emulator;
//   const auto module = emulator.load(ptx_text);
//   const auto x = emulator.allocate(4 * n);
//   emulator.copy_in(x, host.data(), 4 * n);
//   const auto result = emulator.launch(module, "scale", {{grid}, {block}}, {x, 2.0f, n});
//   for (const auto& f : result.findings) std::cerr << f.ptx_line << ": " << f.message << '\n';
//   emulator.copy_out(host.data(), x, 4 * n);
//
// Error is thrown for mistakes of the caller: text that is no PTX, an unknown instruction, a launch beyond
// the limits of the module's target. Faults of a kernel are findings in the result of its launch. One thread
// at a time may use an object; a launch itself runs on several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "tenon/emulator/texture.hpp"
#include "tenon/emulator/types.hpp"

namespace tenon::emulator {

// A sentence with what was found and what is needed; for PTX text it begins with "line N: ".
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Address = std::uint64_t;  // in the emulator's global memory; never one of the host's

// A kernel argument: the bytes of an integer, a real, an Address, or a struct passed by value.
struct Argument {
  template <class T, class = std::enable_if_t<std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>>>
  Argument(const T& value) : bytes(sizeof(T)) {  // NOLINT(google-explicit-constructor): {x, 2.0F, n}
    std::memcpy(bytes.data(), &value, sizeof(T));
  }
  static Argument of_bytes(const void* data, std::size_t size) {
    Argument argument('\0');
    argument.bytes.assign(static_cast<const std::uint8_t*>(data),
                          static_cast<const std::uint8_t*>(data) + size);
    return argument;
  }
  std::vector<std::uint8_t> bytes;
};

struct Shape {
  Dim3 grid = {};                    // in blocks
  Dim3 block;                        // in threads
  std::uint32_t shared_bytes = 0;    // dynamic shared memory of a block
  std::optional<Dim3> cluster = {};  // in blocks; none: what the kernel requires, else no clusters
};

struct Options {
  Schedule schedule = Schedule::early;
  std::uint64_t seed = 0;  // of Schedule::random
  Numerics numerics = Numerics::target;
  // The search for races, missing proxy fences and unwritten memory costs time, and can be switched off; all
  // other findings are always made.
  bool findings = true;
  int threads = 0;  // of the host; 0: as many as it has
  // How many instructions the warps of one cluster, and those of the whole launch, may execute, counted as
  // Counts::instructions is. What would execute one more is stopped, with the finding `limit`. 0: no limit.
  std::uint64_t instruction_limit = 0, launch_instruction_limit = 0;
  // What malloc of kernels can give away at a time, in this launch and those before it; as
  // cudaLimitMallocHeapSize. The host cannot copy or free such memory, as on a GPU.
  std::uint64_t heap_bytes = std::uint64_t{8} << 20;
};

struct Result {
  std::vector<Finding> findings;  // in the order of PTX lines
  Counters counters;
  // What printf of the kernel wrote: clusters in order (without clusters: blocks), the threads of one as they
  // ran. At most 1 MiB, which a device's buffer holds; then the number of bytes that were written after it.
  std::string printed;
  std::uint64_t unprinted_bytes = 0;
};

struct Parameter {
  std::string name;
  std::string type;  // "u64", "b8"
  std::int64_t bytes = 0, alignment = 1;
};

struct LoadedModule;

// As C++ spells a name that its compiler has mangled; other names as they are.
std::string demangled(const std::string& name);

// PTX text that was loaded; a handle, valid as long as its Emulator.
//
// An entry is named as in the PTX text, as in C++ (`ns::scale<float>`, `scale<float>`, `scale`), or by a part
// of either name, as long as that means one kernel. Error lists the candidates if it means none or several.
class Module {
 public:
  std::vector<std::string> entries() const;          // as in the text, and in its order
  std::string entry(const std::string& name) const;  // the one that is meant, as in the text
  std::vector<Parameter> parameters(const std::string& entry) const;
  const std::string& target() const;  // "sm_90a"

 private:
  friend class Emulator;
  explicit Module(std::shared_ptr<LoadedModule> loaded) : loaded_(std::move(loaded)) {}
  std::shared_ptr<LoadedModule> loaded_;
};

class Emulator {
 public:
  Emulator();
  ~Emulator();
  Emulator(Emulator&&) noexcept;
  Emulator& operator=(Emulator&&) noexcept;

  // Global memory: zeros that count as unwritten until the host or a kernel writes them. Aligned to 256
  // bytes.
  Address allocate(std::size_t bytes);
  void free(Address address);
  void copy_in(Address to, const void* from, std::size_t bytes);
  void copy_out(void* to, Address from, std::size_t bytes) const;
  void fill(Address to, std::uint8_t value, std::size_t bytes);
  // The number of bytes that neither the host nor a kernel has written since the allocation.
  std::size_t unwritten(Address from, std::size_t bytes) const;

  // Texture and surface objects (CUDA C++ programming guide, texture and surface memory), for kernels that
  // take them as 64-bit parameters or in memory. The image must lie in one allocation. Throws Error with a
  // sentence that names what was found and what is needed.
  ObjectHandle create_texture(const Image& image, const Sampling& sampling = {});
  ObjectHandle create_surface(const Image& image);
  void destroy(ObjectHandle object);

  Module load(const std::string& ptx);
  // A .global or .const variable of the module. Throws Error if there is none.
  Address variable(const Module& module, const std::string& name) const;
  // Decodes the entry and all that it can call, as launch does first. Throws Error that names every unknown
  // instruction.
  void check(const Module& module, const std::string& entry) const;
  // The shape as launch would run it: the grid in blocks, the cluster that the kernel requires. Throws Error
  // if launch would refuse it.
  Shape check(const Module& module, const std::string& entry, const Shape& shape) const;
  // Arguments in the order of the kernel's parameters, each of the size of its parameter.
  Result launch(const Module& module, const std::string& entry, const Shape& shape,
                const std::vector<Argument>& arguments, const Options& options = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tenon::emulator
