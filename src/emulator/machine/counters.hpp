// Counts memory traffic: shared-memory wavefronts by the rules of the banks, and global sectors, each beside
// the smallest number that could move the same bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/machine/op.hpp"
#include "emulator/machine/program.hpp"
#include "tenon/emulator/types.hpp"

namespace tenon::emulator {

struct Traffic {
  std::uint32_t actual = 0, ideal = 0;
};

// ld.shared and st.shared: 32 banks of 4 bytes; a wavefront serves each bank once. Accesses of up to 4 bytes
// are served for 32 lanes at a time, 8 bytes for half warps, 16 bytes for quarter warps. Lanes that access
// the same word share it. Loads of 8 and 16 bytes are served for twice as many lanes at a time if all lanes i
// and i ^ 1, or all lanes i and i ^ 2, access the same address (or one of the two is inactive). 32-byte
// accesses (v8.b32, v4.b64) are two of 16 bytes. `addresses` has 32 entries; `bytes` is per lane. An H200
// counts so: tests/emulator/bank_patterns.
enum class Direction : std::uint8_t { load, store };
Traffic shared_wavefronts(const std::uint64_t* addresses, LaneMask active, int bytes, Direction direction);

// One matrix of ldmatrix or stmatrix: 8 rows of 16 bytes at `rows`, ideally one wavefront.
Traffic matrix_wavefronts(const std::uint64_t* rows);

// Sectors of 32 bytes that the lanes access. ideal: the number that their distinct bytes would fill.
Traffic global_sectors(const std::uint64_t* addresses, LaneMask active, int bytes);

// The counts of one cluster or one host thread, by program counter.
class PcCounters {
 public:
  explicit PcCounters(std::size_t pcs) : counts_(pcs) {}
  Counts& at(Pc pc) { return counts_[pc]; }
  const Counts& at(Pc pc) const { return counts_[pc]; }
  std::size_t size() const { return counts_.size(); }

  void count_shared(Pc pc, Traffic traffic) {
    counts_[pc].shared_wavefronts += traffic.actual;
    counts_[pc].ideal_shared_wavefronts += traffic.ideal;
  }
  void count_global(Pc pc, Traffic traffic) {
    counts_[pc].global_sectors += traffic.actual;
    counts_[pc].ideal_global_sectors += traffic.ideal;
  }
  void count_matrix(Pc pc, std::uint64_t flop) {
    ++counts_[pc].matrix_operations;
    counts_[pc].flop += flop;
  }
  void count_async(Pc pc, std::uint64_t bytes) { counts_[pc].async_bytes += bytes; }
  PcCounters& operator+=(const PcCounters& other);

 private:
  std::vector<Counts> counts_;
};

Counters summarize(const Program& program, const PcCounters& counters);

}  // namespace tenon::emulator
