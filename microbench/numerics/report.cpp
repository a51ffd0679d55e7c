#include "microbench/numerics/report.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tenon::probing {
namespace {

using nlohmann::ordered_json;

int accumulator_of(const FormReport& report) {
  const emulator::numerics::Form& form = report.named.form;
  return form.sparse ? form.shape.k / 2 : form.shape.k;
}

std::string order_text(const FormReport& report) {
  const Order& order = report.character.order;
  if (order.kind == Order::Kind::exact) return "one exact sum";
  if (order.kind == Order::Kind::steps) return describe(order.last_step, accumulator_of(report));
  return "no tree of steps: " + order.why;
}

std::string rounding_text(const StepRounding& r) {
  std::string text = "terms ";
  if (r.kept_bits) {
    text += "keep " + std::to_string(*r.kept_bits) + " bits below the largest exponent, cut " + name(r.cut);
  } else {
    text += "are not seen to lose bits";
  }
  text += "; result ";
  if (r.result_bits) text += "of " + std::to_string(*r.result_bits) + " fraction bits, ";
  text += r.rounding == Direction::unseen ? "rounding unseen" : std::string("rounded ") + name(r.rounding);
  if (r.minimum_exponent) text += "; aligned to 2^" + std::to_string(*r.minimum_exponent) + " at least";
  return text;
}

ordered_json number_or_null(const std::optional<int>& number) {
  return number ? ordered_json(*number) : ordered_json(nullptr);
}

ordered_json direction_or_null(Direction direction) {
  return direction == Direction::unseen ? ordered_json(nullptr) : ordered_json(name(direction));
}

ordered_json step_json(const Step& step, const StepRounding& rounding, int accumulator) {
  return {{"sum", describe(step, accumulator)},
          {"terms", step.terms.size() + step.parts.size()},
          {"kept_bits", number_or_null(rounding.kept_bits)},
          {"cut", direction_or_null(rounding.cut)},
          {"result_bits", number_or_null(rounding.result_bits)},
          {"rounding", direction_or_null(rounding.rounding)},
          {"minimum_exponent", number_or_null(rounding.minimum_exponent)}};
}

ordered_json form_json(const FormReport& report) {
  ordered_json json = {{"form", report.named.text}};
  if (!report.unsupported.empty()) {
    json["unsupported"] = report.unsupported;
    return json;
  }
  const Character& character = report.character;
  const bool is_integer = character.rounding.empty() && character.order.why.empty() &&
                          character.order.kind == Order::Kind::unclear;
  json["order"] = is_integer ? ordered_json(nullptr) : ordered_json(order_text(report));
  json["steps"] = ordered_json::array();
  if (character.order.kind == Order::Kind::steps) {
    const std::vector<const Step*> steps = steps_in_order(character.order.last_step);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      json["steps"].push_back(step_json(*steps[i], character.rounding[i], accumulator_of(report)));
    }
  }
  json["traits"] = ordered_json::object();
  for (const Trait& trait : character.traits) json["traits"][trait.what] = trait.answer;
  json["models"] = ordered_json::object();
  for (const Fit& fit : report.fits) {
    json["models"][fit.model] = {{"results", fit.results}, {"differences", fit.differences}};
    json["models"][fit.model]["first"] = fit.first.empty() ? ordered_json(nullptr) : ordered_json(fit.first);
  }
  return json;
}

}  // namespace

std::string text(const FormReport& report) {
  std::string text = report.named.text + "\n";
  if (!report.unsupported.empty()) return text + "  not executed: " + report.unsupported + "\n";
  const Character& character = report.character;
  const bool is_integer = report.named.form.d == emulator::ptx::Type::s32;
  if (!is_integer) text += "  order     " + order_text(report) + "\n";
  for (std::size_t i = 0; i < character.rounding.size(); ++i) {
    if (i > 0 && character.rounding[i] == character.rounding[i - 1]) continue;
    text += "  " + std::string(i == 0 ? "rounding  " : "then      ") + rounding_text(character.rounding[i]) +
            "\n";
  }
  for (const Trait& trait : character.traits) text += "  " + trait.what + ": " + trait.answer + "\n";
  text += "  models   ";
  for (const Fit& fit : report.fits) {
    text += " " + fit.model +
            (fit.differences == 0 ? " fits" : " differs in " + std::to_string(fit.differences)) +
            (&fit == &report.fits.back() ? "" : ",");
  }
  return text + " (of " + std::to_string(report.fits.front().results) + " results)\n";
}

std::string verdict(const Examination& examination) {
  const std::vector<std::string> fitting = fitting_models(examination.forms);
  std::uint64_t executed = 0, results = 0;
  for (const FormReport& report : examination.forms) {
    if (report.fits.empty()) continue;
    ++executed;
    results += report.fits.front().results;
  }
  const std::string all = std::to_string(results) + " results of " + std::to_string(executed) + " forms";
  std::string text;
  if (fitting.empty()) {
    text = "no model of the emulator is the arithmetic of " + examination.subject + ":\n";
    std::vector<std::string> seen;
    for (const FormReport& report : examination.forms) {
      for (const Fit& fit : report.fits) {
        if (fit.differences == 0 || std::find(seen.begin(), seen.end(), fit.model) != seen.end()) continue;
        seen.push_back(fit.model);
        text += "  " + fit.model + " differs first in " + report.named.text + ", " + fit.first + "\n";
      }
    }
    if (executed == 0) text = "no form was executed\n";
    return text;
  }
  for (const std::string& model : fitting) text += (text.empty() ? "" : ", ") + model;
  text +=
      fitting.size() == 1 ? " is the arithmetic of " : " (the same on these forms) are the arithmetic of ";
  return text + examination.subject + ": equal in all " + all + "\n";
}

ordered_json to_json(const Examination& examination) {
  ordered_json json = {{"device", examination.subject},
                       {"sm", examination.sm},
                       {"seed", examination.sampling.seed},
                       {"results_per_form", examination.sampling.results},
                       {"fits", fitting_models(examination.forms)},
                       {"forms", ordered_json::array()}};
  for (const FormReport& report : examination.forms) json["forms"].push_back(form_json(report));
  return json;
}

}  // namespace tenon::probing
