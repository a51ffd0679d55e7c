// The integer instructions as pure functions on registers (PTX ISA 9.7.1, 9.7.7). Operation::run<T> is the
// instruction for operands of type T. Registers are zero-extended.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace tenon::emulator::integer {

using Bits = std::uint64_t;

template <class T>
constexpr int bits_in = std::numeric_limits<std::make_unsigned_t<T>>::digits;

template <class T>
constexpr Bits to_bits(T value) {
  return static_cast<std::make_unsigned_t<T>>(value);
}
template <class T>
constexpr T from_bits(Bits bits) {
  return static_cast<T>(bits);
}

// Arithmetic modulo 2^64 serves all narrower types too, whose results are truncated.
template <class T>
constexpr Bits low(Bits value) {
  return to_bits<T>(from_bits<T>(value));
}

inline std::int32_t clamp_to_s32(std::int64_t value) {
  if (value < std::numeric_limits<std::int32_t>::min()) return std::numeric_limits<std::int32_t>::min();
  if (value > std::numeric_limits<std::int32_t>::max()) return std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(value);
}

struct Add {
  template <class T>
  static Bits run(Bits a, Bits b) {
    return low<T>(a + b);
  }
};
struct Subtract {
  template <class T>
  static Bits run(Bits a, Bits b) {
    return low<T>(a - b);
  }
};
inline Bits add_saturated(Bits a, Bits b) {
  return to_bits(clamp_to_s32(std::int64_t{from_bits<std::int32_t>(a)} + from_bits<std::int32_t>(b)));
}
inline Bits subtract_saturated(Bits a, Bits b) {
  return to_bits(clamp_to_s32(std::int64_t{from_bits<std::int32_t>(a)} - from_bits<std::int32_t>(b)));
}

// The upper half of a product.
inline Bits multiply_high_u64(Bits a, Bits b) {
  const Bits half = 0xffffffff;
  const Bits a0 = a & half, a1 = a >> 32, b0 = b & half, b1 = b >> 32;
  const Bits middle = (a0 * b0 >> 32) + (a0 * b1 & half) + a1 * b0;
  return a1 * b1 + (a0 * b1 >> 32) + (middle >> 32);
}
template <class T>
Bits multiply_high(Bits a, Bits b) {
  if constexpr (bits_in<T> == 64) {
    Bits high = multiply_high_u64(a, b);
    if constexpr (std::is_signed_v<T>) {  // a negative factor counts 2^64 too much
      if (from_bits<T>(a) < 0) high -= b;
      if (from_bits<T>(b) < 0) high -= a;
    }
    return high;
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    return low<T>(static_cast<Bits>(Wide{from_bits<T>(a)} * Wide{from_bits<T>(b)}) >> bits_in<T>);
  }
}
struct MultiplyLow {
  template <class T>
  static Bits run(Bits a, Bits b) {
    return low<T>(a * b);
  }
};
struct MultiplyHigh {
  template <class T>
  static Bits run(Bits a, Bits b) {
    return multiply_high<T>(a, b);
  }
};
// Twice as wide as its operands: 16 -> 32, 32 -> 64 bits.
struct MultiplyWide {
  template <class T>
  static Bits run(Bits a, Bits b) {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    const Bits product = static_cast<Bits>(static_cast<Wide>(from_bits<T>(a))) *
                         static_cast<Bits>(static_cast<Wide>(from_bits<T>(b)));
    return bits_in<T> == 16 ? product & 0xffffffff : product;
  }
};
template <class Multiply>
struct MultiplyAdd {
  template <class T>
  static Bits run(Bits a, Bits b, Bits c) {
    return low<T>(Multiply::template run<T>(a, b) + c);
  }
};
struct MultiplyAddWide {
  template <class T>
  static Bits run(Bits a, Bits b, Bits c) {
    const Bits sum = MultiplyWide::run<T>(a, b) + c;
    return bits_in<T> == 16 ? sum & 0xffffffff : sum;
  }
};
inline Bits multiply_add_high_saturated(Bits a, Bits b, Bits c) {
  return add_saturated(multiply_high<std::int32_t>(a, b), c);
}

// mul24: the operands are the low 24 bits. .lo gives the lower 32 of the product's 48 bits, .hi the upper 32.
template <class T>
Bits product24(Bits a, Bits b) {
  const auto extended = [](Bits bits) {
    const auto value = from_bits<T>(bits << 8);
    return static_cast<std::int64_t>(value) >> 8;
  };
  return static_cast<Bits>(extended(a) * extended(b));
}
struct Multiply24Low {
  template <class T>
  static Bits run(Bits a, Bits b) {
    return low<T>(product24<T>(a, b));
  }
};
struct Multiply24High {
  template <class T>
  static Bits run(Bits a, Bits b) {
    return low<T>(product24<T>(a, b) >> 16);
  }
};
inline Bits multiply_add24_high_saturated(Bits a, Bits b, Bits c) {
  return add_saturated(Multiply24High::run<std::int32_t>(a, b), c);
}

// Division by zero gives all ones, as in the code that ptxas generates; so does the remainder.
struct Divide {
  template <class T>
  static Bits run(Bits a, Bits b) {
    const T x = from_bits<T>(a), y = from_bits<T>(b);
    if (y == 0) return low<T>(~Bits{0});
    if constexpr (std::is_signed_v<T>) {
      if (y == -1) return low<T>(Bits{0} - a);  // the smallest integer is its own negation
    }
    return to_bits<T>(static_cast<T>(x / y));
  }
};
struct Remainder {
  template <class T>
  static Bits run(Bits a, Bits b) {
    const T x = from_bits<T>(a), y = from_bits<T>(b);
    if (y == 0) return low<T>(~Bits{0});
    if constexpr (std::is_signed_v<T>) {
      if (y == -1) return 0;
    }
    return to_bits<T>(static_cast<T>(x % y));
  }
};

struct AbsoluteDifferenceAdd {
  template <class T>
  static Bits run(Bits a, Bits b, Bits c) {
    return low<T>((from_bits<T>(a) < from_bits<T>(b) ? b - a : a - b) + c);
  }
};
struct Absolute {
  template <class T>
  static Bits run(Bits a) {
    return low<T>(from_bits<T>(a) < 0 ? Bits{0} - a : a);
  }
};
struct Negate {
  template <class T>
  static Bits run(Bits a) {
    return low<T>(Bits{0} - a);
  }
};
struct Minimum {
  template <class T>
  static Bits run(Bits a, Bits b) {
    return from_bits<T>(a) < from_bits<T>(b) ? a : b;
  }
};
struct Maximum {
  template <class T>
  static Bits run(Bits a, Bits b) {
    return from_bits<T>(a) > from_bits<T>(b) ? a : b;
  }
};
// .relu: a negative result becomes 0.
template <class Operation>
struct Rectified {
  template <class T>
  static Bits run(Bits a, Bits b) {
    const Bits result = Operation::template run<T>(a, b);
    return from_bits<T>(result) < 0 ? 0 : result;
  }
};
// .u16x2, .s16x2
template <class Operation, class T>
Bits run_packed(Bits a, Bits b) {
  return Operation::template run<T>(a & 0xffff, b & 0xffff) | Operation::template run<T>(a >> 16, b >> 16)
                                                                  << 16;
}

// --- bits

struct And {
  template <class T>
  static Bits run(Bits a, Bits b) {
    return a & b;
  }
};
struct Or {
  template <class T>
  static Bits run(Bits a, Bits b) {
    return a | b;
  }
};
struct ExclusiveOr {
  template <class T>
  static Bits run(Bits a, Bits b) {
    return a ^ b;
  }
};
struct Not {
  template <class T>
  static Bits run(Bits a) {
    return low<T>(~a);
  }
};
struct LogicalNot {
  template <class T>
  static Bits run(Bits a) {
    return a == 0 ? 1 : 0;
  }
};

// Shift counts beyond the width are the width.
struct ShiftLeft {
  template <class T>
  static Bits run(Bits a, Bits count) {
    return count >= static_cast<Bits>(bits_in<T>) ? 0 : low<T>(a << count);
  }
};
struct ShiftRight {
  template <class T>
  static Bits run(Bits a, Bits count) {
    const auto last = static_cast<Bits>(bits_in<T> - 1);
    if constexpr (std::is_signed_v<T>) {
      return to_bits<T>(static_cast<T>(from_bits<T>(a) >> (count > last ? last : count)));
    } else {
      return count > last ? 0 : a >> count;
    }
  }
};
// A 32-bit window of the 64 bits b:a.
template <bool left, bool wrap>
Bits funnel_shift(Bits a, Bits b, Bits c) {
  const Bits count = wrap ? c & 31 : (c < 32 ? c : 32);
  const Bits both = b << 32 | a;
  return (left ? both << count >> 32 : both >> count) & 0xffffffff;
}

// Any function of three bits: a, b, c index a bit of the table. The table expands to masks that are equal in
// all lanes.
inline Bits logic3(Bits a, Bits b, Bits c, std::uint32_t table) {
  const auto entry = [&](int index) { return Bits{0} - (table >> index & 1); };
  const auto by_c = [&](int index) { return (entry(index) & ~c) | (entry(index + 1) & c); };
  const auto by_b = [&](int index) { return (by_c(index) & ~b) | (by_c(index + 2) & b); };
  return ((by_b(0) & ~a) | (by_b(4) & a)) & 0xffffffff;
}

struct CountOnes {
  template <class T>
  static Bits run(Bits a) {
    return static_cast<Bits>(__builtin_popcountll(a));
  }
};
struct CountLeadingZeros {
  template <class T>
  static Bits run(Bits a) {
    return static_cast<Bits>(a == 0 ? bits_in<T> : __builtin_clzll(a) - (64 - bits_in<T>));
  }
};
// The highest bit that differs from the sign; with shiftamt, the shift that brings it to the top.
template <bool shift_amount>
struct FindHighest {
  template <class T>
  static Bits run(Bits a) {
    const Bits magnitude = from_bits<T>(a) < 0 ? low<T>(~a) : a;
    if (magnitude == 0) return 0xffffffff;
    const int position = 63 - __builtin_clzll(magnitude);
    return static_cast<Bits>(shift_amount ? bits_in<T> - 1 - position : position);
  }
};
struct ReverseBits {
  template <class T>
  static Bits run(Bits a) {
    Bits result = 0;
    for (int bit = 0; bit < bits_in<T>; ++bit) result = result << 1 | (a >> bit & 1);
    return result;
  }
};
// The n-th set bit of mask, from base upwards (n > 0) or downwards (n < 0).
inline Bits find_nth_set(Bits mask, Bits base, Bits n) {
  const auto offset = from_bits<std::int32_t>(n);
  const auto start = from_bits<std::int32_t>(base);
  const Bits none = 0xffffffff;
  if (start < 0 || start > 31) return none;
  if (offset == 0) return (mask >> start & 1) != 0 ? base : none;
  std::int64_t left = offset > 0 ? std::int64_t{offset} : -std::int64_t{offset};
  for (int position = start; position >= 0 && position<32; position += offset> 0 ? 1 : -1) {
    if ((mask >> position & 1) != 0 && --left == 0) return static_cast<Bits>(position);
  }
  return none;
}

// The position and the length of a field. For 32 bits they are taken modulo 256, as the PTX ISA says. For 64
// bits they are not (measured on an H200): a field beyond 255 is beyond the register.
template <class T>
int field_bound(Bits bound) {
  if (bits_in<T> < 64) return static_cast<int>(bound & 0xff);
  return bound < 255 ? static_cast<int>(bound) : 255;
}
struct ExtractField {
  template <class T>
  static Bits run(Bits a, Bits position, Bits length) {
    constexpr int top = bits_in<T> - 1;
    const int from = field_bound<T>(position), count = field_bound<T>(length);
    if (count == 0) return 0;
    const int last = from + count - 1 < top ? from + count - 1 : top;
    const bool sign = std::is_signed_v<T> && (a >> last & 1) != 0;
    Bits field = from > top ? 0 : a >> from;
    if (from <= top && count < bits_in<T>) field &= (Bits{1} << count) - 1;
    const int present = from > top ? 0 : last - from + 1;  // bits of a in the field
    if (sign && present < bits_in<T>) field |= ~Bits{0} << present;
    return low<T>(field);
  }
};
struct InsertField {
  template <class T>
  static Bits run(Bits a, Bits b, Bits position, Bits length) {
    const int from = field_bound<T>(position), count = field_bound<T>(length);
    if (count == 0 || from >= bits_in<T>) return b;
    const Bits field = (count >= bits_in<T> ? ~Bits{0} : (Bits{1} << count) - 1) << from;
    return low<T>((b & ~field) | (a << from & field));
  }
};
template <bool wrap>
Bits bit_mask(Bits a, Bits b) {
  if (wrap) {
    a &= 31;
    b &= 31;
  }
  if (a >= 32 || b == 0) return 0;
  const Bits length = b < 32 ? b : 32;
  return ((Bits{1} << length) - 1) << a & 0xffffffff;
}
// The low b bits of a, zero- or sign-extended.
template <class T, bool wrap>
Bits extend_field(Bits a, Bits b) {
  const Bits count = wrap ? b & 31 : b;
  if (count >= 32) return a;
  if (count == 0) return 0;
  const Bits field = a & ((Bits{1} << count) - 1);
  const bool sign = std::is_signed_v<T> && (field >> (count - 1)) != 0;
  return sign ? low<T>(field | ~Bits{0} << count) : field;
}

// --- bytes

enum class Permutation : std::uint8_t { any, f4e, b4e, rc8, ecl, ecr, rc16 };
// Four of the eight bytes b:a.
template <Permutation mode>
Bits permute_bytes(Bits a, Bits b, Bits c) {
  const Bits both = b << 32 | a;
  const int control = static_cast<int>(c & 3);
  Bits result = 0;
  for (int byte = 0; byte < 4; ++byte) {
    int from = 0;
    bool replicate_sign = false;
    switch (mode) {
      case Permutation::any:
        from = static_cast<int>(c >> (4 * byte) & 7);
        replicate_sign = (c >> (4 * byte) & 8) != 0;
        break;
      case Permutation::f4e:
        from = control + byte;
        break;
      case Permutation::b4e:
        from = (control - byte) & 7;
        break;
      case Permutation::rc8:
        from = control;
        break;
      case Permutation::ecl:
        from = byte > control ? byte : control;
        break;
      case Permutation::ecr:
        from = byte < control ? byte : control;
        break;
      case Permutation::rc16:
        from = (control & 1) * 2 + (byte & 1);
        break;
    }
    const Bits value = both >> (8 * from) & 0xff;
    result |= (replicate_sign ? ((value & 0x80) != 0 ? 0xff : 0) : value) << (8 * byte);
  }
  return result;
}

// Elements of 8 or 16 bits; A and B have their own signedness.
template <class Element>
std::int64_t element(Bits bits, int index) {
  return from_bits<Element>(bits >> (bits_in<Element> * index));
}
template <class A, class B>
Bits dot4(Bits a, Bits b, Bits c) {
  std::int64_t sum = 0;
  for (int i = 0; i < 4; ++i) sum += element<A>(a, i) * element<B>(b, i);
  return (c + static_cast<Bits>(sum)) & 0xffffffff;
}
template <class A, class B, bool high>
Bits dot2(Bits a, Bits b, Bits c) {
  std::int64_t sum = 0;
  for (int i = 0; i < 2; ++i) sum += element<A>(a, i) * element<B>(b, i + (high ? 2 : 0));
  return (c + static_cast<Bits>(sum)) & 0xffffffff;
}

}  // namespace tenon::emulator::integer
