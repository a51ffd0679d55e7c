#include "command_line/emulator_time.hpp"

#include <cmath>
#include <cstdio>

#include "command_line/exit_status.hpp"

namespace tenon::command {
namespace {

constexpr double products_in_a_second = 2.5e8;  // of wgmma kernels with findings, on one core
constexpr double worth_telling = 20, too_long = 24 * 3600;

double in_whole_tiles(std::int64_t extent, int tile) {
  return std::ceil(static_cast<double>(extent) / tile) * tile;
}

}  // namespace

double emulator_seconds(const Gemm& problem, const Kernel& kernel) noexcept {
  return in_whole_tiles(problem.m, kernel.tile_m) * in_whole_tiles(problem.n, kernel.tile_n) *
         in_whole_tiles(problem.k, kernel.tile_k) / products_in_a_second;
}

std::string duration_text(double seconds) {
  const struct {
    double seconds;
    const char* name;
  } units[] = {{86400, "days"}, {3600, "hours"}, {60, "minutes"}, {1, "seconds"}};
  char text[40];
  for (const auto& unit : units) {
    if (seconds < 2 * unit.seconds && unit.seconds > 1) continue;
    std::snprintf(text, sizeof text, "%.0f %s", std::ceil(seconds / unit.seconds), unit.name);
    break;
  }
  return text;
}

void announce_emulator_time(const Gemm& problem, const Kernel& kernel) {
  const double seconds = emulator_seconds(problem, kernel);
  if (seconds < worth_telling) return;
  const std::string sentence =
      "the emulator will take about " + duration_text(seconds) + " of CPU time for this product";
  if (seconds > too_long) {
    throw Failure(Exit::machine_cannot,
                  sentence + ", but does only what it can do in a day: a smaller product or a GPU is needed");
  }
  std::fprintf(stderr, "tenon: %s\n", sentence.c_str());
}

}  // namespace tenon::command
