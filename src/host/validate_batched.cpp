// The checks of validate_batched.hpp, the most basic mistake first.
#include "host/validate_batched.hpp"

#include <algorithm>
#include <limits>

#include "gemm/result.hpp"

namespace tenon {
namespace {

// 128 bits, in which the product of two 64-bit sizes cannot wrap.
__extension__ using Wide = __int128;

// One of A, B and C in a batch.
struct Operand {
  Letter letter;
  char name;              // 'A'
  const void* list;       // of pointers, or null
  const char* list_name;  // "a_pointers"
  std::int64_t stride;    // elements
  const char* stride_name;
  std::size_t element;  // bytes
};

Status check_types(const Gemm& p) noexcept {
  if (p.a.type != Type::f16 && p.a.type != Type::bf16) {
    return Status(StatusCode::unsupported, "A and B are %s but those of a batch must be f16 or bf16",
                  name(p.a.type));
  }
  if (p.accumulate != Type::f32) {
    return Status(StatusCode::unsupported, "accumulate is %s but must be f32 in a batch", name(p.accumulate));
  }
  if (has_d(p)) return Status(StatusCode::unsupported, "d is given but a batch stores its results in C");
  if (!p.epilogue.empty())
    return Status(StatusCode::unsupported, "epilogue is given but a batch has alpha and beta only");
  if (bytes(p.c.type) == 1)
    return Status(StatusCode::unsupported, "C is %s but must be f16, bf16 or f32 in a batch", name(p.c.type));
  return {};
}

Status check_list(const Operand& x) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(x.list);
  if (address % sizeof(void*) == 0) return {};
  return Status(StatusCode::invalid_argument,
                "%s is at an address %zu past a multiple of %zu but pointers need a multiple of %zu",
                x.list_name, static_cast<std::size_t>(address % sizeof(void*)), sizeof(void*), sizeof(void*));
}

// Bytes from the first to the last of one problem's matrix.
Wide span_of(const ByteRanges& x) noexcept {
  return Wide{x.count - 1} * x.pitch_bytes + x.range_bytes;
}

// Whether the matrices of all problems fit into the address space, if that of problem 0 does.
Status check_end(const Operand& x, const ByteRanges& first, std::int64_t count) noexcept {
  const Wide room = std::min(Wide{std::numeric_limits<std::int64_t>::max()},
                             Wide{std::numeric_limits<std::uintptr_t>::max()} - Wide{first.base});
  const Wide left = room - span_of(first), element = static_cast<Wide>(x.element);
  if (Wide{count - 1} * x.stride * element <= left) return {};
  return Status(
      StatusCode::invalid_argument,
      "%s is %lld: %c of the last of %lld problems ends beyond the address space, %s <= %lld is needed",
      x.stride_name, static_cast<long long>(x.stride), x.name, static_cast<long long>(count), x.stride_name,
      static_cast<long long>(left / element / (count - 1)));
}

// The matrices of all problems. Where a batch is no sequence of equal ranges, the gaps that are in the way
// count as part of it.
ByteRanges all_of(const ByteRanges& one, std::int64_t count, std::int64_t stride_bytes) noexcept {
  if (count == 1 || stride_bytes == 0) return one;
  const Wide span = span_of(one), stride = stride_bytes, last = Wide{count - 1} * stride;
  const auto u64 = [](Wide x) { return static_cast<std::uint64_t>(x); };
  if (one.count > 1 && stride == Wide{one.count} * one.pitch_bytes)
    return {one.base, one.count * u64(count), one.range_bytes, one.pitch_bytes};
  if (span <= stride) return {one.base, u64(count), u64(span), u64(stride)};
  if (one.count > 1 && last + one.range_bytes <= Wide{one.pitch_bytes})  // problems side by side in each row
    return {one.base, one.count, u64(last + one.range_bytes), one.pitch_bytes};
  return {one.base, 1, u64(last + span), 0};
}

// Whether the outputs of two problems share an element: exact up to `most` problems within the rows of one,
// beyond that yes.
bool outputs_overlap(std::int64_t m, std::int64_t n, std::int64_t ld, std::int64_t stride,
                     std::int64_t count) noexcept {
  constexpr std::int64_t most = 1 << 16;
  const Wide span = Wide{m - 1} * ld + n;
  for (std::int64_t apart = 1; apart < count; ++apart) {
    const Wide offset = Wide{apart} * stride;
    if (offset >= span) return false;
    // The later problem's rows begin `beyond` elements after the `rows`-th row of the earlier one.
    const Wide rows = m == 1 ? 0 : offset / ld, beyond = m == 1 ? offset : offset % ld;
    if (beyond < n || (rows + 1 < m && ld - beyond < n)) return true;
    if (apart == most) return true;
  }
  return false;
}

Status check_outputs(const Gemm& p, std::int64_t count, std::int64_t stride) noexcept {
  if (count == 1 || !outputs_overlap(p.m, p.n, p.c.ld, stride, count)) return {};
  const Wide needed = Wide{p.m - 1} * p.c.ld + p.n;
  return Status(
      StatusCode::invalid_argument,
      "stride_c is %lld but the outputs of %lld problems, %lld x %lld with ldc = %lld, must not overlap: "
      "stride_c >= %lld keeps them apart",
      static_cast<long long>(stride), static_cast<long long>(count), static_cast<long long>(p.m),
      static_cast<long long>(p.n), static_cast<long long>(p.c.ld), static_cast<long long>(needed));
}

Status check_apart(const ByteRanges& c, const char* what, const ByteRanges& other) noexcept {
  if (!overlap(c, other)) return {};
  return Status(StatusCode::invalid_argument,
                "C (from 0x%llx, all problems) %s %s (from 0x%llx) but needs memory of its own",
                static_cast<unsigned long long>(c.base),
                overlap_is_exact(c, other) ? "overlaps" : "may overlap", what,
                static_cast<unsigned long long>(other.base));
}

}  // namespace

Status validate(const BatchedGemm& batch) noexcept {
  const Gemm& p = batch.problem;
  constexpr StatusCode invalid = StatusCode::invalid_argument;
  if (batch.count < 0)
    return Status(invalid, "count is %lld but must be >= 0", static_cast<long long>(batch.count));
  if (batch.count > std::numeric_limits<std::int32_t>::max()) {
    return Status(StatusCode::unsupported, "count is %lld but must be <= 2147483647",
                  static_cast<long long>(batch.count));
  }
  if (Status s = validate_shape(p); !s) return s;
  if (Status s = check_types(p); !s) return s;
  const Operand operands[] = {
      {Letter::a, 'A', batch.a_pointers, "a_pointers", batch.stride_a, "stride_a", bytes(p.a.type)},
      {Letter::b, 'B', batch.b_pointers, "b_pointers", batch.stride_b, "stride_b", bytes(p.b.type)},
      {Letter::c, 'C', batch.c_pointers, "c_pointers", batch.stride_c, "stride_c", bytes(p.c.type)}};
  for (const Operand& x : operands) {
    if (x.list == nullptr && x.stride < 0)
      return Status(invalid, "%s is %lld but must be >= 0", x.stride_name, static_cast<long long>(x.stride));
  }
  const int promised = batch.list_alignment;
  if (promised < 0 || (promised & (promised - 1)) != 0)
    return Status(invalid, "list_alignment is %d but must be 0 or a power of two", promised);
  if (batch.count == 0 || p.m == 0 || p.n == 0) return {};

  const bool is_read = p.k != 0 && p.alpha != 0.0;  // A and B; else they may be anything
  for (const Operand& x : operands) {
    if (x.letter != Letter::c && !is_read) continue;
    if (x.list != nullptr) {
      if (Status s = check_list(x); !s) return s;
      continue;
    }
    if (Status s = validate_memory(p, x.letter); !s) return s;
    if (Status s = check_end(x, memory_of(p, x.letter), batch.count); !s) return s;
  }
  if (batch.c_pointers != nullptr) return {};
  if (Status s = check_outputs(p, batch.count, batch.stride_c); !s) return s;
  const auto memory = [&](const Operand& x) {
    return all_of(memory_of(p, x.letter), batch.count, x.stride * static_cast<std::int64_t>(x.element));
  };
  const ByteRanges c = memory(operands[2]);
  for (const Operand& x : {operands[0], operands[1]}) {
    if (!is_read) continue;
    if (x.list == nullptr) {
      if (Status s = check_apart(c, x.letter == Letter::a ? "A" : "B", memory(x)); !s) return s;
      continue;
    }
    const std::uint64_t list_bytes = static_cast<std::uint64_t>(batch.count) * sizeof(void*);
    const ByteRanges list{reinterpret_cast<std::uintptr_t>(x.list), 1, list_bytes, 0};
    if (Status s = check_apart(c, x.list_name, list); !s) return s;
  }
  return {};
}

}  // namespace tenon
