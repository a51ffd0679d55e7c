// A product on the device, compared with its exact value on the host: the tools of gemm_test.cpp.
//
// Elements are small integers, whose products are exact, so that C must be right to the bit; or normally
// distributed, and C must lie within the bound of host/error_bound.hpp. Memory between the rows of a matrix
// is NaN, and so is all of C before the product if beta is 0.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <tuple>
#include <vector>

#include "gemm/kernel.hpp"
#include "host/error_bound.hpp"
#include "host/error_statistics.hpp"
#include "host/gemm_on.hpp"
#include "reference/cpu.hpp"
#include "support/device.hpp"

namespace tenon::test {

enum class Numbers { integers, normals };

// A is m x k, B is k x n. If shift_ab is a multiple of 8, A and B are aligned to 16 bytes: leading dimensions
// are rounded up to 16 bytes, and a shift or pad of 8 elements means 16 bytes whatever the type. Otherwise
// the leading dimensions are the lengths of the rows plus the pads.
struct Case {
  std::int64_t m, n, k;
  Numbers numbers = Numbers::integers;
  Type out = Type::f32;
  int shift_ab = 0;            // elements by which A and B start off an aligned address
  int pad_a = 0, pad_b = 0;    // elements between rows (columns)
  int pad_c = 0, shift_c = 0;  // elements between rows; elements off an aligned address
  float alpha = 1.0F, beta = 0.0F;
};

inline std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.m << " x " << c.n << " x " << c.k
             << (c.numbers == Numbers::integers ? ", integers" : ", normals") << ", C in " << name(c.out)
             << ", A and B shifted by " << c.shift_ab << ", pads " << c.pad_a << ' ' << c.pad_b << ' '
             << c.pad_c << ", C shifted by " << c.shift_c << ", alpha " << c.alpha << ", beta " << c.beta;
}

// A and B with k contiguous, rounded to their type, and the exact elements of A * B: exact[i * n + j].
struct Operands {
  std::vector<float> a, b;
  std::vector<DotProduct> exact;

  using Encoded = std::map<Type, std::vector<unsigned char>>;
  mutable Encoded encoded_a = {}, encoded_b = {};  // of encoded()
};

// A or B as the device reads its elements, computed once.
inline const std::vector<unsigned char>& encoded(const std::vector<float>& values, Type type,
                                                 Operands::Encoded& kept) {
  std::vector<unsigned char>& elements = kept[type];
  if (elements.empty()) {
    elements.resize(values.size() * bytes(type));
    reference::encode(type, values.data(), values.size(), elements.data());
  }
  return elements;
}

// The nearest values that the type holds.
inline void round_to(Type type, std::vector<float>& values) {
  std::vector<unsigned char> elements(values.size() * bytes(type));
  reference::encode(type, values.data(), values.size(), elements.data());
  reference::decode(type, elements.data(), values.size(), values.data());
}

// Random numbers that the type holds.
inline std::vector<float> random_numbers(std::int64_t count, Numbers numbers, Type type, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) {
    v = numbers == Numbers::normals ? normal(random) : static_cast<float>(static_cast<int>(random() % 5) - 2);
  }
  round_to(type, values);
  return values;
}

inline std::vector<DotProduct> exact_products(const std::vector<float>& a, const std::vector<float>& b,
                                              std::int64_t m, std::int64_t n, std::int64_t k) {
  std::vector<DotProduct> exact(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      DotProduct dot;
      for (std::int64_t p = 0; p < k; ++p) {
        dot.add(static_cast<double>(a[static_cast<std::size_t>(i * k + p)]) *
                static_cast<double>(b[static_cast<std::size_t>(j * k + p)]));
      }
      exact[static_cast<std::size_t>(i * n + j)] = dot;
    }
  }
  return exact;
}

// Computed once for all kernels. The most recently used operands are kept, up to 1 GB.
inline std::shared_ptr<const Operands> operands_of(const Case& c, Type type_a, Type type_b) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, Numbers, Type, Type>;
  struct Kept {
    Key key;
    std::shared_ptr<const Operands> operands;
  };
  static std::list<Kept> kept;  // the last used first
  static std::size_t kept_bytes = 0;
  // Small integers are the same in every type.
  const bool same = c.numbers == Numbers::integers;
  const Key key{c.m, c.n, c.k, c.numbers, same ? Type::f16 : type_a, same ? Type::f16 : type_b};
  const auto found = std::find_if(kept.begin(), kept.end(), [&](const Kept& one) { return one.key == key; });
  if (found != kept.end()) {
    kept.splice(kept.begin(), kept, found);
    return kept.front().operands;
  }
  Operands operands{
      random_numbers(c.m * c.k, c.numbers, type_a, 1), random_numbers(c.n * c.k, c.numbers, type_b, 2), {}};
  operands.exact = exact_products(operands.a, operands.b, c.m, c.n, c.k);
  kept.push_front({key, std::make_shared<const Operands>(std::move(operands))});
  const auto bytes_of = [](const Operands& x) {  // encoded too
    return 2 * (x.a.size() + x.b.size()) * sizeof(float) + x.exact.size() * sizeof(DotProduct);
  };
  kept_bytes += bytes_of(*kept.front().operands);
  while (kept_bytes > most_bytes && kept.size() > 1) {
    kept_bytes -= bytes_of(*kept.back().operands);
    kept.pop_back();
  }
  return kept.front().operands;
}

// An operand in memory: `extent` vectors of k elements if k is contiguous, else k vectors of `extent`. The
// bytes between the vectors are 0xff: NaN in every type that has one. elements: with k contiguous.
inline std::vector<unsigned char> in_memory(const std::vector<unsigned char>& elements, std::int64_t extent,
                                            std::int64_t k, Type type, bool k_contiguous, std::int64_t ld,
                                            std::int64_t shift) {
  const std::size_t element = bytes(type);
  const std::int64_t vectors = k_contiguous ? extent : k, length = k_contiguous ? k : extent;
  std::vector<unsigned char> memory(static_cast<std::size_t>(shift + (vectors - 1) * ld + length) * element,
                                    0xff);
  const auto vector = [&](std::int64_t v) {
    return &memory[static_cast<std::size_t>(shift + v * ld) * element];
  };
  if (k_contiguous) {
    const std::size_t row_bytes = static_cast<std::size_t>(k) * element;
    for (std::int64_t v = 0; v < vectors && k > 0; ++v)
      std::memcpy(vector(v), &elements[static_cast<std::size_t>(v) * row_bytes], row_bytes);
    return memory;
  }
  const auto transpose = [&](auto number) {
    for (std::int64_t v = 0; v < vectors; ++v) {
      for (std::int64_t i = 0; i < length; ++i) {
        std::memcpy(vector(v) + static_cast<std::size_t>(i) * sizeof number,
                    &elements[static_cast<std::size_t>(i * k + v) * sizeof number], sizeof number);
      }
    }
  };
  element == 1   ? transpose(std::uint8_t{})
  : element == 2 ? transpose(std::uint16_t{})
  : element == 4 ? transpose(std::uint32_t{})
                 : transpose(std::uint64_t{});
  return memory;
}

inline std::vector<unsigned char> in_memory(const std::vector<float>& values, std::int64_t extent,
                                            std::int64_t k, Type type, bool k_contiguous, std::int64_t ld,
                                            std::int64_t shift) {
  Operands::Encoded elements;
  return in_memory(encoded(values, type, elements), extent, k, type, k_contiguous, ld, shift);
}

// Rows (or columns) of a matrix so far apart that their byte offsets exceed 32 bits. On a GPU that takes 4.3
// GB; the emulator allocates memory only when it is touched.
class FarApart {
 public:
  // dense: the vectors one after the other. Each is put between guards of 0xff. pitch() is a multiple of 16
  // bytes plus `beyond`.
  FarApart(const std::vector<unsigned char>& dense, std::int64_t vectors, std::int64_t beyond)
      : vectors_(static_cast<std::size_t>(vectors)), bytes_(dense.size() / vectors_) {
    constexpr std::size_t most = std::size_t{1} << 32;
    pitch_ = (most / (vectors_ - 1) / 16 + 1) * 16 + static_cast<std::size_t>(beyond);
    if (!device()->allocate((vectors_ - 1) * pitch_ + bytes_, &data_)) return;
    for (std::size_t i = 0; i < vectors_; ++i) {
      std::vector<unsigned char> part(before(i) + bytes_ + after(i), 0xff);
      std::memcpy(&part[before(i)], &dense[i * bytes_], bytes_);
      EXPECT_TRUE(device()->upload(get() + i * pitch_ - before(i), part.data(), part.size()));
    }
  }
  ~FarApart() { device()->free(data_); }
  FarApart(const FarApart&) = delete;
  FarApart& operator=(const FarApart&) = delete;

  bool allocated() const { return data_ != nullptr; }
  unsigned char* get() const { return static_cast<unsigned char*>(data_); }
  std::int64_t pitch() const { return static_cast<std::int64_t>(pitch_); }  // bytes
  // The vectors one after the other, after a check that the guards are intact.
  std::vector<unsigned char> read() const {
    std::vector<unsigned char> dense(vectors_ * bytes_);
    for (std::size_t i = 0; i < vectors_; ++i) {
      std::vector<unsigned char> part(before(i) + bytes_ + after(i));
      EXPECT_TRUE(device()->download(part.data(), get() + i * pitch_ - before(i), part.size()));
      std::memcpy(&dense[i * bytes_], &part[before(i)], bytes_);
      std::memset(&part[before(i)], 0xff, bytes_);
      EXPECT_EQ(part, std::vector<unsigned char>(part.size(), 0xff)) << "beside vector " << i;
    }
    return dense;
  }

 private:
  static constexpr std::size_t guard = 256;
  std::size_t before(std::size_t i) const { return i == 0 ? 0 : guard; }
  std::size_t after(std::size_t i) const { return i == vectors_ - 1 ? 0 : guard; }

  std::size_t vectors_, bytes_, pitch_ = 0;
  void* data_ = nullptr;
};

class Product {
 public:
  // `given` replaces the random operands.
  Product(const Kernel& kernel, const Case& c, std::shared_ptr<const Operands> given = nullptr)
      : case_(c), operands_(given != nullptr ? given : operands_of(c, kernel.type, kernel.type_b)) {
    const bool aligned = c.shift_ab % 8 == 0;
    const auto element = static_cast<std::int64_t>(bytes(kernel.type));
    const auto elements = [&](std::int64_t x) { return aligned && x % 8 == 0 ? 2 * x / element : x; };
    const auto ld_of = [&](std::int64_t length, int pad) {
      const std::int64_t step = 16 / element;
      return (aligned ? (length + step - 1) / step * step : length) + elements(pad);
    };
    const bool a_rows = kernel.a_order == row_major, b_columns = kernel.b_order == column_major;
    const std::int64_t lda = ld_of(a_rows ? c.k : c.m, c.pad_a), ldb = ld_of(b_columns ? c.k : c.n, c.pad_b);
    const std::int64_t shift = elements(c.shift_ab);
    a_.emplace(in_memory(encoded(operands_->a, kernel.type, operands_->encoded_a), c.m, c.k, kernel.type,
                         a_rows, lda, shift));
    b_.emplace(in_memory(encoded(operands_->b, kernel.type_b, operands_->encoded_b), c.n, c.k, kernel.type_b,
                         b_columns, ldb, shift));

    ldc_ = static_cast<std::size_t>(c.n + c.pad_c);
    c_first_ = guard + static_cast<std::size_t>(c.shift_c);
    old_ = c.beta == 0.0F ? std::vector<float>(static_cast<std::size_t>(c.m * c.n))  // unused
                          : random_numbers(c.m * c.n, c.numbers, c.out, 3);
    c_before_.assign((c_first_ + static_cast<std::size_t>(c.m) * ldc_ + guard) * bytes(c.out), 0xff);
    if (c.beta != 0.0F) {
      for (std::int64_t row = 0; row < c.m; ++row) {
        reference::encode(c.out, &old_[static_cast<std::size_t>(row * c.n)], static_cast<std::size_t>(c.n),
                          &c_before_[at(row)]);
      }
    }
    c_.emplace(c_before_);

    problem.m = c.m;
    problem.n = c.n;
    problem.k = c.k;
    problem.a = ConstMatrix(a_->get() + shift * element, lda, kernel.a_order, kernel.type);
    problem.b = ConstMatrix(b_->get() + shift * element, ldb, kernel.b_order, kernel.type_b);
    problem.c = Matrix(c_->get() + c_first_ * bytes(c.out), static_cast<std::int64_t>(ldc_), c.out);
    problem.alpha = static_cast<double>(c.alpha);
    problem.beta = static_cast<double>(c.beta);
    problem.accumulate = kernel.accumulate;
    problem.promote = kernel.promotes;
    problem.kernel = kernel.name.c_str();
  }

  // Workspace as workspace_size() asks for.
  void allocate_workspace() {
    problem.workspace_bytes = workspace_size(launcher(), problem);
    if (problem.workspace_bytes == 0) return;
    workspace_.emplace(std::vector<unsigned char>(problem.workspace_bytes, 0xff));
    problem.workspace = workspace_->get();
  }

  // Returns the emulator's counts; its findings fail the test.
  emulator::Counts run() {
    // A stream-K kernel runs with a workspace alone.
    const Kernel* const kernel = problem.kernel == nullptr ? nullptr : find_kernel(problem.kernel);
    if (kernel != nullptr && kernel->partial_bytes != 0 && problem.workspace == nullptr) allocate_workspace();
    Status status = gemm(launcher(), problem);
    if (status) status = device()->synchronize();
    EXPECT_TRUE(status) << status.message();
    return expect_no_findings();
  }

  // All of C's memory, its surroundings included.
  std::vector<unsigned char> memory_of_c() const { return c_->read(); }
  bool c_is_untouched() const { return memory_of_c() == c_before_; }

  // The elements of C, dense.
  std::vector<float> result() const { return result_in(memory_of_c()); }

  // The same of an f64 C, all 53 bits.
  std::vector<double> result_f64() const { return result_f64_in(memory_of_c()); }

  void expect_right() const {
    const std::vector<unsigned char> memory = memory_of_c();
    expect_surroundings_untouched(memory);
    case_.out == Type::f64 ? expect_right(result_f64_in(memory)) : expect_right(result_in(memory));
  }

  // The same for a result that was read before, or that a test made up.
  template <class Number>
  void expect_right(const std::vector<Number>& found) const {
    const bool integers = case_.numbers == Numbers::integers || case_.out == Type::s32;
    std::vector<float> wanted(integers ? found.size() : 0);  // rounded to the output type
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = static_cast<float>(exact(i));
    round_to(case_.out, wanted);
    const double alpha = static_cast<double>(case_.alpha), beta = static_cast<double>(case_.beta);
    ErrorStatistics statistics(case_.m, case_.n, problem, case_.k, case_.out, alpha, beta);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (integers) {
        ASSERT_EQ(found[i], static_cast<Number>(wanted[i])) << where(i);
        continue;
      }
      const double old = case_.beta == 0.0F ? 0.0 : static_cast<double>(old_[i]);
      const double element = static_cast<double>(found[i]);
      const DotProduct& dot = operands_->exact[i];
      const double bound = error_bound(dot, case_.k, problem, case_.out, alpha, beta, old);
      ASSERT_TRUE(std::isfinite(bound)) << where(i);
      ASSERT_LE(error_of(element, exact(i), bound, case_.out), bound)
          << where(i) << " is " << found[i] << " but should be " << exact(i);
      const auto at = static_cast<std::int64_t>(i);
      statistics.add(at / case_.n, at % case_.n, element, exact(i), dot, old);
    }
    const ErrorVerdict verdict = statistics.verdict();
    ASSERT_TRUE(verdict.is_right()) << "C as a whole, its row or column " << verdict.index
                                    << " has a relative error or a bias of " << verdict.found
                                    << " but may have " << verdict.limit;
  }

  Gemm problem;

 private:
  static constexpr std::size_t guard = 64;  // elements before and behind C

  std::size_t at(std::int64_t row) const {
    return (c_first_ + static_cast<std::size_t>(row) * ldc_) * bytes(case_.out);
  }
  double exact(std::size_t i) const {
    const double old =
        case_.beta == 0.0F ? 0.0 : static_cast<double>(case_.beta) * static_cast<double>(old_[i]);
    return static_cast<double>(case_.alpha) * operands_->exact[i].sum + old;
  }
  std::string where(std::size_t i) const {
    const std::size_t n = static_cast<std::size_t>(case_.n);
    return "C(" + std::to_string(i / n) + ", " + std::to_string(i % n) + ")";
  }
  std::vector<float> result_in(const std::vector<unsigned char>& memory) const {
    std::vector<float> values(old_.size());
    for (std::int64_t row = 0; row < case_.m; ++row) {
      reference::decode(case_.out, &memory[at(row)], static_cast<std::size_t>(case_.n),
                        &values[static_cast<std::size_t>(row * case_.n)]);
    }
    return values;
  }
  std::vector<double> result_f64_in(const std::vector<unsigned char>& memory) const {
    std::vector<double> values(old_.size());
    for (std::int64_t row = 0; row < case_.m; ++row) {
      std::memcpy(&values[static_cast<std::size_t>(row * case_.n)], &memory[at(row)],
                  static_cast<std::size_t>(case_.n) * sizeof(double));
    }
    return values;
  }
  void expect_surroundings_untouched(std::vector<unsigned char> memory) const {
    for (std::int64_t row = 0; row < case_.m; ++row) {
      std::memcpy(&memory[at(row)], &c_before_[at(row)],
                  static_cast<std::size_t>(case_.n) * bytes(case_.out));
    }
    ASSERT_TRUE(memory == c_before_) << "bytes between, before or after the rows of C were written";
  }

  Case case_;
  std::shared_ptr<const Operands> operands_;
  std::optional<Buffer<unsigned char>> a_, b_, c_, workspace_;
  std::vector<float> old_;  // of C
  std::vector<unsigned char> c_before_;
  std::size_t ldc_ = 0, c_first_ = 0;
};

}  // namespace tenon::test
