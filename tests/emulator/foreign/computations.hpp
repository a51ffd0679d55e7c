// Ordinary C++ that runs both in a kernel and on the host, for comparison: integers of every width, division,
// loops, recursion, function pointers, virtual functions, local arrays and pointers into them, switches,
// float and double. Each computation maps two words to one.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__
#define HOST_DEVICE_NOINLINE __host__ __device__ __noinline__
#else
#define HOST_DEVICE inline
#define HOST_DEVICE_NOINLINE inline
#endif

namespace tenon::foreign {

using Word = std::uint64_t;

HOST_DEVICE Word mixed(Word x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

HOST_DEVICE Word greatest_common_divisor(Word a, Word b) {
  while (b != 0) {
    const Word rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

HOST_DEVICE Word divisions(Word a, Word b) {
  Word sum = 0;
  const Word divisor = (b >> (a & 63)) | 1;
  sum += mixed(a / divisor) + mixed(a % divisor);
  const auto signed_divisor = static_cast<std::int64_t>(divisor >> 1 | 1) * ((b & 2) != 0 ? -1 : 1);
  const auto dividend = static_cast<std::int64_t>(a >> 1) * ((a & 1) != 0 ? -1 : 1);
  sum += mixed(static_cast<Word>(dividend / signed_divisor)) +
         mixed(static_cast<Word>(dividend % signed_divisor));
  const auto narrow = static_cast<std::uint32_t>(a), by = static_cast<std::uint32_t>(b) >> (a & 31) | 1;
  sum += mixed(narrow / by) + mixed(narrow % by);
  const auto halved = static_cast<std::int32_t>(narrow) / 2, thirds = static_cast<std::int32_t>(narrow) / 3;
  sum += mixed(static_cast<Word>(halved)) + mixed(static_cast<Word>(thirds % 1000));
  sum += mixed(a / 10) + mixed(a % 1000000007u);
  const auto small = static_cast<std::int16_t>(a);
  const auto tiny = static_cast<std::int8_t>(b | 1);
  sum += mixed(static_cast<Word>(static_cast<std::int64_t>(small / tiny + small % tiny)));
  return sum;
}

HOST_DEVICE_NOINLINE std::uint32_t fibonacci(std::uint32_t n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
HOST_DEVICE_NOINLINE std::uint32_t ackermann(std::uint32_t m, std::uint32_t n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
HOST_DEVICE_NOINLINE bool is_odd(std::uint32_t n);
HOST_DEVICE_NOINLINE bool is_even(std::uint32_t n) {
  return n == 0 || is_odd(n - 1);
}
HOST_DEVICE_NOINLINE bool is_odd(std::uint32_t n) {
  return n != 0 && is_even(n - 1);
}
HOST_DEVICE Word recursions(Word a, Word b) {
  return fibonacci(a % 9) + Word{ackermann(b % 3, a % 4)} * 1000 + (is_even(b % 40) ? 1000000 : 0);
}

HOST_DEVICE Word sorted_local(Word a, Word b) {
  std::uint32_t list[24];
  for (int i = 0; i < 24; ++i) list[i] = static_cast<std::uint32_t>(mixed(a + b * static_cast<Word>(i)));
  for (int i = 1; i < 24; ++i) {
    const std::uint32_t value = list[i];
    int at = i;
    for (; at > 0 && list[at - 1] > value; --at) list[at] = list[at - 1];
    list[at] = value;
  }
  return list[a % 24] + (Word{list[b % 24]} << 32);
}

HOST_DEVICE_NOINLINE void quick_sort(std::int16_t* first, std::int16_t* last) {
  if (last - first < 2) return;
  const std::int16_t pivot = first[(last - first) / 2];
  std::int16_t *low = first, *high = last - 1;
  while (low <= high) {
    while (*low < pivot) ++low;
    while (*high > pivot) --high;
    if (low > high) break;
    const std::int16_t other = *low;
    *low++ = *high;
    *high-- = other;
  }
  quick_sort(first, high + 1);
  quick_sort(low, last);
}
HOST_DEVICE Word quickly_sorted(Word a, Word b) {
  std::int16_t list[31];
  for (int i = 0; i < 31; ++i) list[i] = static_cast<std::int16_t>(mixed(a ^ (b + static_cast<Word>(i))));
  quick_sort(list, list + 31);
  Word sum = 0;
  for (int i = 0; i < 31; ++i) sum = sum * 31 + static_cast<Word>(static_cast<std::int64_t>(list[i]));
  return sum;
}

// A machine with a stack and opcodes of 4 bits: a switch that becomes a jump table.
HOST_DEVICE Word interpreted(Word program, Word input) {
  Word stack[16] = {input, mixed(input), 3, 1};
  int top = 3;
  for (int step = 0; step < 16; ++step, program >>= 4) {
    Word& under = stack[top > 0 ? top - 1 : 0];
    switch (program & 15) {
      case 0:
        if (top < 15) stack[++top] = 5;
        break;
      case 1:
        under += stack[top];
        break;
      case 2:
        under -= stack[top];
        break;
      case 3:
        under *= stack[top];
        break;
      case 4:
        under /= stack[top] | 1;
        break;
      case 5:
        if (top > 0) --top;
        break;
      case 6:
        if (top < 15) ++top, stack[top] = stack[top - 1];
        break;
      case 7:
        stack[top] = ~stack[top];
        break;
      case 8:
        under <<= stack[top] & 63;
        break;
      case 9:
        stack[top] = stack[top] >> 7 | stack[top] << 57;
        break;
      case 10:
        stack[top] = stack[stack[top] % static_cast<Word>(top + 1)];
        break;
      case 11:
        if (stack[top] > under) ++step;
        break;
      case 12:
        under ^= stack[top];
        break;
      case 13:
        stack[top] = static_cast<Word>(static_cast<std::int64_t>(stack[top]) >> 3);
        break;
      default:
        stack[top] += program;
    }
  }
  Word sum = static_cast<Word>(top);
  for (int i = 0; i <= top; ++i) sum = mixed(sum + stack[i]);
  return sum;
}

using Step = Word (*)(Word, Word);
HOST_DEVICE_NOINLINE Word step_add(Word a, Word b) {
  return a + b;
}
HOST_DEVICE_NOINLINE Word step_multiply(Word a, Word b) {
  return a * (b | 1);
}
HOST_DEVICE_NOINLINE Word step_rotate(Word a, Word b) {
  const int by = static_cast<int>(b & 63);
  return by == 0 ? a : a << by | a >> (64 - by);
}
HOST_DEVICE_NOINLINE Word step_mix(Word a, Word b) {
  return mixed(a ^ b);
}
HOST_DEVICE Word through_pointers(Word a, Word b) {
  const Step steps[] = {step_add, step_multiply, step_rotate, step_mix};
  Word value = a;
  for (int i = 0; i < 20; ++i) value = steps[(b >> (2 * i)) & 3](value, b + static_cast<Word>(i));
  return value;
}

struct Form {
  HOST_DEVICE explicit Form(std::uint32_t width) : width(width) {}
  HOST_DEVICE virtual Word area() const { return width; }
  HOST_DEVICE virtual Word scaled(Word by) const { return area() * by; }
  std::uint32_t width;
};
struct Square : Form {
  HOST_DEVICE explicit Square(std::uint32_t width) : Form(width) {}
  HOST_DEVICE Word area() const override { return Word{width} * width; }
};
struct Box : Form {
  HOST_DEVICE Box(std::uint32_t width, std::uint16_t height) : Form(width), height(height) {}
  HOST_DEVICE Word area() const override { return Word{width} * height; }
  HOST_DEVICE Word scaled(Word by) const override { return area() + by; }
  std::uint16_t height;
};
HOST_DEVICE Word through_virtual_functions(Word a, Word b) {
  const Form form(static_cast<std::uint32_t>(a));
  const Square square(static_cast<std::uint32_t>(b));
  const Box box(static_cast<std::uint32_t>(a ^ b), static_cast<std::uint16_t>(b >> 20));
  const Form* forms[] = {&form, &square, &box};
  Word sum = 0;
  for (int i = 0; i < 9; ++i) sum = sum * 7 + forms[(a >> (2 * i)) % 3]->scaled(b >> i);
  return sum;
}

struct Record {
  std::uint8_t tag;
  double weight;
  std::uint16_t parts[5];
  bool is_set;
  std::int64_t total;
};
HOST_DEVICE_NOINLINE Record changed(Record record, Word by) {
  record.tag = static_cast<std::uint8_t>(record.tag + by);
  record.weight *= 1.5;
  for (std::uint16_t& part : record.parts) part = static_cast<std::uint16_t>(part * 3 + by);
  record.is_set = !record.is_set;
  record.total -= record.parts[by % 5];
  return record;
}
HOST_DEVICE Word structs_by_value(Word a, Word b) {
  Record record = {static_cast<std::uint8_t>(a), static_cast<double>(a % 1000), {1, 2, 3, 4, 5}, true, 7};
  for (int i = 0; i < 4; ++i) record = changed(record, b >> (8 * i));
  Word sum = record.tag + (record.is_set ? 256 : 0) + static_cast<Word>(record.total) * 512;
  for (const std::uint16_t part : record.parts) sum = mixed(sum + part);
  return sum + static_cast<Word>(record.weight);
}

// Converts digits into a buffer and back: bytes, pointers into local memory, memcpy of odd sizes.
HOST_DEVICE Word written_and_read(Word a, Word b) {
  char text[48] = {};
  char* end = text + sizeof text;
  char* at = end;
  for (Word rest = a; rest != 0; rest /= 10) *--at = static_cast<char>('0' + rest % 10);
  char copy[48] = {};
  std::memcpy(copy + 3, at, static_cast<std::size_t>(end - at));
  Word back = 0;
  for (const char* c = copy + 3; *c != 0; ++c) back = back * 10 + static_cast<Word>(*c - '0');
  std::uint32_t hash = 2166136261u;
  for (int i = 0; i < 48; ++i) hash = (hash ^ static_cast<std::uint8_t>(copy[i])) * 16777619u;
  return back == a ? hash + b : 0;
}

struct Node {
  std::uint32_t key;
  Node *left, *right;
};
HOST_DEVICE Word tree_depth(Word a, Word b) {
  Node nodes[20];
  Node* root = nullptr;
  Word sum = 0;
  for (int i = 0; i < 20; ++i) {
    nodes[i] = {static_cast<std::uint32_t>(mixed(a * 3 + b + static_cast<Word>(i)) % 100), nullptr, nullptr};
    Node** place = &root;
    Word depth = 0;
    for (; *place != nullptr; ++depth)
      place = nodes[i].key < (*place)->key ? &(*place)->left : &(*place)->right;
    *place = &nodes[i];
    sum = sum * 5 + depth;
  }
  return sum;
}

HOST_DEVICE Word bits_of(double value) {
  Word bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
HOST_DEVICE double real_of(Word word) {
  return (static_cast<double>(static_cast<std::int64_t>(word)) + 0.5) / 1e12;
}

HOST_DEVICE Word doubles(Word a, Word b) {
  const double x = real_of(a), y = real_of(b);
  double sum = x * y - x / y;
  sum += std::sqrt(std::fabs(x)) + std::fma(x, y, -x) - std::floor(y) + std::trunc(x * 0.001);
  sum += std::fmin(x, y) * 3 + std::fmax(x, 1.0) + std::ceil(x / 7) + std::rint(y) + std::round(x);
  for (int i = 1; i < 12; ++i) sum = sum / i + (x > y ? x : -y);
  return bits_of(sum) + (x < y) + 2 * static_cast<Word>(static_cast<std::int64_t>(y));
}

HOST_DEVICE Word floats(Word a, Word b) {
  float x = 0, y = 0;  // any bits: subnormals and infinities too
  const auto low = static_cast<std::uint32_t>(a), high = static_cast<std::uint32_t>(b >> 32);
  std::memcpy(&x, &low, 4);
  std::memcpy(&y, &high, 4);
  const float results[] = {x + y,
                           x * y,
                           x / y,
                           std::sqrt(std::fabs(x)),
                           std::fma(x, y, x),
                           std::fabs(x - y),
                           x * 1e-30f,
                           static_cast<float>(a),
                           static_cast<float>(static_cast<std::int32_t>(low))};
  Word sum = 0;
  for (const float result : results) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &result, 4);
    if (result != result) bits = 0x7fffffff;
    sum = mixed(sum + bits);
  }
  sum += (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * !(x > y);
  return sum + bits_of(static_cast<double>(static_cast<std::int64_t>(a) % 12345678));
}

// Gaussian elimination with pivoting, in a two-dimensional local array.
HOST_DEVICE Word determinant(Word a, Word b) {
  double m[5][5];
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j)
      m[i][j] = static_cast<double>(mixed(a + static_cast<Word>(5 * i + j) * b) % 19) - 9;
  double result = 1;
  for (int k = 0; k < 5; ++k) {
    int pivot = k;
    for (int i = k + 1; i < 5; ++i)
      if (std::fabs(m[i][k]) > std::fabs(m[pivot][k])) pivot = i;
    if (m[pivot][k] == 0) return 0;
    for (int j = 0; j < 5; ++j) {
      const double other = m[k][j];
      m[k][j] = m[pivot][j];
      m[pivot][j] = other;
    }
    result *= pivot == k ? m[k][k] : -m[k][k];
    for (int i = k + 1; i < 5; ++i) {
      const double factor = m[i][k] / m[k][k];
      for (int j = k; j < 5; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  return bits_of(result);
}

HOST_DEVICE Word primes(Word a, Word b) {
  std::uint32_t sieve[16] = {};
  const int limit = 100 + static_cast<int>(a % 400);
  for (int i = 2; i * i < limit; ++i)
    if ((sieve[i >> 5] >> (i & 31) & 1) == 0)
      for (int j = i * i; j < limit; j += i) sieve[j >> 5] |= 1u << (j & 31);
  Word sum = 0;
  for (int i = 2; i < limit; ++i)
    if ((sieve[i >> 5] >> (i & 31) & 1) == 0) sum += static_cast<Word>(i) * (b % 1000);
  return sum;
}

HOST_DEVICE Word narrow_integers(Word a, Word b) {
  std::uint8_t u8 = static_cast<std::uint8_t>(a);
  std::int8_t s8 = static_cast<std::int8_t>(b);
  std::uint16_t u16 = static_cast<std::uint16_t>(a >> 8);
  std::int16_t s16 = static_cast<std::int16_t>(b >> 8);
  Word sum = 0;
  for (int i = 0; i < 8; ++i) {
    u8 = static_cast<std::uint8_t>(u8 * 5 + s8);
    s8 = static_cast<std::int8_t>(s8 + (u8 >> 3));
    u16 = static_cast<std::uint16_t>(u16 << 3 | u16 >> 13);
    s16 = static_cast<std::int16_t>(s16 - u16 * s8);
    sum = mixed(sum + u8 + u16) + static_cast<Word>(static_cast<std::int64_t>(s8)) -
          static_cast<Word>(static_cast<std::int64_t>(s16));
  }
  return sum;
}

HOST_DEVICE Word high_product(Word a, Word b) {
  const Word al = a & 0xffffffff, ah = a >> 32, bl = b & 0xffffffff, bh = b >> 32;
  const Word middle = ah * bl + (al * bl >> 32);
  const Word other = al * bh + (middle & 0xffffffff);
  Word steps = 0;
  for (Word n = a % 1000 + 1; n != 1 && steps < 300; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return ah * bh + (middle >> 32) + (other >> 32) + steps;
}

constexpr int computations = 18;
HOST_DEVICE Word compute(int which, Word a, Word b) {
  switch (which) {
    case 0:
      return greatest_common_divisor(a, b);
    case 1:
      return divisions(a, b);
    case 2:
      return recursions(a, b);
    case 3:
      return sorted_local(a, b);
    case 4:
      return quickly_sorted(a, b);
    case 5:
      return interpreted(a, b);
    case 6:
      return through_pointers(a, b);
    case 7:
      return through_virtual_functions(a, b);
    case 8:
      return structs_by_value(a, b);
    case 9:
      return written_and_read(a, b);
    case 10:
      return tree_depth(a, b);
    case 11:
      return doubles(a, b);
    case 12:
      return floats(a, b);
    case 13:
      return determinant(a, b);
    case 14:
      return primes(a, b);
    case 15:
      return narrow_integers(a, b);
    case 16:
      return high_product(a, b);
    default:
      return mixed(a) - mixed(b);
  }
}

}  // namespace tenon::foreign
