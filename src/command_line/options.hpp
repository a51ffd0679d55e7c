// What the values of options must be, beyond what CLI11 checks. A wrong one is refused with a sentence that
// names the value found and the value needed.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace tenon::command {

// Decimal digits: 010 is ten, as people and `seq -w` write it; 1e3, 0x10 and what is out of range are
// refused.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);
// The same from 0 to 2^64 - 1.
CLI::Validator seed_number();

// A number that float holds: 1e50, which would become infinite, and 1e-50, which would become 0, are refused;
// nan, inf and -inf are themselves.
CLI::Validator float_number();
CLI::Validator number_within(double least, double most);

// Sizes m, n and k, and leading dimensions. The library itself refuses values that it cannot take.
CLI::Validator matrix_size();
CLI::Validator leading_dimension();

// Names of the types of C and of the accumulators, and of layouts, A then B.
CLI::Validator output_type();
CLI::Validator sum_type();
CLI::Validator layout_name();

// Every option of every command that takes a value refuses two mistakes: an empty value, as of an empty
// variable in a script, which is neither a 0 nor an option that was left out; and one that is an option
// itself, because the value before it was forgotten (`--out --json` would write a file named --json).
void refuse_mistaken_values(CLI::App& application);

}  // namespace tenon::command
