#include "emulator/machine/counters.hpp"

#include <algorithm>

namespace tenon::emulator {
namespace {

constexpr int banks = 32;

// The distinct words of one pass over the banks: their number, and the number in the fullest bank.
class Pass {
 public:
  void add(std::uint64_t word) {
    const int bank = static_cast<int>(word % banks);
    const int here = in_bank_[bank];
    for (int i = 0; i < here; ++i)
      if (words_[bank][i] == word) return;
    words_[bank][here] = word;
    ++in_bank_[bank];
    fullest_ = std::max(fullest_, here + 1);
    ++distinct_;
  }
  Traffic traffic() const {
    return {static_cast<std::uint32_t>(fullest_),
            static_cast<std::uint32_t>((distinct_ + banks - 1) / banks)};
  }

 private:
  std::uint64_t words_[banks][banks];  // no pass asks for more than 32 words
  int in_bank_[banks] = {};
  int fullest_ = 0, distinct_ = 0;
};

// Whether lanes `distance` apart access the same address wherever both are active.
bool partners_share(const std::uint64_t* addresses, LaneMask active, int distance) {
  for (int lane = 0; lane < warp_size; ++lane) {
    const int partner = lane ^ distance;
    const bool both = (active >> lane & active >> partner & 1) != 0;
    if (both && addresses[lane] != addresses[partner]) return false;
  }
  return true;
}

}  // namespace

Traffic shared_wavefronts(const std::uint64_t* addresses, LaneMask active, int bytes, Direction direction) {
  Traffic sum;
  if (bytes > 16) {
    std::uint64_t upper[warp_size];
    for (int lane = 0; lane < warp_size; ++lane) upper[lane] = addresses[lane] + 16;
    const Traffic first = shared_wavefronts(addresses, active, 16, Direction::store);
    const Traffic second = shared_wavefronts(upper, active, 16, Direction::store);
    return {first.actual + second.actual, first.ideal + second.ideal};
  }
  const int words = std::max(1, bytes / 4);
  const bool merges = direction == Direction::load && words > 1 &&
                      (partners_share(addresses, active, 1) || partners_share(addresses, active, 2));
  const int lanes_a_pass = warp_size / words * (merges ? 2 : 1);
  for (int start = 0; start < warp_size; start += lanes_a_pass) {
    Pass pass;
    for (int lane = start; lane < start + lanes_a_pass; ++lane) {
      if ((active >> lane & 1) == 0) continue;
      const std::uint64_t word = addresses[lane] / 4;
      for (int i = 0; i < words; ++i) pass.add(word + static_cast<std::uint64_t>(i));
    }
    sum.actual += pass.traffic().actual;
    sum.ideal += pass.traffic().ideal;
  }
  return sum;
}

Traffic matrix_wavefronts(const std::uint64_t* rows) {
  Pass pass;
  for (int row = 0; row < 8; ++row)
    for (std::uint64_t i = 0; i < 4; ++i) pass.add(rows[row] / 4 + i);
  return pass.traffic();
}

Traffic global_sectors(const std::uint64_t* addresses, LaneMask active, int bytes) {
  std::uint64_t starts[warp_size];
  int count = 0;
  bool sorted = true;
  for (int lane = 0; lane < warp_size; ++lane) {
    if ((active >> lane & 1) == 0) continue;
    if (count > 0 && addresses[lane] < starts[count - 1]) sorted = false;
    starts[count++] = addresses[lane];
  }
  if (!sorted) std::sort(starts, starts + count);
  std::uint64_t end = 0, distinct_bytes = 0;  // of the accesses so far
  std::uint64_t next_sector = 0;              // lower ones are counted already
  std::uint32_t sectors = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t start = starts[i], stop = start + static_cast<std::uint64_t>(bytes);
    if (stop > end) distinct_bytes += stop - std::max(start, end);
    end = std::max(end, stop);
    const std::uint64_t first = std::max(start / 32, next_sector), last = (stop - 1) / 32;
    if (last >= first) {
      sectors += static_cast<std::uint32_t>(last - first + 1);
      next_sector = last + 1;
    }
  }
  return {sectors, static_cast<std::uint32_t>((distinct_bytes + 31) / 32)};
}

Counts& Counts::operator+=(const Counts& other) {
  instructions += other.instructions;
  thread_instructions += other.thread_instructions;
  matrix_operations += other.matrix_operations;
  flop += other.flop;
  shared_wavefronts += other.shared_wavefronts;
  ideal_shared_wavefronts += other.ideal_shared_wavefronts;
  global_sectors += other.global_sectors;
  ideal_global_sectors += other.ideal_global_sectors;
  async_bytes += other.async_bytes;
  return *this;
}

PcCounters& PcCounters::operator+=(const PcCounters& other) {
  for (std::size_t pc = 0; pc < counts_.size(); ++pc) counts_[pc] += other.counts_[pc];
  return *this;
}

Counters summarize(const Program& program, const PcCounters& counters) {
  Counters summary;
  for (Pc pc = 0; pc < counters.size(); ++pc) {
    const Counts& counts = counters.at(pc);
    if (counts.instructions == 0) continue;
    const Step& step = program.steps[pc];
    summary.total += counts;
    summary.by_class[static_cast<int>(step.kind)] += counts;
    summary.lines.push_back({program.line(pc), step.text, program.source(pc), step.kind, counts});
  }
  std::stable_sort(summary.lines.begin(), summary.lines.end(),
                   [](const LineCounts& a, const LineCounts& b) { return a.ptx_line < b.ptx_line; });
  return summary;
}

const char* name(InstructionClass kind) {
  switch (kind) {
    case InstructionClass::integer:
      return "integer";
    case InstructionClass::floating_point:
      return "floating_point";
    case InstructionClass::conversion:
      return "conversion";
    case InstructionClass::memory:
      return "memory";
    case InstructionClass::control:
      return "control";
    case InstructionClass::warp:
      return "warp";
    case InstructionClass::matrix:
      return "matrix";
    case InstructionClass::async_copy:
      return "async_copy";
    case InstructionClass::mbarrier:
      return "mbarrier";
    case InstructionClass::wgmma:
      return "wgmma";
    case InstructionClass::cluster:
      return "cluster";
  }
  return "unknown";
}

}  // namespace tenon::emulator
