// Checks a GroupedGemm by itself: sizes, pointers, leading dimensions, types, alignment, overlap. As
// validate.hpp.
#pragma once

#include "tenon/gemm_grouped.hpp"

namespace tenon {

Status validate(const GroupedGemm& problem) noexcept;

}  // namespace tenon
