// A tuning table as text: one JSON object, which `tenon tune` writes with one entry per line.
//
//   {"tenon_tuning": 1, "device": "NVIDIA H200", "sm": 90, "multiprocessors": 132,
//    "version": "0.1.0", "commit": "c7689bf", "toolkit": "CUDA 13.0, driver for CUDA 13.0", "entries": [
//   {"a": "bf16", "b": "bf16", "accumulate": "f32", "c": "f32", "promote": false, "layout": "tn",
//    "m": 64, "n": 4096, "k": 4096, "kernel": "wgmma_bf16_f32_tn_64x64x64_s12_splitk2", "microseconds": 8.01,
//    "documented": "wgmma_bf16_f32_tn_64x128x64_s8_splitk2", "documented_microseconds": 9.45}
//   ]}
//
// Members may come in any order, with white space wherever JSON permits it. Strings are printable ASCII.
// version, commit and toolkit may be missing. An unknown member is refused, since it may be a misspelt one.
#pragma once

#include <cstddef>
#include <string>

#include "host/tuning_table.hpp"
#include "tenon/status.hpp"

namespace tenon {

// Returns ok, or invalid_argument with a sentence that begins with `where` (a path) and the line. Terminates
// for any text and reads only its `size` bytes. Throws nothing but std::bad_alloc.
Status read_tuning(const char* where, const char* text, std::size_t size, TuningTable* table);

// Text that read_tuning() reads back as the same table. Characters that are not printable ASCII become '?'.
std::string write_tuning(const TuningTable& table);

}  // namespace tenon
