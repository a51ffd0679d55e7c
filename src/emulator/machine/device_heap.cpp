#include "emulator/machine/device_heap.hpp"

#include <algorithm>
#include <new>

namespace tenon::emulator {
namespace {

constexpr std::uint64_t granularity = 16;
constexpr std::uint64_t gap = 4096;                // so that an access past an end reaches no other block
constexpr std::uint64_t most_freed = 16ULL << 20;  // bytes that are kept after they were freed

std::uint64_t footprint(std::uint64_t size) {
  return (std::max<std::uint64_t>(size, 1) + granularity - 1) / granularity * granularity;
}

}  // namespace

std::uint64_t DeviceHeap::allocate(std::uint64_t size, std::uint64_t limit) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (size > limit || footprint(size) + live_bytes_ > limit) return 0;
  auto block = std::make_unique<Allocation>();
  block->base = next_;
  block->size = size;
  try {
    block->bytes = zeroed_bytes(size);
    block->written = zeroed_bytes(size);
  } catch (const std::bad_alloc&) {
    return 0;
  }
  next_ += (size + gap + granularity) / granularity * granularity;
  live_bytes_ += footprint(size);
  const std::uint64_t base = block->base;
  blocks_.emplace(base, std::move(block));
  return base;
}

DeviceHeap::Release DeviceHeap::free(std::uint64_t address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return Release::foreign;
  Allocation& block = *found->second;
  if (block.is_freed) return Release::again;
  block.is_freed = true;
  live_bytes_ -= footprint(block.size);
  freed_bytes_ += block.size;
  freed_.push_back(&block);
  while (freed_bytes_ > most_freed) {
    freed_bytes_ -= freed_.front()->size;
    freed_.front()->bytes.reset();
    freed_.front()->written.reset();
    freed_.pop_front();
  }
  return Release::done;
}

const Allocation* DeviceHeap::find(std::uint64_t address) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto above = blocks_.upper_bound(address);
  if (above == blocks_.begin()) return nullptr;
  const Allocation* below = std::prev(above)->second.get();
  return address - below->base < std::max<std::uint64_t>(below->size, 1) ? below : nullptr;
}

}  // namespace tenon::emulator
