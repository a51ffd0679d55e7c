// The messages about unordered accesses to shared memory: races, bytes that an asynchronous operation still
// owns, missing proxy fences, and accesses that outlive their block.
#include <algorithm>
#include <set>
#include <utility>

#include "emulator/machine/text.hpp"
#include "emulator/machine/warp.hpp"

namespace tenon::emulator {

// When a block's last thread has ended, its shared memory goes to another block. So no thread of another
// block, no bulk copy and no wgmma may use it any longer. What was already reported as used too early is not
// reported again.
void Cluster::report_outlived(Issue issue, const Cta& cta, std::uint32_t offset, bool write) {
  if (std::find(unwaited_.begin(), unwaited_.end(), issue.pc) != unwaited_.end()) return;
  const bool is_own = &cta == &cta_of(issue.thread);
  const std::uint64_t address = shared_address(cta.rank, offset);
  report(is_own ? FindingKind::async_use : FindingKind::out_of_bounds, issue, address, [&] {
    return (is_own ? "an operation started by " : "") + describe(issue.thread) +
           (write ? " writes" : " reads") + " shared address " + hex(address) + " of the block of rank " +
           std::to_string(cta.rank) + ", which ends without waiting for that";
  });
}

void Cluster::all_have_started(SyncClock& object) {
  for (const Component block : started_) clocks.complete(object, block, 1);
}

// A block may not have started if none of its threads has synchronised with this one, not even at a barrier.
void Cluster::check_started(const Actor& actor, const Cta& cta, std::uint32_t offset, bool write) {
  if (clocks.covers(*actor.view, started_[cta.rank], 1)) return;
  if (std::find(raced_.begin(), raced_.end(), actor.issue.pc) != raced_.end()) return;  // the same cause
  const ThreadId first = cta.rank * threads_per_cta_;
  for (ThreadId thread = first; thread < first + threads_per_cta_; ++thread)
    if (clocks.covers(*actor.view, thread, 1)) return;
  const std::uint64_t address = shared_address(cta.rank, offset);
  unstarted_.insert(actor.issue.pc);
  report(FindingKind::out_of_bounds, actor.issue, address, [&] {
    return describe(actor.issue.thread) + (write ? " writes" : " reads") + " shared address " + hex(address) +
           " of the block of rank " + std::to_string(cta.rank) +
           ", which may not have started: a barrier of the cluster must come before";
  });
}

void Cluster::block_ended(Cta& cta) {
  if (!clocks.enabled() || aborted_) return;
  cta.side.block_ends(cta);
  for (const auto& object : cta.state_by_offset) object.second->block_ends(cta);
  if (!cta.has_remote_accesses) return;
  const ThreadId first = cta.rank * threads_per_cta_;
  const std::vector<SharedMemory::Conflict> accesses = cta.shared.recorded();
  // Other threads signal that they are done by words that the block itself reads by strong accesses.
  std::set<std::uint32_t> flags;
  for (const SharedMemory::Conflict& access : accesses)
    if (access.earlier.is_strong && &cta == &cta_of(access.earlier.thread)) flags.insert(access.offset);
  for (const SharedMemory::Conflict& access : accesses) {
    const AccessRecord& record = access.earlier;
    const bool is_own = &cta == &cta_of(record.thread);
    // An mbarrier checks its arrivals itself.
    const bool is_told = record.is_strong && (flags.count(access.offset) != 0 ||
                                              cta.state_by_offset.count(access.offset / 8 * 8) != 0);
    if (is_told || (is_own && !record.is_async_proxy)) continue;
    LaneMask unknown = record.lanes;
    for (ThreadId thread = first; thread < first + threads_per_cta_ && unknown != 0; ++thread)
      unknown = clocks.unknown(clocks.view(thread), record.component, unknown, record.epoch);
    if (unknown != 0) report_outlived({record.pc, record.thread}, cta, access.offset, record.is_write);
  }
}

// A race is reported at the read, or at the later line of two writes, so that the line does not depend on the
// order. The use of bytes that an asynchronous operation owns is reported where a thread uses them.
void Cluster::report_conflict(const Actor& actor, Cta& cta, const SharedMemory::Conflict& conflict,
                              bool write) {
  const AccessRecord& earlier = conflict.earlier;
  const Program& program = *launch.program;
  const std::uint64_t address = shared_address(cta.rank, conflict.offset);
  Issue here = actor.issue, there{earlier.pc, earlier.thread};
  const auto verb = [](bool writes) { return writes ? "writes" : "reads"; };
  if (conflict.is_proxy) {
    report(
        FindingKind::proxy_fence, here, address,
        [&] {
          return "the async proxy " + std::string(verb(write)) + " shared address " + hex(address) +
                 ", which " + describe(there.thread) + " wrote at line " +
                 std::to_string(program.line(there.pc)) + ": a fence.proxy.async is needed between them";
        },
        there.pc);
    return;
  }
  const bool here_is_thread = clocks.is_thread(actor.component);
  const bool there_is_thread = clocks.is_thread(earlier.component);
  bool here_writes = write, there_writes = earlier.is_write;
  const bool is_race = here_is_thread && there_is_thread;
  for (const auto& [is_thread, pc] :
       {std::pair(here_is_thread, here.pc), std::pair(there_is_thread, there.pc)})
    if (!is_thread && std::find(unwaited_.begin(), unwaited_.end(), pc) == unwaited_.end())
      unwaited_.push_back(pc);
  // Threads that read too early have read unwritten bytes: one fault, not two.
  if (here_writes && !there_writes && *cta.shared.written(conflict.offset) == 0) {
    findings.drop(FindingKind::uninitialized, there.pc);
    for (const Pc pc : read_unwritten_[address / 4]) findings.drop(FindingKind::uninitialized, pc);
  }
  const bool swap =
      here_is_thread == there_is_thread
          ? (here_writes != there_writes ? here_writes : program.line(there.pc) > program.line(here.pc))
          : !here_is_thread && there_is_thread;
  if (swap) {
    std::swap(here, there);
    std::swap(here_writes, there_writes);
  }
  if (is_race)
    for (const Issue issue : {here, there}) {
      if (std::find(raced_.begin(), raced_.end(), issue.pc) != raced_.end()) continue;
      raced_.push_back(issue.pc);
      if (unstarted_.erase(issue.pc) != 0) findings.drop(FindingKind::out_of_bounds, issue.pc);
    }
  report(
      is_race ? FindingKind::race : FindingKind::async_use, here, address,
      [&] {
        const std::string subject = here_is_thread || there_is_thread
                                        ? describe(here.thread)
                                        : "an operation started by " + describe(here.thread);
        const std::string other = std::string(there_writes ? "is written" : "is read") +
                                  (is_race ? " by " : " by the asynchronous operation of ") +
                                  describe(there.thread) + " at line " +
                                  std::to_string(program.line(there.pc));
        return subject + " " + verb(here_writes) + " shared address " + hex(address) + ", which " + other +
               (is_race ? ", without an order between them"
                        : ", and no wait orders the two (where another thread waits, a barrier must follow)");
      },
      there.pc);
}

}  // namespace tenon::emulator
