#include "microbench/numerics/characterise.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <numeric>
#include <thread>

#include "emulator/numerics/random_operands.hpp"

namespace tenon::probing {

using namespace emulator::numerics;

namespace {

constexpr std::pair<Model, const char*> models[] = {{Model::sm_75, "sm_75"},
                                                    {Model::sm_80, "sm_80"},
                                                    {Model::sm_89, "sm_89"},
                                                    {Model::sm_90, "sm_90"},
                                                    {Model::ieee, "ieee"}};

bool is_f64(const Interview& interview) {
  return interview.named().form.d == emulator::ptx::Type::f64;
}

std::vector<int> range(int first, int last) {
  std::vector<int> numbers(static_cast<std::size_t>(last - first));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

// Recognises products added in steps of equal size in order of k, each step with the previous result, the
// accumulator in the first. Returns the step size; 0 for any other order.
int group_of_chain(const std::vector<const Step*>& steps, const Interview& interview) {
  const int accumulator = interview.accumulator();
  int next = 0, group = 0;
  for (const Step* step : steps) {
    std::vector<int> terms = step->terms;
    if (next == 0) {
      const auto c = std::find(terms.begin(), terms.end(), accumulator);
      if (c == terms.end() || !step->parts.empty()) return 0;
      terms.erase(c);
      group = static_cast<int>(terms.size());
    } else if (step->parts.size() != 1) {
      return 0;
    }
    if (group == 0 || terms != range(next, next + group)) return 0;
    next += group;
  }
  return next == interview.products() ? group : 0;
}

// Recognises fp8 in two halves: the products with k % 4 < 2, then these and the others, then the accumulator.
bool is_by_halves(const std::vector<const Step*>& steps, const Interview& interview) {
  if (steps.size() != 3) return false;
  std::vector<int> halves[2];
  for (const int k : range(0, interview.products())) halves[k % 4 / 2].push_back(k);
  return steps[0]->terms == halves[0] && steps[0]->parts.empty() && steps[1]->terms == halves[1] &&
         steps[2]->terms == std::vector<int>{interview.accumulator()};
}

std::optional<Arithmetic> arithmetic_from(const Character& found, const Interview& interview) {
  Arithmetic arithmetic;
  const bool half_result = interview.d().bits() == 16;
  arithmetic.result = half_result ? Arithmetic::Result::f16_nearest : Arithmetic::Result::f32_cut;
  if (found.order.kind == Order::Kind::exact) {
    arithmetic.exact = true;
    return found.rounding.front().rounding == Direction::nearest_even ? std::optional(arithmetic)
                                                                      : std::nullopt;
  }
  if (found.order.kind != Order::Kind::steps) return std::nullopt;
  const std::vector<const Step*> steps = steps_in_order(found.order.last_step);
  const StepRounding& first = found.rounding.front();
  arithmetic.fp8_by_halves = is_by_halves(steps, interview);
  arithmetic.group = arithmetic.fp8_by_halves ? interview.products() / 2 : group_of_chain(steps, interview);
  // The step sizes that its loops support.
  const bool has_group =
      arithmetic.group == 4 || arithmetic.group == 8 || arithmetic.group == 16 || arithmetic.group == 32;
  constexpr int most_kept = 25;
  if (!has_group || !first.kept_bits || *first.kept_bits > most_kept || first.cut != Direction::to_zero)
    return std::nullopt;
  arithmetic.fraction = *first.kept_bits;
  // Without a reachable limit of the alignment, there is none.
  constexpr int none = -2000;
  arithmetic.minimum_exponent = first.minimum_exponent.value_or(none);
  const bool same =
      arithmetic.fp8_by_halves
          ? found.rounding[0] == found.rounding[1]
          : std::all_of(found.rounding.begin(), found.rounding.end(), [&](const StepRounding& r) {
              return r.rounding == first.rounding && r.result_bits == first.result_bits &&
                     r.kept_bits == first.kept_bits;
            });
  if (!same || !first.result_bits) return std::nullopt;
  if (half_result) {
    return first.rounding == Direction::nearest_even && *first.result_bits == 10 ? std::optional(arithmetic)
                                                                                 : std::nullopt;
  }
  if (first.rounding != Direction::to_zero) return std::nullopt;
  if (*first.result_bits == 13) {
    arithmetic.result = Arithmetic::Result::f32_cut_to_13_bits;
  } else if (*first.result_bits != 23) {
    return std::nullopt;
  }
  return arithmetic;
}

// The candidate model's answer, in place of the subject's.
using Compute = std::function<void(const Mma&, Registers&)>;

std::string hexadecimal(std::uint64_t pattern) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(pattern));
  return text;
}

void compare_answers(const Interview& interview, const Compute& compute, Fit& fit) {
  for (const Asked& asked : interview.asked()) {
    Registers registers = asked.registers;
    compute(interview.mma(), registers);
    for (int i = 0; i < asked.questions; ++i) {
      const std::uint64_t found = interview.answer(asked.registers, i),
                          model = interview.answer(registers, i);
      ++fit.results;
      if (found == model) continue;
      if (fit.differences++ == 0) {
        fit.first =
            asked.what + ": the device says " + hexadecimal(found) + ", the model " + hexadecimal(model);
      }
    }
  }
}

void compare_random(const Mma& mma, const std::vector<Registers>& sets, std::uint64_t first_set,
                    const Compute& compute, Fit& fit) {
  for (std::size_t i = 0; i < sets.size(); ++i) {
    Registers registers = sets[i];
    compute(mma, registers);
    for (int reg = 0; reg < mma.d().registers(); ++reg) {
      for (int lane = 0; lane < Fragment::lanes; ++lane) {
        fit.results += static_cast<std::uint64_t>(mma.d().elements());
        const std::uint64_t found = sets[i].d[reg][lane], model = registers.d[reg][lane];
        if (found == model) continue;
        if (fit.differences++ == 0) {
          fit.first = "random operands " + std::to_string(first_set + i) + ", lane " + std::to_string(lane) +
                      ", register " + std::to_string(reg) + ": the device says " + hexadecimal(found) +
                      ", the model " + hexadecimal(model);
        }
      }
    }
  }
}

// Calls work(i) for i < count on all host processors.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  const std::size_t wanted = std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency()));
  for (std::size_t i = 0; i < wanted; ++i) {
    threads.emplace_back([&] {
      for (std::size_t now = next++; now < count; now = next++) work(now);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

Character characterise(Interview& interview) {
  Character found;
  found.traits = find_traits(interview);
  if (interview.is_integer()) return found;
  found.order = find_order(interview);
  if (found.order.kind == Order::Kind::steps) {
    for (const Step* step : steps_in_order(found.order.last_step)) {
      found.rounding.push_back(find_rounding(interview, *step));
    }
  } else if (found.order.kind == Order::Kind::exact) {
    Step all;
    all.terms = range(0, interview.terms());
    found.rounding.push_back(find_rounding(interview, all));
  }
  if (!is_f64(interview)) found.arithmetic = arithmetic_from(found, interview);
  return found;
}

FormReport examine(Subject& subject, const NamedForm& named, const Sampling& sampling) {
  FormReport report;
  report.named = named;
  Interview interview(subject, named);
  try {
    report.character = characterise(interview);
  } catch (const Unsupported& reason) {
    report.unsupported = reason.what();
    return report;
  }
  std::vector<Compute> candidates;
  for (const auto& [model, model_name] : models) {
    report.fits.push_back({model_name, 0, 0, ""});
    candidates.emplace_back([model = model](const Mma& mma, Registers& registers) { mma(model, registers); });
  }
  if (report.character.arithmetic) {
    report.fits.push_back({"probed", 0, 0, ""});
    candidates.emplace_back([numbers = *report.character.arithmetic](const Mma& mma, Registers& registers) {
      mma(numbers, registers);
    });
  }
  in_parallel(candidates.size(),
              [&](std::size_t i) { compare_answers(interview, candidates[i], report.fits[i]); });

  const auto per_set = static_cast<std::uint64_t>(named.form.shape.m * named.form.shape.n);
  const std::uint64_t count = std::max<std::uint64_t>(1, (sampling.results + per_set - 1) / per_set);
  constexpr std::uint64_t chunk = 2048;
  RandomOperands operands(named);
  for (std::uint64_t first = 0; first < count; first += chunk) {
    std::vector<Registers> sets(std::min(chunk, count - first));
    for (std::size_t i = 0; i < sets.size(); ++i) operands.fill(sampling.seed, first + i, sets[i]);
    subject.execute(named, sets);
    in_parallel(candidates.size(), [&](std::size_t i) {
      compare_random(interview.mma(), sets, first, candidates[i], report.fits[i]);
    });
  }
  return report;
}

std::vector<std::string> fitting_models(const std::vector<FormReport>& reports) {
  std::vector<std::string> fitting;
  for (const auto& [model, model_name] : models) {
    bool executed = false, fits = true;
    for (const FormReport& report : reports) {
      for (const Fit& fit : report.fits) {
        if (fit.model != model_name) continue;
        executed = true;
        fits = fits && fit.differences == 0;
      }
    }
    if (executed && fits) fitting.emplace_back(model_name);
  }
  return fitting;
}

}  // namespace tenon::probing
