#include "emulator/machine/finding_groups.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace tenon::emulator {

std::vector<Finding> grouped(const std::string& entry, const std::vector<LineFinding>& found) {
  std::vector<std::size_t> parents(found.size());
  std::iota(parents.begin(), parents.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    while (parents[i] != i) i = parents[i] = parents[parents[i]];
    return i;
  };
  // What a finding has in common with others of its group: the kind, whether the place is that of the finding
  // or of the other instruction, and the place.
  std::map<std::tuple<FindingKind, bool, std::string>, std::size_t> first_at;
  const auto join = [&](std::size_t i, bool is_other, int line, const std::string& source) {
    const std::string place = source.empty() ? std::to_string(line) : source;
    const auto [at, is_new] = first_at.emplace(std::tuple(found[i].kind, is_other, place), i);
    if (!is_new) parents[root(i)] = root(at->second);
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    join(i, false, found[i].line.ptx_line, found[i].line.source);
    if (found[i].other_line != 0) join(i, true, found[i].other_line, found[i].other_source);
  }

  std::map<std::size_t, std::vector<const LineFinding*>> groups;
  for (std::size_t i = 0; i < found.size(); ++i) groups[root(i)].push_back(&found[i]);
  std::vector<Finding> result;
  for (auto& group : groups) {
    std::vector<const LineFinding*>& members = group.second;
    const LineFinding& first = **std::min_element(members.begin(), members.end(), [](auto* a, auto* b) {
      return std::tie(a->cluster, a->order) < std::tie(b->cluster, b->order);
    });
    std::sort(members.begin(), members.end(),
              [](auto* a, auto* b) { return a->line.ptx_line < b->line.ptx_line; });
    Finding finding;
    finding.kind = first.kind;
    finding.entry = entry;
    finding.ptx_line = first.line.ptx_line;
    finding.source = first.line.source;
    finding.first = first.line.first;
    finding.message = first.line.message;
    for (const LineFinding* member : members) {
      finding.count += member->line.count;
      finding.lines.push_back(member->line);
    }
    result.push_back(std::move(finding));
  }
  std::sort(result.begin(), result.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.ptx_line, a.kind) < std::tie(b.ptx_line, b.kind);
  });
  return result;
}

}  // namespace tenon::emulator
