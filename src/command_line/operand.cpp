// The conversions and copies of operand.hpp.
#include "command_line/operand.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "command_line/exit_status.hpp"
#include "command_line/progress.hpp"
#include "command_line/random.hpp"
#include "host/error_bound.hpp"
#include "reference/cpu.hpp"

namespace tenon::command {

Operand poisoned(std::int64_t rows, std::int64_t columns, std::int64_t ld, Order order, Type type) {
  Operand x;
  x.rows = rows;
  x.columns = columns;
  x.ld = ld;
  x.order = order;
  x.type = type;
  if (rows > 0 && columns > 0) {
    x.data.assign(static_cast<std::size_t>((x.vectors() - 1) * ld + x.length()) * bytes(type), 0xFF);
  }
  return x;
}

namespace {

// Floats with the 29 bits of a double that they leave, drawn too: each is scaled by 1 to 1 + 2^-24. index_of:
// what the bits of an element depend on, beside the seed.
template <class IndexOf>
void fill_f64(const std::vector<float>& floats, std::uint64_t seed, const IndexOf& index_of,
              unsigned char* to) {
  for (std::size_t j = 0; j < floats.size(); ++j) {
    const auto index = static_cast<std::uint64_t>(index_of(static_cast<std::int64_t>(j)));
    const double bits = static_cast<double>(random_bits(~seed, index) >> 35);
    const double value = static_cast<double>(floats[j]) * (1.0 + 0x1p-53 * 2.0 * bits);
    std::memcpy(to + j * sizeof value, &value, sizeof value);
  }
}

}  // namespace

Operand random_operand(const std::string& label, std::uint64_t seed, std::int64_t rows, std::int64_t columns,
                       std::int64_t ld, Order order, Type type) {
  Operand x = poisoned(rows, columns, ld, order, type);
  if (x.data.empty()) return x;
  Progress progress("random " + label, x.vectors());
  std::vector<float> vector(static_cast<std::size_t>(x.length()));
  for (std::int64_t i = 0; i < x.vectors(); ++i) {
    for (std::int64_t j = 0; j < x.length(); ++j) {
      const std::int64_t index = order == row_major ? i * columns + j : j * columns + i;
      // The two values of a pair are adjacent in a row: use both at once.
      const NormalPair pair = random_normals(seed, static_cast<std::uint64_t>(index / 2));
      vector[static_cast<std::size_t>(j)] = index % 2 == 0 ? pair.first : pair.second;
      if (order == row_major && index % 2 == 0 && j + 1 < x.length())
        vector[static_cast<std::size_t>(++j)] = pair.second;
    }
    if (type == Type::s8 || type == Type::s32) {
      for (float& value : vector) value = std::clamp(42.0F * value, -127.0F, 127.0F);
    }
    unsigned char* const to = x.data.data() + static_cast<std::size_t>(i * ld) * bytes(type);
    if (type == Type::f64) {
      fill_f64(
          vector, seed,
          [&](std::int64_t j) { return order == row_major ? i * columns + j : j * columns + i; }, to);
    } else {
      reference::encode(type, vector.data(), vector.size(), to);
    }
    progress.advance();
  }
  return x;
}

namespace {

std::int64_t count_overflows(const std::vector<float>& values, Type type) {
  const double above = overflow_threshold(type);
  const double below = type == Type::s8 || type == Type::s32 ? above + 1 : above;  // -128 is one of s8
  return std::count_if(values.begin(), values.end(), [=](float value) {
    const double x = static_cast<double>(value);
    return std::isfinite(x) && (x >= above || x <= -below);
  });
}

}  // namespace

Operand from_npy(const NpyMatrix& matrix, std::int64_t ld, Type type) {
  Operand x = poisoned(matrix.rows, matrix.columns, ld, matrix.order, type);
  if (x.data.empty()) return x;
  const std::size_t length = static_cast<std::size_t>(x.length());
  std::vector<float> vector(length);
  for (std::int64_t i = 0; i < x.vectors(); ++i) {
    const unsigned char* from =
        matrix.data.data() + static_cast<std::size_t>(i) * length * bytes(matrix.type);
    unsigned char* to = x.data.data() + static_cast<std::size_t>(i * ld) * bytes(type);
    if (matrix.type == type) {
      std::memcpy(to, from, length * bytes(type));
    } else {
      reference::decode(matrix.type, from, length, vector.data());
      reference::encode(type, vector.data(), length, to);
      x.overflowed += count_overflows(vector, type);
    }
  }
  return x;
}

namespace {

// Number: float or double. decode(elements, count, numbers).
template <class Number, class Decode>
std::vector<Number> decoded_by(const Decode& decode, const Operand& operand, Order into) {
  std::vector<Number> values(static_cast<std::size_t>(operand.rows * operand.columns));
  if (operand.data.empty()) return values;
  std::vector<Number> vector(static_cast<std::size_t>(operand.length()));
  for (std::int64_t i = 0; i < operand.vectors(); ++i) {
    decode(operand.data.data() + static_cast<std::size_t>(i * operand.ld) * bytes(operand.type),
           vector.size(), vector.data());
    if (into == operand.order) {
      std::copy(vector.begin(), vector.end(), values.begin() + i * operand.length());
    } else {
      for (std::int64_t j = 0; j < operand.length(); ++j) {
        values[static_cast<std::size_t>(j * operand.vectors() + i)] = vector[static_cast<std::size_t>(j)];
      }
    }
  }
  return values;
}

}  // namespace

std::vector<float> decoded(const Operand& operand, Order into) {
  return decoded_by<float>([&](const unsigned char* elements, std::size_t count,
                               float* numbers) { reference::decode(operand.type, elements, count, numbers); },
                           operand, into);
}

std::vector<double> decoded_f64(const Operand& operand, Order into) {
  if (operand.type != Type::f64) {
    const std::vector<float> numbers = decoded(operand, into);
    return {numbers.begin(), numbers.end()};
  }
  return decoded_by<double>([](const unsigned char* elements, std::size_t count,
                               double* numbers) { std::memcpy(numbers, elements, count * sizeof *numbers); },
                            operand, into);
}

std::vector<std::int32_t> integers(const Operand& operand) {
  const auto columns = static_cast<std::size_t>(operand.columns);
  std::vector<std::int32_t> values(static_cast<std::size_t>(operand.rows) * columns);
  if (operand.data.empty()) return values;
  for (std::int64_t i = 0; i < operand.rows; ++i) {
    std::memcpy(values.data() + static_cast<std::size_t>(i) * columns,
                operand.data.data() + static_cast<std::size_t>(i * operand.ld) * sizeof(std::int32_t),
                columns * sizeof(std::int32_t));
  }
  return values;
}

void require_cuda(int error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  throw Failure(Exit::machine_cannot,
                std::string(what) + " failed: " + cudaGetErrorString(static_cast<cudaError_t>(error)));
}

DeviceBuffer::DeviceBuffer(Device& device, const std::string& purpose, std::size_t bytes) : device_(device) {
  if (const Status s = device.allocate(bytes, &data_); !s)
    throw Failure(Exit::machine_cannot, purpose + ": " + s.message());
}

DeviceBuffer::DeviceBuffer(Device& device, const Operand& operand, const std::string& purpose)
    : DeviceBuffer(device, purpose, operand.data.size()) {
  upload(operand.data.data(), operand.data.size());
}

DeviceBuffer::~DeviceBuffer() {
  device_.free(data_);
}

void DeviceBuffer::upload(const void* from, std::size_t bytes) {
  require(device_.upload(data_, from, bytes));
}

void DeviceBuffer::download(void* to, std::size_t bytes) const {
  require(device_.download(to, data_, bytes));
}

}  // namespace tenon::command
