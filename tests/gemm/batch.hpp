// A batch of products on the device, compared with the exact result: the tools of batched_test.cpp.
//
// Elements are small integers, whose products are exact, so that C must be right to the bit. All memory that
// belongs to no matrix is 0xff, NaN in each type, and so is C before the products if beta is 0; afterwards
// all of C's memory is compared, the gaps included.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "host/gemm_batched_on.hpp"
#include "reference/cpu.hpp"
#include "support/device.hpp"

namespace tenon::test {

struct BatchCase {
  std::int64_t m = 64, n = 64, k = 64, count = 3;
  Type type = Type::f16, out = Type::f16;
  Order a = row_major, b = column_major;
  int pad = 0;                            // elements beyond the least leading dimension of each matrix
  int gap = 0;                            // elements between the matrices of two problems
  int shift = 0;                          // elements by which the first matrices start off an aligned address
  bool share_a = false, share_b = false;  // stride 0
  bool lists = false;                     // of pointers, to the matrices in another order
  float alpha = 1.0F, beta = 0.0F;
  std::string kernel = {};  // "": the library's choice
};

inline std::ostream& operator<<(std::ostream& out, const BatchCase& c) {
  return out << c.count << " of " << c.m << " x " << c.n << " x " << c.k << ", " << name(c.type) << " to "
             << name(c.out) << ", " << (c.a == row_major ? 't' : 'n') << (c.b == row_major ? 't' : 'n')
             << ", pad " << c.pad << ", gap " << c.gap << ", shift " << c.shift
             << (c.share_a ? ", one A" : "") << (c.share_b ? ", one B" : "") << (c.lists ? ", lists" : "")
             << ", alpha " << c.alpha << ", beta " << c.beta << ' ' << c.kernel;
}

// The A, B or C of all problems in host memory, and its copy on the device.
class BatchOfMatrices {
 public:
  // rows x columns elements of each of `places` matrices, in the order given.
  BatchOfMatrices(const BatchCase& c, Type type, std::int64_t rows, std::int64_t columns, Order order,
                  std::int64_t places)
      : type_(type),
        by_rows_(order == row_major),
        rows_(rows),
        columns_(columns),
        ld_((by_rows_ ? columns : rows) + c.pad),
        stride_((by_rows_ ? rows : columns) * ld_ + c.gap),
        first_(guard + c.shift),
        places_(places),
        bytes_(static_cast<std::size_t>(first_ + places * stride_ + guard) * bytes(type), 0xff) {}

  std::int64_t ld() const { return ld_; }
  std::int64_t stride() const { return stride_; }
  // Byte offset of an element.
  std::size_t at(std::int64_t place, std::int64_t row, std::int64_t column) const {
    const std::int64_t element =
        first_ + place * stride_ + (by_rows_ ? row * ld_ + column : column * ld_ + row);
    return static_cast<std::size_t>(element) * bytes(type_);
  }
  void set(std::int64_t place, std::int64_t row, std::int64_t column, float value) {
    reference::encode(type_, &value, 1, &bytes_[at(place, row, column)]);
  }
  // All elements, row by row, place by place.
  std::vector<float> values() const {
    std::vector<float> all;
    all.reserve(static_cast<std::size_t>(places_ * rows_ * columns_));
    for (std::int64_t p = 0; p < places_; ++p) {
      for (std::int64_t i = 0; i < rows_; ++i) {
        for (std::int64_t j = 0; j < columns_; ++j)
          reference::decode(type_, &bytes_[at(p, i, j)], 1, &all.emplace_back());
      }
    }
    return all;
  }
  void fill(std::mt19937& random) {
    for (std::int64_t p = 0; p < places_; ++p) {
      for (std::int64_t i = 0; i < rows_; ++i) {
        for (std::int64_t j = 0; j < columns_; ++j)
          set(p, i, j, static_cast<float>(static_cast<int>(random() % 5) - 2));
      }
    }
  }
  void to_device() { device_.emplace(bytes_); }
  unsigned char* data(std::int64_t place = 0) const { return device_->get() + at(place, 0, 0); }
  std::vector<unsigned char> read() const { return device_->read(); }
  const std::vector<unsigned char>& host() const { return bytes_; }

 private:
  static constexpr std::int64_t guard = 64;  // elements before and behind

  Type type_;
  bool by_rows_;
  std::int64_t rows_, columns_, ld_, stride_, first_, places_;
  std::vector<unsigned char> bytes_;
  std::optional<Buffer<unsigned char>> device_;
};

class Batch {
 public:
  explicit Batch(const BatchCase& c)
      : case_(c),
        a_(c, c.type, c.m, c.k, c.a, c.share_a ? 1 : c.count),
        b_(c, c.type, c.k, c.n, c.b, c.share_b ? 1 : c.count),
        c_(c, c.out, c.m, c.n, row_major, c.count) {
    std::mt19937 random(11);
    a_.fill(random);
    b_.fill(random);
    if (c.beta != 0.0F) c_.fill(random);
  }

  // The matrix of a problem lies at this place; lists permute the places.
  std::int64_t place(std::int64_t problem) const { return case_.lists ? case_.count - 1 - problem : problem; }
  void set_a(std::int64_t problem, std::int64_t row, std::int64_t column, float value) {
    a_.set(case_.share_a ? 0 : place(problem), row, column, value);
  }

  BatchedGemm prepare() {
    a_.to_device();
    b_.to_device();
    c_.to_device();
    BatchedGemm batch;
    Gemm& p = batch.problem;
    p.m = case_.m, p.n = case_.n, p.k = case_.k;
    p.a = ConstMatrix(a_.data(), a_.ld(), case_.a, case_.type);
    p.b = ConstMatrix(b_.data(), b_.ld(), case_.b, case_.type);
    p.c = Matrix(c_.data(), c_.ld(), case_.out);
    p.alpha = case_.alpha, p.beta = case_.beta;
    if (!case_.kernel.empty()) p.kernel = case_.kernel.c_str();
    batch.count = case_.count;
    batch.stride_a = case_.share_a ? 0 : a_.stride();
    batch.stride_b = case_.share_b ? 0 : b_.stride();
    batch.stride_c = c_.stride();
    if (case_.lists) {
      std::vector<void*> pointers[3];
      for (std::int64_t i = 0; i < case_.count; ++i) {
        pointers[0].push_back(a_.data(case_.share_a ? 0 : place(i)));
        pointers[1].push_back(b_.data(case_.share_b ? 0 : place(i)));
        pointers[2].push_back(c_.data(place(i)));
      }
      for (int x = 0; x < 3; ++x) lists_[x].emplace(pointers[x]);
      batch.a_pointers = lists_[0]->get();
      batch.b_pointers = lists_[1]->get();
      batch.c_pointers = lists_[2]->get();
      // What the list is there for must not be used.
      p.a.data = p.b.data = p.c.data = nullptr;
      batch.stride_a = batch.stride_b = batch.stride_c = -1;
    }
    return batch;
  }

  // Launches and compares. Returns the emulator's counts; its findings fail the test.
  emulator::Counts run_and_check() {
    const BatchedGemm batch = prepare();
    Status status = gemm_batched(launcher(), batch);
    if (status) status = device()->synchronize();
    EXPECT_TRUE(status) << case_ << ": " << status.message();
    const emulator::Counts counts = expect_no_findings();
    if (status) check();
    return counts;
  }

  void expect_c_untouched() const { EXPECT_EQ(c_.read(), c_.host()); }

  // The elements of C, which is f32 and dense, of all problems.
  std::vector<float> elements_of_c() const {
    const std::vector<unsigned char> found = c_.read();
    std::vector<float> values(static_cast<std::size_t>(case_.count * case_.m * case_.n));
    std::memcpy(values.data(), &found[c_.at(0, 0, 0)], values.size() * sizeof(float));
    return values;
  }

  // The same of C in 16 bits.
  std::vector<std::uint16_t> halves_of_c() const {
    const std::vector<unsigned char> found = c_.read();
    std::vector<std::uint16_t> values(static_cast<std::size_t>(case_.count * case_.m * case_.n));
    std::memcpy(values.data(), &found[c_.at(0, 0, 0)], values.size() * sizeof(std::uint16_t));
    return values;
  }

  void check() const {
    std::vector<unsigned char> expected = c_.host();
    const std::vector<float> a = a_.values(), b = b_.values(), old = c_.values();
    const auto one = [](std::int64_t rows, std::int64_t columns) {
      return static_cast<std::size_t>(rows * columns);
    };
    const std::size_t m = one(case_.m, 1), n = one(case_.n, 1), k = case_.alpha == 0.0F ? 0 : one(case_.k, 1);
    for (std::int64_t at = 0; at < case_.count; ++at) {
      const float* const of_a =
          a.data() + (case_.share_a ? 0 : static_cast<std::size_t>(at) * one(case_.m, case_.k));
      const float* const of_b =
          b.data() + (case_.share_b ? 0 : static_cast<std::size_t>(at) * one(case_.k, case_.n));
      for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          double sum = 0;
          for (std::size_t x = 0; x < k; ++x) sum += static_cast<double>(of_a[i * k + x] * of_b[x * n + j]);
          double value = case_.alpha == 0.0F ? 0.0 : static_cast<double>(case_.alpha) * sum;
          if (case_.beta != 0.0F)
            value += static_cast<double>(case_.beta) *
                     static_cast<double>(old[static_cast<std::size_t>(at) * m * n + i * n + j]);
          const auto rounded_once = static_cast<float>(value);
          reference::encode(case_.out, &rounded_once, 1,
                            &expected[c_.at(at, static_cast<std::int64_t>(i), static_cast<std::int64_t>(j))]);
        }
      }
    }
    const std::vector<unsigned char> found = c_.read();
    if (found == expected) return;
    std::size_t first = 0;
    while (found[first] == expected[first]) ++first;
    ADD_FAILURE() << case_ << ": byte " << first << " of C's memory is wrong; C of problem 0 begins at byte "
                  << c_.at(0, 0, 0) << ", ldc is " << c_.ld() << ", the stride " << c_.stride()
                  << " elements";
  }

 private:
  BatchCase case_;
  BatchOfMatrices a_, b_, c_;
  std::optional<Buffer<void*>> lists_[3];
};

}  // namespace tenon::test
