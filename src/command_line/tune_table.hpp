// The table that `tenon tune` measures, kept on the disk as it grows: what was measured is not lost to a
// later problem that fails, nor to a signal.
#pragma once

#include <string>

#include "host/tuning_table.hpp"

namespace tenon::command {

class TuneTable {
 public:
  // `head` is a table without entries; path: of the file, "" for none.
  TuneTable(TuningTable head, std::string path);
  // Puts the entry into its place, and writes the file. Throws Failure where it cannot be written.
  void add(TuningEntry entry);
  void write() const;
  bool empty() const noexcept { return table_.entries.empty(); }
  std::string text() const;

 private:
  TuningTable table_;
  std::string path_;
};

}  // namespace tenon::command
