#include "emulator/machine/findings.hpp"

namespace tenon::emulator {

Findings::Entry* Findings::add(FindingKind kind, Issue issue, std::uint64_t address) {
  const auto [at, is_new] = index_.emplace(key(kind, issue.pc), entries_.size());
  if (!is_new) {
    ++entries_[at->second].count;
    return nullptr;
  }
  entries_.push_back({kind, issue.pc, 1, issue.thread, address, {}, no_pc});
  return &entries_.back();
}

void Findings::drop(FindingKind kind, Pc pc) {
  const auto at = index_.find(key(kind, pc));
  if (at == index_.end()) return;
  const std::size_t hole = at->second;
  index_.erase(at);
  if (hole + 1 != entries_.size()) {
    entries_[hole] = std::move(entries_.back());
    index_[key(entries_[hole].kind, entries_[hole].pc)] = hole;
  }
  entries_.pop_back();
}

const char* name(FindingKind kind) {
  switch (kind) {
    case FindingKind::out_of_bounds:
      return "out_of_bounds";
    case FindingKind::misaligned:
      return "misaligned";
    case FindingKind::uninitialized:
      return "uninitialized";
    case FindingKind::null_pointer:
      return "null_pointer";
    case FindingKind::freed:
      return "freed";
    case FindingKind::read_only:
      return "read_only";
    case FindingKind::race:
      return "race";
    case FindingKind::async_use:
      return "async_use";
    case FindingKind::proxy_fence:
      return "proxy_fence";
    case FindingKind::barrier:
      return "barrier";
    case FindingKind::divergence:
      return "divergence";
    case FindingKind::deadlock:
      return "deadlock";
    case FindingKind::trap:
      return "trap";
    case FindingKind::argument:
      return "argument";
    case FindingKind::limit:
      return "limit";
  }
  return "unknown";
}

}  // namespace tenon::emulator
