// What headers with device code use of the C++ standard library. NVRTC compiles without the host's headers:
// there, within namespace tenon, `std` is the namespace below, whose definitions follow the C++17 standard.
// The toolkit has them all as cuda::std, but NVRTC takes 0.5 s to parse those headers, a sixth of what it
// takes to compile a GEMM. A program with `using namespace tenon` writes ::std for any other std.
// For host and device.
#pragma once

#include "tenon/ptx/cpp17.hpp"

#if !defined(__CUDACC_RTC__)
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#else

namespace tenon::std {

using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned int;
using int64_t = long long;
using uint64_t = unsigned long long;
using size_t = decltype(sizeof 0);
using ptrdiff_t = decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr));
using uintptr_t = size_t;

using ::memcpy;

template <class T, T constant>
struct integral_constant {
  static constexpr T value = constant;
};
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;

template <class T, class U>
inline constexpr bool is_same_v = false;
template <class T>
inline constexpr bool is_same_v<T, T> = true;
template <class T, class U>
struct is_same : integral_constant<bool, is_same_v<T, U> > {};
template <class T>
inline constexpr bool is_empty_v = __is_empty(T);

template <bool condition, class T, class U>
struct conditional {
  using type = T;
};
template <class T, class U>
struct conditional<false, T, U> {
  using type = U;
};
template <bool condition, class T, class U>
using conditional_t = typename conditional<condition, T, U>::type;

template <class...>
using void_t = void;

template <class T>
T&& declval() noexcept;

// Of a type that is passed by value: what a parameter of that type becomes.
template <class T>
struct by_value {
  using type = T;
};
template <class T>
struct by_value<T&> : by_value<T> {};
template <class T>
struct by_value<T&&> : by_value<T> {};
template <class T>
struct by_value<const T> : by_value<T> {};
template <class T>
using decay_t = typename by_value<T>::type;

template <class T>
void accept(T) noexcept;
template <class, class R, class F, class... Arguments>
inline constexpr bool is_invocable_with = false;
template <class R, class F, class... Arguments>
inline constexpr bool is_invocable_with<void_t<decltype(accept<R>(declval<F>()(declval<Arguments>()...)))>, R,
                                        F, Arguments...> = true;
template <class, class F, class... Arguments>
inline constexpr bool is_invocable_at_all = false;
template <class F, class... Arguments>
inline constexpr bool
    is_invocable_at_all<void_t<decltype(declval<F>()(declval<Arguments>()...))>, F, Arguments...> = true;
template <class F, class... Arguments>
inline constexpr bool is_invocable_v = is_invocable_at_all<void, F, Arguments...>;
template <class R, class F, class... Arguments>
inline constexpr bool is_invocable_r_v = is_invocable_with<void, R, F, Arguments...>;

template <size_t...>
struct index_sequence {};
template <size_t count, size_t... indices>
struct index_sequence_to : index_sequence_to<count - 1, count - 1, indices...> {};
template <size_t... indices>
struct index_sequence_to<0, indices...> {
  using type = index_sequence<indices...>;
};
template <class... T>
using index_sequence_for = typename index_sequence_to<sizeof...(T)>::type;

template <class T>
struct numeric_limits;
template <>
struct numeric_limits<int> {
  static constexpr int max() noexcept { return 0x7fffffff; }
};
template <>
struct numeric_limits<float> {
  static constexpr float infinity() noexcept { return __builtin_bit_cast(float, 0x7f800000); }
};

}  // namespace tenon::std

#endif
