// Mutations of PTX text that usually keep it PTX: they drop, double, move or import lines, and exchange words
// for words of the same kind. Mutations of single bytes rarely pass the decoder.
#pragma once

#include <random>
#include <string>

namespace tenon::emulator::fuzz {

using Random = std::mt19937_64;

// One to four changes; `donor` may be empty. At most `most` characters.
std::string mutate(const std::string& text, const std::string& donor, std::size_t most, Random& random);

}  // namespace tenon::emulator::fuzz
