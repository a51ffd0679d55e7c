// libFuzzer's entry to launch_anything, with mutations that know PTX. See CMakeLists.txt for how to run it.
#include <cstdint>
#include <cstring>

#include "emulator/fuzz/anything.hpp"
#include "emulator/fuzz/mutate.hpp"

using namespace tenon::emulator::fuzz;

namespace {

std::string text_of(const std::uint8_t* data, std::size_t size) {
  return std::string(reinterpret_cast<const char*>(data), size);
}

std::size_t put(const std::string& text, std::uint8_t* to, std::size_t most) {
  const std::size_t size = text.size() < most ? text.size() : most;
  std::memcpy(to, text.data(), size);
  return size;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  launch_anything(text_of(data, size));
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned int seed) {
  Random random(seed);
  if (random() % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  return put(mutate(text_of(data, size), "", most, random), data, most);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second, std::size_t second_size,
                                                 std::uint8_t* to, std::size_t most, unsigned int seed) {
  Random random(seed);
  return put(mutate(text_of(first, first_size), text_of(second, second_size), most, random), to, most);
}
