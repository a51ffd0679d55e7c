// Measured choices: a table, written by `tenon tune` on some GPU, of which kernel is fastest for which
// problem.
//
//   tenon::Tuning table;
//   if (tenon::Status s = table.load("h200.tune"); !s) std::cerr << s.message();
//   problem.tuning = &table;                       // one table, any number of problems, any thread
//   tenon::gemm(problem, stream);
//
// A table is for one kind of device, that on which it was measured: on one with another compute capability or
// number of multiprocessors it is not used. An entry is for a problem of the same types, orders, n and k, and
// the same m, or of those the m that is nearest by ratio, up to a factor of sqrt(2). Its kernel runs if this
// build has it and it takes the problem. Wherever the table has no answer the documented choice
// (src/gemm/select.hpp) stands; Gemm::kernel, where it is given, comes before both.
//
// load() allocates; with a table gemm() allocates no more than without (gemm.hpp), and only reads it.
#pragma once

#include <cstddef>

#include "tenon/status.hpp"

namespace tenon {

struct TuningTable;  // src/host/tuning_table.hpp

class Tuning {
 public:
  Tuning() noexcept = default;  // without entries
  ~Tuning();
  Tuning(Tuning&& other) noexcept;
  Tuning& operator=(Tuning&& other) noexcept;
  Tuning(const Tuning&) = delete;
  Tuning& operator=(const Tuning&) = delete;

  // Takes over the table of a file, or of `size` bytes of text, instead of what was there. On failure
  // (invalid_argument, with a sentence that names the line, the field, what was found and what is needed)
  // what was there stays. Not while another thread runs a problem with this table.
  Status load(const char* path) noexcept;
  Status load_text(const char* text, std::size_t size) noexcept;

  std::size_t size() const noexcept;  // entries
  // Where it was measured: "NVIDIA H200"; "" and 0 without a table.
  const char* device() const noexcept;
  int sm() const noexcept;
  int multiprocessors() const noexcept;

  const TuningTable* table() const noexcept { return table_; }  // for the library

 private:
  TuningTable* table_ = nullptr;
};

}  // namespace tenon
