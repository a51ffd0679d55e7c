// One measurement as it is stored: microbench/results/<machine>/*.json hold arrays of these objects, and
// scripts/readme_tables and scripts/plot read them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "microbench/cases.hpp"

namespace tenon::microbench {

// A product in a stream of other kernels: Stopwatch::between().
struct BetweenOthers {
  std::string reference;  // name and algorithm, picked by these times
  // Of the product and the foreign kernel after it, of the reference and the foreign kernel, and of the
  // foreign kernel alone.
  double pair_us = 0, reference_pair_us = 0, foreign_us = 0;
};

// Bursts with operands that are not in the L2.
struct ColdL2 {
  std::string reference;  // name and algorithm, picked by these bursts
  double tflops = 0, reference_tflops = 0;
};

// 0 (and "") stands for "not measured" and becomes null in JSON. What was not measured between others or with
// a cold L2 has no fields there.
struct Record {
  std::string benchmark;
  Shape shape;  // stored as m, n, k; leading dimensions other than the packed ones are part of `layout`
  int batch = 1;
  std::string types;   // name(Types): "bf16_f32_bf16"
  std::string layout;  // "tn", or "tn lda=4100 ldb=4100 ldc=4100"
  std::string kernel;
  double tflops_burst = 0, tflops_sustained = 0;
  std::string reference;  // name and algorithm
  double reference_tflops_burst = 0, reference_tflops_sustained = 0;
  BetweenOthers between;
  ColdL2 cold;
  double flop_per_clk_per_sm = 0, sm_mhz = 0,
         watts = 0;                       // of the sustained run, else the bursts, else in the other ways
  double max_error = 0, error_bound = 0;  // against the exact product; absolute
  std::string commit, machine, toolkit, date;
  std::string odd;       // printed only: a record with such a reason is not written to JSON
  std::string left_out;  // printed only: which figures are not in the record, and why

  double ratio_burst() const;
  double ratio_sustained() const;
  // Between others a launch takes the time that it adds to a stream of foreign kernels.
  double tflops_between() const;
  double reference_tflops_between() const;
  double ratio_between() const;
  double ratio_cold() const;
  bool is_measured() const;  // in any way
};

// The layout field: the letters, and leading dimensions that are not the packed ones.
std::string describe_layout(const Shape& shape, const Layout& layout);

nlohmann::ordered_json to_json(const Record& record);

// Replaces the file by an array of the records whose `odd` is empty. Throws Failure if it cannot be
// written.
void write_json(const std::string& path, const std::vector<Record>& records);

// The date of a record, in UTC: "2026-11-24".
std::string today();

// The printed table: one line a record, best sustained (else burst) ratio first within a case.
std::string table(std::vector<Record> records);

}  // namespace tenon::microbench
