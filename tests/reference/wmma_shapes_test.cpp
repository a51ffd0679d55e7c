// The WMMA kernels of wmma_shapes.cu, executed by the emulator from their PTX: every form and layout, whole
// tiles that wmma loads from memory and others that pass through shared memory. Elements are small integers,
// so each result is exact.
#include <cxxabi.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "reference/cpu.hpp"
#include "tenon/emulator/emulator.hpp"

namespace tenon {
namespace {

using emulator::Argument;

// Of a kernel, from its name.
struct Form {
  int m, n;
  Type type;
  Order a_order, b_order;
  Type sum() const { return type == Type::s8 ? Type::s32 : type == Type::f64 ? Type::f64 : Type::f32; }
};

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : name;
}

Form form_of(const std::string& name) {
  static const std::regex pattern(
      "Form<([0-9]+), ([0-9]+), [0-9]+, ([^,]*), .*Order\\)([01]), \\(tenon::Order\\)([01])");
  const std::string text = demangled(name);
  std::smatch found;
  if (!std::regex_search(text, found, pattern)) {
    ADD_FAILURE() << text << " has no form";
    return {};
  }
  const std::string element = found[3];
  const Type type = element == "__half"          ? Type::f16
                    : element == "__nv_bfloat16" ? Type::bf16
                    : element == "float"         ? Type::tf32
                    : element == "double"        ? Type::f64
                                                 : Type::s8;
  return {std::stoi(found[1]), std::stoi(found[2]), type, static_cast<Order>(std::stoi(found[4])),
          static_cast<Order>(std::stoi(found[5]))};
}

// As the kernels take them.
struct Stored {
  std::uint64_t data;
  std::int64_t ld, lines, length;
};
struct Result {
  std::uint64_t data;
  std::int64_t ld;
  int type;
  float alpha, beta;
};
struct ExactResult {
  std::uint64_t data;
  std::int64_t ld;
  double alpha, beta;
};

class WmmaShapes : public ::testing::Test {
 protected:
  // ld_multiple: leading dimensions are multiples of it, and one more than that if it is 1.
  void check(emulator::Module module, const std::string& name, int ld_multiple, int k) {
    const Form f = form_of(name);
    const int m = 2 * f.m + 5, n = 2 * f.n + 7, ldc = n + 1;
    const auto ld_of = [&](int length) {
      return ld_multiple == 1 ? length + 1 : (length + ld_multiple - 1) / ld_multiple * ld_multiple;
    };
    const bool a_rows = f.a_order == row_major, b_rows = f.b_order == row_major;
    const int lda = ld_of(a_rows ? k : m), ldb = ld_of(b_rows ? n : k);
    const std::vector<float> a = drawn(lda * (a_rows ? m : k)), b = drawn(ldb * (b_rows ? k : n)),
                             c = drawn(ldc * m);
    const Stored stored_a{put(f.type, a), lda, a_rows ? m : k, a_rows ? k : m},
        stored_b{put(f.type, b), ldb, b_rows ? k : n, b_rows ? n : k};
    const emulator::Address to = put(f.sum(), c);
    const Result result{to, ldc, static_cast<int>(f.sum()), 2.0F, 3.0F};
    const ExactResult exact{to, ldc, 2.0, 3.0};
    const std::int64_t sizes[] = {m, n, k};
    std::vector<Argument> arguments;
    for (const std::int64_t& size : sizes) arguments.push_back(Argument::of_bytes(&size, sizeof size));
    arguments.push_back(Argument::of_bytes(&stored_a, sizeof stored_a));
    arguments.push_back(Argument::of_bytes(&stored_b, sizeof stored_b));
    arguments.push_back(f.sum() == Type::f32 ? Argument::of_bytes(&result, sizeof result)
                                             : Argument::of_bytes(&exact, sizeof exact));
    emulator::Shape shape;
    const int tiles = ((m + f.m - 1) / f.m) * ((n + f.n - 1) / f.n);
    shape.grid = {static_cast<unsigned>(tiles + 3) / 4, 1, 1};
    shape.block = {128, 1, 1};
    const auto launched = emulator_.launch(module, name, shape, arguments, {});
    for (const emulator::Finding& finding : launched.findings) ADD_FAILURE() << finding.message;

    std::vector<unsigned char> elements(c.size() * bytes(f.sum()));
    emulator_.copy_out(elements.data(), to, elements.size());
    std::vector<float> found(c.size());
    reference::decode(f.sum(), elements.data(), found.size(), found.data());
    const auto at = [](const std::vector<float>& x, int index) { return x[static_cast<std::size_t>(index)]; };
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < ldc; ++j) {
        float wanted = at(c, i * ldc + j);  // beyond the row: not written
        if (j < n) {
          float sum = 0.0F;
          for (int p = 0; p < k; ++p)
            sum += at(a, a_rows ? i * lda + p : p * lda + i) * at(b, b_rows ? p * ldb + j : j * ldb + p);
          wanted = 2 * sum + 3 * wanted;
        }
        ASSERT_EQ(at(found, i * ldc + j), wanted) << demangled(name) << " at " << i << ", " << j;
      }
    }
  }

  emulator::Emulator emulator_;

 private:
  std::vector<float> drawn(int count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = static_cast<float>(random_() % 9) - 4.0F;
    return values;
  }
  emulator::Address put(Type type, const std::vector<float>& values) {
    std::vector<unsigned char> elements(values.size() * bytes(type));
    reference::encode(type, values.data(), values.size(), elements.data());
    const emulator::Address address = emulator_.allocate(elements.size());
    emulator_.copy_in(address, elements.data(), elements.size());
    return address;
  }
  std::mt19937 random_{1};
};

TEST_F(WmmaShapes, EveryFormAndLayout) {
  std::ifstream file(TENON_WMMA_SHAPES_PTX);
  ASSERT_TRUE(file) << TENON_WMMA_SHAPES_PTX;
  std::ostringstream text;
  text << file.rdbuf();
  const std::string ptx = text.str();
  const emulator::Module module = emulator_.load(ptx);
  static const std::regex entry("\\.entry (\\w+)");
  int kernels = 0;
  for (std::sregex_iterator at(ptx.begin(), ptx.end(), entry), end; at != end; ++at, ++kernels) {
    check(module, (*at)[1], 32, 48);
    check(module, (*at)[1], 1, 37);
    if (HasFailure()) return;
  }
  EXPECT_EQ(kernels, (2 * 2 + 3) * 4);  // f16 and bf16 in two shapes, three other types; four layouts each
}

}  // namespace
}  // namespace tenon
