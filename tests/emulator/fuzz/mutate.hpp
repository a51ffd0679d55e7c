// Changes of PTX text that mostly leave it PTX: lines are dropped, doubled, moved or taken from another text,
// words exchanged for words of their kind. Mutations of bytes alone rarely come past the decoder.
#pragma once

#include <random>
#include <string>

namespace tenon::emulator::fuzz {

using Random = std::mt19937_64;

// One to four changes; `donor` may be empty. At most `most` characters.
std::string mutate(const std::string& text, const std::string& donor, std::size_t most, Random& random);

}  // namespace tenon::emulator::fuzz
