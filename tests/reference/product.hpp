// One product on the GPU and its reference on the host, for the L4 tests of this folder.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <ostream>
#include <random>
#include <vector>

#include "reference/cpu.hpp"
#include "reference/reference.hpp"

namespace tenon {

// Prints names instead of bytes in test names.
inline void PrintTo(Type type, std::ostream* stream) {
  *stream << name(type);
}  // NOLINT(readability-identifier-naming)

}  // namespace tenon

namespace tenon::reference {

inline void PrintTo(const AlgorithmInfo& info,
                    std::ostream* stream) {  // NOLINT(readability-identifier-naming)
  *stream << info.name;
}

// Device memory, every byte 0xff: a NaN in each of the three types.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t size) : size_(size) {
    if (cudaMalloc(&data_, size) != cudaSuccess) {
      data_ = nullptr;
      cudaGetLastError();  // so that the next test does not see this failure
      return;
    }
    EXPECT_EQ(cudaMemset(data_, 0xff, size), cudaSuccess);
  }
  ~DeviceBuffer() { cudaFree(data_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  unsigned char* data() const {
    return static_cast<unsigned char*>(data_);
  }  // nullptr if there was not enough memory
  std::size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  std::size_t size_;
};

// `rows` rows of `length` elements (columns of a column-major matrix), `ld` apart, in device memory, with
// 0xff between them, before them and after them.
class DeviceRows {
 public:
  static constexpr std::size_t guard = 256;  // bytes on either side; keeps the alignment of cudaMalloc

  // The first element is `offset` elements past a multiple of 256 bytes.
  DeviceRows(Type type, std::int64_t rows, std::int64_t length, std::int64_t ld, int offset)
      : type_(type),
        rows_(rows),
        length_(length),
        ld_(ld),
        begin_(guard + static_cast<std::size_t>(offset) * bytes(type)),
        buffer_(begin_ + (rows == 0 ? 0 : static_cast<std::size_t>((rows - 1) * ld + length)) * bytes(type) +
                guard) {}

  bool allocated() const { return buffer_.data() != nullptr; }
  unsigned char* data() const { return buffer_.data() + begin_; }

  void write(const std::vector<float>& values) {
    std::vector<unsigned char> elements(values.size() * bytes(type_));
    encode(type_, values.data(), values.size(), elements.data());
    for (std::int64_t i = 0; i < rows_; ++i) {
      ASSERT_EQ(cudaMemcpy(row(i), elements.data() + i * row_bytes(), row_bytes(), cudaMemcpyHostToDevice),
                cudaSuccess);
    }
  }

  std::vector<float> read() const {
    const auto count = static_cast<std::size_t>(rows_ * length_);
    std::vector<unsigned char> elements(count * bytes(type_));
    for (std::int64_t i = 0; i < rows_; ++i) {
      EXPECT_EQ(cudaMemcpy(elements.data() + i * row_bytes(), row(i), row_bytes(), cudaMemcpyDeviceToHost),
                cudaSuccess);
    }
    std::vector<float> values(count);
    decode(type_, elements.data(), count, values.data());
    return values;
  }

  // Checks that nothing was written except the rows themselves.
  void expect_surroundings_untouched() const {
    std::vector<unsigned char> all(buffer_.size());
    ASSERT_EQ(cudaMemcpy(all.data(), buffer_.data(), all.size(), cudaMemcpyDeviceToHost), cudaSuccess);
    for (std::int64_t i = 0; i < rows_; ++i) {
      std::memset(all.data() + (row(i) - buffer_.data()), 0xff, row_bytes());
    }
    std::size_t changed = 0;
    for (unsigned char byte : all) changed += byte != 0xff;
    EXPECT_EQ(changed, 0U) << "bytes written between, before or after the rows";
  }

 private:
  std::size_t row_bytes() const { return static_cast<std::size_t>(length_) * bytes(type_); }
  unsigned char* row(std::int64_t i) const {
    return data() + static_cast<std::size_t>(i * ld_) * bytes(type_);
  }

  Type type_;
  std::int64_t rows_, length_, ld_;
  std::size_t begin_;
  DeviceBuffer buffer_;
};

struct Case {
  Type type = Type::f16, out = Type::f32;
  std::int64_t m = 0, n = 0, k = 0;
  Order a_order = row_major, b_order = column_major;
  std::int64_t a_pad = 0, b_pad = 0, c_pad = 0;  // elements between rows
  int offset = 0;                                // elements from an aligned address, in A, B and C
  float alpha = 1.0F, beta = 0.0F;
};

// Half the distance between 1 and the next number of the type.
inline double unit_roundoff(Type type) {
  return type == Type::f16 ? 0x1p-11 : type == Type::bf16 ? 0x1p-8 : 0x1p-24;
}
// Half of the smallest number of the type.
inline double half_subnormal(Type type) {
  return type == Type::f16 ? 0x1p-25 : type == Type::bf16 ? 0x1p-134 : 0x1p-150;
}

// An upper bound of |computed - exact| for a product whose sum of absolute values is `magnitude`.
//
// FFMA in FP32 rounds k times, by at most 2^-24 of the magnitude each. Tensor cores add 8 or 16 products and
// the accumulator at once, truncate each to 2^-24 of the largest, and truncate the result to 24 bits: at most
// (9 + 2) * 2^-24 for every 8 products, so 1.5 * 2^-24 for each product covers both. Then alpha, beta and the
// output round once each.
inline double error_bound(std::int64_t k, Type out, double value, double magnitude) {
  const double sum = 1.5 * static_cast<double>(k + 8) * 0x1p-24 * magnitude;
  const double scaling = 3 * 0x1p-24 * magnitude;
  return sum + scaling + 1.01 * unit_roundoff(out) * std::abs(value) + half_subnormal(out) +
         static_cast<double>(k + 3) * 0x1p-149;
}

// NaN for NaN, infinity for infinity, else within the bound.
inline void expect_close(const std::vector<float>& found, const HostResult& wanted, std::int64_t n,
                         std::int64_t k, Type out) {
  ASSERT_EQ(found.size(), wanted.value.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double value = wanted.value[i];
    bool right = false;
    if (std::isnan(value)) {
      right = std::isnan(found[i]);
    } else if (std::isinf(value)) {
      right = found[i] == value;
    } else {
      right = std::abs(found[i] - value) <= error_bound(k, out, value, wanted.magnitude[i]);
    }
    ASSERT_TRUE(right) << "C(" << static_cast<std::int64_t>(i) / n << ", " << static_cast<std::int64_t>(i) % n
                       << ") is " << found[i] << " but should be " << value << " +- "
                       << error_bound(k, out, value, wanted.magnitude[i]);
  }
}

class Product {
 public:
  // Dense rows as stored. Random in [-2, 2], already rounded to the type; a test may change them.
  std::vector<float> a, b, c;

  explicit Product(const Case& what)
      : what_(what),
        a_rows_(what.a_order == row_major ? what.m : what.k),
        a_length_(what.a_order == row_major ? what.k : what.m),
        b_rows_(what.b_order == row_major ? what.k : what.n),
        b_length_(what.b_order == row_major ? what.n : what.k),
        device_a_(what.type, a_rows_, a_length_, a_length_ + what.a_pad, what.offset),
        device_b_(what.type, b_rows_, b_length_, b_length_ + what.b_pad, what.offset),
        device_c_(what.out, what.m, what.n, what.n + what.c_pad, what.offset) {
    std::mt19937 generator(7);
    const auto fill = [&](std::vector<float>& values, std::int64_t count, Type type) {
      values.resize(static_cast<std::size_t>(count));
      std::vector<unsigned char> elements(values.size() * bytes(type));
      for (float& value : values) value = static_cast<float>(generator()) * 0x1p-30F - 2.0F;
      encode(type, values.data(), values.size(), elements.data());
      decode(type, elements.data(), values.size(), values.data());
    };
    fill(a, what.m * what.k, what.type);
    fill(b, what.k * what.n, what.type);
    fill(c, what.m * what.n, what.out);
  }

  bool allocated() const { return device_a_.allocated() && device_b_.allocated() && device_c_.allocated(); }

  Gemm problem() const {
    Gemm p;
    p.m = what_.m, p.n = what_.n, p.k = what_.k;
    p.a = {device_a_.data(), a_length_ + what_.a_pad, what_.a_order, what_.type};
    p.b = {device_b_.data(), b_length_ + what_.b_pad, what_.b_order, what_.type};
    p.c = {device_c_.data(), what_.n + what_.c_pad, what_.out};
    p.alpha = static_cast<double>(what_.alpha), p.beta = static_cast<double>(what_.beta);
    p.accumulate = what_.type == Type::s8 ? Type::s32 : what_.type == Type::f64 ? Type::f64 : Type::f32;
    return p;
  }

  // Uploads A, B and, if beta reads it, C. Otherwise C stays all NaN, which exposes a kernel that reads it.
  void upload() {
    device_a_.write(a);
    device_b_.write(b);
    if (what_.beta != 0.0F) device_c_.write(c);
    ASSERT_EQ(cudaDeviceSynchronize(),
              cudaSuccess);  // a test may launch on a stream that does not wait for others
  }

  std::vector<float> result() const {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return device_c_.read();
  }

  std::vector<float> run(Algorithm algorithm) {
    upload();
    const Status status = gemm(algorithm, problem());
    EXPECT_TRUE(status) << status.message();
    return result();
  }

  HostResult expected() const {
    HostGemm p;
    p.m = what_.m, p.n = what_.n, p.k = what_.k;
    p.a = {a.data(), a_length_, what_.a_order};
    p.b = {b.data(), b_length_, what_.b_order};
    p.c = c.data(), p.ldc = what_.n;
    p.alpha = what_.alpha, p.beta = what_.beta;
    p.with_magnitude = true;
    return gemm(p);
  }

  void check(Algorithm algorithm) {
    const std::vector<float> found = run(algorithm);
    expect_close(found, expected(), what_.n, what_.k, what_.out);
    device_c_.expect_surroundings_untouched();
  }

 private:
  Case what_;
  std::int64_t a_rows_, a_length_, b_rows_, b_length_;
  DeviceRows device_a_, device_b_, device_c_;
};

}  // namespace tenon::reference
