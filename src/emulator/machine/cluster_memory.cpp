// Checked access to memory: resolves an address in its space, reports what is wrong with the access, moves
// the bytes.
#include <algorithm>

#include "emulator/machine/text.hpp"
#include "emulator/machine/warp.hpp"

namespace tenon::emulator {
namespace {

std::string bytes_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

const char* space_name(ptx::Space space) {
  switch (space) {
    case ptx::Space::shared:
      return "shared";
    case ptx::Space::local:
      return "local";
    case ptx::Space::param:
      return "parameter";
    case ptx::Space::constant:
      return "constant";
    case ptx::Space::global:
      return "global";
    case ptx::Space::generic:
      break;
  }
  return "generic";
}

// Of an address in the param or the const space, which is generic already; but code may hold its low 32 bits
// alone (mov.b32, LLVM's short pointers), which count from the window on.
std::uint64_t from_short(std::uint64_t window, std::uint64_t address) {
  return address < window_size ? window + address : address;
}

}  // namespace

ptx::Space Cluster::space_of(std::uint64_t address) {
  if (is_in_window(address, shared_window)) return ptx::Space::shared;
  if (is_in_window(address, local_window)) return ptx::Space::local;
  if (is_in_window(address, param_window)) return ptx::Space::param;
  if (address >= heap_window) return ptx::Space::global;
  if (address >= constant_window) return ptx::Space::constant;
  return ptx::Space::generic;
}

std::uint64_t Cluster::to_generic(ptx::Space space, std::uint64_t address) {
  if (space == ptx::Space::param) return from_short(param_window, address);
  if (space == ptx::Space::constant) return from_short(constant_window, address);
  if (space == ptx::Space::shared) return shared_window + static_cast<std::uint32_t>(address);
  if (space == ptx::Space::local && !is_in_window(address, local_window)) return local_window + address;
  return address;
}

std::uint64_t Cluster::from_generic(ptx::Space space, std::uint64_t address) {
  if (space == ptx::Space::shared) return address - shared_window;
  if (space == ptx::Space::local) return address - local_window;
  return address;
}

bool Cluster::locate(const Actor& actor, ptx::Space space, std::uint64_t address, std::uint32_t size,
                     std::uint32_t alignment, Use use, Order order, Location& at) {
  if ((address & (alignment - 1)) != 0) {
    report(FindingKind::misaligned, actor.issue, address, [&] {
      return "the " + std::string(space_name(space)) + " address " + hex(address) + " of " +
             bytes_text(size) + " is not a multiple of " + std::to_string(alignment);
    });
    return false;
  }
  if (space == ptx::Space::generic) {
    space = space_of(address);
    address = from_generic(space, address);
    if (space == ptx::Space::generic) space = ptx::Space::global;  // in no window: reported there
  }
  bool is_found = false;
  switch (space) {
    case ptx::Space::shared:
      is_found = locate_shared(actor, address, size, use, order, at);
      break;
    case ptx::Space::local:
      is_found = locate_local(actor, address, size, at);
      break;
    case ptx::Space::param:
      if (is_in_window(address, local_window)) {  // of a device function: kept in its local memory
        is_found = locate_local(actor, address, size, at);
        break;
      }
      [[fallthrough]];
    case ptx::Space::constant:
      address = to_generic(space, address);
      is_found = locate_global(actor, address, size, use, at);
      break;
    case ptx::Space::generic:
    case ptx::Space::global:
      is_found = locate_global(actor, address, size, use, at);
      break;
  }
  at.space = space;
  at.address = address;
  return is_found;
}

void Cluster::note_written(const Actor& actor, const Location& at, std::uint32_t size, Use use) {
  if (at.written == nullptr) return;  // parameters
  if (use != Use::store && findings.enabled()) {
    const auto* unwritten = static_cast<const std::uint8_t*>(std::memchr(at.written, 0, size));
    if (unwritten != nullptr && !(at.is_local && launch.program->steps[actor.issue.pc].only_copies)) {
      const std::uint64_t address = at.address + static_cast<std::uint64_t>(unwritten - at.written);
      report(FindingKind::uninitialized, actor.issue, address, [&] {
        return "no thread has written the " + std::string(space_name(at.space)) + " byte at " + hex(address) +
               ", one of " + bytes_text(size) + " read at " + hex(at.address);
      });
      if (at.space == ptx::Space::shared)
        for (std::uint64_t word = at.address / 4; word <= (at.address + size - 1) / 4; ++word)
          read_unwritten_[word].insert(actor.issue.pc);
    }
  }
  if (use != Use::load) std::memset(at.written, 1, size);
}

// Lanes of one store that write the same value to the same address: compilers let a whole warp store what one
// lane could.
bool Cluster::is_repetition(const Actor& actor, const AccessRecord& earlier, const Location& at,
                            std::uint32_t size) const {
  return at.from != nullptr && std::memcmp(at.bytes, at.from, size) == 0 && earlier.pc == actor.issue.pc &&
         clocks.is_thread(actor.component) && clocks.is_thread(earlier.component) &&
         &warp_of(earlier.thread) == &warp_of(actor.issue.thread);
}

bool Cluster::locate_shared(const Actor& actor, std::uint64_t address, std::uint32_t size, Use use,
                            Order order, Location& at) {
  const std::uint32_t rank = shared_rank(address), offset = shared_offset(address);
  const std::uint32_t first = launch.program->maps_reserved ? shared_null : shared_reserved;
  if (address >= window_size || rank >= ctas.size() || offset < first ||
      std::uint64_t{offset} + size > ctas[rank]->shared.size()) {
    const bool is_null = address == 0;
    report(is_null ? FindingKind::null_pointer : FindingKind::out_of_bounds, actor.issue, address, [&] {
      if (address >= window_size || rank >= ctas.size())
        return hex(address) + " is not an address of shared memory in a cluster of " +
               std::to_string(ctas.size()) + (ctas.size() == 1 ? " block" : " blocks");
      return bytes_text(size) + " at shared address " + hex(address) + " are not within [" +
             hex(shared_address(rank, shared_reserved)) + ", " +
             hex(shared_address(rank, ctas[rank]->shared.size())) + "), the block's " +
             bytes_text(ctas[rank]->shared.size() - shared_reserved) + " of shared memory";
    });
    return false;
  }
  Cta& cta = *ctas[rank];
  at.bytes = cta.shared.bytes(offset);
  at.written = cta.shared.written(offset);
  at.key = shared_window + address;
  if (clocks.enabled()) {
    SharedMemory::Conflict conflict;
    if (!cta.shared.record(clocks, actor, offset, size, use != Use::load, is_strong(order), conflict) &&
        !is_repetition(actor, conflict.earlier, at, size))
      report_conflict(actor, cta, conflict, use != Use::load);
    if (&cta != &cta_of(actor.issue.thread)) check_started(actor, cta, offset, use != Use::load);
    cta.has_remote_accesses |= actor.async_proxy || &cta != &cta_of(actor.issue.thread);
  }
  if (cta.live_threads == 0 && (actor.async_proxy || &cta != &cta_of(actor.issue.thread)))
    report_outlived(actor.issue, cta, offset, use != Use::load);
  return true;
}

bool Cluster::locate_local(const Actor& actor, std::uint64_t address, std::uint32_t size, Location& at) {
  if (is_in_window(address, local_window)) address -= local_window;
  Warp& warp = warp_of(actor.issue.thread);
  LocalMemory& local = warp.local_[(actor.issue.thread - warp.first_thread_) % warp_size];
  if (address >= local.bytes.size() || local.bytes.size() - address < size) {
    report(FindingKind::out_of_bounds, actor.issue, address, [&] {
      return bytes_text(size) + " at local address " + hex(address) + " are not within the thread's " +
             bytes_text(local.bytes.size()) + " of local memory";
    });
    return false;
  }
  at.bytes = local.bytes.data() + address;
  at.written = local.written.data() + address;
  at.is_local = true;
  return true;
}

bool Cluster::locate_global(const Actor& actor, std::uint64_t address, std::uint32_t size, Use use,
                            Location& at) {
  if (is_in_window(address, param_window)) {
    const std::uint64_t offset = address - param_window;
    const std::uint64_t mapped = launch.parameters.size();
    if (offset < mapped && mapped - offset >= size) {
      if (use == Use::load) {
        // Clusters only read it: the cast serves a Location of writable memory.
        at.bytes = const_cast<std::uint8_t*>(launch.parameters.data() + offset);
        return true;
      }
      report(FindingKind::read_only, actor.issue, address,
             [&] { return "a write to the kernel's parameters at " + hex(address); });
      return false;
    }
    report(FindingKind::out_of_bounds, actor.issue, address, [&] {
      return bytes_text(size) + " at offset " + std::to_string(offset) + " are not within the kernel's " +
             bytes_text(mapped) + " of parameters";
    });
    return false;
  }
  const Allocation* allocation = launch.global->find(address, near_);
  if (allocation != nullptr && !allocation->is_freed &&
      allocation->size - (address - allocation->base) >= size &&
      !(allocation->is_read_only && use != Use::load)) {
    near_ = allocation;
    const std::uint64_t offset = address - allocation->base;
    at.bytes = allocation->bytes.get() + offset;
    if (allocation->written) at.written = allocation->written.get() + offset;
    at.is_global = true;
    at.key = address;
    return true;
  }
  FindingKind kind = FindingKind::out_of_bounds;
  if (address < 65536)
    kind = FindingKind::null_pointer;
  else if (allocation != nullptr && allocation->is_freed)
    kind = FindingKind::freed;
  else if (allocation != nullptr && allocation->size - (address - allocation->base) >= size)
    kind = FindingKind::read_only;
  report(kind, actor.issue, address, [&] {
    const std::string access = bytes_text(size) + " at " + hex(address);
    if (kind == FindingKind::null_pointer) return access + ": a null pointer";
    if (kind == FindingKind::freed) return access + " are in an allocation that was freed";
    if (kind == FindingKind::read_only) return access + ": a write to constant memory";
    const ptx::Space space = space_of(address);
    if (space == ptx::Space::shared || space == ptx::Space::local)
      return access + ": a generic address of " + space_name(space) +
             " memory, where one of global memory is " + "needed";
    const Allocation* below = allocation;
    for (std::uint64_t back = 1; below == nullptr && back <= 4096; back *= 2)
      below = launch.global->find(address - back);
    if (below == nullptr) return access + " are in no allocation";
    return access + " are not within the allocation [" + hex(below->base) + ", " +
           hex(below->base + below->size) + ") of " + bytes_text(below->size);
  });
  return false;
}

std::unique_lock<std::mutex> Cluster::lock_if_global(const Location& at) {
  if (!at.is_global || launch.threads == 1) return {};
  return std::unique_lock<std::mutex>(launch.global->lock_of(at.key));
}

void Cluster::synchronize(const Actor& actor, const Location& at, Use use, Order order) {
  if (!clocks.enabled() || !clocks.is_thread(actor.component) || at.key == 0) return;
  const ThreadId thread = actor.issue.thread;
  const bool acquires = order == Order::acquire || order == Order::acquire_release;
  const bool releases = order == Order::release || order == Order::acquire_release;
  const auto flag = flags_.find(at.key);
  if (use != Use::store && flag != flags_.end()) {
    if (acquires)
      clocks.acquire(thread, flag->second);
    else
      clocks.observe(thread, flag->second);
  }
  if (use == Use::load) return;
  const SyncClock& fenced = clocks.at_last_fence(thread);
  if (flag == flags_.end() && !releases && !fenced.seen) return;  // releases nothing
  SyncClock& clock = flag == flags_.end() ? flags_[at.key] : flag->second;
  if (use == Use::store) clock = {};  // a read-modify-write continues the release before it, a store ends it
  Clocks::join(clock, fenced);
  if (releases) clocks.release(thread, clock);
}

bool Cluster::load(const Actor& actor, ptx::Space space, std::uint64_t address, void* to, std::uint32_t size,
                   Order order, std::uint32_t alignment, bool may_be_unwritten) {
  if (size == 0) return true;  // a bulk copy of no bytes needs no destination
  Location at;
  if (!locate(actor, space, address, size, alignment == 0 ? size : alignment, Use::load, order, at)) {
    std::memset(to, 0, size);
    return false;
  }
  if (!is_strong(order)) {
    if (!may_be_unwritten) note_written(actor, at, size, Use::load);
    std::memcpy(to, at.bytes, size);
    return true;
  }
  {
    const std::unique_lock<std::mutex> lock = lock_if_global(at);
    note_written(actor, at, size, Use::load);
    std::memcpy(to, at.bytes, size);
  }
  synchronize(actor, at, Use::load, order);
  return true;
}

bool Cluster::store(const Actor& actor, ptx::Space space, std::uint64_t address, const void* from,
                    std::uint32_t size, Order order, std::uint32_t alignment) {
  if (size == 0) return true;
  Location at;
  at.from = from;
  if (!locate(actor, space, address, size, alignment == 0 ? size : alignment, Use::store, order, at))
    return false;
  const auto put = [&] {
    note_written(actor, at, size, Use::store);
    if (std::memcmp(at.bytes, from, size) == 0) return;  // no thread can be waiting for that
    std::memcpy(at.bytes, from, size);
    if (!at.is_local) changed();
  };
  if (!is_strong(order)) {
    put();
    return true;
  }
  {
    const std::unique_lock<std::mutex> lock = lock_if_global(at);
    put();
  }
  synchronize(actor, at, Use::store, order);
  return true;
}

std::uint8_t* Cluster::raw(ThreadId thread, ptx::Space space, std::uint64_t address, std::uint32_t size) {
  if (space == ptx::Space::generic) {
    space = space_of(address);
    address = from_generic(space, address);
  }
  if (space == ptx::Space::shared) {
    const std::uint32_t rank = shared_rank(address), offset = shared_offset(address);
    if (address >= window_size || rank >= ctas.size() ||
        std::uint64_t{offset} + size > ctas[rank]->shared.size())
      return nullptr;
    return ctas[rank]->shared.bytes(offset);
  }
  if (space == ptx::Space::local || is_in_window(address, local_window)) {
    Warp& warp = warp_of(thread);
    LocalMemory& local = warp.local_[(thread - warp.first_thread_) % warp_size];
    if (is_in_window(address, local_window)) address -= local_window;
    if (address >= local.bytes.size() || local.bytes.size() - address < size) return nullptr;
    return local.bytes.data() + address;
  }
  const Allocation* allocation = launch.global->find(address, near_);
  if (allocation == nullptr || allocation->is_freed || allocation->size - (address - allocation->base) < size)
    return nullptr;
  return allocation->bytes.get() + (address - allocation->base);
}

}  // namespace tenon::emulator
