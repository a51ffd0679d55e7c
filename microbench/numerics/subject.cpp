#include "microbench/numerics/subject.hpp"

#include <cstring>

namespace tenon::probing {

using emulator::numerics::Mma;
using emulator::numerics::Registers;

void OperandArray::put(std::size_t set, const std::uint64_t (*from)[32]) {
  char* to = data_.data() + set * set_bytes();
  for (int i = 0; i < registers_ * 32; ++i, to += bytes_) {
    std::memcpy(to, &from[i / 32][i % 32], static_cast<std::size_t>(bytes_));
  }
}

void OperandArray::get(std::size_t set, std::uint64_t (*to)[32]) const {
  const char* from = data_.data() + set * set_bytes();
  for (int i = 0; i < registers_ * 32; ++i, from += bytes_) {
    to[i / 32][i % 32] = 0;
    std::memcpy(&to[i / 32][i % 32], from, static_cast<std::size_t>(bytes_));
  }
}

OperandArrays::OperandArrays(const Mma& mma, const std::vector<Registers>& sets)
    : a(mma.a(), sets.size()),
      b(mma.b(), sets.size()),
      c(mma.c(), sets.size()),
      metadata(1, 4, sets.size()),
      d(mma.d(), sets.size()) {
  for (std::size_t i = 0; i < sets.size(); ++i) {
    a.put(i, sets[i].a);
    b.put(i, sets[i].b);
    c.put(i, sets[i].c);
    metadata.put(i, &sets[i].metadata);
  }
}

void OperandArrays::take_results(std::vector<Registers>& sets) const {
  for (std::size_t i = 0; i < sets.size(); ++i) d.get(i, sets[i].d);
}

}  // namespace tenon::probing
