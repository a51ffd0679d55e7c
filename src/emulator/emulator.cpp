#include "tenon/emulator/emulator.hpp"

#include <algorithm>
#include <map>
#include <thread>

#include "emulator/machine/launch.hpp"
#include "emulator/machine/memory.hpp"
#include "emulator/ptx/entry_name.hpp"
#include "emulator/ptx/module.hpp"

namespace tenon::emulator {

struct LoadedModule final : Symbols {
  ptx::Module text;
  std::map<std::string, Address> variables;
  std::map<const ptx::Function*, std::unique_ptr<Program>> programs;  // of entries that were launched
  mutable std::map<std::string, const ptx::Function*> entries;        // by the names that were asked for
  const void* owner = nullptr;

  std::uint64_t address(const std::string& variable) const override {
    const auto found = variables.find(variable);
    return found == variables.end() ? 0 : found->second;
  }
  const ptx::Function& entry(const std::string& name) const {
    const ptx::Function*& known = entries[name];
    try {
      if (known == nullptr) known = &ptx::entry_named(text, name);
    } catch (const std::invalid_argument& error) {
      throw Error(error.what());
    }
    return *known;
  }
  const Program& program(const std::string& name) {
    const ptx::Function& function = entry(name);
    std::unique_ptr<Program>& program = programs[&function];
    try {
      if (!program) program = decode(text, function, *this);
    } catch (const ptx::Error& error) {
      throw Error(error.what());
    }
    return *program;
  }
};

struct Emulator::State {
  GlobalMemory memory;
  TextureObjects textures;
  Address grid_workspace = 0;
  std::uint64_t launches = 0;

  // Cooperative groups begin with a barrier of zeros, and keep it there across launches. A launch that was
  // ended by a finding may leave anything.
  Address cleared_grid_workspace() {
    constexpr std::size_t bytes = 64;
    if (grid_workspace == 0) grid_workspace = memory.allocate(bytes);
    Allocation& allocation = *memory.find(grid_workspace);
    std::memset(allocation.bytes.get(), 0, bytes);
    allocation.written.reset();
    return grid_workspace;
  }
};

namespace {

std::string text_of(Dim3 size) {
  return std::to_string(size.x) + "x" + std::to_string(size.y) + "x" + std::to_string(size.z);
}

std::string type_text(ptx::Type type) {
  using ptx::Type;
  switch (type) {
    case Type::b8:
      return "b8";
    case Type::b16:
      return "b16";
    case Type::b32:
      return "b32";
    case Type::b64:
      return "b64";
    case Type::u8:
      return "u8";
    case Type::u16:
      return "u16";
    case Type::u32:
      return "u32";
    case Type::u64:
      return "u64";
    case Type::s8:
      return "s8";
    case Type::s16:
      return "s16";
    case Type::s32:
      return "s32";
    case Type::s64:
      return "s64";
    case Type::f16:
      return "f16";
    case Type::f16x2:
      return "f16x2";
    case Type::f32:
      return "f32";
    case Type::f64:
      return "f64";
    default:
      return "b" + std::to_string(8 * ptx::bytes(type));
  }
}

// The most shared memory of a block, in bytes (CUDA C++ programming guide, technical specifications).
std::uint32_t largest_shared(int target) {
  if (target >= 90) return 227 << 10;
  if (target == 80 || target == 87) return 163 << 10;
  if (target >= 86) return 99 << 10;
  return 64 << 10;
}

void check_size(const char* what, Dim3 size, Dim3 most) {
  const auto check = [&](char axis, std::uint32_t value, std::uint32_t limit) {
    if (value == 0 || value > limit)
      throw Error(std::string("the ") + what + " is " + text_of(size) + ": its " + axis +
                  " must be from 1 to " + std::to_string(limit));
  };
  check('x', size.x, most.x);
  check('y', size.y, most.y);
  check('z', size.z, most.z);
}

Dim3 required(const int (&sizes)[3]) {
  return {static_cast<std::uint32_t>(sizes[0]), static_cast<std::uint32_t>(std::max(1, sizes[1])),
          static_cast<std::uint32_t>(std::max(1, sizes[2]))};
}

bool same(Dim3 a, Dim3 b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

// The grid in blocks: with .blocksareclusters it is given in clusters.
Shape in_blocks(const ptx::Function& entry, Shape shape) {
  constexpr Dim3 largest{0x7fffffff, 65535, 65535};
  check_size("grid", shape.grid, largest);
  if (!entry.blocks_are_clusters) return shape;
  if (entry.required_cluster[0] == 0)
    throw Error("the kernel has .blocksareclusters, which needs .reqnctapercluster");
  const Dim3 cluster = required(entry.required_cluster);
  const auto multiply = [&](std::uint32_t& size, std::uint32_t by, std::uint32_t most) {
    if (std::uint64_t{size} * by > most)
      throw Error("the grid of " + text_of(shape.grid) + " clusters of " + text_of(cluster) +
                  " blocks is too large");
    size *= by;
  };
  multiply(shape.grid.x, cluster.x, largest.x);
  multiply(shape.grid.y, cluster.y, largest.y);
  multiply(shape.grid.z, cluster.z, largest.z);
  return shape;
}

Dim3 cluster_of(const ptx::Function& entry, const Shape& shape, int target) {
  constexpr std::uint64_t most = 16;
  const bool is_required = entry.required_cluster[0] != 0;
  Dim3 cluster = shape.cluster.value_or(is_required ? required(entry.required_cluster) : Dim3{});
  check_size("cluster", cluster, {16, 16, 16});
  if (is_required && !same(cluster, required(entry.required_cluster)))
    throw Error("the cluster is " + text_of(cluster) + "; the kernel requires " +
                text_of(required(entry.required_cluster)));
  if (cluster.count() > most)
    throw Error("the cluster is of " + std::to_string(cluster.count()) + " blocks; it can be of at most 16");
  if (cluster.count() > 1 && target < 90)
    throw Error("clusters need sm_90; the module is for sm_" + std::to_string(target));
  if (shape.grid.x % cluster.x != 0 || shape.grid.y % cluster.y != 0 || shape.grid.z % cluster.z != 0)
    throw Error("the grid of " + text_of(shape.grid) + " blocks is not a multiple of the cluster of " +
                text_of(cluster));
  return cluster;
}

void check_block(const ptx::Function& entry, Dim3 block) {
  check_size("block", block, {1024, 1024, 64});
  if (block.count() > 1024)
    throw Error("the block of " + text_of(block) + " has " + std::to_string(block.count()) +
                " threads; it can have at most 1024");
  if (entry.required_threads[0] != 0 && !same(block, required(entry.required_threads)))
    throw Error("the block is " + text_of(block) + "; the kernel requires " +
                text_of(required(entry.required_threads)) + " (.reqntid)");
  const std::uint64_t most = entry.max_threads[0] == 0 ? 1024 : required(entry.max_threads).count();
  if (block.count() > most)
    throw Error("the block of " + text_of(block) + " has " + std::to_string(block.count()) +
                " threads; the kernel allows at most " + std::to_string(most) + " (.maxntid)");
}

std::uint64_t dynamic_shared_offset(const Program& program) {
  const std::uint64_t alignment = program.dynamic_alignment;
  return (shared_reserved + program.static_shared + alignment - 1) / alignment * alignment;
}

// The shape that launch runs, with the cluster filled in.
Shape checked(const Program& program, const Shape& given) {
  const ptx::Function& function = *program.entry;
  Shape shape = in_blocks(function, given);
  check_block(function, shape.block);
  shape.cluster = cluster_of(function, shape, program.target);
  const std::uint64_t shared = dynamic_shared_offset(program) - shared_reserved + shape.shared_bytes;
  if (shared > largest_shared(program.target))
    throw Error(std::to_string(program.static_shared) + " bytes of static and " +
                std::to_string(shape.shared_bytes) + " bytes of dynamic shared memory are more than the " +
                std::to_string(largest_shared(program.target)) + " bytes that a block of sm_" +
                std::to_string(program.target) + " can have");
  return shape;
}

// Whether the device can run all blocks at a time, as far as their threads and shared memory tell (CUDA C++
// programming guide, technical specifications); registers are not known here.
bool fits_at_once(const Launch& launch) {
  const int target = launch.program->target;
  const std::uint64_t threads = (launch.block.count() + 31) / 32 * 32;
  const std::uint64_t shared = largest_shared(target) + shared_reserved;
  const std::uint64_t blocks =
      std::min({std::uint64_t{target >= 75 && target < 80 ? 16U : 32U},
                (target == 75 ? 1024 : 2048) / threads, shared / launch.shared_size});
  return launch.grid.count() <= blocks * multiprocessors(target);
}

std::vector<std::uint8_t> parameter_memory(const Program& program, const std::vector<Argument>& arguments) {
  const std::vector<ptx::Variable>& parameters = program.entry->parameters;
  if (arguments.size() != parameters.size())
    throw Error("the kernel `" + program.entry->name + "` has " + std::to_string(parameters.size()) +
                " parameters; " + std::to_string(arguments.size()) + " arguments are given");
  std::vector<std::uint8_t> memory(static_cast<std::size_t>(program.parameter_bytes));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::vector<std::uint8_t>& bytes = arguments[i].bytes;
    if (bytes.size() != static_cast<std::size_t>(parameters[i].size()))
      throw Error("argument " + std::to_string(i + 1) + " of the kernel `" + program.entry->name + "` has " +
                  std::to_string(bytes.size()) + " bytes; the parameter `" + parameters[i].name + "` has " +
                  std::to_string(parameters[i].size()));
    std::copy(bytes.begin(), bytes.end(), memory.begin() + program.parameter_offsets[i]);
  }
  return memory;
}

Numerics numerics_of(Numerics chosen, int target) {
  if (chosen != Numerics::target) return chosen;
  if (target >= 90) return Numerics::sm_90;
  if (target == 89) return Numerics::sm_89;
  return target >= 80 ? Numerics::sm_80 : Numerics::sm_75;
}

// The allocation that holds the bytes. Throws if none does.
Allocation& holder(GlobalMemory& memory, Address address, std::size_t bytes, const char* what) {
  if (DeviceHeap::holds(address))
    throw Error(std::string("cannot ") + what + " memory that malloc of a kernel has returned");
  Allocation* allocation = memory.find(address);
  const std::string size = std::to_string(bytes) + " bytes ";
  if (allocation == nullptr)
    throw Error(std::string("cannot ") + what + " " + size + "at an address of no allocation");
  if (allocation->is_freed)
    throw Error(std::string("cannot ") + what + " " + size + "of an allocation that was freed");
  const std::uint64_t offset = address - allocation->base;
  if (allocation->size - offset < bytes)
    throw Error(std::string("cannot ") + what + " " + size + "at offset " + std::to_string(offset) +
                " of an allocation of " + std::to_string(allocation->size) + " bytes");
  return *allocation;
}

void check_image(GlobalMemory& memory, const Image& image) {
  if (const std::string sentence = image_problem(image); !sentence.empty()) throw Error(sentence);
  holder(memory, image.address, image_bytes(image), "make an object of");
}

void write_initial(const ptx::Module& text, const LoadedModule& module, const ptx::Variable& variable,
                   Allocation& allocation) {
  std::copy(variable.initial.begin(), variable.initial.end(), allocation.bytes.get());
  for (const ptx::Variable::Address& entry : variable.addresses) {
    std::uint64_t value = module.address(entry.symbol);
    if (value == 0)
      if (const ptx::Function* function = text.find(entry.symbol)) value = function_address(text, *function);
    if (value == 0)
      throw Error("line " + std::to_string(variable.line) + ": the initial value of `" + variable.name +
                  "` is the address of `" + entry.symbol +
                  "`, which is neither a variable in global or constant memory nor a function");
    value = (value + static_cast<std::uint64_t>(entry.addend)) >> entry.shift;
    std::memcpy(allocation.bytes.get() + entry.offset, &value, static_cast<std::size_t>(entry.bytes));
  }
}

}  // namespace

std::string demangled(const std::string& name) {
  return ptx::demangled(name);
}

std::vector<std::string> Module::entries() const {
  std::vector<std::string> names;
  for (const ptx::Function& function : loaded_->text.functions)
    if (function.is_entry && function.is_defined) names.push_back(function.name);
  return names;
}

std::string Module::entry(const std::string& name) const {
  return loaded_->entry(name).name;
}

std::vector<Parameter> Module::parameters(const std::string& entry) const {
  std::vector<Parameter> list;
  for (const ptx::Variable& parameter : loaded_->entry(entry).parameters)
    list.push_back({parameter.name, type_text(parameter.type), parameter.size(), parameter.alignment});
  return list;
}

const std::string& Module::target() const {
  return loaded_->text.target;
}

Emulator::Emulator() : state_(std::make_unique<State>()) {}
Emulator::~Emulator() = default;
Emulator::Emulator(Emulator&&) noexcept = default;
Emulator& Emulator::operator=(Emulator&&) noexcept = default;

Address Emulator::allocate(std::size_t bytes) {
  return state_->memory.allocate(bytes);
}

void Emulator::free(Address address) {
  if (!state_->memory.free(address)) throw Error("cannot free what is not the start of a live allocation");
}

void Emulator::copy_in(Address to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  Allocation& allocation = holder(state_->memory, to, bytes, "write");
  std::memcpy(allocation.bytes.get() + (to - allocation.base), from, bytes);
  if (allocation.written) std::memset(allocation.written.get() + (to - allocation.base), 1, bytes);
}

void Emulator::copy_out(void* to, Address from, std::size_t bytes) const {
  if (bytes == 0) return;
  const Allocation& allocation = holder(state_->memory, from, bytes, "read");
  std::memcpy(to, allocation.bytes.get() + (from - allocation.base), bytes);
}

void Emulator::fill(Address to, std::uint8_t value, std::size_t bytes) {
  if (bytes == 0) return;
  Allocation& allocation = holder(state_->memory, to, bytes, "fill");
  std::memset(allocation.bytes.get() + (to - allocation.base), value, bytes);
  if (allocation.written) std::memset(allocation.written.get() + (to - allocation.base), 1, bytes);
}

std::size_t Emulator::unwritten(Address from, std::size_t bytes) const {
  if (bytes == 0) return 0;
  const Allocation& allocation = holder(state_->memory, from, bytes, "inspect");
  if (!allocation.written) return 0;
  const std::uint8_t* first = allocation.written.get() + (from - allocation.base);
  return static_cast<std::size_t>(std::count(first, first + bytes, std::uint8_t{0}));
}

ObjectHandle Emulator::create_texture(const Image& image, const Sampling& sampling) {
  check_image(state_->memory, image);
  if (const std::string sentence = sampling_problem(image, sampling); !sentence.empty())
    throw Error(sentence);
  return state_->textures.add({image, sampling});
}

ObjectHandle Emulator::create_surface(const Image& image) {
  check_image(state_->memory, image);
  if (image.is_linear) throw Error("The image is linear memory; a surface needs an image that is not.");
  if (image.levels != 0)
    throw Error("The image is a mipmap; a surface is one level, which level_of() describes.");
  Image layered = image;
  if (image.is_cube) layered.layers = 6 * std::max(image.layers, 1U);
  layered.is_cube = false;
  return state_->textures.add({layered, {}, true});
}

void Emulator::destroy(ObjectHandle object) {
  TextureObject* const found = state_->textures.find(object);
  if (found == nullptr || found->is_destroyed)
    throw Error("cannot destroy what is neither a texture nor a surface object");
  found->is_destroyed = true;
}

Module Emulator::load(const std::string& ptx) {
  auto module = std::make_shared<LoadedModule>();
  module->owner = state_.get();
  try {
    module->text = ptx::parse(ptx);
  } catch (const ptx::Error& error) {
    throw Error(error.what());
  }
  constexpr std::int64_t most = std::int64_t{2} << 30;  // of all variables; each has at most 2^40
  std::int64_t total = 0;
  std::vector<const ptx::Variable*> placed;
  for (const ptx::Variable& variable : module->text.variables) {
    const bool is_constant = variable.space == ptx::Space::constant;
    if ((!is_constant && variable.space != ptx::Space::global) ||
        (variable.is_external && variable.initial.empty()))
      continue;
    total += variable.size();
    if (total > most)
      throw Error("line " + std::to_string(variable.line) + ": with the variable `" + variable.name +
                  "` of " + std::to_string(variable.size()) + " bytes the module has " +
                  std::to_string(total) + " bytes of variables; 2 GiB are possible");
    const auto size = static_cast<std::uint64_t>(variable.size());
    module->variables[variable.name] = state_->memory.allocate(
        size, std::max<std::uint64_t>(256, static_cast<std::uint64_t>(variable.alignment)), is_constant);
    placed.push_back(&variable);
  }
  for (const ptx::Variable* variable : placed) {
    Allocation& allocation = *state_->memory.find(module->variables[variable->name]);
    write_initial(module->text, *module, *variable, allocation);
    allocation.written.reset();
  }
  return Module(std::move(module));
}

Address Emulator::variable(const Module& module, const std::string& name) const {
  const Address address = module.loaded_->address(name);
  if (address == 0) throw Error("there is no .global or .const variable `" + name + "` in the module");
  return address;
}

void Emulator::check(const Module& module, const std::string& entry) const {
  module.loaded_->program(entry);
}

Shape Emulator::check(const Module& module, const std::string& entry, const Shape& shape) const {
  return checked(module.loaded_->program(entry), shape);
}

Result Emulator::launch(const Module& module, const std::string& entry, const Shape& given,
                        const std::vector<Argument>& arguments, const Options& options) {
  if (module.loaded_->owner != state_.get()) throw Error("the module was loaded by another Emulator");
  const Program& program = module.loaded_->program(entry);
  const Shape shape = checked(program, given);

  Launch launch;
  launch.program = &program;
  launch.global = &state_->memory;
  launch.textures = &state_->textures;
  launch.grid = shape.grid;
  launch.block = shape.block;
  launch.cluster = *shape.cluster;
  launch.explicit_cluster = given.cluster.has_value() || program.entry->required_cluster[0] != 0;
  launch.dynamic_shared = shape.shared_bytes;
  launch.shared_size = static_cast<std::uint32_t>(dynamic_shared_offset(program) + shape.shared_bytes);
  launch.parameters = parameter_memory(program, arguments);
  launch.schedule = options.schedule;
  launch.seed = options.seed;
  launch.numerics = numerics_of(options.numerics, program.target);
  launch.findings = options.findings;
  launch.threads = options.threads > 0 ? options.threads
                                       : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  launch.instruction_limit = options.instruction_limit;
  launch.launch_instruction_limit = options.launch_instruction_limit;
  launch.heap_bytes = options.heap_bytes;
  if (program.asks_for_grid && fits_at_once(launch)) launch.grid_workspace = state_->cleared_grid_workspace();
  launch.number = ++state_->launches;
  LaunchReport report = run(launch);
  return {std::move(report.findings), std::move(report.counters), std::move(report.printed.text),
          report.printed.lost};
}

}  // namespace tenon::emulator
