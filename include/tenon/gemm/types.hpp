// The words with which a product is described. Plain C++17.
#pragma once

#include <cstddef>

namespace tenon {

enum class Type : int { f16 = 0, bf16 = 1, f32 = 2 };
enum class Order : int { row_major = 0, column_major = 1 };
inline constexpr Order row_major = Order::row_major;
inline constexpr Order column_major = Order::column_major;

constexpr const char* name(Type type) noexcept {
  return type == Type::f16 ? "f16" : type == Type::bf16 ? "bf16" : "f32";
}
constexpr std::size_t bytes(Type type) noexcept {
  return type == Type::f32 ? 4 : 2;
}

}  // namespace tenon
