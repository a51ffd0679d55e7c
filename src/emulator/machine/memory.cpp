#include "emulator/machine/memory.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace tenon::emulator {
namespace {

Component first_set(LaneMask lanes) {
  return static_cast<Component>(__builtin_ctz(lanes));
}

}  // namespace

Bytes zeroed_bytes(std::size_t size) {
  auto* bytes = static_cast<std::uint8_t*>(std::calloc(std::max<std::size_t>(size, 1), 1));
  if (bytes == nullptr) throw std::bad_alloc();
  return Bytes(bytes);
}

std::uint64_t GlobalMemory::allocate(std::uint64_t size, std::uint64_t alignment, bool is_constant) {
  constexpr std::uint64_t gap = 4096;  // so that an access past an end reaches no other allocation
  std::uint64_t& next = is_constant ? next_constant_ : next_;
  auto allocation = std::make_unique<Allocation>();
  allocation->base = (next + alignment - 1) / alignment * alignment;
  allocation->size = size;
  allocation->bytes = zeroed_bytes(size);
  allocation->written = zeroed_bytes(size);
  allocation->is_read_only = is_constant;
  next = allocation->base + size + gap;
  live_bytes_ += size;
  const std::uint64_t base = allocation->base;
  const auto above = std::find_if(allocations_.rbegin(), allocations_.rend(),
                                  [&](const auto& other) { return other->base < base; });
  allocations_.insert(above.base(), std::move(allocation));
  return base;
}

bool GlobalMemory::free(std::uint64_t address) {
  if (DeviceHeap::holds(address)) return false;
  Allocation* allocation = find(address);
  if (allocation == nullptr || allocation->base != address || allocation->is_freed) return false;
  allocation->is_freed = true;
  allocation->bytes.reset();
  allocation->written.reset();
  live_bytes_ -= allocation->size;
  return true;
}

const Allocation* GlobalMemory::find(std::uint64_t address, const Allocation* near) const {
  if (near != nullptr && address - near->base < near->size) return near;
  if (DeviceHeap::holds(address)) return heap.find(address);
  auto above = std::upper_bound(allocations_.begin(), allocations_.end(), address,
                                [](std::uint64_t value, const std::unique_ptr<Allocation>& allocation) {
                                  return value < allocation->base;
                                });
  if (above == allocations_.begin()) return nullptr;
  const Allocation* below = (above - 1)->get();
  return address - below->base < std::max<std::uint64_t>(below->size, 1) ? below : nullptr;
}

Allocation* GlobalMemory::find(std::uint64_t address) {
  return const_cast<Allocation*>(static_cast<const GlobalMemory*>(this)->find(address, nullptr));
}

SharedMemory::SharedMemory(std::uint32_t size, bool check)
    : size_(size), bytes_(zeroed_bytes(size)), written_(zeroed_bytes(size)) {
  std::memset(bytes_.get(), 0xFF, size);  // NaN: a multiprocessor's memory holds what the CTA before left
  if (check) shadow_ = zeroed_bytes((size / 4 + 1) * sizeof(Granule));
}

// Two accesses conflict if one of them writes, they are not both strong, and the later one's clock does not
// hold the earlier one. For the async proxy, a generic write must also have passed a proxy fence. Reads need
// none, which is how every pipeline refills its stages: only an mbarrier orders a generic read before the
// bulk copy that overwrites the bytes.
bool SharedMemory::is_conflict(const Clocks& clocks, const AccessRecord& now, const View& view,
                               const AccessRecord& earlier, LaneMask unknown, Conflict& conflict) {
  if (!(earlier.is_write || now.is_write) || (earlier.is_strong && now.is_strong)) return false;
  const bool is_proxy = unknown == 0 && now.is_async_proxy && !earlier.is_async_proxy && earlier.is_write &&
                        !clocks.fenced(view, earlier.component + first_set(earlier.lanes), earlier.epoch);
  if (unknown == 0 && !is_proxy) return false;
  conflict = {earlier, is_proxy, 0};
  if (unknown != 0 && clocks.is_thread(earlier.component))
    conflict.earlier.thread = earlier.component + first_set(unknown);
  return true;
}

// A record is dropped when the new access implies it: whatever is ordered after the new access is ordered
// after the old one too. So a granule keeps the last writes, the reads since then that are unordered among
// themselves, and of one agent (such as an mbarrier's copies, which a loop may issue without end) the last
// access per instruction: a clock that holds a component's epoch holds the epochs before it.
bool SharedMemory::record_granule(const Clocks& clocks, const AccessRecord& now, const View& view,
                                  Granule& granule, Conflict& conflict) {
  bool is_fine = true, is_merged = false;
  const auto look_at = [&](AccessRecord& earlier) {
    if ((earlier.mask & now.mask) == 0) return;
    const bool is_covered = (earlier.mask & ~now.mask) == 0;
    const bool is_repeated = earlier.component == now.component && earlier.pc == now.pc &&
                             earlier.epoch <= now.epoch && earlier.is_write == now.is_write &&
                             earlier.is_strong == now.is_strong &&
                             earlier.is_async_proxy == now.is_async_proxy && !clocks.is_thread(now.component);
    if (!now.is_write && !earlier.is_write) {
      // The most frequent case by far: reads do not conflict, so other threads' clocks are not needed.
      if (earlier.component != now.component) return;
      if (earlier.epoch == now.epoch && earlier.pc == now.pc && earlier.mask == now.mask &&
          earlier.is_strong == now.is_strong && earlier.is_async_proxy == now.is_async_proxy) {
        earlier.lanes |= now.lanes;
        is_merged = true;
      } else if (is_covered && clocks.is_thread(now.component)) {
        earlier.lanes &= ~now.lanes;
        if (earlier.lanes == 0) earlier.mask = 0;
      } else if (is_covered && is_repeated) {
        earlier.mask = 0;
      }
      return;
    }
    const LaneMask unknown = clocks.unknown(view, earlier.component, earlier.lanes, earlier.epoch);
    if (is_fine && is_conflict(clocks, now, view, earlier, unknown, conflict)) is_fine = false;
    if (is_covered && now.is_write && (unknown == 0 || is_repeated)) earlier.mask = 0;
  };
  look_at(granule.here[0]);
  look_at(granule.here[1]);
  if (granule.more != 0)
    for (AccessRecord& earlier : lists_[granule.more - 1]) look_at(earlier);
  if (!is_merged) add(clocks, now, view, granule);
  return is_fine;
}

void SharedMemory::add(const Clocks& clocks, const AccessRecord& now, const View& view, Granule& granule) {
  for (AccessRecord& record : granule.here)
    if (record.mask == 0) {
      record = now;
      return;
    }
  if (granule.more == 0) {
    lists_.emplace_back().reserve(8);
    granule.more = static_cast<std::uint32_t>(lists_.size());
  }
  std::vector<AccessRecord>& list = lists_[granule.more - 1];
  if (list.size() == list.capacity()) {  // before it grows, make room
    const auto is_old = [&](const AccessRecord& earlier) {
      if (earlier.mask == 0) return true;
      return !now.is_write && !earlier.is_write && (earlier.mask & ~now.mask) == 0 &&
             clocks.unknown(view, earlier.component, earlier.lanes, earlier.epoch) == 0;
    };
    list.erase(std::remove_if(list.begin(), list.end(), is_old), list.end());
  }
  list.push_back(now);
}

bool SharedMemory::record(const Clocks& clocks, const Actor& actor, std::uint32_t offset, std::uint32_t size,
                          bool write, bool strong, Conflict& conflict) {
  auto* granules = reinterpret_cast<Granule*>(shadow_.get());
  AccessRecord now{actor.component,   1,    actor.epoch, actor.issue.pc, actor.issue.thread, 0, strong,
                   actor.async_proxy, write};
  if (clocks.is_thread(actor.component)) {
    now.component = actor.component / 32 * 32;
    now.lanes = LaneMask{1} << actor.component % 32;
  }
  bool is_fine = true;
  const std::uint32_t end = offset + size;
  for (std::uint32_t at = offset; at < end;) {
    const std::uint32_t first = at % 4, last = std::min(4u, first + (end - at));  // bytes of this granule
    now.mask = static_cast<std::uint8_t>(((1u << last) - 1) & ~((1u << first) - 1));
    Conflict here;
    if (!record_granule(clocks, now, *actor.view, granules[at / 4], here) && is_fine) {
      is_fine = false;
      conflict = here;
      conflict.offset = at;
    }
    at += last - first;
  }
  return is_fine;
}

std::vector<SharedMemory::Conflict> SharedMemory::recorded() const {
  std::vector<Conflict> all;
  const auto* granules = reinterpret_cast<const Granule*>(shadow_.get());
  const auto add = [&](const AccessRecord& record, std::uint32_t offset) {
    if (record.mask == 0) return;
    const auto is_same = [&](const Conflict& other) {
      return other.earlier.component == record.component && other.earlier.epoch == record.epoch &&
             other.earlier.pc == record.pc;
    };
    // Neighbours usually have the same access.
    const std::size_t back = std::min<std::size_t>(all.size(), 4);
    if (std::none_of(all.end() - static_cast<std::ptrdiff_t>(back), all.end(), is_same))
      all.push_back({record, false, offset});
  };
  for (std::uint32_t at = 0; granules != nullptr && at < size_; at += 4) {
    const Granule& granule = granules[at / 4];
    for (const AccessRecord& record : granule.here) add(record, at);
    if (granule.more != 0)
      for (const AccessRecord& record : lists_[granule.more - 1]) add(record, at);
  }
  return all;
}

}  // namespace tenon::emulator
