// Turns the options of `tenon tune` into problems, and finds the kernels that compete for a problem.
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

// Parses "4096" (a cube) or "m:n:k", or several of them separated by commas. Other text is refused
// (bad_input) with a sentence that begins with `where`.
std::vector<TuneShape> parse_tune_shapes(const std::string& where, const std::string& text);

// Reads shapes from a file: one on each line, or several separated by commas; # begins a comment.
std::vector<TuneShape> read_tune_shapes(const std::string& path);

struct TuneTypes {
  std::string operands = "f16";                 // "bf16", or "e4m3:e5m2" for A and B; several by comma
  std::string layouts = "tn";                   // tn, nn, tt, nt; several by comma
  std::string accumulate = "f32", out = "f32";  // for s8 always s32
  bool promote = false;
};

// Every shape with all types and layouts, without duplicates: dense, without pointers, valid by
// validate_shape().
std::vector<Gemm> tune_problems(const std::vector<TuneShape>& shapes, const TuneTypes& types);

// "64 x 4096 x 4096"; "bf16 -> f32", "e4m3 x e5m2 -> bf16, promoted"; "tn".
std::string shape_text(const Gemm& problem);
std::string types_text(const Gemm& problem);
std::string layout_text(const Gemm& problem);

// The kernels that a tuning table can make gemm() run for the problem with all the workspace that they can
// use, the documented choice first. Empty, with the reason in *why, if no kernel computes the problem on the
// device.
std::vector<const Kernel*> tune_candidates(const std::vector<Kernel>& list, const Gemm& problem,
                                           const DeviceDescription& device, Status* why);

}  // namespace tenon::command
