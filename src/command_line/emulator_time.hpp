// How long the emulator takes for a product: announced, or refused, before it starts.
#pragma once

#include <string>

#include "gemm/kernel.hpp"
#include "tenon/gemm.hpp"

namespace tenon::command {

// About how many seconds of CPU time the kernel takes: it multiplies whole tiles, however little of them lies
// in C.
double emulator_seconds(const Gemm& problem, const Kernel& kernel) noexcept;

// "34 minutes", "3 days": two digits or three.
std::string duration_text(double seconds);

// Tells on stderr what takes longer than 20 seconds; throws Failure(machine_cannot) for more than a day.
void announce_emulator_time(const Gemm& problem, const Kernel& kernel);

}  // namespace tenon::command
