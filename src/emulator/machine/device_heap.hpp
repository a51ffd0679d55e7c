// The heap that malloc and free of kernels use. Blocks live until a kernel frees them, across launches.
// Several clusters allocate at a time, so which addresses they get depends on the host's threads.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

namespace tenon::emulator {

// Zeroed bytes, which cost nothing until they are touched.
struct Free {
  void operator()(std::uint8_t* bytes) const { std::free(bytes); }
};
using Bytes = std::unique_ptr<std::uint8_t[], Free>;
Bytes zeroed_bytes(std::size_t size);

struct Allocation {
  std::uint64_t base = 0, size = 0;
  Bytes bytes, written;  // written: one flag a byte; null: all are (variables of a module)
  bool is_read_only = false, is_freed = false;
};

constexpr std::uint64_t device_heap_window = 0x7800'0000'0000;

class DeviceHeap {
 public:
  static bool holds(std::uint64_t address) { return address >= device_heap_window; }
  // The address of `size` unwritten bytes, on a multiple of 16; 0 if the blocks would hold more than `limit`
  // bytes together.
  std::uint64_t allocate(std::uint64_t size, std::uint64_t limit);
  enum class Release : std::uint8_t { done, again, foreign };
  Release free(std::uint64_t address);  // of the start of a block
  // The block that holds the address, freed ones included; null: none.
  const Allocation* find(std::uint64_t address) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::unique_ptr<Allocation>> blocks_;  // by base
  std::deque<Allocation*> freed_;  // with their bytes, which another thread may be about to access
  std::uint64_t next_ = device_heap_window, live_bytes_ = 0, freed_bytes_ = 0;
};

}  // namespace tenon::emulator
