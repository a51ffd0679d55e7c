// The table is rewritten with each entry, so that a later failure does not lose earlier measurements.
#include "command_line/tune_table.hpp"

#include <algorithm>
#include <utility>

#include "command_line/npy.hpp"
#include "host/tuning_text.hpp"

namespace tenon::command {

TuneTable::TuneTable(TuningTable head, std::string path) : table_(std::move(head)), path_(std::move(path)) {}

void TuneTable::add(TuningEntry entry) {
  const auto after =
      std::upper_bound(table_.entries.begin(), table_.entries.end(), entry,
                       [](const TuningEntry& x, const TuningEntry& y) { return x.key < y.key; });
  table_.entries.insert(after, std::move(entry));
  write();
}

void TuneTable::write() const {
  if (!path_.empty()) write_file(path_, text());
}

std::string TuneTable::text() const {
  return write_tuning(table_);
}

}  // namespace tenon::command
