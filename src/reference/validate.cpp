// See validate.hpp.
#include "reference/validate.hpp"

namespace tenon::reference {
namespace {

// Distance in bytes from the first element to the end of the last; false if it does not fit in 63 bits.
bool span_bytes(const Extent& x, std::int64_t* bytes_spanned) noexcept {
  if (x.rows == 0 || x.columns == 0) {
    *bytes_spanned = 0;
    return true;
  }
  const std::int64_t lines = x.order == Order::row_major ? x.rows : x.columns;
  const std::int64_t length = x.order == Order::row_major ? x.columns : x.rows;
  std::int64_t elements = 0;
  return !__builtin_mul_overflow(lines - 1, x.ld, &elements) &&
         !__builtin_add_overflow(elements, length, &elements) &&
         !__builtin_mul_overflow(elements, static_cast<std::int64_t>(bytes(x.type)), bytes_spanned);
}

bool is_type(Type type) noexcept {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32;
}
bool is_order(Order order) noexcept {
  return order == Order::row_major || order == Order::column_major;
}

}  // namespace

namespace {

// All but the type.
Status check_memory(const Extent& x) noexcept {
  if (!is_order(x.order)) {
    return {StatusCode::invalid_argument,
            "the order of %s is %d but must be 0 (row_major) or 1 (column_major)", x.label,
            static_cast<int>(x.order)};
  }
  const bool by_rows = x.order == Order::row_major;
  const std::int64_t needed = by_rows ? x.columns : x.rows;
  if (x.ld < needed) {
    return {StatusCode::invalid_argument,
            "the leading dimension of %s is %lld but must be >= %lld: it is %s, %lld x %lld",
            x.label,
            static_cast<long long>(x.ld),
            static_cast<long long>(needed),
            by_rows ? "row-major" : "column-major",
            static_cast<long long>(x.rows),
            static_cast<long long>(x.columns)};
  }
  std::int64_t span = 0;
  if (!span_bytes(x, &span)) {
    return {StatusCode::invalid_argument,
            "%s of %lld x %lld with leading dimension %lld spans more than 2^63 bytes",
            x.label,
            static_cast<long long>(x.rows),
            static_cast<long long>(x.columns),
            static_cast<long long>(x.ld)};
  }
  if (span != 0 && x.data == nullptr) {
    return {StatusCode::invalid_argument, "%s is null but has %lld x %lld elements", x.label,
            static_cast<long long>(x.rows), static_cast<long long>(x.columns)};
  }
  if (reinterpret_cast<std::uintptr_t>(x.data) % bytes(x.type) != 0) {
    return {StatusCode::invalid_argument,
            "%s is at %p but its %s elements need an address that is a multiple of %d",
            x.label,
            x.data,
            name(x.type),
            static_cast<int>(bytes(x.type))};
  }
  return {};
}

}  // namespace

Status check_matrix(const Extent& x) noexcept {
  if (!is_type(x.type)) {
    return {StatusCode::invalid_argument, "the type of %s is %d but must be 0 (f16), 1 (bf16) or 2 (f32)",
            x.label, static_cast<int>(x.type)};
  }
  return check_memory(x);
}

Status check_disjoint(const Extent& written, const Extent& read) noexcept {
  std::int64_t written_bytes = 0;
  std::int64_t read_bytes = 0;
  if (!span_bytes(written, &written_bytes) || !span_bytes(read, &read_bytes))
    return {};  // check_matrix() refused it
  if (written_bytes == 0 || read_bytes == 0) return {};
  const auto written_at = reinterpret_cast<std::uintptr_t>(written.data);
  const auto read_at = reinterpret_cast<std::uintptr_t>(read.data);
  const bool disjoint = written_at >= read_at
                            ? written_at - read_at >= static_cast<std::uintptr_t>(read_bytes)
                            : read_at - written_at >= static_cast<std::uintptr_t>(written_bytes);
  if (disjoint) return {};
  return {StatusCode::invalid_argument,
          "%s (%lld bytes from %p) overlaps %s (%lld bytes from %p) but must be apart from it",
          written.label,
          static_cast<long long>(written_bytes),
          written.data,
          read.label,
          static_cast<long long>(read_bytes),
          read.data};
}

namespace {

// Sizes and the three matrices. check: check_matrix, or check_memory.
Status check_sizes(const Gemm& problem, Status (*check)(const Extent&) noexcept) noexcept {
  const struct {
    char letter;
    std::int64_t value;
  } sizes[] = {{'m', problem.m}, {'n', problem.n}, {'k', problem.k}};
  for (const auto& size : sizes) {
    if (size.value < 0) {
      return {StatusCode::invalid_argument, "%c is %lld but must be >= 0", size.letter,
              static_cast<long long>(size.value)};
    }
  }
  const Extent a{"A", problem.a.data, problem.m, problem.k, problem.a.ld, problem.a.order, problem.a.type};
  const Extent b{"B", problem.b.data, problem.k, problem.n, problem.b.ld, problem.b.order, problem.b.type};
  const Extent c{"C", problem.c.data, problem.m, problem.n, problem.c.ld, Order::row_major, problem.c.type};
  const Extent matrices[] = {a, b, c};
  for (const Extent& x : matrices) {
    if (Status status = check(x); !status) return status;
  }
  if (Status status = check_disjoint(c, a); !status) return status;
  return check_disjoint(c, b);
}

}  // namespace

Status check_gemm_of(const Gemm& problem, Type operand, Type accumulate) noexcept {
  if (problem.a.type != operand || problem.b.type != operand) {
    return {StatusCode::unsupported, "A is %s and B is %s but both must be %s", name(problem.a.type),
            name(problem.b.type), name(operand)};
  }
  if (problem.accumulate != accumulate) {
    return {StatusCode::unsupported, "accumulate is %s but must be %s", name(problem.accumulate),
            name(accumulate)};
  }
  if (accumulate == Type::f32 ? !is_type(problem.c.type) : problem.c.type != accumulate) {
    return {StatusCode::unsupported, "C is %s but must be %s", name(problem.c.type),
            accumulate == Type::f32 ? "f16, bf16 or f32" : name(accumulate)};
  }
  return check_sizes(problem, check_memory);
}

Status check_gemm(const Gemm& problem) noexcept {
  if (Status status = check_sizes(problem, check_matrix); !status) return status;
  const Type a = problem.a.type, b = problem.b.type;
  if (a != b)
    return {StatusCode::unsupported, "A is %s and B is %s but both must have one type", name(a), name(b)};
  if (problem.accumulate != Type::f32) {
    return {StatusCode::unsupported, "accumulate is %s but the reference kernels accumulate in f32",
            name(problem.accumulate)};
  }
  return {};
}

}  // namespace tenon::reference
