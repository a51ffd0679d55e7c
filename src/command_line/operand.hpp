// Matrices on the host and on the device, as `tenon gemm` moves them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "command_line/npy.hpp"
#include "device/device.hpp"
#include "tenon/gemm.hpp"

namespace tenon::command {

// A matrix on the host in the layout that the device gets: ld elements between rows (columns). What lies
// between the end of one row and the next is poison (0xFF bytes: NaN in every float, -1 in integers).
struct Operand {
  std::int64_t rows = 0, columns = 0, ld = 0;
  Order order = row_major;
  Type type = Type::f16;
  std::vector<unsigned char> data;
  // Finite elements of a file that are too large for `type`: they became infinite, or in fp8 and integers the
  // largest value.
  std::int64_t overflowed = 0;

  std::int64_t lines() const noexcept { return order == row_major ? rows : columns; }
  std::int64_t length() const noexcept { return order == row_major ? columns : rows; }
  // Distances, in elements, between neighbours in a column and in a row.
  std::int64_t row_stride() const noexcept { return order == row_major ? ld : 1; }
  std::int64_t column_stride() const noexcept { return order == row_major ? 1 : ld; }
};

// An operand of poison alone. Its shape must be valid: ld >= length.
Operand poisoned(std::int64_t rows, std::int64_t columns, std::int64_t ld, Order order, Type type);

// N(0, 1) values, of integers round(42 * N(0, 1)) within +-127, that depend on the seed and on (row, column),
// not on the layout.
Operand random_operand(const std::string& label, std::uint64_t seed, std::int64_t rows, std::int64_t columns,
                       std::int64_t ld, Order order, Type type);

// The matrix of a file with leading dimension ld, in `type`; f32 elements are rounded to it, and overflows
// are counted.
Operand from_npy(const NpyMatrix& matrix, std::int64_t ld, Type type);

// The elements as float, dense; k-major for a product: row after row, or column after column. Of any type but
// s32, which a float does not hold; integers() are those of a row-major matrix of s32.
std::vector<float> decoded(const Operand& operand, Order into);
std::vector<std::int32_t> integers(const Operand& operand);

// Device memory that frees itself. Throws Failure(machine_cannot) that says how much was wanted and is free.
class DeviceBuffer {
 public:
  DeviceBuffer(Device& device, const std::string& purpose, std::size_t bytes);
  DeviceBuffer(Device& device, const Operand& operand, const std::string& purpose);  // and copies it there
  ~DeviceBuffer();
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  void* get() const noexcept { return data_; }
  void upload(const void* from, std::size_t bytes);
  void download(void* to, std::size_t bytes) const;

 private:
  Device& device_;
  void* data_ = nullptr;
};

// Throws Failure(machine_cannot) with the text of a CUDA error.
void require_cuda(int error, const char* what);

}  // namespace tenon::command
