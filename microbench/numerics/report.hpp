// The findings, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "microbench/numerics/characterise.hpp"

namespace tenon::probing {

struct Examination {
  std::string subject;  // "NVIDIA H200"
  int sm = 0;
  Sampling sampling;
  std::vector<FormReport> forms;
};

// A few lines for each form: order, rounding of each kind of step, traits, and the models with their
// differences.
std::string text(const FormReport& report);
// The models that fit all forms, or the first difference of each.
std::string verdict(const Examination& examination);
// {device, sm, seed, results_per_form, fits, forms: [{form, order, steps, traits, arithmetic, models}]}; what
// was not observed is null.
nlohmann::ordered_json to_json(const Examination& examination);

}  // namespace tenon::probing
