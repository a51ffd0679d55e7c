// Checks a BatchedGemm by itself, as validate.hpp does a Gemm. Pure functions.
#pragma once

#include "host/validate.hpp"
#include "tenon/gemm_batched.hpp"

namespace tenon {

// ok, or StatusCode::invalid_argument (unsupported for types and sizes) with a sentence that names the value
// found and the value needed. The pointers of lists are not known here, nor what they point to.
Status validate(const BatchedGemm& batch) noexcept;

}  // namespace tenon
