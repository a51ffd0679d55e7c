// The structs of tenon.h as programs hand them over, compiled with the header of this library or an older
// one: their first member says how many bytes they have (c_types.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "host/c_api_types.hpp"
#include "tenon/tenon.h"

namespace tenon::c_api {

// Of a struct that is handed over: its name, that of the argument, and the bytes that it had in version 0.2,
// the oldest that a library of today serves.
struct Abi {
  const char *name, *argument;
  std::size_t oldest_bytes;
};
template <class T>
inline constexpr Abi abi{};
template <>
inline constexpr Abi abi<tenon_gemm_problem>{"tenon_gemm_problem", "problem", 456};
template <>
inline constexpr Abi abi<tenon_gemm_pointers>{"tenon_gemm_pointers", "pointers", 128};
template <>
inline constexpr Abi abi<tenon_gemm_grouped_problem>{"tenon_gemm_grouped_problem", "problem", 264};
template <>
inline constexpr Abi abi<tenon_gemm_batch>{"tenon_gemm_batch", "batch", 80};
template <>
inline constexpr Abi abi<tenon_scaled_gemm_problem>{"tenon_scaled_gemm_problem", "problem", 208};
template <>
inline constexpr Abi abi<tenon_quantize_problem>{"tenon_quantize_problem", "problem", 144};
template <>
inline constexpr Abi abi<tenon_sliced_gemm_problem>{"tenon_sliced_gemm_problem", "problem", 136};
template <>
inline constexpr Abi abi<tenon_attention_problem>{"tenon_attention_problem", "problem", 464};
template <>
inline constexpr Abi abi<tenon_attention_backward_problem>{"tenon_attention_backward_problem", "problem",
                                                           200};

inline bool is_zero(const void* data, std::size_t bytes) noexcept {
  const auto* const first = static_cast<const unsigned char*>(data);
  return std::all_of(first, first + bytes, [](unsigned char byte) { return byte == 0; });
}

// Whether the fields that this library does not know are 0: those
// of the structs inside it.
template <class... Inner>
bool are_zero(const Inner&... inner) noexcept {
  return (is_zero(inner.reserved, sizeof inner.reserved) && ...);
}
template <class T>
bool reserved_are_zero(const T&) noexcept {
  static_assert(std::is_same_v<T, tenon_gemm_pointers> || std::is_same_v<T, tenon_gemm_batch> ||
                    std::is_same_v<T, tenon_sliced_gemm_problem>,
                "a struct with others inside it needs a function of its own");
  return true;
}
inline bool reserved_are_zero(const tenon_gemm_problem& p) noexcept {
  const tenon_epilogue& e = p.epilogue;
  return are_zero(p.a, p.b, p.c, p.d, e, e.bias, e.row_bias, e.aux);
}
inline bool reserved_are_zero(const tenon_gemm_grouped_problem& p) noexcept {
  return are_zero(p.a, p.b, p.c, p.scale_a, p.scale_b);
}
inline bool reserved_are_zero(const tenon_scaled_gemm_problem& p) noexcept {
  return are_zero(p.a, p.b, p.c, p.scale_a, p.scale_b);
}
inline bool reserved_are_zero(const tenon_quantize_problem& p) noexcept {
  return are_zero(p.x, p.up, p.q);
}
inline bool reserved_are_zero(const tenon_attention_problem& p) noexcept {
  return are_zero(p.q, p.k, p.v, p.o, p.q_scales, p.k_scales, p.v_scales) && p.pages.reserved == 0;
}
inline bool reserved_are_zero(const tenon_attention_backward_problem& p) noexcept {
  return are_zero(p.d_o, p.dq, p.dk, p.dv);
}

// *to: the struct at `from`; what an older header does not have stays 0. argument: where it was found.
template <class T>
Status read(const T* from, T* to, const char* argument = abi<T>.argument) noexcept {
  static_assert(
      abi<T>.oldest_bytes != 0 && sizeof(T) >= abi<T>.oldest_bytes && offsetof(T, struct_bytes) == 0,
      "a struct of the C API may only grow, at its end");
  const char* const name = abi<T>.name;
  if (from == nullptr)
    return Status(StatusCode::invalid_argument, "%s is a null pointer but must point to a %s", argument,
                  name);
  const std::size_t bytes = from->struct_bytes;
  constexpr std::size_t most = 1 << 16;  // so much no struct will have: it was not initialised
  if (bytes < abi<T>.oldest_bytes || bytes > most)
    return Status(StatusCode::invalid_argument,
                  "struct_bytes of %s is %zu but must be the size of the struct, %zu in this version: start "
                  "from %s_default()",
                  name, bytes, sizeof(T), name);
  *to = T{};
  std::memcpy(static_cast<void*>(to), from, std::min(bytes, sizeof(T)));
  if ((bytes > sizeof(T) && !is_zero(reinterpret_cast<const char*>(from) + sizeof(T), bytes - sizeof(T))) ||
      !reserved_are_zero(*to))
    return Status(StatusCode::unsupported,
                  "a field of %s is set that version %d.%d.%d of the library does not know: it must be 0, or "
                  "the library newer",
                  name, TENON_VERSION_MAJOR, TENON_VERSION_MINOR, TENON_VERSION_PATCH);
  return {};
}

// Writes the defaults to a struct that has so many bytes in the program.
template <class T>
void initialise(T* to, std::size_t struct_bytes, T defaults) noexcept {
  if (to == nullptr || struct_bytes < sizeof struct_bytes) return;
  defaults.struct_bytes = struct_bytes;
  std::memset(static_cast<void*>(to), 0, struct_bytes);
  std::memcpy(static_cast<void*>(to), &defaults, std::min(struct_bytes, sizeof(T)));
}

}  // namespace tenon::c_api
