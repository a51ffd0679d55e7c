// Memory: the windows of the generic address space, allocations with bounds, flags of written bytes, and for
// shared memory the record of accesses that races are found with (the shadow).
//
// Addresses. A generic address has 64 bits. An address in the shared space has 32 bits: the CTA's rank in its
// cluster in bits 24..31, the offset in that CTA's shared memory below. So an address of the CTA's own memory
// is also its shared::cluster address. The first kilobyte is reserved for the system, as on the hardware: it
// is mapped for kernels that ask where it is (cooperative groups keep barriers there), and 0 is not an
// address. A generic shared address is shared_window + that. A local address is an offset in the thread's
// stack; its generic form is local_window + offset. Addresses of global, const and param variables are
// generic already; of const and param ones the low 32 bits alone are addresses of their spaces too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/machine/clocks.hpp"
#include "emulator/machine/device_heap.hpp"
#include "emulator/ptx/module.hpp"

namespace tenon::emulator {

constexpr std::uint64_t shared_window = 0x6000'0000'0000;
constexpr std::uint64_t local_window = 0x6100'0000'0000;
constexpr std::uint64_t param_window = 0x6200'0000'0000;
constexpr std::uint64_t code_window = 0x6300'0000'0000;
constexpr std::uint64_t constant_window = 0x6800'0000'0000;
constexpr std::uint64_t heap_window = 0x7000'0000'0000;
constexpr std::uint64_t window_size = std::uint64_t{1} << 32;  // of shared, local, param and code
constexpr int shared_rank_shift = 24;
constexpr std::uint32_t shared_reserved = 1024;  // bytes at the start of every CTA's shared memory
constexpr std::uint32_t shared_null = 64;        // of these, never mapped: what a null pointer may be

constexpr bool is_in_window(std::uint64_t address, std::uint64_t window) {
  return address - window < window_size;
}
constexpr std::uint32_t shared_rank(std::uint64_t shared_address) {
  return static_cast<std::uint32_t>(shared_address) >> shared_rank_shift;
}
constexpr std::uint32_t shared_offset(std::uint64_t shared_address) {
  return static_cast<std::uint32_t>(shared_address) & ((1u << shared_rank_shift) - 1);
}
constexpr std::uint64_t shared_address(std::uint32_t rank, std::uint32_t offset) {
  return (std::uint64_t{rank} << shared_rank_shift) | offset;
}

// An access's part in the memory model. Weak accesses race; the others are strong. volatile_ is relaxed at
// system scope. Scopes are not distinguished: every scope includes the cluster.
enum class Order : std::uint8_t { weak, volatile_, relaxed, acquire, release, acquire_release };
constexpr bool is_strong(Order order) {
  return order != Order::weak;
}

// The actor of an access: a thread now (Warp::actor), or an agent for it (Agent: actor_of).
struct Actor {
  Issue issue;
  const View* view = nullptr;
  Component component = 0;
  Epoch epoch = 0;
  bool async_proxy = false;
};
inline Actor actor_of(const Agent& agent) {
  return {agent.issue, &agent.view, agent.component, agent.epoch, agent.async_proxy};
}

// Global memory. The host allocates and frees between launches; a launch only looks addresses up, apart from
// the heap of its kernels.
class GlobalMemory {
 public:
  DeviceHeap heap;

  // Contents: zeros that count as unwritten. Constants get addresses apart from the heap.
  std::uint64_t allocate(std::uint64_t size, std::uint64_t alignment = 256, bool is_constant = false);
  bool free(std::uint64_t address);  // false: not an allocation's start
  // The allocation that holds the address, freed ones included; null: none. `near` may be the last answer.
  const Allocation* find(std::uint64_t address, const Allocation* near = nullptr) const;
  Allocation* find(std::uint64_t address);
  std::uint64_t live_bytes() const { return live_bytes_; }
  // Serialises strong accesses of several host threads to the same bytes (an access never crosses 32 bytes).
  std::mutex& lock_of(std::uint64_t address) { return locks_[(address >> 5) % lock_count]; }

 private:
  static constexpr std::size_t lock_count = 64;
  std::vector<std::unique_ptr<Allocation>> allocations_;  // by base
  std::uint64_t next_ = heap_window, next_constant_ = constant_window, live_bytes_ = 0;
  std::mutex locks_[lock_count];
};

// The race check's record of accesses to (a part of) 4 bytes of shared memory: by an agent, or by those of 32
// neighbouring threads (component + lane) that made the same read at the same epoch.
struct AccessRecord {
  Component component;  // of the first of the 32 threads; of the agent
  LaneMask lanes;       // an agent's: 1
  Epoch epoch;
  Pc pc;
  ThreadId thread;    // of the last access
  std::uint8_t mask;  // of the granule's bytes; 0: no record
  bool is_strong, is_async_proxy, is_write;
};

// The shared memory of a CTA. Offsets count from the CTA's shared memory, reserved kilobyte included.
class SharedMemory {
 public:
  SharedMemory(std::uint32_t size, bool check);
  std::uint32_t size() const { return size_; }  // end of the mapped offsets
  std::uint8_t* bytes(std::uint32_t offset) { return bytes_.get() + offset; }
  std::uint8_t* written(std::uint32_t offset) { return written_.get() + offset; }

  struct Conflict {
    AccessRecord earlier{};
    bool is_proxy = false;  // ordered for threads, but not for the async proxy
    std::uint32_t offset = 0;
  };
  // Records an access. False, with `conflict`, if an earlier access is not ordered before it.
  bool record(const Clocks& clocks, const Actor& actor, std::uint32_t offset, std::uint32_t size, bool write,
              bool strong, Conflict& conflict);
  // The records, one per component, epoch and program counter, each as a Conflict with its offset.
  std::vector<Conflict> recorded() const;

 private:
  // 4 bytes. Most granules need no more than the two records inside.
  struct Granule {
    AccessRecord here[2];
    std::uint32_t more;  // 0: none; else lists_[more - 1]
  };
  static bool is_conflict(const Clocks& clocks, const AccessRecord& now, const View& view,
                          const AccessRecord& earlier, LaneMask unknown, Conflict& conflict);
  void add(const Clocks& clocks, const AccessRecord& now, const View& view, Granule& granule);
  bool record_granule(const Clocks& clocks, const AccessRecord& now, const View& view, Granule& granule,
                      Conflict& conflict);

  std::uint32_t size_;
  Bytes bytes_, written_, shadow_;  // shadow: Granules, zeros are unused records
  std::vector<std::vector<AccessRecord>> lists_;
};

// The local memory of a thread: a stack of frames.
struct LocalMemory {
  std::vector<std::uint8_t> bytes, written;
};

}  // namespace tenon::emulator
