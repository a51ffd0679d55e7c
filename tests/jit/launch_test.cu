// Kernels that NVRTC compiles from an epilogue's text, those of the example (jit_sm90.cu) and others: on a
// GPU by their launch, in the emulator by the PTX of the same program and the launch that is planned. Beside
// the emulator also what make() says and what it takes from the cache.
#include "examples/jit_sm90.cu"

#include <cuda_bf16.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "jit/jit_test.hpp"
#include "tenon/jit/launch_sm80.hpp"

namespace tenon::jit {
namespace {

float integer(int i) {
  return static_cast<float>((i * 7 + i / 11) % 5 - 2);
}
template <class T>
std::vector<T> integers(int count) {
  std::vector<T> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<T>(integer(i)));
  return values;
}

// What the kernels add up for an element of C, of A and B as integers() fills them.
float product(int row, int column, int k) {
  float sum = 0.0F;
  for (int p = 0; p < k; ++p) sum += integer(row * k + p) * integer(column * k + p);
  return sum;
}

class JitGemm : public JitTest {
 protected:
  // Plans and launches in the emulator. op: the operation, and its operands if it has some.
  template <class Kernel, class... Op>
  Status emulate(const Kernel& kernel, const Epilogue& epilogue, const typename Kernel::Problem& problem,
                 const Op&... op) {
    Launch plan;
    bool launches = false;
    if (Status s = kernel.plan(problem, op..., test::launcher(), &plan, &launches); !s || !launches) return s;
    return JitTest::emulate(kernel, epilogue, problem.k == 0 ? 1 : 0, plan);
  }
  template <class Kernel, class... Op>
  Status launch(const Kernel& kernel, const Epilogue& epilogue, const typename Kernel::Problem& problem,
                const Op&... op) {
    return test::emulated() ? emulate(kernel, epilogue, problem, op...) : kernel.launch(problem, op...);
  }
};

constexpr const char* bias_relu = "fmaxf(accumulator + bias[column], 0.0F)";

// The example: odd sizes, several tiles for a CTA, no k.
TEST_F(JitGemm, ComputesTheFormula) {
  ::Kernel kernel;
  const Status made = compile(bias_relu, options_with(cache()), &kernel);
  ASSERT_TRUE(made) << made.message() << "\n" << kernel.report().log;
  const Epilogue epilogue{"Formula",
                          std::string("struct Formula {\n  const float* bias;\n"
                                      "  __device__ float operator()(float accumulator, int row, int column) "
                                      "const {\n    return ") +
                              bias_relu + ";\n  }\n};\n",
                          sizeof(Bias), alignof(Bias)};
  for (const auto& [m, n, k] : {std::array<int, 3>{150, 264, 72}, {1, 8, 8}, {130, 520, 200}, {5, 300, 0}}) {
    SCOPED_TRACE(::testing::Message() << m << " x " << n << " x " << k);
    const test::Buffer<half> x(integers<half>(m * k)), w(integers<half>(n * k)),
        y(std::vector<half>(static_cast<std::size_t>(m * n), static_cast<half>(NAN)));
    const test::Buffer<float> bias(integers<float>(n));
    Status status;
    if (test::emulated()) {
      ::Kernel::Problem problem;
      problem.m = m, problem.n = n, problem.k = k;
      problem.a = {x.get(), k}, problem.b = {w.get(), k}, problem.c = {y.get(), n};
      status = emulate(kernel, epilogue, problem, Bias{bias.get()});
    } else {
      status = run(kernel, m, n, k, x.get(), w.get(), bias.get(), y.get(), nullptr);
    }
    ASSERT_TRUE(status) << status.message();
    ASSERT_TRUE(test::device()->synchronize());
    const std::vector<half> got = y.read();
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        const float sum = integer(j) + product(i, j, k);
        ASSERT_EQ(static_cast<float>(got[static_cast<std::size_t>(i * n + j)]), std::fmax(sum, 0.0F))
            << i << ", " << j;
      }
    }
  }
}

// Another schedule, other types, swap-AB, the kernel of sm_80, and an operation of several members that is
// aligned to 16 bytes.
struct alignas(16) Plane {
  float by_row, by_column, offset;
};
const Epilogue plane{"Plane",
                     "struct alignas(16) Plane {\n"
                     "  float by_row, by_column, offset;\n"
                     "  __device__ float operator()(float x, int row, int column) const {\n"
                     "    return x + by_row * row + by_column * column + offset;\n"
                     "  }\n"
                     "};\n",
                     sizeof(Plane), alignof(Plane)};
template <class PlaneKernel>
class JitPlane : public JitGemm {
 protected:
  void expect_right() {
    const auto kernel = this->template made<PlaneKernel>(plane);
    const int m = 70, n = 132, k = 136;
    const test::Buffer<__nv_bfloat16> a(integers<__nv_bfloat16>(m * k)), b(integers<__nv_bfloat16>(n * k));
    const test::Buffer<float> c(std::vector<float>(static_cast<std::size_t>(m * n), NAN));
    typename PlaneKernel::Problem problem;
    problem.m = m, problem.n = n, problem.k = k;
    problem.a = {a.get(), k}, problem.b = {b.get(), k}, problem.c = {c.get(), n};
    const Status status = this->launch(kernel, plane, problem, Plane{1000.0F, 2.0F, 0.5F});
    ASSERT_TRUE(status) << status.message();
    ASSERT_TRUE(test::device()->synchronize());
    const std::vector<float> got = c.read();
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        const float sum =
            1000.0F * static_cast<float>(i) + 2.0F * static_cast<float>(j) + 0.5F + product(i, j, k);
        ASSERT_EQ(got[static_cast<std::size_t>(i * n + j)], sum) << i << ", " << j;
      }
    }
  }
};
using Cooperative = tenon::sm90::Config<__nv_bfloat16, float, 128, 64>;
using PlaneKernels =
    ::testing::Types<tenon::sm90::JitGemmKernel<Cooperative, float>,
                     tenon::sm90::JitGemmKernel<SwapAB<Cooperative>, float>,
                     tenon::sm80::JitGemmKernel<tenon::sm80::Config<__nv_bfloat16, float, 64, 64>, float>>;
TYPED_TEST_SUITE(JitPlane, PlaneKernels);
TYPED_TEST(JitPlane, IsAddedToTheProduct) {
  this->expect_right();
}

// Integers, which the operation takes and returns as such. It has no members.
struct Doubled {};
TEST_F(JitGemm, ComputesIntegers) {
  const Epilogue doubled{"Doubled",
                         "struct Doubled {\n"
                         "  __device__ int operator()(int x, int row, int column) const {\n"
                         "    return 2 * x + 1000 * row - column;\n"
                         "  }\n"
                         "};\n",
                         sizeof(Doubled), alignof(Doubled)};
  using Integers =
      tenon::sm90::JitGemmKernel<tenon::sm90::Config<std::int8_t, std::int32_t, 128, 64>, std::int32_t>;
  const auto kernel = made<Integers>(doubled);
  const int m = 70, n = 36, k = 144;
  const test::Buffer<std::int8_t> a(integers<std::int8_t>(m * k)), b(integers<std::int8_t>(n * k));
  const test::Buffer<std::int32_t> c(std::vector<std::int32_t>(static_cast<std::size_t>(m * n), -1));
  Integers::Problem problem;
  problem.m = m, problem.n = n, problem.k = k;
  problem.a = {a.get(), k}, problem.b = {b.get(), k}, problem.c = {c.get(), n};
  const Status status = launch(kernel, doubled, problem, Doubled{});
  ASSERT_TRUE(status) << status.message();
  ASSERT_TRUE(test::device()->synchronize());
  const std::vector<std::int32_t> got = c.read();
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      int sum = 1000 * i - j;
      for (int p = 0; p < k; ++p) sum += 2 * static_cast<int>(integer(i * k + p) * integer(j * k + p));
      ASSERT_EQ(got[static_cast<std::size_t>(i * n + j)], sum) << i << ", " << j;
    }
  }
}

// An operation with operands. Hopper's kernel loads the matrix by TMA where it can.
struct Gain {
  float factor;
};
using ResidualOperands = EpilogueOperands<ColumnVector<float>, MatrixOperand<half>>;
const Epilogue residual{
    "Residual",
    "struct Residual {\n"
    "  using Operands =\n"
    "      tenon::EpilogueOperands<tenon::ColumnVector<float>, tenon::MatrixOperand<half>>;\n"
    "  float factor;\n"
    "  __device__ float operator()(float x, int, int, float bias, float residual) const {\n"
    "    return factor * x + bias + residual;\n"
    "  }\n"
    "};\n",
    sizeof(Gain), alignof(Gain)};
template <class ResidualKernel>
class JitOperands : public JitGemm {
 protected:
  const bool loads_by_tma = ResidualKernel::Recipe::architecture({}) == "sm_90a";

  void expect_right(const ResidualKernel& kernel, int m, int n, int k) {
    SCOPED_TRACE(::testing::Message() << m << " x " << n << " x " << k);
    const test::Buffer<half> a(integers<half>(m * k)), b(integers<half>(n * k)), r(integers<half>(m * n)),
        c(std::vector<half>(static_cast<std::size_t>(m * n), static_cast<half>(NAN)));
    const test::Buffer<float> bias(integers<float>(n));
    typename ResidualKernel::Problem problem;
    problem.m = m, problem.n = n, problem.k = k;
    problem.a = {a.get(), k}, problem.b = {b.get(), k}, problem.c = {c.get(), n};
    const StoredOperands<ResidualOperands> operands{bias.get(), {r.get(), n}};
    EXPECT_EQ(has_map(kernel, problem, operands), loads_by_tma && k > 0 && n % 8 == 0);
    const Status status = this->launch(kernel, residual, problem, Gain{0.5F}, operands);
    ASSERT_TRUE(status) << status.message();
    ASSERT_TRUE(test::device()->synchronize());
    const std::vector<half> got = c.read();
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        ASSERT_EQ(static_cast<float>(got[static_cast<std::size_t>(i * n + j)]),
                  0.5F * product(i, j, k) + integer(j) + integer(i * n + j))
            << i << ", " << j;
      }
    }
  }

 private:
  // Whether the kernel loads the residual by TMA, as the plan of the launch says.
  static bool has_map(const ResidualKernel& kernel, const typename ResidualKernel::Problem& problem,
                      const StoredOperands<ResidualOperands>& operands) {
    Launch plan;
    bool launches = false;
    EXPECT_TRUE(kernel.plan(problem, Gain{0.5F}, operands, test::launcher(), &plan, &launches));
    EXPECT_TRUE(launches);
    using Argument = WithOperands<Gain, ResidualOperands>;
    const int last = plan.arguments.count() - 1;
    EXPECT_EQ(plan.arguments.size(last), sizeof(Argument));
    return static_cast<const Argument*>(plan.arguments.data(last))->matrix_has_map;
  }
};
using ResidualKernels = ::testing::Types<
    tenon::sm90::JitGemmKernel<tenon::sm90::Config<half, float, 128, 128>, half, ResidualOperands>,
    tenon::sm80::JitGemmKernel<tenon::sm80::Config<half, float, 64, 64>, half, ResidualOperands>>;
TYPED_TEST_SUITE(JitOperands, ResidualKernels);
TYPED_TEST(JitOperands, AreLoadedForTheOperation) {
  const auto kernel = this->template made<TypeParam>(residual);
  this->expect_right(kernel, 150, 264, 72);
  this->expect_right(kernel, 131, 135, 64);  // TMA can load no row of it
  this->expect_right(kernel, 5, 300, 0);
}

// One vector alone, and an operation without members.
struct Nothing {};
TEST_F(JitGemm, TakesOneOperand) {
  const Epilogue scaled{
      "Scaled",
      "struct Scaled {\n"
      "  using Operands = tenon::EpilogueOperands<tenon::RowVector<float>>;\n"
      "  __device__ float operator()(float x, int, int, float scale) const { return scale * x; }\n"
      "};\n",
      sizeof(Nothing), alignof(Nothing)};
  using Scaled = tenon::sm80::JitGemmKernel<tenon::sm80::Config<half, float, 64, 64>, float,
                                            EpilogueOperands<RowVector<float>>>;
  const auto kernel = made<Scaled>(scaled);
  const int m = 5, n = 7, k = 24;
  const test::Buffer<half> a(integers<half>(m * k)), b(integers<half>(n * k));
  const test::Buffer<float> scale(integers<float>(m)), c(std::vector<float>(m * n, NAN));
  Scaled::Problem problem;
  problem.m = m, problem.n = n, problem.k = k;
  problem.a = {a.get(), k}, problem.b = {b.get(), k}, problem.c = {c.get(), n};
  const Status status =
      launch(kernel, scaled, problem, Nothing{}, StoredOperands<Scaled::Operands>{scale.get()});
  ASSERT_TRUE(status) << status.message();
  ASSERT_TRUE(test::device()->synchronize());
  const std::vector<float> got = c.read();
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      ASSERT_EQ(got[static_cast<std::size_t>(i * n + j)], integer(i) * product(i, j, k)) << i << ", " << j;
    }
  }
}

class JitSentences : public JitHostTest {
 protected:
  std::string refused(const Epilogue& epilogue) { return JitHostTest::refused(epilogue, &kernel_); }
  ::Kernel kernel_;
};

// The second one is asked of a stub of NVRTC, which compiles nothing.
TEST_F(JitSentences, TheSecondKernelComesFromTheCache) {
  ASSERT_TRUE(compile(bias_relu, options_, &kernel_));
  EXPECT_FALSE(kernel_.report().from_cache);
  EXPECT_EQ(kernel_.report().log, "");
  EXPECT_GT(kernel_.report().seconds, 0.0);
  EXPECT_EQ(kernel_.cubin().bytes.substr(1, 3), "ELF");
  for (const std::string& symbol : kernel_.cubin().symbols) expect_in(symbol, kernel_.cubin().bytes);
  take_stub();
  ::Kernel second;
  ASSERT_TRUE(compile(bias_relu, options_, &second));
  EXPECT_TRUE(second.report().from_cache);
  EXPECT_EQ(second.report().seconds, 0.0);
  EXPECT_EQ(second.report().note, "");
  EXPECT_EQ(second.cubin().bytes, kernel_.cubin().bytes);
  EXPECT_EQ(second.cubin().symbols, kernel_.cubin().symbols);
  ASSERT_TRUE(compile("accumulator", options_, &second));
  EXPECT_FALSE(second.report().from_cache);
}
TEST_F(JitSentences, ATextThatDoesNotCompile) {
  const Status status = compile("accumulator + bia[column]", options_, &kernel_);
  EXPECT_EQ(std::string(status.message()).find("NVRTC: epilogue(4): error: identifier \"bia\" is undefined"),
            0U)
      << status.message();
  expect_in("1 error detected in the compilation", kernel_.report().log);
  expect_in("must name its struct", refused({"", "", 1, 1}));
  expect_in("\"Nothing\"", refused({"Nothing", "", 1, 1}));
}
TEST_F(JitSentences, AnOperationThatIsNone) {
  const std::string call = "__device__ float operator()(float x, int, int) const { return x; }";
  expect_in("the epilogue has 8 bytes with alignment 4 in the program, but not here",
            refused({"Op", "struct Op { double d; " + call + " };", 8, 4}));
  refused({"Op", "struct Op { double d, e; " + call + " };", 8, 8});
  expect_in("[with size=16, alignment=8]", kernel_.report().log);
  expect_in("it must be trivially copyable",
            refused({"Op", "struct Op { __device__ Op(const Op&) {} " + call + " };", 1, 1}));
  expect_in("is called as op(accumulator, int row, int column)",
            refused({"Op", "struct Op { __device__ float operator()(float x) const { return x; } };", 1, 1}));
}
TEST_F(JitSentences, OperandsThatAreNotThoseOfTheProgram) {
  using Residual =
      tenon::sm90::JitGemmKernel<tenon::sm90::Config<half, float, 128, 128>, half, ResidualOperands>;
  const auto replaced = [](const char* part, const char* by) {
    Epilogue other = residual;
    other.text.replace(other.text.find(part), std::string(part).size(), by);
    return other;
  };
  Residual kernel;
  expect_in("the Operands of the epilogue are not those of the program's kernel",
            JitHostTest::refused(replaced("ColumnVector", "RowVector"), &kernel));
  expect_in("the operation names what it is called with: using Operands = EpilogueOperands<...>",
            JitHostTest::refused(replaced("using Operands", "using Others"), &kernel));
  expect_in("the operation is called as op(accumulator, int row, int column, the value of each operand",
            JitHostTest::refused(replaced("float residual)", "float residual, float more)"), &kernel));
  ASSERT_TRUE(Residual::make(residual, options_, &kernel));
  const Residual::Problem problem;
  EXPECT_STREQ(kernel.launch(problem, Bias{}, {nullptr, {nullptr, 0}}).message(),
               "the epilogue has 8 bytes but Residual, as it was made, has 4");
  Launch plan;
  bool launches = false;
  Residual::Problem needs_operands;
  const test::Buffer<half> memory(integers<half>(64));
  needs_operands.m = 8, needs_operands.n = 8, needs_operands.k = 0;
  needs_operands.a = {memory.get(), 8}, needs_operands.b = {memory.get(), 8},
  needs_operands.c = {memory.get(), 8};
  EXPECT_STREQ(
      kernel.plan(needs_operands, Gain{}, {nullptr, {memory.get(), 8}}, test::launcher(), &plan, &launches)
          .message(),
      "operand 1 of the epilogue, a ColumnVector of f32, is a null pointer");
  EXPECT_FALSE(launches);
}
TEST_F(JitSentences, FoldersThatDoNotHaveTheHeaders) {
  const Epilogue any{"Op", "", 1, 1};
  options_.include_folders = {CUDA_INCLUDE};
  EXPECT_EQ(
      refused(any),
      "tenon/gemm/kernel_no_k.hpp is in none of the 1 include folders, but those of tenon and of the CUDA "
      "Toolkit must be among them");
  options_.include_folders = {TENON_INCLUDE};
  expect_in("cuda_fp16.h is in none of the 1 include folders", refused(any));
}
TEST_F(JitSentences, ADeviceThatTheKernelOfSm80IsNotFor) {
  using Recipe = CpAsyncRecipe<tenon::sm80::Config<half, float, 64, 64>>;
  CompileOptions options;
  EXPECT_EQ(Recipe::architecture(options), "sm_80");
  options.sm = 86;
  EXPECT_EQ(Recipe::architecture(options), "sm_86");
  const auto message = [](const char* architecture, int sm) {
    DeviceDescription device;
    device.sm = sm;
    return std::string(Recipe::check(device, architecture).message());
  };
  EXPECT_EQ(message("sm_80", 80), "");
  EXPECT_EQ(message("sm_80", 89), "");
  EXPECT_EQ(message("sm_120", 121), "");
  EXPECT_EQ(message("sm_80", 90),
            "the kernel was compiled for sm_80 but the device is sm_90: CompileOptions::sm names it");
  EXPECT_EQ(message("sm_86", 80),
            "the kernel was compiled for sm_86 but the device is sm_80: CompileOptions::sm names it");
}
TEST_F(JitSentences, ALaunchOfWhatWasNotMadeOrOfOtherBytes) {
  const ::Kernel::Problem problem;
  EXPECT_STREQ(kernel_.launch(problem, Bias{}).message(),
               "the kernel was not made: its make() must succeed first");
  ASSERT_TRUE(compile(bias_relu, options_, &kernel_));
  EXPECT_STREQ(kernel_.launch(problem, Plane{}).message(),
               "the epilogue has 16 bytes but Formula, as it was made, has 8");
  EXPECT_STREQ(kernel_.launch(problem, OperationBytes{nullptr, 9}).message(),
               "the epilogue has 9 bytes but Formula, as it was made, has 8");
}

}  // namespace
}  // namespace tenon::jit
