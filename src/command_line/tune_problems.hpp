// What `tenon tune` is asked for, from text to problems, and which kernels compete for one.
//
// Pure: no CUDA call; the kernel list and the device are arguments.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gemm/kernel.hpp"
#include "tenon/gemm.hpp"

namespace tenon::command {

struct TuneShape {
  std::int64_t m, n, k;
};

// "4096" (a cube) or "m:n:k", several by comma. What is no shape is refused (bad_input), `where` in front.
std::vector<TuneShape> parse_tune_shapes(const std::string& where, const std::string& text);

// The shapes of a file: one a line, or several by comma; what follows # is a comment.
std::vector<TuneShape> read_tune_shapes(const std::string& path);

struct TuneTypes {
  std::string operands = "f16";                 // "bf16", or of A and B "e4m3:e5m2"; several by comma
  std::string layouts = "tn";                   // tn, nn, tt, nt; several by comma
  std::string accumulate = "f32", out = "f32";  // s8 has but one of each, s32, whatever stands here
  bool promote = false;
};

// Every shape with all types and layouts, each once: dense, without pointers, valid by validate_shape().
std::vector<Gemm> tune_problems(const std::vector<TuneShape>& shapes, const TuneTypes& types);

// "64 x 4096 x 4096"; "bf16 -> f32", "e4m3 x e5m2 -> bf16, promoted"; "tn".
std::string shape_text(const Gemm& problem);
std::string types_text(const Gemm& problem);
std::string layout_text(const Gemm& problem);

// The kernels that a tuning table can make gemm() run for the problem, with as much workspace as helps; the
// documented choice first. None, and why, where no kernel computes the problem on the device.
std::vector<const Kernel*> tune_candidates(const std::vector<Kernel>& list, const Gemm& problem,
                                           const DeviceDescription& device, Status* why);

}  // namespace tenon::command
