// The checks of validate.hpp, the most basic mistake first.
#include "host/validate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "gemm/result.hpp"
#include "gemm/split.hpp"

namespace tenon {
namespace {

// 128 bits, in which the product of two 64-bit sizes cannot wrap.
__extension__ using Wide = __int128;

// What gemm() computes: the sentences and the checks of types come from this table, which is that of
// gemm.hpp. fp8 operands mix; any other A has a B of its own type.
class TypeSet {
 public:
  template <class... Types>
  constexpr TypeSet(Types... types) noexcept  // NOLINT(google-explicit-constructor): a list of types
      : types_{types...}, count_(sizeof...(types)) {}
  constexpr const Type* begin() const noexcept { return types_; }
  constexpr const Type* end() const noexcept { return types_ + count_; }
  bool has(Type type) const noexcept { return std::find(begin(), end(), type) != end(); }

 private:
  Type types_[8]{};
  std::size_t count_;
};
struct TypesOfProduct {
  Type operand;
  TypeSet accumulate, c;
};
constexpr TypeSet outputs = {Type::f16, Type::bf16, Type::f32, Type::e4m3, Type::e5m2, Type::s8};
constexpr TypesOfProduct products[] = {
    {Type::f16, {Type::f32, Type::f16}, outputs},
    {Type::bf16, Type::f32, outputs},
    {Type::tf32, Type::f32, outputs},
    {Type::e4m3, Type::f32, outputs},
    {Type::e5m2, Type::f32, outputs},
    {Type::s8, Type::s32, {Type::s32, Type::f16, Type::bf16, Type::f32, Type::e4m3, Type::e5m2, Type::s8}},
    {Type::f64, Type::f64, Type::f64}};
constexpr TypesOfProduct with_a_precision = {Type::f32, Type::f32, outputs};  // Gemm::precision

bool is_type(Type type) noexcept {
  return std::find(std::begin(all_types), std::end(all_types), type) != std::end(all_types);
}
constexpr int last_type = static_cast<int>(std::size(all_types)) - 1;

bool is_precision(Precision precision) noexcept {
  return precision == Precision::none || std::find(std::begin(all_precisions), std::end(all_precisions),
                                                   precision) != std::end(all_precisions);
}

// nullptr if no product has such operands.
const TypesOfProduct* product_of(Type operand) noexcept {
  if (operand == Type::f32) return &with_a_precision;
  const auto* const found = std::find_if(std::begin(products), std::end(products),
                                         [&](const TypesOfProduct& p) { return p.operand == operand; });
  return found == std::end(products) ? nullptr : found;
}

// "f16, bf16 or f32", for a sentence.
class Words {
 public:
  explicit Words(const TypeSet& types) noexcept {
    for (const Type& type : types) add(type, &type == types.begin(), &type + 1 == types.end());
  }
  // Of all operands.
  Words() noexcept {
    for (const TypesOfProduct& p : products) add(p.operand, &p == products, &p + 1 == std::end(products));
  }
  const char* text() const noexcept { return text_; }

 private:
  void add(Type type, bool is_first, bool is_last) noexcept {
    const int written = std::snprintf(text_ + length_, sizeof text_ - length_, "%s%s",
                                      is_first  ? ""
                                      : is_last ? " or "
                                                : ", ",
                                      name(type));
    length_ += static_cast<std::size_t>(written);
  }

  char text_[80] = "";
  std::size_t length_ = 0;
};

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

// A matrix in memory: `count` rows (columns, if column-major) of `length` elements, `ld` elements apart.
struct Extent {
  const char* letter;         // "A"
  const char* order;          // "row-major"
  const char* length_letter;  // "k"
  const void* data;
  std::int64_t count, length, ld;
  Type type;

  bool empty() const noexcept { return count == 0 || length == 0; }
  const char* rows_or_columns() const noexcept { return order[0] == 'r' ? "rows" : "columns"; }
  // "lda" of A.
  const char* ld_name() const noexcept {
    return letter[1] != '\0'  ? "ld of aux"
           : letter[0] == 'A' ? "lda"
           : letter[0] == 'B' ? "ldb"
           : letter[0] == 'C' ? "ldc"
                              : "ldd";
  }
  Wide byte_count() const noexcept {
    return (Wide{count - 1} * ld + length) * static_cast<Wide>(bytes(type));
  }
  // Only after check_memory(), which shows that the pitch of several rows fits 64 bits.
  ByteRanges byte_ranges() const noexcept {
    const std::uint64_t element = bytes(type), row_bytes = static_cast<std::uint64_t>(length) * element;
    return {address(), static_cast<std::uint64_t>(count), row_bytes,
            count == 1 ? row_bytes : static_cast<std::uint64_t>(ld) * element};
  }
  std::uintptr_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(data); }
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
Extent extent_of(const char* letter, const Matrix& matrix, const Gemm& p) noexcept {
  return extent_of(letter, {matrix.data, matrix.ld, row_major, matrix.type}, p.m, p.n, "m", "n");
}
// The matrix that is written: D, or C where there is no D.
Extent extent_of_result(const Gemm& p) noexcept {
  const Matrix& result = result_of(p);
  return extent_of(has_d(p) ? "D" : "C", {result.data, result.ld, row_major, result.type}, p.m,
                   columns_of_result(p), "m", p.epilogue.gated ? "n / 2" : "n");
}
// Whether there is a C to be read apart from the result, though perhaps in its place.
bool has_addend(const Gemm& p) noexcept {
  return has_d(p) && p.beta != 0.0;
}
Extent extent_of_addend(const Gemm& p) noexcept {
  return extent_of("C", p.c, p);
}
Extent extent_of_aux(const Gemm& p) noexcept {
  return extent_of("AUX", p.epilogue.aux, p);
}
bool has_aux(const Gemm& p) noexcept {
  return p.epilogue.aux.data != nullptr || p.epilogue.aux.ld != 0;
}

Status check_ld(const Extent& x) noexcept {
  if (x.ld >= x.length) return {};
  return Status(StatusCode::invalid_argument, "%s is %lld but %s %s with %s = %lld needs %s >= %lld",
                x.ld_name(), static_cast<long long>(x.ld), x.order, x.letter, x.length_letter,
                static_cast<long long>(x.length), x.ld_name(), static_cast<long long>(x.length));
}

Status check_memory(const Extent& x) noexcept {
  if (x.empty()) return {};
  if (x.data == nullptr) {
    return Status(StatusCode::invalid_argument,
                  "%s is a null pointer but must point to %lld %s of %lld %s elements in device memory",
                  x.letter, static_cast<long long>(x.count), x.rows_or_columns(),
                  static_cast<long long>(x.length), name(x.type));
  }
  const std::uintptr_t address = x.address();
  const std::size_t element = bytes(x.type);
  if (address % element != 0) {
    return Status(StatusCode::invalid_argument,
                  "%s is at an address %zu past a multiple of %zu but %s needs a multiple of %zu", x.letter,
                  static_cast<std::size_t>(address % element), element, name(x.type), element);
  }
  const Wide room = std::min(Wide{INT64_MAX}, Wide{UINTPTR_MAX} - Wide{address});
  if (x.byte_count() <= room) return {};
  const Wide all_but_the_last_row = room / static_cast<Wide>(element) - x.length;
  const Wide largest_ld = x.count == 1 ? -1 : all_but_the_last_row / (x.count - 1);
  if (largest_ld < x.length) {  // no ld helps
    return Status(StatusCode::invalid_argument,
                  "%s begins at 0x%llx: its %lld %s of %lld %s elements end beyond the address space, so it "
                  "must begin at a lower address",
                  x.letter, static_cast<unsigned long long>(address), static_cast<long long>(x.count),
                  x.rows_or_columns(), static_cast<long long>(x.length), name(x.type));
  }
  return Status(StatusCode::invalid_argument,
                "%s is %lld: with %lld %s from 0x%llx on %s ends beyond the address space, %s <= %lld is "
                "needed",
                x.ld_name(), static_cast<long long>(x.ld), static_cast<long long>(x.count),
                x.rows_or_columns(), static_cast<unsigned long long>(address), x.letter, x.ld_name(),
                static_cast<long long>(largest_ld));
}

Status check_operand(char letter, const ConstMatrix& matrix, Precision precision) noexcept {
  if (!is_type(matrix.type)) {
    return Status(StatusCode::invalid_argument, "the type of %c is %d but a type is a number from 0 to %d",
                  letter, static_cast<int>(matrix.type), last_type);
  }
  if (precision != Precision::none && matrix.type != Type::f32) {
    return Status(StatusCode::unsupported, "%c is %s but must be f32 with precision %s", letter,
                  name(matrix.type), name(precision));
  }
  if (precision == Precision::none && (matrix.type == Type::f32 || product_of(matrix.type) == nullptr)) {
    return Status(StatusCode::unsupported, "%c is %s but must be %s%s", letter, name(matrix.type),
                  Words().text(), matrix.type == Type::f32 ? ": f32 needs a precision" : "");
  }
  if (matrix.order != row_major && matrix.order != column_major) {
    return Status(StatusCode::invalid_argument,
                  "the order of %c is %d but must be row_major (0) or column_major (1)", letter,
                  static_cast<int>(matrix.order));
  }
  return {};
}

// What an epilogue reads and writes is of these types.
Status check_epilogue_type(const char* what, Type type) noexcept {
  if (type == Type::f32 || type == Type::f16 || type == Type::bf16) return {};
  if (is_type(type))
    return Status(StatusCode::unsupported, "%s is %s but must be f32, f16 or bf16", what, name(type));
  return Status(StatusCode::invalid_argument, "the type of %s is %d but a type is a number from 0 to %d",
                what, static_cast<int>(type), last_type);
}

Status check_gated(const Gemm& p) noexcept {
  const EpilogueOptions& e = p.epilogue;
  if (p.n % 2 != 0) {
    return Status(StatusCode::invalid_argument, "n is %lld but gated pairs of columns need an even n",
                  static_cast<long long>(p.n));
  }
  if (p.beta != 0.0F) {
    return Status(StatusCode::unsupported, "beta is %g but gated pairs take no C: it must be 0",
                  static_cast<double>(p.beta));
  }
  if (reads_aux(e.activation) || e.bias_gradient != nullptr) {
    return Status(StatusCode::unsupported, "%s is given with gated pairs, which have no gradients",
                  reads_aux(e.activation) ? name(e.activation) : "bias_gradient");
  }
  return {};
}

Status check_in_place(const Gemm& p) noexcept {
  if (!has_addend(p) || p.d.data != p.c.data || p.d.data == nullptr ||
      (p.d.ld == p.c.ld && p.d.type == p.c.type))
    return {};
  return Status(
      StatusCode::invalid_argument,
      "D is where C is, with ldd = %lld and type %s, but C has ldc = %lld and type %s: in place they "
      "must be the same",
      static_cast<long long>(p.d.ld), name(p.d.type), static_cast<long long>(p.c.ld), name(p.c.type));
}

Status check_epilogue(const Gemm& p) noexcept {
  const EpilogueOptions& e = p.epilogue;
  if (std::find(std::begin(all_activations), std::end(all_activations), e.activation) ==
      std::end(all_activations)) {
    return Status(StatusCode::invalid_argument,
                  "the activation is %d but an activation is a number from 0 to 7",
                  static_cast<int>(e.activation));
  }
  if (Status s = check_in_place(p); !s) return s;
  if (!needs_fused_epilogue(p)) return {};
  const bool is_promoted = p.promote || promotes(p.precision);
  if (p.accumulate == Type::s32 && !converts_integers(p)) {
    return Status(StatusCode::unsupported,
                  "%s is s32 but with an epilogue, or a D apart from C, must be f16, bf16, f32 or of 8 bits",
                  has_d(p) ? "D" : "C");
  }
  if ((p.accumulate != Type::f32 && p.accumulate != Type::s32) || is_promoted) {
    return Status(StatusCode::unsupported,
                  "an epilogue, or a D apart from C, is given with %saccumulators in %s but needs plain f32",
                  is_promoted ? "promoted " : "", name(p.accumulate));
  }
  if (p.beta != 0.0F) {
    if (Status s = check_epilogue_type("C", p.c.type); !s) return s;
  }
  if (e.gated) {
    if (Status s = check_gated(p); !s) return s;
  }
  if (reads_aux(e.activation) && !has_aux(p)) {
    return Status(StatusCode::invalid_argument,
                  "the activation is %s, which reads the pre-activation from aux, but aux is a null pointer",
                  name(e.activation));
  }
  if (e.activation == Activation::clamp && !(e.lower <= e.upper)) {
    return Status(StatusCode::invalid_argument,
                  "clamp has lower = %g and upper = %g but needs lower <= upper",
                  static_cast<double>(e.lower), static_cast<double>(e.upper));
  }
  const struct {
    const char* what;
    const ConstVector& vector;
  } biases[] = {{"bias", e.bias}, {"row_bias", e.row_bias}};
  for (const auto& [what, vector] : biases) {
    if (vector.data == nullptr) continue;
    if (Status s = check_epilogue_type(what, vector.type); !s) return s;
  }
  if (!has_aux(p)) return {};
  if (Status s = check_epilogue_type("aux", e.aux.type); !s) return s;
  return check_ld(extent_of_aux(p));
}

Status check_types(const Gemm& p) noexcept {
  if (!is_precision(p.precision)) {
    return Status(StatusCode::invalid_argument, "the precision is %d but a precision is a number from 0 to 6",
                  static_cast<int>(p.precision));
  }
  if (Status s = check_operand('A', p.a, p.precision); !s) return s;
  if (Status s = check_operand('B', p.b, p.precision); !s) return s;
  const Type operand = p.a.type;
  if (operand != p.b.type && !(is_fp8(operand) && is_fp8(p.b.type))) {
    return Status(StatusCode::unsupported,
                  "A is %s and B is %s but they must have the same type, or be e4m3 and e5m2", name(operand),
                  name(p.b.type));
  }
  const TypesOfProduct& allowed = *product_of(operand);
  const struct {
    const char* what;
    Type type;
    const TypeSet& fitting;
  } others[] = {{has_d(p) ? "D" : "C", result_of(p).type, allowed.c},
                {"accumulate", p.accumulate, allowed.accumulate}};
  for (const auto& other : others) {
    if (!is_type(other.type)) {
      return Status(StatusCode::invalid_argument, "the type of %s is %d but a type is a number from 0 to %d",
                    other.what, static_cast<int>(other.type), last_type);
    }
    if (!other.fitting.has(other.type)) {
      return Status(StatusCode::unsupported, "%s is %s with %s inputs but must be %s", other.what,
                    name(other.type), name(operand), Words(other.fitting).text());
    }
  }
  return {};
}

// Checks what only some types have: scales, promotion, integer factors.
Status check_factors(const Gemm& p) noexcept {
  const Type type = p.a.type;
  if (p.promote && !is_fp8(type) && type != Type::bf16 && type != Type::tf32) {
    return Status(StatusCode::unsupported,
                  "promote is given but A and B are %s: only bf16, tf32, e4m3 and e5m2 have it", name(type));
  }
  if (!is_fp8(type) && !converts_integers(p) && (p.scale_a != nullptr || p.scale_b != nullptr)) {
    return Status(StatusCode::unsupported,
                  type == Type::s8 ? "%s is given but A and B are %s: with C in s32 they have none"
                                   : "%s is given but A and B are %s: only e4m3 and e5m2 have it",
                  p.scale_a != nullptr ? "scale_a" : "scale_b", name(type));
  }
  if (result_of(p).type != Type::s32) return {};
  const struct {
    const char* what;
    double value;
  } factors[] = {{"alpha", p.alpha}, {"beta", p.beta}};
  for (const auto& factor : factors) {
    if (!(std::fabs(factor.value) < 0x1p31) || factor.value != std::trunc(factor.value)) {
      return Status(StatusCode::unsupported,
                    "%s is %g but with C in s32 must be a whole number between -2^31 and 2^31", factor.what,
                    factor.value);
    }
    if (static_cast<double>(static_cast<float>(factor.value)) != factor.value) {
      return Status(StatusCode::unsupported,
                    "%s is %.17g but with C in s32 must be a whole number that a float holds", factor.what,
                    factor.value);
    }
  }
  return {};
}

// With a precision the kernel multiplies several blocks of k (split.hpp).
Status check_depth(const Gemm& p) noexcept {
  if (p.precision == Precision::none || split_depth(p.k, p.precision) <= largest_dimension) return {};
  const int blocks = products_of(p.precision);
  return Status(StatusCode::unsupported,
                "k is %lld but precision %s, which multiplies %d blocks of k, needs k <= %lld",
                static_cast<long long>(p.k), name(p.precision), blocks,
                static_cast<long long>(largest_dimension / blocks / 8 * 8));
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
  if (Wide{address} + static_cast<Wide>(p.workspace_bytes) > Wide{UINTPTR_MAX}) {
    return Status(StatusCode::invalid_argument,
                  "workspace_bytes is %zu: from 0x%llx on the workspace ends beyond the address space, "
                  "workspace_bytes <= %llu is needed",
                  p.workspace_bytes, static_cast<unsigned long long>(address),
                  static_cast<unsigned long long>(UINTPTR_MAX - address));
  }
  return {};
}

// Memory that a problem uses, and its name in sentences.
struct Memory {
  const char* what;
  bool empty;
  ByteRanges ranges;

  unsigned long long begin() const noexcept { return ranges.base; }
  unsigned long long size() const noexcept {  // from the first byte to the last
    return (ranges.count - 1) * ranges.pitch_bytes + ranges.range_bytes;
  }
};

Memory memory_of(const Extent& x) noexcept {
  return {x.letter, x.empty(), x.empty() ? ByteRanges{} : x.byte_ranges()};
}

// A single range. It is empty if the pointer is null.
Memory memory_of(const char* what, const void* data, std::size_t size) noexcept {
  return {what, data == nullptr || size == 0, {reinterpret_cast<std::uintptr_t>(data), 1, size, size}};
}

Status check_apart(const Memory& written, const Memory& other) noexcept {
  if (written.empty || other.empty || !overlap(written.ranges, other.ranges)) return {};
  return Status(StatusCode::invalid_argument,
                "%s (%llu bytes from 0x%llx) %s %s (%llu bytes from 0x%llx) but needs memory of its own",
                written.what, written.size(), written.begin(),
                overlap_is_exact(written.ranges, other.ranges) ? "overlaps" : "may overlap", other.what,
                other.size(), other.begin());
}

}  // namespace

namespace {

// Ranges without gaps between them are a single range.
ByteRanges joined(const ByteRanges& x) noexcept {
  return x.count != 1 && x.pitch_bytes == x.range_bytes ? ByteRanges{x.base, 1, x.count * x.range_bytes, 0}
                                                        : x;
}

bool is_exact(const ByteRanges& x, const ByteRanges& y) noexcept {
  return x.count == 1 || y.count == 1 || x.pitch_bytes % y.pitch_bytes == 0 ||
         y.pitch_bytes % x.pitch_bytes == 0;
}

bool joined_overlap(const ByteRanges& x, const ByteRanges& y) noexcept {
  const Wide distance = Wide{y.base} - Wide{x.base};
  const Wide x_bytes = x.count == 1 ? x.range_bytes : Wide{x.count - 1} * x.pitch_bytes + x.range_bytes;
  const Wide y_bytes = y.count == 1 ? y.range_bytes : Wide{y.count - 1} * y.pitch_bytes + y.range_bytes;
  // Most matrices are wholly apart, which takes no division.
  if (distance >= x_bytes || -distance >= y_bytes) return false;
  if ((x.count == 1 && y.count == 1) || !is_exact(x, y)) return true;
  // A single range may have any pitch.
  const Wide x_pitch = x.count == 1 ? y.pitch_bytes : x.pitch_bytes;
  const Wide y_pitch = y.count == 1 ? x.pitch_bytes : y.pitch_bytes;
  if (x_pitch > y_pitch) return joined_overlap(y, x);
  // Range i of x and range j of y intersect if and only if
  //   distance - x.range_bytes < (i - j * ratio) * x_pitch < distance + y.range_bytes,
  // so that t = i - j * ratio is one of the integers from `first` to `last`.
  const auto floor_divide = [](Wide a, Wide b) { return a / b - (a % b < 0 ? 1 : 0); };
  const auto ceil_divide = [&](Wide a, Wide b) { return -floor_divide(-a, b); };
  const Wide ratio = y_pitch / x_pitch;
  const Wide first = ceil_divide(distance - Wide{x.range_bytes} + 1, x_pitch);
  const Wide last = floor_divide(distance + Wide{y.range_bytes} - 1, x_pitch);
  // For range j of y, t goes from -j * ratio to -j * ratio + x.count - 1.
  const Wide first_j = std::max<Wide>(ceil_divide(-last, ratio), 0);
  const Wide last_j = std::min<Wide>(floor_divide(Wide{x.count} - 1 - first, ratio), Wide{y.count} - 1);
  return first <= last && first_j <= last_j;
}

}  // namespace

bool overlap_is_exact(const ByteRanges& x, const ByteRanges& y) noexcept {
  return is_exact(joined(x), joined(y));
}

bool overlap(const ByteRanges& x, const ByteRanges& y) noexcept {
  return joined_overlap(joined(x), joined(y));
}

Status check_multiprocessors(int limit) noexcept {
  if (limit >= 0) return {};
  return Status(StatusCode::invalid_argument, "multiprocessors is %d but must be >= 0, which stands for all",
                limit);
}

Status validate_shape(const Gemm& problem) noexcept {
  if (Status s = check_size("m", problem.m); !s) return s;
  if (Status s = check_size("n", problem.n); !s) return s;
  if (Status s = check_size("k", problem.k); !s) return s;
  if (Status s = check_multiprocessors(problem.multiprocessors); !s) return s;
  if (Status s = check_types(problem); !s) return s;
  if (Status s = check_depth(problem); !s) return s;
  if (Status s = check_factors(problem); !s) return s;
  if (Status s = check_ld(extent_of_a(problem)); !s) return s;
  if (Status s = check_ld(extent_of_b(problem)); !s) return s;
  if (Status s = check_ld(extent_of_result(problem)); !s) return s;
  if (has_addend(problem)) {
    if (Status s = check_ld(extent_of_addend(problem)); !s) return s;
  }
  return check_epilogue(problem);
}

namespace {

Status check_element_alignment(const char* what, const void* data, Type type) noexcept {
  const std::size_t needed = bytes(type), beyond = reinterpret_cast<std::uintptr_t>(data) % needed;
  if (beyond == 0) return {};
  return Status(StatusCode::invalid_argument,
                "%s is at an address %zu past a multiple of %zu but %s needs a multiple of %zu", what, beyond,
                needed, type == Type::f32 ? "a float" : name(type), needed);
}

Extent extent_of(const Gemm& problem, Letter letter) noexcept {
  return letter == Letter::a   ? extent_of_a(problem)
         : letter == Letter::b ? extent_of_b(problem)
                               : extent_of_result(problem);
}

}  // namespace

Status validate_memory(const Gemm& problem, Letter letter) noexcept {
  return check_memory(extent_of(problem, letter));
}

ByteRanges memory_of(const Gemm& problem, Letter letter) noexcept {
  return extent_of(problem, letter).byte_ranges();
}

Status validate(const Gemm& problem) noexcept {
  if (Status s = validate_shape(problem); !s) return s;
  return validate_pointers(problem);
}

Status validate_pointers(const Gemm& problem) noexcept {
  if (Status s = check_in_place(problem); !s) return s;
  const EpilogueOptions& e = problem.epilogue;
  const Extent a = extent_of_a(problem), b = extent_of_b(problem), result = extent_of_result(problem),
               addend = extent_of_addend(problem), aux = extent_of_aux(problem);
  const bool is_read = problem.alpha != 0.0;  // A and B; else they may be anything
  const struct {
    const Extent& extent;
    bool is_used;
  } matrices[] = {
      {a, is_read}, {b, is_read}, {result, true}, {addend, has_addend(problem)}, {aux, has_aux(problem)}};
  for (const auto& x : matrices) {
    if (!x.is_used) continue;
    if (Status s = check_memory(x.extent); !s) return s;
  }
  const struct {
    const char* what;
    const void* data;
    std::int64_t count;
    Type type;
    bool is_written = false;
  } vectors[] = {{"scale_a", problem.scale_a, 1, Type::f32},
                 {"scale_b", problem.scale_b, 1, Type::f32},
                 {"bias", e.bias.data, problem.n, e.bias.type},
                 {"row_bias", e.row_bias.data, problem.m, e.row_bias.type},
                 {"row_scale", e.row_scale, problem.m, Type::f32},
                 {"column_scale", e.column_scale, problem.n, Type::f32},
                 {"scale_d", e.scale_d, 1, Type::f32},
                 {"absmax", e.absmax, 1, Type::f32, true},
                 {"bias_gradient", e.bias_gradient, problem.n, Type::f32, true}};
  for (const auto& x : vectors) {
    if (x.data == nullptr) continue;
    if (Status s = check_element_alignment(x.what, x.data, x.type); !s) return s;
  }
  if (Status s = check_workspace(problem); !s) return s;

  // gemm() writes the result, the workspace and what the epilogue gives beside the result: they may overlap
  // nothing else. Only C may be where D is.
  Memory written[5];
  int count = 0;
  const auto check_read = [&](const Memory& x) {
    for (int i = 0; i < count && !x.empty; ++i) {
      if (Status s = check_apart(written[i], x); !s) return s;
    }
    return Status();
  };
  for (const Memory& x :
       {memory_of("the workspace", problem.workspace, problem.workspace_bytes), memory_of(result),
        has_aux(problem) && !reads_aux(e.activation) ? memory_of(aux) : Memory{"", true, {}},
        memory_of("absmax", e.absmax, sizeof(float)),
        memory_of("bias_gradient", e.bias_gradient, static_cast<std::size_t>(problem.n) * sizeof(float))}) {
    if (x.empty) continue;
    if (Status s = check_read(x); !s) return s;
    written[count++] = x;
  }
  for (const Extent* x : {&a, &b}) {
    if (!is_read) break;
    if (Status s = check_read(memory_of(*x)); !s) return s;
  }
  if (has_addend(problem) && problem.c.data != problem.d.data) {
    if (Status s = check_read(memory_of(addend)); !s) return s;
  }
  if (reads_aux(e.activation)) {
    if (Status s = check_read(memory_of(aux)); !s) return s;
  }
  for (const auto& x : vectors) {
    if (x.is_written || x.data == nullptr) continue;
    const Memory memory = memory_of(x.what, x.data, static_cast<std::size_t>(x.count) * bytes(x.type));
    if (Status s = check_read(memory); !s) return s;
  }
  return {};
}

}  // namespace tenon
