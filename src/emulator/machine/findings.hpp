// The findings of a cluster: one entry per kind and program counter, with a message for the first occurrence
// only.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/machine/program.hpp"
#include "tenon/emulator/types.hpp"

namespace tenon::emulator {

// A thread by its number in its cluster: CTA by CTA (in the order of their ranks), in a CTA by %tid.
using ThreadId = std::uint32_t;

// The instruction and thread that findings and asynchronous operations are attributed to.
struct Issue {
  Pc pc = no_pc;
  ThreadId thread = 0;
};

class Findings {
 public:
  struct Entry {
    FindingKind kind;
    Pc pc;
    std::uint64_t count;
    ThreadId thread;  // of the first
    std::uint64_t address;
    std::string message;
    Pc other = no_pc;  // the other instruction of a conflict
  };

  // Checks that need bookkeeping (written bytes, races, proxies) run only if enabled; all others always run.
  explicit Findings(bool enabled) : enabled_(enabled) {}
  bool enabled() const { return enabled_; }

  // Counts one finding. Not null if it is the first of its kind and program counter: the caller sets its
  // message.
  //   if (auto* first = findings.add(kind, issue, address)) first->message = "...";
  Entry* add(FindingKind kind, Issue issue, std::uint64_t address);
  // Removes a finding that has turned out to be the consequence of another one at the same program counter.
  void drop(FindingKind kind, Pc pc);
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  static std::uint64_t key(FindingKind kind, Pc pc) {
    return (std::uint64_t{pc} << 8) | static_cast<std::uint64_t>(kind);
  }

  bool enabled_;
  std::vector<Entry> entries_;
  std::unordered_map<std::uint64_t, std::size_t> index_;  // kind and program counter -> entry
};

}  // namespace tenon::emulator
