// main() of the benchmarks that time one operation beside a reference: their common options, and what becomes
// of errors. Below: comparison.hpp.
#pragma once

#include <cstdio>
#include <functional>

#include "microbench/comparison.hpp"
#include "microbench/replace_file.hpp"
#include "microbench/standard_output.hpp"
#include "microbench/usage.hpp"

namespace tenon::microbench {

// sustained: whether the benchmark has such runs.
inline void add_comparison_options(CLI::App& app, ComparisonOptions* options, bool sustained = true) {
  if (sustained) app.add_flag("--sustained", options->sustained, "sustained runs too");
  app.add_flag("--every-kernel", options->every_kernel, "every kernel, not only the library's choice");
  app.add_option("--json", options->json, "file for the records");
  app.add_option("--commit", options->commit, "commit to store with them");
}

// Parses, and calls run(&records), which appends them. Returns the program's exit status: 0 done and correct,
// 1 wrong result, 2 bad usage, 3 no GPU or no reference, or standard output cannot be written.
inline int run_comparison(CLI::App& app, int argc, char** argv, const ComparisonOptions& options,
                          const std::function<void(std::vector<Record>*)>& run) {
  try {
    parse(app, argc, argv);
  } catch (const CLI::ParseError& error) {
    return exit_of(app, error);
  }
  if (const std::string why = options.json.empty() ? "" : unwritable(options.json); !why.empty()) {
    std::fprintf(stderr, "%s: --json: %s\n", app.get_name().c_str(), why.c_str());
    return 2;
  }
  if (!options.list && !has_gpu(app.get_name().c_str())) return 3;
  try {
    std::vector<Record> records;
    run(&records);
    if (!options.json.empty()) write_json(options.json, records);
    const std::string lost = lost_standard_output();
    if (lost.empty()) return exit_status(records);
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), lost.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), error.what());
  }
  return 3;
}

}  // namespace tenon::microbench
