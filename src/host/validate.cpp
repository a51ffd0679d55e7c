// The checks of validate.hpp, in the order in which a reader would want to hear of them.
#include "host/validate.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tenon {
namespace {

// Extents and addresses are formed in 128 bits, where the product of two 64-bit values cannot wrap.
__extension__ using Wide = __int128;

bool is_type(Type type) noexcept {
  return std::find(std::begin(all_types), std::end(all_types), type) != std::end(all_types);
}

bool is_operand(Type type) noexcept {
  return type != Type::f32 && type != Type::s32;
}

Status check_size(const char* letter, std::int64_t size) noexcept {
  if (size < 0) {
    return Status(StatusCode::invalid_argument, "%s is %lld but must be >= 0", letter,
                  static_cast<long long>(size));
  }
  if (size > largest_dimension) {
    return Status(StatusCode::unsupported, "%s is %lld but must be <= %lld", letter,
                  static_cast<long long>(size), static_cast<long long>(largest_dimension));
  }
  return {};
}

// One matrix in memory: `lines` contiguous runs of `length` elements, `ld` apart.
struct Extent {
  const char* letter;         // "A"
  const char* order;          // "row-major"
  const char* length_letter;  // "k"
  const void* data;
  std::int64_t lines, length, ld;
  Type type;

  bool empty() const noexcept { return lines == 0 || length == 0; }
  char ld_letter() const noexcept { return static_cast<char>(letter[0] - 'A' + 'a'); }
  Wide byte_count() const noexcept {
    return (Wide{lines - 1} * ld + length) * static_cast<Wide>(bytes(type));
  }
  ByteLines byte_lines() const noexcept {
    const std::uint64_t element = bytes(type);
    return {reinterpret_cast<std::uintptr_t>(data), static_cast<std::uint64_t>(lines),
            static_cast<std::uint64_t>(length) * element, static_cast<std::uint64_t>(ld) * element};
  }
};

Extent extent_of(const char* letter, const ConstMatrix& matrix, std::int64_t rows, std::int64_t columns,
                 const char* rows_letter, const char* columns_letter) noexcept {
  const bool by_rows = matrix.order == row_major;
  return {letter,
          by_rows ? "row-major" : "column-major",
          by_rows ? columns_letter : rows_letter,
          matrix.data,
          by_rows ? rows : columns,
          by_rows ? columns : rows,
          matrix.ld,
          matrix.type};
}

Extent extent_of_a(const Gemm& p) noexcept {
  return extent_of("A", p.a, p.m, p.k, "m", "k");
}
Extent extent_of_b(const Gemm& p) noexcept {
  return extent_of("B", p.b, p.k, p.n, "k", "n");
}
Extent extent_of_c(const Gemm& p) noexcept {
  return extent_of("C", {p.c.data, p.c.ld, row_major, p.c.type}, p.m, p.n, "m", "n");
}

Status check_ld(const Extent& x) noexcept {
  if (x.ld >= x.length) return {};
  return Status(StatusCode::invalid_argument, "ld%c is %lld but %s %s with %s = %lld needs ld%c >= %lld",
                x.ld_letter(), static_cast<long long>(x.ld), x.order, x.letter, x.length_letter,
                static_cast<long long>(x.length), x.ld_letter(), static_cast<long long>(x.length));
}

Status check_memory(const Extent& x) noexcept {
  if (x.empty()) return {};
  if (x.data == nullptr) {
    return Status(StatusCode::invalid_argument,
                  "%s is a null pointer but must point to %lld %s of %lld %s elements in device memory",
                  x.letter, static_cast<long long>(x.lines), x.order[0] == 'r' ? "rows" : "columns",
                  static_cast<long long>(x.length), name(x.type));
  }
  const auto address = reinterpret_cast<std::uintptr_t>(x.data);
  if (address % bytes(x.type) != 0) {
    return Status(StatusCode::invalid_argument,
                  "%s is at an address %zu past a multiple of %zu but %s needs a multiple of %zu", x.letter,
                  static_cast<std::size_t>(address % bytes(x.type)), bytes(x.type), name(x.type),
                  bytes(x.type));
  }
  constexpr Wide largest_offset = INT64_MAX;
  if (x.byte_count() > largest_offset || Wide{address} + x.byte_count() > Wide{UINTPTR_MAX}) {
    return Status(StatusCode::invalid_argument,
                  "ld%c is %lld: %lld %s of it end beyond the address space, a smaller ld%c is needed",
                  x.ld_letter(), static_cast<long long>(x.ld), static_cast<long long>(x.lines),
                  x.order[0] == 'r' ? "rows" : "columns", x.ld_letter());
  }
  return {};
}

Status check_operand(char letter, const ConstMatrix& matrix) noexcept {
  if (!is_type(matrix.type)) {
    return Status(StatusCode::invalid_argument, "the type of %c is %d but a type is a number from 0 to 7",
                  letter, static_cast<int>(matrix.type));
  }
  if (!is_operand(matrix.type)) {
    return Status(StatusCode::unsupported, "%c is %s but must be f16, bf16, tf32, e4m3, e5m2 or s8", letter,
                  name(matrix.type));
  }
  if (matrix.order != row_major && matrix.order != column_major) {
    return Status(StatusCode::invalid_argument,
                  "the order of %c is %d but must be row_major (0) or column_major (1)", letter,
                  static_cast<int>(matrix.order));
  }
  return {};
}

// What products of these operands are summed in, and what C may be, in words.
const char* sums_of(Type operand) noexcept {
  return operand == Type::s8 ? "s32" : operand == Type::f16 ? "f32 or f16" : "f32";
}
bool sums_in(Type operand, Type accumulate) noexcept {
  return accumulate == (operand == Type::s8 ? Type::s32 : Type::f32) ||
         (operand == Type::f16 && accumulate == Type::f16);
}
const char* results_of(Type operand) noexcept {
  return operand == Type::s8 ? "s32" : "f16, bf16 or f32";
}
bool can_become(Type operand, Type c) noexcept {
  return operand == Type::s8 ? c == Type::s32 : c == Type::f16 || c == Type::bf16 || c == Type::f32;
}

Status check_types(const Gemm& p) noexcept {
  if (Status s = check_operand('A', p.a); !s) return s;
  if (Status s = check_operand('B', p.b); !s) return s;
  const Type operand = p.a.type;
  if (operand != p.b.type && !(is_fp8(operand) && is_fp8(p.b.type))) {
    return Status(StatusCode::unsupported,
                  "A is %s and B is %s but they must have the same type, or be e4m3 and e5m2", name(operand),
                  name(p.b.type));
  }
  const struct {
    const char* what;
    Type type;
    bool fits;
    const char* needed;
  } others[] = {{"C", p.c.type, can_become(operand, p.c.type), results_of(operand)},
                {"accumulate", p.accumulate, sums_in(operand, p.accumulate), sums_of(operand)}};
  for (const auto& other : others) {
    if (!is_type(other.type)) {
      return Status(StatusCode::invalid_argument, "the type of %s is %d but a type is a number from 0 to 7",
                    other.what, static_cast<int>(other.type));
    }
    if (!other.fits) {
      return Status(StatusCode::unsupported, "%s is %s with %s inputs but must be %s", other.what,
                    name(other.type), name(operand), other.needed);
    }
  }
  return {};
}

// What only some types have: scales, promotion, integer factors.
Status check_factors(const Gemm& p) noexcept {
  if (!is_fp8(p.a.type) && (p.scale_a != nullptr || p.scale_b != nullptr || p.promote)) {
    return Status(StatusCode::unsupported, "%s is given but A and B are %s: only e4m3 and e5m2 have it",
                  p.promote              ? "promote"
                  : p.scale_a != nullptr ? "scale_a"
                                         : "scale_b",
                  name(p.a.type));
  }
  if (p.c.type != Type::s32) return {};
  const struct {
    const char* what;
    float value;
  } factors[] = {{"alpha", p.alpha}, {"beta", p.beta}};
  for (const auto& factor : factors) {
    if (!(std::fabs(factor.value) < 0x1p31F) || factor.value != std::trunc(factor.value)) {
      return Status(StatusCode::unsupported,
                    "%s is %g but with C in s32 must be a whole number between -2^31 and 2^31", factor.what,
                    static_cast<double>(factor.value));
    }
  }
  return {};
}

Status check_workspace(const Gemm& p) noexcept {
  if (p.workspace == nullptr && p.workspace_bytes != 0) {
    return Status(StatusCode::invalid_argument,
                  "workspace is a null pointer but workspace_bytes is %zu, not 0", p.workspace_bytes);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(p.workspace);
  if (address % 256 != 0) {
    return Status(StatusCode::invalid_argument,
                  "workspace is at an address %zu past a multiple of 256 but needs a multiple of 256",
                  static_cast<std::size_t>(address % 256));
  }
  return {};
}

}  // namespace

bool overlap(const ByteLines& x, const ByteLines& y) noexcept {
  const Wide distance = Wide{y.base} - Wide{x.base};
  if (x.lines == 1 || y.lines == 1 || x.pitch_bytes == y.pitch_bytes) {
    // Line i of x and line j of y meet iff  distance - x.line < (i - j) * pitch < distance + y.line.
    const Wide pitch = x.lines == 1 ? y.pitch_bytes : x.pitch_bytes;
    const Wide low = distance - Wide{x.line_bytes} + 1, high = distance + Wide{y.line_bytes} - 1;
    // The integers t with low <= t * pitch <= high, clipped to the possible i - j.
    const auto floor_divide = [](Wide a, Wide b) { return a / b - (a % b < 0 ? 1 : 0); };
    const Wide first = std::max<Wide>(-floor_divide(-low, pitch), 1 - Wide{y.lines});
    const Wide last = std::min<Wide>(floor_divide(high, pitch), Wide{x.lines} - 1);
    return first <= last;
  }
  const Wide x_bytes = Wide{x.lines - 1} * x.pitch_bytes + x.line_bytes;
  const Wide y_bytes = Wide{y.lines - 1} * y.pitch_bytes + y.line_bytes;
  return distance < x_bytes && -distance < y_bytes;
}

Status validate_shape(const Gemm& problem) noexcept {
  if (Status s = check_size("m", problem.m); !s) return s;
  if (Status s = check_size("n", problem.n); !s) return s;
  if (Status s = check_size("k", problem.k); !s) return s;
  if (Status s = check_types(problem); !s) return s;
  if (Status s = check_factors(problem); !s) return s;
  if (Status s = check_ld(extent_of_a(problem)); !s) return s;
  if (Status s = check_ld(extent_of_b(problem)); !s) return s;
  return check_ld(extent_of_c(problem));
}

Status validate(const Gemm& problem) noexcept {
  if (Status s = validate_shape(problem); !s) return s;
  const Extent a = extent_of_a(problem), b = extent_of_b(problem), c = extent_of_c(problem);
  for (const Extent* x : {&a, &b, &c}) {
    if (Status s = check_memory(*x); !s) return s;
  }
  for (const float* scale : {problem.scale_a, problem.scale_b}) {
    const auto address = reinterpret_cast<std::uintptr_t>(scale);
    if (address % sizeof(float) != 0) {
      return Status(StatusCode::invalid_argument,
                    "%s is at an address %zu past a multiple of 4 but a float needs a multiple of 4",
                    scale == problem.scale_a ? "scale_a" : "scale_b",
                    static_cast<std::size_t>(address % sizeof(float)));
    }
  }
  if (Status s = check_workspace(problem); !s) return s;

  const ByteLines workspace{reinterpret_cast<std::uintptr_t>(problem.workspace), 1, problem.workspace_bytes,
                            problem.workspace_bytes};
  if (problem.workspace_bytes != 0 && Wide{workspace.base} + Wide{workspace.line_bytes} > Wide{UINTPTR_MAX}) {
    return Status(
        StatusCode::invalid_argument,
        "workspace_bytes is %zu: the workspace ends beyond the address space, fewer bytes are needed",
        problem.workspace_bytes);
  }
  for (const Extent* x : {&a, &b, &c}) {
    if (x->empty()) continue;
    if (x != &c && !c.empty() && overlap(c.byte_lines(), x->byte_lines())) {
      return Status(StatusCode::invalid_argument, "C overlaps %s but the result needs memory of its own",
                    x->letter);
    }
    if (problem.workspace_bytes != 0 && overlap(workspace, x->byte_lines())) {
      return Status(StatusCode::invalid_argument, "the workspace overlaps %s but needs memory of its own",
                    x->letter);
    }
  }
  return {};
}

}  // namespace tenon
