// The study of `tenon precision`: the errors of square products of f32 operands, by size and method.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace tenon::command {

// The operands: N(0, 1), or positive, uniform in [0, 1), where all partial sums grow.
enum class StudyNumbers { normal, uniform };

struct StudyRow {
  std::int64_t size = 0;
  std::string method;
  std::optional<std::string> kernel;  // of the library; none for f32
  double max_error = 0.0;             // the largest |computed - exact| of the elements that were looked at
  double relative_error = 0.0;        // of their Frobenius norm
  bool within_tolerance = true;       // every element: |computed - exact| <= atol + rtol |exact|
  std::optional<double> ms;           // on a GPU
};

struct StudyOptions {
  std::int64_t smallest = 64, largest = 256;  // powers of two
  StudyNumbers numbers = StudyNumbers::normal;
  std::uint64_t seed = 1;
};

// The tolerance of tensor-core products.
constexpr double study_rtol = 5e-2, study_atol = 1e-2;

// The methods, by decreasing precision:
//   f32      a loop of FP32 fused multiply-adds in the order of k, as the reference kernels on CUDA cores
//   bf16x6 ... bf16   Gemm::precision
//   f16_f16  operands rounded to f16, accumulators in f16
const std::vector<std::string>& study_methods();

// Sizes in increasing order, in each the methods. Elements of up to 64 rows and columns are compared with
// FP64. Throws Failure where the device cannot.
std::vector<StudyRow> precision_study(Device& device, const StudyOptions& options);

// The first size from which on every row of a method is outside the tolerance.
std::optional<std::int64_t> breaks_down_at(const std::vector<StudyRow>& rows, const std::string& method);

}  // namespace tenon::command
