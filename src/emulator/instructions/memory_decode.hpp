// What ld, st, atom and red share: the modifiers for space, memory order and caching.
#pragma once

#include "emulator/instructions/lanewise.hpp"
#include "emulator/machine/memory.hpp"

namespace tenon::emulator {

// .global, .shared{::cta,::cluster}, .local, .param{::entry,::func}, .const; none: generic. only_own: .shared
// and .shared::cta, which are the executing CTA's.
inline ptx::Space accept_space(Decoding& decoding, bool* only_own = nullptr) {
  const int which = decoding.accept_one({"global", "shared", "shared::cta", "shared::cluster", "local",
                                         "param", "param::entry", "param::func", "const"});
  if (only_own != nullptr) *only_own = which == 1 || which == 2;
  switch (which) {
    case 0:
      return ptx::Space::global;
    case 1:
    case 2:
    case 3:
      return ptx::Space::shared;
    case 4:
      return ptx::Space::local;
    case 5:
    case 6:
    case 7:
      return ptx::Space::param;
    case 8:
      return ptx::Space::constant;
    default:
      return ptx::Space::generic;
  }
}

// Eviction priorities, prefetch sizes and cache operators have no effect on results. True: .L2::cache_hint is
// present, whose operand is the last one.
inline bool accept_cache_modifiers(Decoding& decoding) {
  decoding.accept_one({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  decoding.accept_one(
      {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"});
  decoding.accept_one({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  decoding.accept_one({"L2::64B", "L2::128B", "L2::256B"});
  return decoding.accept("L2::cache_hint");
}

inline bool accept_scope(Decoding& decoding) {
  return decoding.accept_one({"cta", "cluster", "gpu", "sys"}) >= 0;
}

inline int bytes_of(ptx::Type type) {
  return width(type) / 8;
}

// The space of an operation with this address; for a generic address, the space that holds it.
inline ptx::Space space_at(ptx::Space space, std::uint64_t address) {
  return space == ptx::Space::generic ? Cluster::space_of(address) : space;
}

// Counts the lanes' accesses to shared or global memory.
inline void count_traffic(Warp& warp, ptx::Space space, const std::uint64_t* addresses, LaneMask active,
                          int bytes, Direction direction) {
  space = space_at(space, addresses[first_lane(active)]);
  if (space == ptx::Space::shared)
    warp.counters().count_shared(warp.pc(), shared_wavefronts(addresses, active, bytes, direction));
  else if (space == ptx::Space::global)
    warp.counters().count_global(warp.pc(), global_sectors(addresses, active, bytes));
}

}  // namespace tenon::emulator
