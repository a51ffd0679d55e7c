// Findings as a cluster collects them: one entry for each kind and place, strings made only for the first.
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

// Whose instruction: what findings and asynchronous operations are attributed to.
struct Issue {
  Place place = no_place;
  ThreadId thread = 0;
};

class Findings {
 public:
  struct Entry {
    FindingKind kind;
    Place place;
    std::uint64_t count;
    ThreadId thread;  // of the first
    std::uint64_t address;
    std::string message;
  };

  // What has to be bookkept (written-ness, races, proxies) is looked for only if enabled; the rest always.
  explicit Findings(bool enabled) : enabled_(enabled) {}
  bool enabled() const { return enabled_; }

  // Counts one; not null if it is the first of its kind and place, whose message the caller then sets:
  //   if (auto* first = findings.add(kind, issue, address)) first->message = "...";
  Entry* add(FindingKind kind, Issue issue, std::uint64_t address);
  // Takes back what has turned out to be the consequence of something else at the same place.
  void drop(FindingKind kind, Place place);
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  static std::uint64_t key(FindingKind kind, Place place) {
    return (std::uint64_t{place} << 8) | static_cast<std::uint64_t>(kind);
  }

  bool enabled_;
  std::vector<Entry> entries_;
  std::unordered_map<std::uint64_t, std::size_t> index_;  // kind and place -> entry
};

}  // namespace tenon::emulator
