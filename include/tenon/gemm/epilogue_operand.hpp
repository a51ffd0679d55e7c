// The kinds of operands that an epilogue loads for an operation: vectors with an element for each column or
// row of C, a matrix as large as C, a scalar. All are device memory that nothing writes while the kernel
// runs; a matrix may be C itself. Below: output.hpp, element_type.hpp.
#pragma once

#include "tenon/gemm/element_type.hpp"
#include "tenon/gemm/output.hpp"

namespace tenon {

// What an operation gets of an element: float of the types of 16 and 32 bits, else the type itself.
template <class T>
using LoadedAs = std::conditional_t<std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>, float, T>;

template <class T>
struct OperandElement {
  static_assert(std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16> || std::is_same_v<T, float> ||
                    std::is_same_v<T, double> || std::is_same_v<T, std::int32_t>,
                "EpilogueOperands: the elements of an operand are __half, __nv_bfloat16, float, double or "
                "int32_t");
  using Element = T;
  using Value = LoadedAs<T>;
};

enum class OperandKind { column_vector, row_vector, matrix, scalar };

// n elements, one for each column of C: a bias.
template <class T>
struct ColumnVector : OperandElement<T> {
  static constexpr OperandKind kind = OperandKind::column_vector;
  static constexpr const char* name = "ColumnVector";
  const T* data = nullptr;
  ColumnVector() = default;
  constexpr ColumnVector(const T* d) : data(d) {}  // NOLINT(google-explicit-constructor): stands for it
};

// m elements, one for each row of C: the scales of tokens.
template <class T>
struct RowVector : OperandElement<T> {
  static constexpr OperandKind kind = OperandKind::row_vector;
  static constexpr const char* name = "RowVector";
  const T* data = nullptr;
  RowVector() = default;
  constexpr RowVector(const T* d) : data(d) {}  // NOLINT(google-explicit-constructor)
};

// m x n, row-major: a residual. ld: elements from row to row. Hopper's kernels load it by TMA if it has 16
// bits, the type of C, and rows that begin on multiples of 16 bytes, and if TMA stores C; not with tiles that
// are fitted, swapped or split along k.
template <class T>
struct MatrixOperand : OperandElement<T> {
  static constexpr OperandKind kind = OperandKind::matrix;
  static constexpr const char* name = "MatrixOperand";
  const T* data = nullptr;
  std::int64_t ld = 0;
  MatrixOperand() = default;
  constexpr MatrixOperand(const T* d, std::int64_t l) : data(d), ld(l) {}
};

// One element: a scale that an earlier kernel has computed.
template <class T>
struct DeviceScalar : OperandElement<T> {
  static constexpr OperandKind kind = OperandKind::scalar;
  static constexpr const char* name = "DeviceScalar";
  const T* data = nullptr;
  DeviceScalar() = default;
  constexpr DeviceScalar(const T* d) : data(d) {}  // NOLINT(google-explicit-constructor)
};

template <class O>
inline constexpr bool is_operand = false;
template <class T>
inline constexpr bool is_operand<ColumnVector<T>> = true;
template <class T>
inline constexpr bool is_operand<RowVector<T>> = true;
template <class T>
inline constexpr bool is_operand<MatrixOperand<T>> = true;
template <class T>
inline constexpr bool is_operand<DeviceScalar<T>> = true;

template <class O>
inline constexpr bool is_matrix_operand = false;
template <class T>
inline constexpr bool is_matrix_operand<MatrixOperand<T>> = true;

// The element of an operand that belongs to an element of C.
template <class O>
__device__ __forceinline__ typename O::Value load_operand(const O& operand, int row, int column) {
  std::int64_t at = 0;
  if constexpr (O::kind == OperandKind::column_vector) at = column;
  if constexpr (O::kind == OperandKind::row_vector) at = row;
  if constexpr (O::kind == OperandKind::matrix) at = row * operand.ld + column;
  return static_cast<typename O::Value>(operand.data[at]);
}

}  // namespace tenon
