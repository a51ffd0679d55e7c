// What the printf of kernels has written: as much as the output buffer of a device holds, 1 MiB. Of more, the
// first part is kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace tenon::emulator {

struct Printed {
  static constexpr std::size_t most_bytes = std::size_t{1} << 20;

  std::string text;
  std::uint64_t lost = 0;  // bytes that were written and are not in the text

  void add(const std::string& more) {
    const std::size_t kept = std::min(more.size(), most_bytes - text.size());
    text.append(more, 0, kept);
    lost += more.size() - kept;
  }
};

}  // namespace tenon::emulator
