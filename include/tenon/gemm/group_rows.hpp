// Which rows belong to which group, read from device memory: the groups of a grouped product have sizes that
// only the device knows. Two descriptions are one here:
//
//   contiguous rows   begins = offsets, ends = offsets + 1 word, pitch = 0: group g is rows offsets[g] up to
//                     offsets[g + 1] of one matrix
//   masked            begins = null, ends = rows of each group, pitch = capacity: group g is the first
//                     ends[g] rows of the g-th buffer of `capacity` rows
//
// Nothing that stands in the words can make a kernel leave its buffers: a group whose rows leave them, or
// overlap those of an earlier group, has no rows, and is reported. Plain C++17. Below:
// fragment/host_device.hpp.
#pragma once

#include "tenon/fragment/host_device.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// Rows begin to end - 1.
struct RowRange {
  int begin, end;
  bool valid;  // if not, the range is empty
};

struct GroupRows {
  const void* begins;  // of each group, counted from its buffer's first row; null: 0
  const void* ends;
  bool words_of_64;  // whether the words have 64 bits, else 32
  int groups;
  int pitch;  // rows from one group's buffer to the next; 0: all groups lie in one buffer
  int limit;  // rows of a buffer

  // The rows of group g. reached: where the last valid group before it ended; counted up.
  TENON_HOST_DEVICE RowRange of(int g, int& reached) const {
    const int begin = begins == nullptr ? 0 : word(begins, g), end = word(ends, g);
    const int base = g * pitch;
    const bool valid = begin >= 0 && begin <= end && end <= limit && base + begin >= reached;
    if (!valid) return {reached, reached, false};
    reached = base + end;
    return {base + begin, base + end, true};
  }

 private:
  // -1 for a number that 32 bits do not hold.
  TENON_HOST_DEVICE int word(const void* words, int g) const {
    if (!words_of_64) return static_cast<const std::int32_t*>(words)[g];
    const std::int64_t value = static_cast<const std::int64_t*>(words)[g];
    return value == static_cast<std::int32_t>(value) ? static_cast<int>(value) : -1;
  }
};

}  // namespace tenon
