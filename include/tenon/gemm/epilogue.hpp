// The epilogue's operation: what happens to the accumulators before they are rounded and stored.
//
// An operation is any functor that is called for each element of C:
//
//   struct BiasRelu {
//     const float* bias;
//     __device__ float operator()(float accumulator, int row, int column) const {
//       return fmaxf(accumulator + bias[column], 0.0F);
//     }
//   };
//
// It gets int32_t and returns int32_t where the accumulators are integers, and double where they are double.
// It is called for elements of C alone, in no order, once each, after what runs before the kernel on the
// stream has ended. All stores (store_*.hpp) take any operation. A functor with a member loaded() is applied
// as what that returns: called once a thread, it can read scalars from device memory.
//
// LinearCombination, alpha * accumulator + beta * C, is the operation of a plain GEMM; the stores have code
// of their own for beta == 0. All is computed in f32 and rounded once. The type of C is a run-time value.
// LinearCombinationF64 is the same of f64 accumulators and a C of f64.
// Below: output.hpp, fragment/pack.hpp, ptx/opaque.hpp.
#pragma once

#include "tenon/fragment/pack.hpp"
#include "tenon/gemm/output.hpp"
#include "tenon/ptx/opaque.hpp"
#include "tenon/ptx/standard.hpp"

namespace tenon {

// A lane's 8 values of 32 columns of a row: value[x][y] is column 8 * x + y, counted from the lane's first.
// Value: float, int32_t where the accumulators are integers, double where they are double.
template <class Value_>
struct LaneRow {
  using Value = Value_;
  Value value[4][2];
};

// Element (row, column) of C as float; zero where C has none. type: the type of C, f32, f16 or bf16. (An
// argument of its own here and below: where the caller knows it, the function is compiled for it alone.)
__device__ __forceinline__ float load_element(const Output& c, Type type, int row, int column) {
  const bool inside = row < c.m && column < c.n;
  const std::int64_t at = row * c.ld + column;
  if (type == Type::f32) return inside ? static_cast<const float*>(c.data)[at] : 0.0F;
  const std::uint32_t bits = inside ? static_cast<const std::uint16_t*>(c.data)[at] : 0U;
  float pair[2];
  if (type == Type::f16) {
    Packing<__half>::unpack(bits, pair);
  } else {
    Packing<__nv_bfloat16>::unpack(bits, pair);
  }
  return pair[0];
}

// Two values rounded to f16 or bf16, the first in the low half.
__device__ __forceinline__ std::uint32_t pack_pair(Type type, const float (&pair)[2]) {
  return type == Type::f16 ? Packing<__half>::pack(pair) : Packing<__nv_bfloat16>::pack(pair);
}

// alpha * accumulator: what LinearCombination does where beta is 0.
struct Scaling {
  float alpha;

  __device__ __forceinline__ void apply(Type, LaneRow<float>& row) const {
#pragma unroll
    for (int x = 0; x < 4; ++x) {
#pragma unroll
      for (int y = 0; y < 2; ++y) row.value[x][y] *= alpha;
    }
  }
};

// alpha * accumulator + beta * C, where C is the matrix that is stored. beta == 0 does not read C.
struct LinearCombination {
  float alpha, beta;

  // type: that of C, for callers that know it, or some of it.
  __device__ __forceinline__ void apply(const Output& c, Type type, LaneRow<float>& values, int row,
                                        int column) const {
    Scaling{alpha}.apply(type, values);
    if (beta == 0.0F) return;
#pragma unroll
    for (int x = 0; x < 4; ++x) {
#pragma unroll
      for (int y = 0; y < 2; ++y) values.value[x][y] += beta * load_element(c, type, row, column + 8 * x + y);
    }
  }

  // Of integers, for which alpha and beta are whole numbers of at most 31 bits: modulo 2^32. C is s32.
  __device__ __forceinline__ void apply(const Output& c, Type, LaneRow<std::int32_t>& values, int row,
                                        int column) const {
    const auto element = [&](int at) {
      return row < c.m && at < c.n ? static_cast<const std::int32_t*>(c.data)[row * c.ld + at] : 0;
    };
    const auto times = [](float factor, std::int32_t x) {
      return static_cast<std::uint32_t>(static_cast<std::int32_t>(factor)) * static_cast<std::uint32_t>(x);
    };
#pragma unroll
    for (int x = 0; x < 4; ++x) {
#pragma unroll
      for (int y = 0; y < 2; ++y) {
        std::uint32_t sum = times(alpha, values.value[x][y]);
        if (beta != 0.0F) sum += times(beta, element(column + 8 * x + y));
        values.value[x][y] = static_cast<std::int32_t>(sum);
      }
    }
  }
};

// The same in f64: accumulators, factors and C.
struct LinearCombinationF64 {
  double alpha, beta;

  __device__ __forceinline__ void apply(const Output& c, Type, LaneRow<double>& values, int row,
                                        int column) const {
#pragma unroll
    for (int x = 0; x < 4; ++x) {
#pragma unroll
      for (int y = 0; y < 2; ++y) {
        const int at = column + 8 * x + y;
        double& value = values.value[x][y];
        value *= alpha;
        if (beta != 0.0 && row < c.m && at < c.n)
          value = fma(beta, static_cast<const double*>(c.data)[row * c.ld + at], value);
      }
    }
  }
};

// LinearCombination with factors of A and B that stand in device memory; null stands for 1.
struct ScaledCombination {
  LinearCombination plain;
  const float* scale_a;
  const float* scale_b;

  __device__ __forceinline__ LinearCombination loaded() const {
    LinearCombination combination = plain;
    if (scale_a != nullptr) combination.alpha *= *scale_a;
    if (scale_b != nullptr) combination.alpha *= *scale_b;
    return combination;
  }
};

// Whether the operation is LinearCombination or a part of it, which are applied to whole rows of a lane.
template <class Op>
inline constexpr bool is_linear = std::is_same_v<Op, LinearCombination> || std::is_same_v<Op, Scaling> ||
                                  std::is_same_v<Op, LinearCombinationF64>;

// An operation as it is applied. reads_memory: whether to ask for it reads what ran before on the stream.
template <class Op, class = void>
struct LoadedOperation {
  using type = Op;
  static constexpr bool reads_memory = false;
  __device__ __forceinline__ static const Op& of(const Op& op) { return op; }
};
template <class Op>
struct LoadedOperation<Op, std::void_t<decltype(std::declval<const Op&>().loaded())>> {
  using type = std::decay_t<decltype(std::declval<const Op&>().loaded())>;
  static constexpr bool reads_memory = true;
  __device__ __forceinline__ static type of(const Op& op) { return op.loaded(); }
};

// Whether device code may call F with these arguments, and the result converts to R.
#if defined(__CUDACC_VER_MAJOR__)
template <class R, class F, class... Arguments>
inline constexpr bool is_device_callable = std::is_invocable_r_v<R, F, Arguments...>;
#else  // to clang the functions of <type_traits> are of the host, which may not call those of a device
template <class R, class F, class... Arguments>
__host__ __device__ auto call_result(int)
    -> std::is_convertible<decltype(std::declval<F>()(std::declval<Arguments>()...)), R>;
template <class, class, class...>
__host__ __device__ std::false_type call_result(long);
template <class R, class F, class... Arguments>
inline constexpr bool is_device_callable = decltype(call_result<R, F, Arguments...>(0))::value;
#endif

// Whether an operation that is not LinearCombination can be called as operations are.
template <class Op, class Value>
inline constexpr bool is_operation = is_device_callable<Value, const Op&, Value, int, int>;

// An operation on elements that all lie in C: applied without bounds checks.
template <class Op_>
struct InteriorOperation {
  Op_ op;
  template <class Value>
  __device__ __forceinline__ auto operator()(Value accumulator, int row, int column) const {
    return op(accumulator, row, column);
  }
};
template <class Op>
inline constexpr bool is_interior = false;
template <class Op>
inline constexpr bool is_interior<InteriorOperation<Op>> = true;

// Applies the operation to a lane's values of `row` of C, from `column` on. type: that of C.
template <class Op, class Value>
__device__ __forceinline__ void apply(const Op& op, const Output& c, Type type, LaneRow<Value>& values,
                                      int row, int column) {
  if constexpr (std::is_same_v<Op, Scaling>) {
    op.apply(type, values);
  } else if constexpr (std::is_same_v<Op, LinearCombination> || std::is_same_v<Op, LinearCombinationF64>) {
    op.apply(c, type, values, row, column);
  } else {
    static_assert(is_operation<Op, Value>,
                  "an epilogue operation is called as op(accumulator, int row, int column) and returns the "
                  "accumulator's type: float, int32_t where integers are multiplied, double where f64 is");
    if (!is_interior<Op> && row >= c.m) return;
#pragma unroll
    for (int x = 0; x < 4; ++x) {
#pragma unroll
      for (int y = 0; y < 2; ++y) {
        const int at = column + 8 * x + y;
        if (is_interior<Op> || at < c.n) values.value[x][y] = op(values.value[x][y], row, at);
      }
    }
  }
}

// The same where value[x][y] is row 8 * x + y, from `row` on, of a column of C.
template <class Op>
__device__ __forceinline__ void apply_transposed(const Op& op, const Output& c, Type type,
                                                 LaneRow<float>& values, int row, int column) {
  if constexpr (std::is_same_v<Op, Scaling>) {
    op.apply(type, values);
  } else {
    static_assert(is_operation<Op, float>,
                  "an epilogue operation is called as op(float accumulator, int row, int column) and returns "
                  "float");
    if (!is_interior<Op> && column >= c.n) return;
#pragma unroll
    for (int x = 0; x < 4; ++x) {
#pragma unroll
      for (int y = 0; y < 2; ++y) {
        const int at = row + 8 * x + y;
        if (is_interior<Op> || at < c.m) values.value[x][y] = op(values.value[x][y], at, column);
      }
    }
  }
}

}  // namespace tenon
