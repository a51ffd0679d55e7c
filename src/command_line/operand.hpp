// The matrices of `tenon gemm`, on the host and on the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "command_line/npy.hpp"
#include "device/device.hpp"
#include "tenon/gemm.hpp"

namespace tenon::command {

// A matrix on the host in the layout that the device gets: ld elements between rows (columns). The elements
// between the end of one row and the next are poison (0xFF bytes: NaN in every float, -1 in integers).
struct Operand {
  std::int64_t rows = 0, columns = 0, ld = 0;
  Order order = row_major;
  Type type = Type::f16;
  std::vector<unsigned char> data;
  // Finite elements of a file that are too large for `type`: they became infinite, or in fp8 and integers the
  // largest value.
  std::int64_t overflowed = 0;

  // Contiguous vectors: the rows, or the columns if column-major.
  std::int64_t vectors() const noexcept { return order == row_major ? rows : columns; }
  std::int64_t length() const noexcept { return order == row_major ? columns : rows; }
  // Distances, in elements, between adjacent elements of a column and of a row.
  std::int64_t row_stride() const noexcept { return order == row_major ? ld : 1; }
  std::int64_t column_stride() const noexcept { return order == row_major ? 1 : ld; }
};

// An operand that is all poison. Its shape must be valid: ld >= length().
Operand poisoned(std::int64_t rows, std::int64_t columns, std::int64_t ld, Order order, Type type);

// N(0, 1) values; for integers round(42 * N(0, 1)), clamped to +-127. They depend on the seed and on (row,
// column), not on the layout.
Operand random_operand(const std::string& label, std::uint64_t seed, std::int64_t rows, std::int64_t columns,
                       std::int64_t ld, Order order, Type type);

// The matrix of a file with leading dimension ld, in `type`; f32 elements are rounded to it, and overflows
// are counted.
Operand from_npy(const NpyMatrix& matrix, std::int64_t ld, Type type);

// The elements as floats, dense, in the order `into`. For any type but s32 and f64, whose values a float
// cannot hold: decoded_f64() returns those of any type but s32, integers() the elements of a row-major matrix
// of s32.
std::vector<float> decoded(const Operand& operand, Order into);
std::vector<double> decoded_f64(const Operand& operand, Order into);
std::vector<std::int32_t> integers(const Operand& operand);

// Device memory, freed by the destructor. Throws Failure(machine_cannot) that says how much is needed and
// free.
class DeviceBuffer {
 public:
  DeviceBuffer(Device& device, const std::string& purpose, std::size_t bytes);
  DeviceBuffer(Device& device, const Operand& operand,
               const std::string& purpose);  // and copies the operand to it
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
