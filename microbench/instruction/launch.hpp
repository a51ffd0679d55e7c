// The parameters and the time stamps of every kernel of the instruction benchmark: the C++ side of
// kernels/frame.py.
#pragma once

#include <cstdint>

namespace tenon::microbench::instruction {

struct Arguments {
  std::uint64_t stamps = 0, data = 0, sink = 0, source = 0, window = 0, start = 0;
  std::uint32_t trips = 1, stride = 0, bytes = 0, stages = 0, hop = 0;
  struct alignas(64) Map {
    std::uint8_t bytes[128] = {};
  } map;
};

// The stamps of one warp.
struct Stamp {
  std::uint64_t begin, end;        // cycles of the SM
  std::uint64_t ns_begin, ns_end;  // %globaltimer
  std::uint32_t sm;
  std::uint32_t failed;  // a wait timed out: the stamps are invalid
  std::uint64_t unused[3];
};
static_assert(sizeof(Stamp) == 64, "kernels write 64 bytes a warp");

constexpr std::uint32_t data_bytes = 256 * 1024;  // size of the operands
constexpr std::uint32_t row_bytes = 128;  // row size of the tensor map: its box is bytes / row_bytes rows

}  // namespace tenon::microbench::instruction
