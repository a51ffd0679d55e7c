#include "microbench/record.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

#include "microbench/replace_file.hpp"
#include "microbench/statistics.hpp"

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

// The reference's figures in the ways that not every record has.
std::string other_references(const Record& r) {
  const double between = r.reference_tflops_between(), cold = r.cold.reference_tflops;
  return (between > 0 ? ", " + cell(between, "%.1f") + " between others" : "") +
         (cold > 0 ? ", " + cell(cold, "%.1f") + " with a cold L2" : "");
}

double tflops_of(const Record& r, double pair_us) {
  const double flop = 2.0 * static_cast<double>(r.shape.m) * static_cast<double>(r.shape.n) *
                      static_cast<double>(r.shape.k) * r.batch;
  return tflops(flop, added_microseconds(pair_us, r.between.foreign_us));
}

}  // namespace

double Record::ratio_burst() const {
  return ratio(tflops_burst, reference_tflops_burst);
}
double Record::ratio_sustained() const {
  return ratio(tflops_sustained, reference_tflops_sustained);
}
double Record::tflops_between() const {
  return tflops_of(*this, between.pair_us);
}
double Record::reference_tflops_between() const {
  return tflops_of(*this, between.reference_pair_us);
}
double Record::ratio_between() const {
  return ratio(tflops_between(), reference_tflops_between());
}
double Record::ratio_cold() const {
  return ratio(cold.tflops, cold.reference_tflops);
}
bool Record::is_measured() const {
  return tflops_burst > 0 || tflops_sustained > 0 || tflops_between() > 0 || cold.tflops > 0;
}

std::string describe_layout(const Shape& shape, const Layout& layout) {
  const Shape packed = with_leading_dimensions({shape.m, shape.n, shape.k, 0, 0, 0}, layout);
  const bool same = shape.lda == packed.lda && shape.ldb == packed.ldb && shape.ldc == packed.ldc;
  if (same) return name(layout);
  return name(layout) + " lda=" + std::to_string(shape.lda) + " ldb=" + std::to_string(shape.ldb) +
         " ldc=" + std::to_string(shape.ldc);
}

nlohmann::ordered_json to_json(const Record& r) {
  nlohmann::ordered_json json = {{"benchmark", r.benchmark},
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
                                 {"ratio_sustained", number_or_null(r.ratio_sustained())}};
  if (r.between.pair_us > 0) {
    json["tflops_between"] = number_or_null(r.tflops_between());
    json["reference_between"] = r.between.reference;
    json["reference_tflops_between"] = number_or_null(r.reference_tflops_between());
    json["ratio_between"] = number_or_null(r.ratio_between());
    json["pair_us"] = rounded(r.between.pair_us);
    json["reference_pair_us"] = rounded(r.between.reference_pair_us);
    json["foreign_us"] = rounded(r.between.foreign_us);
  }
  if (r.cold.tflops > 0) {
    json["tflops_cold"] = rounded(r.cold.tflops);
    json["reference_cold"] = r.cold.reference;
    json["reference_tflops_cold"] = number_or_null(r.cold.reference_tflops);
    json["ratio_cold"] = number_or_null(r.ratio_cold());
  }
  json.update({{"flop_per_clk_per_sm", number_or_null(r.flop_per_clk_per_sm)},
               {"sm_mhz", number_or_null(r.sm_mhz)},
               {"watts", number_or_null(r.watts)},
               {"max_error", rounded(r.max_error)},
               {"error_bound", rounded(r.error_bound)},
               {"commit", r.commit},
               {"machine", r.machine},
               {"toolkit", r.toolkit},
               {"date", r.date}});
  return json;
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
    for (const double known : {r.ratio_sustained(), r.ratio_burst(), r.ratio_between()}) {
      if (known > 0) return known;
    }
    return r.ratio_cold();
  };
  const auto any = [&](double (Record::*ratio)() const) {
    return std::any_of(records.begin(), records.end(), [&](const Record& r) { return (r.*ratio)() > 0; });
  };
  const bool between = any(&Record::ratio_between), cold = any(&Record::ratio_cold);
  const auto pair = [](double tflops, double ratio) {
    return format(" %10s %6s", cell(tflops, "%.1f").c_str(), cell(ratio, "%.3f").c_str());
  };
  std::string text;
  for (auto first = records.begin(); first != records.end();) {
    const std::string title = case_of(*first);
    const auto last =
        std::find_if(first, records.end(), [&](const Record& r) { return case_of(r) != title; });
    std::stable_sort(first, last, [&](const Record& a, const Record& b) { return rank(a) > rank(b); });
    const auto most = std::max_element(first, last, [](const Record& a, const Record& b) {
      return other_references(a).size() < other_references(b).size();
    });
    text += "\n" + title + other_references(*most) + "\n";
    text += format("  %-44s %8s %6s", "kernel", "burst", "ratio");
    if (between) text += format(" %10s %6s", "between", "ratio");
    if (cold) text += format(" %10s %6s", "cold", "ratio");
    text += format(" %10s %6s %8s %6s %6s %10s %10s\n", "sustained", "ratio", "flop/clk", "MHz", "W",
                   "max error", "bound");
    for (; first != last; ++first) {
      const Record& r = *first;
      text += format("  %-44s %8s %6s", r.kernel.c_str(), cell(r.tflops_burst, "%.1f").c_str(),
                     cell(r.ratio_burst(), "%.3f").c_str());
      if (between) text += pair(r.tflops_between(), r.ratio_between());
      if (cold) text += pair(r.cold.tflops, r.ratio_cold());
      text += pair(r.tflops_sustained, r.ratio_sustained());
      text +=
          format(" %8s %6s %6s %10.3g %10.3g", cell(r.flop_per_clk_per_sm, "%.0f").c_str(),
                 cell(r.sm_mhz, "%.0f").c_str(), cell(r.watts, "%.0f").c_str(), r.max_error, r.error_bound);
      if (!r.odd.empty()) text += "  ! " + r.odd;
      if (r.odd.empty() && !r.left_out.empty()) text += "  left out: " + r.left_out;
      text += "\n";
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
