#include "microbench/record.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

#include "microbench/replace_file.hpp"

namespace tenon::microbench {
namespace {

double ratio(double ours, double reference) {
  return reference > 0 ? ours / reference : 0;
}

// Six digits: more than any of them means, and few enough to be read in a diff.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

nlohmann::ordered_json number_or_null(double value) {
  return value > 0 ? nlohmann::ordered_json(rounded(value)) : nlohmann::ordered_json(nullptr);
}

__attribute__((format(printf, 1, 2))) std::string format(const char* pattern, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(line, sizeof line, pattern, arguments);
  va_end(arguments);
  return line;
}

std::string cell(double value, const char* pattern) {
  char text[32];
  std::snprintf(text, sizeof text, pattern, value);
  return value > 0 ? text : "-";
}

std::string case_of(const Record& r) {
  return r.benchmark + " " + std::to_string(r.shape.m) + " x " + std::to_string(r.shape.n) + " x " +
         std::to_string(r.shape.k) + "  " + r.types + "  " + r.layout + "  against " + r.reference + ": " +
         cell(r.reference_tflops_burst, "%.1f") + " burst, " + cell(r.reference_tflops_sustained, "%.1f") +
         " sustained";
}

}  // namespace

double Record::ratio_burst() const {
  return ratio(tflops_burst, reference_tflops_burst);
}
double Record::ratio_sustained() const {
  return ratio(tflops_sustained, reference_tflops_sustained);
}

std::string describe_layout(const Shape& shape, const Layout& layout) {
  const Shape packed = with_leading_dimensions({shape.m, shape.n, shape.k, 0, 0, 0}, layout);
  const bool same = shape.lda == packed.lda && shape.ldb == packed.ldb && shape.ldc == packed.ldc;
  if (same) return name(layout);
  return name(layout) + " lda=" + std::to_string(shape.lda) + " ldb=" + std::to_string(shape.ldb) +
         " ldc=" + std::to_string(shape.ldc);
}

nlohmann::ordered_json to_json(const Record& r) {
  return {{"benchmark", r.benchmark},
          {"m", r.shape.m},
          {"n", r.shape.n},
          {"k", r.shape.k},
          {"batch", r.batch},
          {"types", r.types},
          {"layout", r.layout},
          {"kernel", r.kernel},
          {"tflops_burst", number_or_null(r.tflops_burst)},
          {"tflops_sustained", number_or_null(r.tflops_sustained)},
          {"reference", r.reference},
          {"reference_tflops_burst", number_or_null(r.reference_tflops_burst)},
          {"reference_tflops_sustained", number_or_null(r.reference_tflops_sustained)},
          {"ratio_burst", number_or_null(r.ratio_burst())},
          {"ratio_sustained", number_or_null(r.ratio_sustained())},
          {"flop_per_clk_per_sm", number_or_null(r.flop_per_clk_per_sm)},
          {"sm_mhz", number_or_null(r.sm_mhz)},
          {"watts", number_or_null(r.watts)},
          {"max_error", rounded(r.max_error)},
          {"error_bound", rounded(r.error_bound)},
          {"commit", r.commit},
          {"machine", r.machine},
          {"toolkit", r.toolkit},
          {"date", r.date}};
}

void write_json(const std::string& path, const std::vector<Record>& records) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const Record& record : records) {
    if (record.odd.empty()) array.push_back(to_json(record));
  }
  // A commit or a path need not be UTF-8, and hours of measuring shall not be lost to one.
  const std::string text = array.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (const std::string lost = replace_file(path, text); !lost.empty()) throw Failure(lost);
}

std::string table(std::vector<Record> records) {
  const auto rank = [](const Record& r) {
    return r.ratio_sustained() > 0 ? r.ratio_sustained() : r.ratio_burst();
  };
  std::string text;
  for (auto first = records.begin(); first != records.end();) {
    const std::string title = case_of(*first);
    const auto last =
        std::find_if(first, records.end(), [&](const Record& r) { return case_of(r) != title; });
    std::stable_sort(first, last, [&](const Record& a, const Record& b) { return rank(a) > rank(b); });
    text += "\n" + title + "\n";
    text += format("  %-44s %8s %6s %10s %6s %8s %6s %6s %10s %10s\n", "kernel", "burst", "ratio",
                   "sustained", "ratio", "flop/clk", "MHz", "W", "max error", "bound");
    for (; first != last; ++first) {
      text += format("  %-44s %8s %6s %10s %6s %8s %6s %6s %10.3g %10.3g%s%s\n", first->kernel.c_str(),
                     cell(first->tflops_burst, "%.1f").c_str(), cell(first->ratio_burst(), "%.3f").c_str(),
                     cell(first->tflops_sustained, "%.1f").c_str(),
                     cell(first->ratio_sustained(), "%.3f").c_str(),
                     cell(first->flop_per_clk_per_sm, "%.0f").c_str(), cell(first->sm_mhz, "%.0f").c_str(),
                     cell(first->watts, "%.0f").c_str(), first->max_error, first->error_bound,
                     first->odd.empty() ? "" : "  ! ", first->odd.c_str());
    }
  }
  return text;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

}  // namespace tenon::microbench
