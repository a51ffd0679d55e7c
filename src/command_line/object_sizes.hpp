// What each object of the compiled library takes, read from its archive by object_sizes.py when it is built.
#pragma once

#include <cstddef>

namespace tenon::command {

struct ObjectSize {
  const char* name;  // of the source, without extension; KernelSource::name if it holds kernels
  std::size_t bytes;
};

extern const ObjectSize object_sizes[];
extern const std::size_t object_count;

}  // namespace tenon::command
