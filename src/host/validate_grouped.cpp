// The checks of validate_grouped.hpp, the most basic mistake first.
#include "host/validate_grouped.hpp"

#include "host/validate.hpp"
#include "tenon/gemm/plan.hpp"

namespace tenon {
namespace {

constexpr StatusCode invalid = StatusCode::invalid_argument, unsupported = StatusCode::unsupported;
using Long = long long;

Status check_sizes(const GroupedGemm& p) noexcept {
  if (p.layout != GroupLayout::contiguous && p.layout != GroupLayout::masked &&
      p.layout != GroupLayout::divides_k)
    return Status(invalid, "layout is %d but must be contiguous (0), masked (1) or divides_k (2)",
                  static_cast<int>(p.layout));
  if (p.groups < 0 || p.groups > largest_dimension)
    return Status(invalid, "groups is %lld but must be 0 to %lld", static_cast<Long>(p.groups),
                  static_cast<Long>(largest_dimension));
  if (p.layout == GroupLayout::masked && p.groups > 0 && p.m > largest_dimension / p.groups)
    return Status(unsupported, "%lld groups of m = %lld rows are more than %lld rows in all",
                  static_cast<Long>(p.groups), static_cast<Long>(p.m), static_cast<Long>(largest_dimension));
  return {};
}

Status check_types(const GroupedGemm& p) noexcept {
  const bool scaled = p.a.type == Type::e4m3;
  if (p.a.type != Type::f16 && p.a.type != Type::bf16 && !scaled)
    return Status(unsupported, "A is %s but must be f16, bf16 or e4m3", name(p.a.type));
  if (p.b.type != p.a.type)
    return Status(unsupported, "A is %s and B is %s but they must have the same type", name(p.a.type),
                  name(p.b.type));
  if (p.c.type != Type::f16 && p.c.type != Type::bf16 && p.c.type != Type::f32)
    return Status(unsupported, "C is %s but must be f16, bf16 or f32", name(p.c.type));
  if (!scaled && (p.scale_a.data != nullptr || p.scale_b.data != nullptr))
    return Status(unsupported, "%c has scales but is %s: operands with block scales must be e4m3",
                  p.scale_a.data != nullptr ? 'A' : 'B', name(p.a.type));
  if (scaled && p.layout == GroupLayout::divides_k)
    return Status(unsupported, "A is e4m3 but where groups divide k must be f16 or bf16");
  if (p.layout == GroupLayout::divides_k) {
    if (p.a.order == column_major && p.b.order == row_major) return {};
    return Status(unsupported, "A is %s and B is %s but groups that divide k need column-major and row-major",
                  p.a.order == row_major ? "row-major" : "column-major",
                  p.b.order == row_major ? "row-major" : "column-major");
  }
  if (p.a.order != row_major)
    return Status(unsupported, "A is column-major but the rows of a group must be contiguous: row-major");
  if (p.b.order != row_major && p.b.order != column_major)
    return Status(invalid, "the order of B is %d but must be row_major (0) or column_major (1)",
                  static_cast<int>(p.b.order));
  if (scaled && p.b.order != column_major)
    return Status(unsupported, "B is row-major but with block scales must be column-major");
  return {};
}

// The Bs of all groups, as one matrix of TMA.
Status check_stride(const GroupedGemm& p) noexcept {
  if (p.groups <= 1 || p.b_stride == 0 || p.layout == GroupLayout::divides_k) return {};
  const bool by_rows = p.b.order == row_major;
  const std::int64_t count = by_rows ? p.k : p.n;  // rows or columns of a B
  if (p.b_stride < 0 || p.b_stride % p.b.ld != 0)
    return Status(unsupported, "b_stride is %lld but must be a multiple of ldb = %lld",
                  static_cast<Long>(p.b_stride), static_cast<Long>(p.b.ld));
  const std::int64_t pitch = p.b_stride / p.b.ld;
  if (pitch < count)
    return Status(invalid, "b_stride is %lld but B[g] has %lld %s of ldb = %lld: 0, or >= %lld is needed",
                  static_cast<Long>(p.b_stride), static_cast<Long>(count), by_rows ? "rows" : "columns",
                  static_cast<Long>(p.b.ld), static_cast<Long>(count * p.b.ld));
  if (pitch > largest_dimension / p.groups)
    return Status(
        unsupported, "%lld groups, b_stride = %lld apart, have %lld %s in all but TMA reads at most %lld",
        static_cast<Long>(p.groups), static_cast<Long>(p.b_stride), static_cast<Long>(pitch * p.groups),
        by_rows ? "rows" : "columns", static_cast<Long>(largest_dimension));
  if (by_rows && p.k % 64 != 0)
    return Status(unsupported, "k is %lld but with a row-major B and several groups must be a multiple of 64",
                  static_cast<Long>(p.k));
  return {};
}

// The scales of e4m3. rows: of A.
Status check_scales(const GroupedGemm& p, std::int64_t rows) noexcept {
  if (p.a.type != Type::e4m3) return {};
  const std::int64_t blocks_k = blocks_of_128(p.k), blocks_n = blocks_of_128(p.n);
  if (Status s = check_block_scales('A', p.scale_a, rows); !s) return s;
  if (Status s = check_block_scales('B', p.scale_b, blocks_k); !s) return s;
  if (p.groups <= 1 || p.scale_b_stride == 0) {
    if (p.groups <= 1 || p.b_stride == 0) return {};
    return Status(invalid, "scale_b_stride is 0 but b_stride is %lld: groups with a B each need scales of it",
                  static_cast<Long>(p.b_stride));
  }
  if (p.scale_b_stride < 0 || p.scale_b_stride % p.scale_b.ld != 0)
    return Status(unsupported, "scale_b_stride is %lld but must be a multiple of scale_b.ld = %lld",
                  static_cast<Long>(p.scale_b_stride), static_cast<Long>(p.scale_b.ld));
  const std::int64_t pitch = p.scale_b_stride / p.scale_b.ld;
  if (pitch < blocks_n)
    return Status(
        invalid,
        "scale_b_stride is %lld but the scales of B[g] have %lld rows of ld = %lld: 0, or >= %lld is "
        "needed",
        static_cast<Long>(p.scale_b_stride), static_cast<Long>(blocks_n), static_cast<Long>(p.scale_b.ld),
        static_cast<Long>(blocks_n * p.scale_b.ld));
  if (pitch > largest_dimension / p.groups)
    return Status(
        unsupported,
        "%lld groups, scale_b_stride = %lld apart, have %lld rows of scales in all but TMA reads at "
        "most %lld",
        static_cast<Long>(p.groups), static_cast<Long>(p.scale_b_stride), static_cast<Long>(pitch * p.groups),
        static_cast<Long>(largest_dimension));
  return {};
}

// The Cs of all groups, as one matrix.
Status check_outputs(const GroupedGemm& p) noexcept {
  if (p.layout != GroupLayout::divides_k || p.groups <= 1) return {};
  if (p.c_stride < 0 || p.c_stride % p.c.ld != 0)
    return Status(unsupported, "c_stride is %lld but must be a multiple of ldc = %lld",
                  static_cast<Long>(p.c_stride), static_cast<Long>(p.c.ld));
  if (p.c_stride / p.c.ld < p.m)
    return Status(invalid, "c_stride is %lld but C[g] has %lld rows of ldc = %lld: >= %lld is needed",
                  static_cast<Long>(p.c_stride), static_cast<Long>(p.m), static_cast<Long>(p.c.ld),
                  static_cast<Long>(p.m * p.c.ld));
  if (p.c_stride / p.c.ld > largest_dimension / p.groups)
    return Status(unsupported, "%lld groups, c_stride = %lld apart, have more than %lld rows in all",
                  static_cast<Long>(p.groups), static_cast<Long>(p.c_stride),
                  static_cast<Long>(largest_dimension));
  return {};
}

std::int64_t words_of(const GroupedGemm& p) noexcept {
  return p.groups + (p.layout == GroupLayout::masked ? 0 : 1);
}

Status check_words(const char* what, const void* data, std::size_t size) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  if (address % size == 0) return {};
  return Status(invalid, "%s is at an address %zu past a multiple of %zu but needs a multiple of %zu", what,
                static_cast<std::size_t>(address % size), size, size);
}

ByteRanges rows_of(const void* data, std::int64_t count, std::int64_t length, std::int64_t ld, Type type) {
  return {reinterpret_cast<std::uintptr_t>(data), static_cast<std::uint64_t>(count),
          static_cast<std::uint64_t>(length) * bytes(type), static_cast<std::uint64_t>(ld) * bytes(type)};
}

Status check_overlap(const GroupedGemm& p, std::int64_t rows, bool reads) noexcept {
  const std::size_t word = p.sizes.words_of_64 ? 8 : 4;
  const std::int64_t words = words_of(p);
  const bool by_rows = p.b.order == row_major, divides_k = p.layout == GroupLayout::divides_k;
  const std::int64_t b_count = by_rows ? p.k : p.n, b_length = by_rows ? p.n : p.k;
  const std::int64_t b_rows =
      b_count + (p.groups > 1 && p.b.ld > 0 && !divides_k ? (p.groups - 1) * (p.b_stride / p.b.ld) : 0);
  const std::int64_t a_count = divides_k ? p.k : rows, a_length = divides_k ? p.m : p.k;
  const ByteRanges c = rows_of(p.c.data, rows, p.n, p.c.ld, p.c.type);
  const ByteRanges sizes{reinterpret_cast<std::uintptr_t>(p.sizes.data), 1,
                         word * static_cast<std::uint64_t>(words), 0};
  const ByteRanges error{reinterpret_cast<std::uintptr_t>(p.error), 1, sizeof(std::int32_t), 0};
  const bool scaled = reads && p.a.type == Type::e4m3;
  const std::int64_t blocks_n = blocks_of_128(p.n), blocks_k = blocks_of_128(p.k);
  const std::int64_t scale_rows =
      blocks_n + (p.groups > 1 && scaled ? (p.groups - 1) * (p.scale_b_stride / p.scale_b.ld) : 0);
  const struct {
    const char* written;
    const ByteRanges* x;
    const char* other;
    ByteRanges y;
    bool both;
  } pairs[] = {
      {"C", &c, "A", rows_of(p.a.data, a_count, a_length, p.a.ld, p.a.type), reads},
      {"C", &c, "B", rows_of(p.b.data, b_rows, b_length, p.b.ld, p.b.type), reads},
      {"C", &c, "the scales of A", rows_of(p.scale_a.data, blocks_k, rows, p.scale_a.ld, Type::f32), scaled},
      {"C", &c, "the scales of B", rows_of(p.scale_b.data, scale_rows, blocks_k, p.scale_b.ld, Type::f32),
       scaled},
      {"C", &c, "sizes", sizes, true},
      {"C", &c, "error", error, p.error != nullptr},
      {"error", &error, "sizes", sizes, p.error != nullptr}};
  for (const auto& pair : pairs) {
    if (pair.both && overlap(*pair.x, pair.y))
      return Status(invalid, "%s at 0x%llx overlaps %s at 0x%llx but needs memory of its own", pair.written,
                    static_cast<unsigned long long>(pair.x->base), pair.other,
                    static_cast<unsigned long long>(pair.y.base));
  }
  return {};
}

}  // namespace

Status validate(const GroupedGemm& p) noexcept {
  if (Status s = check_sizes(p); !s) return s;
  if (Status s = check_multiprocessors(p.multiprocessors); !s) return s;
  if (Status s = check_types(p); !s) return s;
  const bool reads = p.alpha != 0.0F && p.k > 0, divides_k = p.layout == GroupLayout::divides_k;
  const std::int64_t a_rows = p.layout == GroupLayout::masked && p.m > 0 ? p.groups * p.m : p.m;
  if (Status s = check_product({a_rows, p.n, reads ? p.k : 0, p.a, p.b, p.c}); !s) return s;
  if (p.k < 0 || p.k > largest_dimension)
    return Status(invalid, "k is %lld but must be 0 to %lld", static_cast<Long>(p.k),
                  static_cast<Long>(largest_dimension));
  if (p.groups == 0 || a_rows == 0 || p.n == 0) return {};
  if (Status s = check_outputs(p); !s) return s;
  const std::int64_t rows =
      divides_k ? (p.groups > 1 ? (p.groups - 1) * (p.c_stride / p.c.ld) : 0) + p.m : a_rows;
  // The store counts elements of 16 bits in a row of C, and the scheduler tiles of at least 128 x 64.
  if (p.n > largest_dimension / 2)
    return Status(unsupported, "n is %lld but must be <= %lld", static_cast<Long>(p.n),
                  static_cast<Long>(largest_dimension / 2));
  if (Status s = check_tiles(rows + 128 * p.groups, p.n, 128, 64); !s) return s;
  if (reads) {
    if (Status s = check_tma_operand('A', p.a); !s) return s;
    if (Status s = check_tma_operand('B', p.b); !s) return s;
    if (Status s = check_stride(p); !s) return s;
    if (Status s = check_scales(p, rows); !s) return s;
  }
  if (p.sizes.data == nullptr)
    return Status(invalid, "sizes is a null pointer but must point to %lld integers in device memory",
                  static_cast<Long>(words_of(p)));
  if (Status s = check_words("sizes", p.sizes.data, p.sizes.words_of_64 ? 8 : 4); !s) return s;
  if (Status s = check_words("error", p.error, 4); !s) return s;
  return check_overlap(p, rows, reads);
}

}  // namespace tenon
