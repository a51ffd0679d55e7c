// A kernel launch as data (`Launch`), and the interface of what executes it (`Launcher`): CUDA
// (cuda_launcher.hpp) or the emulator. The plans of the kernels (plan_sm80.hpp, plan_sm90.hpp) use only these
// two types, so they are the same for both.
//
// Nothing here calls CUDA, and nothing allocates: a launch lives on its caller's stack. Below:
// pipeline/tensor_map.hpp, status.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tenon/pipeline/tensor_map.hpp"
#include "tenon/status.hpp"

namespace tenon {

// What the choice of a kernel and the shape of its launch depend on.
struct DeviceDescription {
  int sm = 0;               // 10 * major + minor
  int multiprocessors = 0;  // that a call may use
  std::size_t shared_bytes_per_block_optin = 0;
  std::size_t l2_bytes = 0;
  // Those of the device where the caller allows fewer; else 0. Then no grid has more CTAs than
  // `multiprocessors`.
  int all_multiprocessors = 0;
  // Of the device's memory, in a clock of its multiprocessors at their highest clock; 0 where nobody asked.
  int memory_bytes_per_clock = 0;

  bool is_limited() const noexcept { return all_multiprocessors != 0; }
};

// The arguments of a kernel by value, in the order of its parameters. Only the bytes that they take are ever
// written or copied.
class LaunchArguments {
 public:
  LaunchArguments() noexcept {}  // NOLINT(modernize-use-equals-default): a default one clears all bytes
  LaunchArguments(const LaunchArguments& other) noexcept { *this = other; }
  LaunchArguments& operator=(const LaunchArguments& other) noexcept {
    if (this == &other) return *this;
    count_ = other.count_, end_ = other.end_;
    std::memcpy(bytes_, other.bytes_, end_);
    std::memcpy(begin_, other.begin_, sizeof begin_);
    std::memcpy(size_, other.size_, sizeof size_);
    return *this;
  }
  ~LaunchArguments() = default;

  template <class... T>
  void set(const T&... values) noexcept {
    static_assert((std::is_trivially_copyable_v<T> && ...),
                  "an epilogue operation, like every kernel argument, is copied byte by byte: it must be "
                  "trivially copyable");
    static_assert(sizeof...(T) <= most, "LaunchArguments::most is too small for this kernel");
    static_assert((((sizeof(T) + step - 1) / step * step) + ...) <= capacity,
                  "the arguments of a kernel, its epilogue operation included, have room for 4096 bytes");
    count_ = 0;
    end_ = 0;
    (add(&values, sizeof values), ...);
  }

  // One more, of a type that only the kernel knows.
  Status append(const void* value, std::size_t size, std::size_t alignment) noexcept {
    constexpr StatusCode invalid = StatusCode::invalid_argument;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > most_alignment)
      return Status(invalid,
                    "the alignment of a kernel argument is %zu bytes but must be a power of two up to %zu",
                    alignment, most_alignment);
    if (size != 0 && value == nullptr) return Status(invalid, "a kernel argument is a null pointer");
    const std::size_t begin = (end_ + alignment - 1) / alignment * alignment;
    if (count_ == most || begin > capacity || size > capacity - begin)
      return Status(invalid,
                    "the arguments of a kernel, its epilogue operation included, have room for %zu bytes and "
                    "%d arguments, but one of %zu bytes comes after %zu bytes and %d arguments",
                    capacity, most, size, end_, count_);
    end_ = begin;
    add(value, size);
    return {};
  }

  int count() const noexcept { return count_; }
  const void* data(int i) const noexcept { return bytes_ + begin_[i]; }
  std::size_t size(int i) const noexcept { return size_[i]; }

  static constexpr int most = 12;

 private:
  static constexpr std::size_t capacity = 4096, step = 16, most_alignment = 64;

  void add(const void* value, std::size_t size) noexcept {
    if (size != 0) std::memcpy(bytes_ + end_, value, size);
    begin_[count_] = static_cast<std::uint16_t>(end_);
    size_[count_++] = static_cast<std::uint16_t>(size);
    end_ += (size + step - 1) / step * step;
  }

  alignas(most_alignment) unsigned char bytes_[capacity];
  std::uint16_t begin_[most] = {}, size_[most] = {};
  int count_ = 0;
  std::size_t end_ = 0;
};

struct Extent3 {
  unsigned x = 1, y = 1, z = 1;
};

struct Launch {
  const char* what = "";  // the kernel's name, or what it does: for sentences about a failure
  // For CUDA the __global__ function; nullptr: the hand-written PTX module.
  const void* function = nullptr;
  // For the emulator the name of the file of its PTX, and of the entry there; a null entry: the symbol of
  // `function`.
  const char* ptx = "";
  const char* entry = nullptr;
  Extent3 grid, block;        // in blocks, in threads
  unsigned shared_bytes = 0;  // dynamic shared memory of a block
  unsigned cluster = 0;       // blocks of a cluster, along x; 0: as the kernel is compiled
  // The kernel waits itself (cudaGridDependencySynchronize) for what runs before it in the stream, so that
  // its prologue may overlap the end of that (programmatic dependent launch).
  bool overlaps_previous = false;
  // Blocks walk on by the size of the grid, wherever it is larger than a limit: a smaller grid does the same.
  bool walks_on = false;
  LaunchArguments arguments;
};

// A device, and a queue of launches on it. After a failure nothing was launched.
class Launcher {
 public:
  Launcher() = default;
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  // device_unsupported, with the reason, where there is no such device here.
  virtual Status describe(DeviceDescription* device) noexcept = 0;
  // As make_tensor_map() of tenon/pipeline/make_tensor_map.hpp.
  virtual Status make_tensor_map(const MatrixInMemory& matrix, int box_rows, int box_columns,
                                 TensorMap* map) noexcept = 0;
  // device_unsupported where the device refuses this launch, but may run another kernel: its clusters, shared
  // memory, registers or code. Anything else (cuda_error) would happen to another kernel as well.
  virtual Status launch(const Launch& launch) noexcept = 0;

 protected:
  ~Launcher() = default;
};

}  // namespace tenon
