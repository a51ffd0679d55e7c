#include "microbench/choice_record.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "microbench/record.hpp"

namespace tenon::microbench {
namespace {

using nlohmann::ordered_json;

constexpr const char* benchmark = "gemm_choices";

// Four digits: a burst repeats to about one percent.
double rounded(double microseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", microseconds);
  return std::strtod(text, nullptr);
}

// The number after " lda=" in "tn lda=4097 ldb=4097 ldc=4096"; 0 where the leading dimensions are the packed
// ones.
std::int64_t ld_in(const std::string& layout, const std::string& name) {
  const std::size_t found = layout.find(" " + name + "=");
  return found == std::string::npos ? 0 : std::stoll(layout.substr(found + name.size() + 2));
}

ChoiceTimes times_of(const ordered_json& json, const std::vector<std::string>& names) {
  ChoiceTimes result;
  ChoiceProblem& problem = result.problem;
  problem.group = json.at("group").get<std::string>();
  problem.types = parse_types(json.at("types").get<std::string>()).front();
  const std::string layout = json.at("layout").get<std::string>();
  problem.layout = parse_layouts(layout.substr(0, 2)).front();
  Shape shape{};
  shape.m = json.at("m").get<std::int64_t>();
  shape.n = json.at("n").get<std::int64_t>();
  shape.k = json.at("k").get<std::int64_t>();
  shape.lda = ld_in(layout, "lda");
  shape.ldb = ld_in(layout, "ldb");
  shape.ldc = ld_in(layout, "ldc");
  problem.shape = with_leading_dimensions(shape, problem.layout);
  for (const ordered_json& pair : json.at("times")) {
    const auto number = pair.at(0).get<std::size_t>();
    if (number >= names.size())
      throw Failure("a time of " + describe(problem) + " is of kernel number " + std::to_string(number) +
                    ", but there are " + std::to_string(names.size()) + " kernels");
    const double microseconds = pair.at(1).get<double>();
    if (!(microseconds > 0)) throw Failure("a time of " + describe(problem) + " is not above 0");
    result.times.push_back({names[number], microseconds});
  }
  if (result.times.empty()) throw Failure(describe(problem) + " has no times");
  result.cublaslt_us = json.value("cublaslt_us", 0.0);
  if (result.cublaslt_us < 0) throw Failure("the time of cuBLASLt for " + describe(problem) + " is below 0");
  return result;
}

std::string without_copies(const std::string& name) {
  return name.substr(0, name.find(" + "));
}

// Records of before there were two modes have no mode: they are bursts.
void read_mode(const ordered_json& json, ChoiceRecord* record) {
  const std::string mode = json.value("mode", "burst");
  if (mode != "burst" && mode != "between")
    throw Failure("the mode is '" + mode + "' but must be burst or between");
  record->between = mode == "between";
  if (record->between) record->foreign_us = json.at("foreign_us").get<double>();
}

}  // namespace

std::string to_text(const ChoiceRecord& record) {
  std::map<std::string, std::size_t> numbers;
  for (const ChoiceTimes& problem : record.problems) {
    for (const ChoiceTime& time : problem.times) numbers.emplace(time.name, 0);
  }
  ordered_json names = ordered_json::array();
  for (auto& [name, number] : numbers) {
    number = names.size();
    names.push_back(name);
  }
  ordered_json narrowest;  // null: the record does not say
  if (record.narrowest) {
    narrowest = ordered_json::array();
    for (const auto& [name, number] : numbers) {
      const auto found = record.narrowest->find(without_copies(name));
      narrowest.push_back(found == record.narrowest->end() ? 0 : found->second);
    }
  }
  const ordered_json head = {
      {"benchmark", benchmark},
      {"seed", record.seed},
      {"mode", record.between ? "between" : "burst"},
      {"foreign_us", record.between ? ordered_json(rounded(record.foreign_us)) : nullptr},
      {"commit", record.commit},
      {"machine", record.machine},
      {"toolkit", record.toolkit},
      {"date", record.date},
      {"sm", record.device.sm},
      {"multiprocessors", record.device.multiprocessors},
      {"shared_bytes_per_block_optin", record.device.shared_bytes_per_block_optin},
      {"l2_bytes", record.device.l2_bytes},
      {"memory_bytes_per_clock", record.device.memory_bytes_per_clock},
      {"kernels", names},
      {"narrowest", narrowest}};
  // A commit need not be UTF-8.
  constexpr auto replace = ordered_json::error_handler_t::replace;
  std::string text = head.dump(1, ' ', false, replace);
  text.resize(text.size() - 2);  // "\n}"
  text += ",\n \"problems\": [";
  const char* separator = "\n";
  for (const ChoiceTimes& problem : record.problems) {
    const ChoiceProblem& p = problem.problem;
    std::vector<ChoiceTime> times = problem.times;
    std::stable_sort(times.begin(), times.end(), [](const ChoiceTime& a, const ChoiceTime& b) {
      return a.microseconds < b.microseconds;
    });
    ordered_json pairs = ordered_json::array();
    for (const ChoiceTime& time : times) pairs.push_back({numbers.at(time.name), rounded(time.microseconds)});
    ordered_json line = {{"group", p.group},       {"m", p.shape.m},
                         {"n", p.shape.n},         {"k", p.shape.k},
                         {"types", name(p.types)}, {"layout", describe_layout(p.shape, p.layout)}};
    if (problem.cublaslt_us > 0) line["cublaslt_us"] = rounded(problem.cublaslt_us);
    line["times"] = pairs;
    text += separator + ("  " + line.dump(-1, ' ', false, replace));
    separator = ",\n";
  }
  return text + "\n ]\n}\n";
}

ChoiceRecord read_choice_record(const std::string& text) {
  try {
    const ordered_json json = ordered_json::parse(text);
    if (!json.is_object() || json.value("benchmark", ordered_json()) != benchmark)
      throw Failure(
          "not a record of choices: it must hold the object that tenon_gemm_benchmark --choices writes");
    ChoiceRecord record;
    record.seed = json.at("seed").get<std::uint64_t>();
    read_mode(json, &record);
    record.commit = json.at("commit").get<std::string>();
    record.machine = json.at("machine").get<std::string>();
    record.toolkit = json.at("toolkit").get<std::string>();
    record.date = json.at("date").get<std::string>();
    record.device.sm = json.at("sm").get<int>();
    record.device.multiprocessors = json.at("multiprocessors").get<int>();
    record.device.shared_bytes_per_block_optin = json.at("shared_bytes_per_block_optin").get<std::size_t>();
    record.device.l2_bytes = json.at("l2_bytes").get<std::size_t>();
    record.device.memory_bytes_per_clock = json.at("memory_bytes_per_clock").get<int>();
    const auto names = json.at("kernels").get<std::vector<std::string>>();
    if (json.contains("narrowest") && !json.at("narrowest").is_null()) {
      const auto narrowest = json.at("narrowest").get<std::vector<int>>();
      if (narrowest.size() != names.size())
        throw Failure("there are " + std::to_string(names.size()) + " kernels but " +
                      std::to_string(narrowest.size()) + " narrowest tiles");
      record.narrowest.emplace();
      for (std::size_t i = 0; i < names.size(); ++i)
        if (narrowest[i] != 0) (*record.narrowest)[without_copies(names[i])] = narrowest[i];
    }
    for (const ordered_json& problem : json.at("problems"))
      record.problems.push_back(times_of(problem, names));
    return record;
  } catch (const nlohmann::json::parse_error& error) {
    throw Failure(
        "not a record of choices: it is " +
        (text.empty() ? std::string("empty") : "not JSON from byte " + std::to_string(error.byte) + " on"));
  } catch (const nlohmann::json::exception& error) {
    throw Failure(std::string("not a record of choices: ") + error.what());
  }
}

const ChoiceTime& fastest(const ChoiceTimes& times) {
  return *std::min_element(
      times.times.begin(), times.times.end(),
      [](const ChoiceTime& a, const ChoiceTime& b) { return a.microseconds < b.microseconds; });
}

Regrets regrets_of(const ChoiceRecord& record, const std::string& group,
                   const std::function<std::string(const ChoiceTimes&)>& chosen) {
  Regrets result;
  for (const ChoiceTimes& problem : record.problems) {
    if (problem.problem.group != group) continue;
    const std::string name = chosen(problem);
    const auto own = std::find_if(problem.times.begin(), problem.times.end(),
                                  [&](const ChoiceTime& time) { return time.name == name; });
    if (own != problem.times.end()) {
      result.regrets.push_back({&problem, name, own->microseconds / fastest(problem).microseconds});
    } else {
      result.unknown.emplace_back(&problem, name);
    }
  }
  return result;
}

namespace {

// Without " + padded copies" and the cluster: "_c2x1".
std::string compiled_name(const std::string& name) {
  static const std::regex cluster("_c[0-9]x[0-9]");
  return std::regex_replace(without_copies(name), cluster, "");
}

}  // namespace

std::vector<KernelLoss> losses_without(const ChoiceRecord& record) {
  std::map<std::string, std::vector<double>> ratios;
  for (const ChoiceTimes& problem : record.problems) {
    std::map<std::string, double> best;
    for (const ChoiceTime& time : problem.times) {
      double& least = best.emplace(compiled_name(time.name), time.microseconds).first->second;
      least = std::min(least, time.microseconds);
    }
    for (const auto& [kernel, own] : best) {
      double without = std::numeric_limits<double>::infinity();
      for (const auto& [other, time] : best) {
        if (other != kernel) without = std::min(without, time);
      }
      if (best.size() > 1) ratios[kernel].push_back(std::max(1.0, without / own));
    }
  }
  std::vector<KernelLoss> result;
  for (const auto& [kernel, of] : ratios) {
    double sum = 0;
    for (const double ratio : of) sum += std::log(ratio);
    result.push_back({kernel, static_cast<int>(of.size()), std::exp(sum / static_cast<double>(of.size())),
                      *std::max_element(of.begin(), of.end())});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const KernelLoss& a, const KernelLoss& b) { return a.mean < b.mean; });
  return result;
}

SpeedToCublasLt speed_to_cublaslt(const std::vector<Regret>& regrets) {
  double choice = 0, best = 0;
  int count = 0;
  for (const Regret& regret : regrets) {
    if (!(regret.of->cublaslt_us > 0)) continue;
    const double speed = std::log(regret.of->cublaslt_us / fastest(*regret.of).microseconds);
    best += speed;
    choice += speed - std::log(regret.ratio);
    ++count;
  }
  if (count == 0) return {};
  return {std::exp(choice / count), std::exp(best / count)};
}

double geometric_mean(const std::vector<Regret>& regrets) {
  double sum = 0;
  for (const Regret& regret : regrets) sum += std::log(regret.ratio);
  return regrets.empty() ? 1 : std::exp(sum / static_cast<double>(regrets.size()));
}

const Regret* worst(const std::vector<Regret>& regrets) {
  const auto found = std::max_element(regrets.begin(), regrets.end(),
                                      [](const Regret& a, const Regret& b) { return a.ratio < b.ratio; });
  return found == regrets.end() ? nullptr : &*found;
}

}  // namespace tenon::microbench
