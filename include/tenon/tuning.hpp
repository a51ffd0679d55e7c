// Measured choices: a table of the fastest kernel for each of a list of problems, written by `tenon tune` on
// some GPU.
//
//   tenon::Tuning table;
//   if (tenon::Status s = table.load("h200.tune"); !s) std::cerr << s.message();
//   problem.tuning = &table;                       // one table, any number of problems, any thread
//   tenon::gemm(problem, stream);
//
// A table is for one kind of device: it has no effect on devices with another compute capability or another
// number of SMs than the one on which it was measured. An entry is for problems with the same types, orders,
// n and k. Its m is that of the problem, or else the nearest one by ratio, up to a factor of sqrt(2). Its
// kernel runs if this build has the kernel and if the kernel accepts the problem. Otherwise the library's
// choice (src/gemm/select.hpp) runs. Gemm::kernel, if given, overrides both.
//
// load() allocates memory. gemm() only reads the table, and allocates no more with it than without
// (gemm.hpp).
#pragma once

#include "tenon/needs_host.hpp"

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

  // Replaces the table by that of a file, or of `size` bytes of text. On failure (invalid_argument, with a
  // sentence that names the line, the field, the value found and the value needed) the old table stays. Not
  // to be called while another thread runs a problem with this table.
  Status load(const char* path) noexcept;
  Status load_text(const char* text, std::size_t size) noexcept;

  std::size_t size() const noexcept;  // entries
  // The device on which the table was measured: "NVIDIA H200". "" and 0 without a table.
  const char* device() const noexcept;
  int sm() const noexcept;
  int multiprocessors() const noexcept;

  const TuningTable* table() const noexcept { return table_; }  // for the library

 private:
  TuningTable* table_ = nullptr;
};

}  // namespace tenon
