// Every mma and mma.sp form of the table, executed by a warp on random operands and compared with
// mma_reference.hpp: exactly, because the operands are chosen such that no sum rounds (and f64 has a defined
// order of rounding). On the GPU, and in the emulator from the PTX that nvcc makes of the same kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ptx/mma_case.hpp"
#include "ptx/mma_reference.hpp"
#include "support/gpu.hpp"
#include "tenon/emulator/emulator.hpp"

namespace tenon::test {
namespace {

enum class Trial {
  exact,          // small multiples of 1/2; full range for integers, whose sums wrap
  rounded,        // f64: full mantissas, so that every step of the chain rounds
  saturate_high,  // integers: no product is negative and c is close to the largest s32
  saturate_low,   // integers: no product is positive and c is close to the lowest s32
};

std::vector<Trial> trials(const MmaSpec& spec) {
  if (spec.a == Kind::f64) return {Trial::exact, Trial::rounded};
  if (!spec.satfinite) return {Trial::exact};
  // Within a trial the partial sums are monotone, so the clamp does not depend on the order in which they are
  // taken.
  if (!is_signed(spec.a) && !is_signed(spec.b)) return {Trial::saturate_high};
  return {Trial::saturate_high, Trial::saturate_low};
}

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::int64_t integer(std::int64_t lowest, std::int64_t highest) {
    return std::uniform_int_distribution<std::int64_t>(lowest, highest)(engine_);
  }
  double real() { return std::uniform_real_distribution<double>(-1, 1)(engine_); }

 private:
  std::mt19937 engine_;
};

double factor(Kind kind, Trial trial, bool nonpositive, Random& random) {
  if (is_integer(kind)) {
    const std::int64_t range = 1LL << bits(kind);
    std::int64_t lowest = is_signed(kind) ? -range / 2 : 0, highest = lowest + range - 1;
    if (trial != Trial::exact) (nonpositive ? highest : lowest) = 0;
    return static_cast<double>(random.integer(lowest, highest));
  }
  if (trial == Trial::rounded) return random.real();
  if (kind == Kind::f64) return static_cast<double>(random.integer(-(1 << 20), 1 << 20));
  return static_cast<double>(random.integer(-7, 7)) / 2;
}

double addend(const MmaSpec& spec, Trial trial, Random& random) {
  constexpr std::int64_t lowest = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
  if (spec.c != Kind::s32) return factor(spec.c, trial, false, random);
  // Twice as far from the bound as the sum of the random products is on average: some sums cross it, some do
  // not.
  const auto largest = [](Kind kind) { return 1LL << (bits(kind) - (is_signed(kind) ? 1 : 0)); };
  const std::int64_t reach = (spec.sparse ? spec.k / 2 : spec.k) * largest(spec.a) * largest(spec.b) / 2;
  if (trial == Trial::saturate_high) return static_cast<double>(highest - random.integer(0, reach));
  if (trial == Trial::saturate_low) return static_cast<double>(lowest + random.integer(0, reach));
  return static_cast<double>(random.integer(lowest, highest));
}

// d of one warp.
using Execute = Registers (*)(const MmaCase& form, const MmaOperands& operands);

void execute_and_compare(Execute execute, const MmaCase& form, Trial trial, std::uint32_t seed) {
  const MmaSpec spec = parse_mnemonic(form.mnemonic);
  SCOPED_TRACE(std::string(form.mnemonic) + ", selector " + std::to_string(form.selector) + ", trial " +
               std::to_string(static_cast<int>(trial)));
  Random random(seed);
  Matrices a(spec.matrices(), spec.m, spec.k), b(spec.matrices(), spec.k, spec.n),
      c(spec.matrices(), spec.m, spec.n);
  const bool negative_a = trial == Trial::saturate_low && is_signed(spec.a);
  const bool negative_b = trial == Trial::saturate_low && !negative_a;
  for (double& x : a.values) x = factor(spec.a, trial, negative_a, random);
  for (double& x : b.values) x = factor(spec.b, trial, negative_b, random);
  for (double& x : c.values) x = addend(spec, trial, random);

  MmaOperands operands{
      pack(spec, Operand::a, a), pack(spec, Operand::b, b), pack(spec, Operand::c, c), Registers(32), {}};
  operands.d =
      Registers(pack(spec, Operand::d, Matrices(spec.matrices(), spec.m, spec.n)).size(), 0xdeadbeef);
  if (spec.sparse) {
    Sparsity sparsity(spec.m * spec.groups());
    const std::vector<std::uint8_t> nibbles = sparsity_nibbles(spec);
    for (std::uint8_t& nibble : sparsity) {
      nibble = nibbles[random.integer(0, static_cast<std::int64_t>(nibbles.size()) - 1)];
    }
    a = masked(spec, sparsity, a);
    operands.a = pack(spec, Operand::a, compressed(spec, sparsity, a));
    operands.e = pack_metadata(spec, sparsity, form.selector);
  }
  const Matrices found = unpack(spec, Operand::d, execute(form, operands));
  const Matrices expected = reference(spec, a, b, c);
  ASSERT_EQ(found.values.size(), expected.values.size());
  for (int matrix = 0; matrix < found.matrices; ++matrix) {
    for (int row = 0; row < found.rows; ++row) {
      for (int column = 0; column < found.columns; ++column) {
        ASSERT_EQ(found.at(matrix, row, column), expected.at(matrix, row, column))
            << "matrix " << matrix << ", row " << row << ", column " << column;
      }
    }
  }
  if (trial == Trial::saturate_high || trial == Trial::saturate_low) {
    const double bound = trial == Trial::saturate_high ? std::numeric_limits<std::int32_t>::max()
                                                       : std::numeric_limits<std::int32_t>::min();
    const auto clamped = std::count(expected.values.begin(), expected.values.end(), bound);
    EXPECT_GT(clamped, 0) << "the trial never reaches the bound";
    EXPECT_LT(clamped, static_cast<std::ptrdiff_t>(expected.values.size()))
        << "the trial always reaches the bound";
  }
}

std::vector<std::string> families() {
  std::vector<std::string> result;
  for (const MmaCase& form : mma_cases()) {
    if (std::find(result.begin(), result.end(), form.family) == result.end())
      result.emplace_back(form.family);
  }
  return result;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param + "_sm" + std::to_string(mma_cases().front().minimum_sm);
}

class PtxMma : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const int needed = mma_cases().front().minimum_sm;
    if (gpu_sm() < needed) GTEST_SKIP() << "needs a GPU of sm_" << needed << " or newer";
  }
};

void test_family(const std::string& family, int repetitions, Execute execute) {
  std::uint32_t seed = 1;
  for (const MmaCase& form : mma_cases()) {
    if (form.family != family) continue;
    for (const Trial trial : trials(parse_mnemonic(form.mnemonic))) {
      for (int i = 0; i < repetitions; ++i) execute_and_compare(execute, form, trial, seed++);
    }
  }
}

TEST_P(PtxMma, EqualsTheReference) {
  test_family(GetParam(), 4,
              [](const MmaCase& form, const MmaOperands& operands) { return form.launch(operands); });
}

// The same in the emulator, everywhere: it reads the PTX that nvcc made of the kernels.
class PtxMmaEmulated : public ::testing::TestWithParam<std::string> {};

struct EmulatedKernels {
  emulator::Emulator machine;
  emulator::Module module;
};

EmulatedKernels& emulated_kernels() {
  static EmulatedKernels kernels = [] {
    std::ifstream file(TENON_MMA_CASES_PTX);
    if (!file) throw std::runtime_error("cannot read " TENON_MMA_CASES_PTX);
    std::stringstream text;
    text << file.rdbuf();
    emulator::Emulator machine;
    emulator::Module module = machine.load(text.str());
    return EmulatedKernels{std::move(machine), std::move(module)};
  }();
  return kernels;
}

Registers emulate(const MmaCase& form, const MmaOperands& operands) {
  auto& [machine, module] = emulated_kernels();
  std::vector<emulator::Address> addresses;
  std::vector<emulator::Argument> arguments;
  for (const Registers* operand : {&operands.a, &operands.b, &operands.c, &operands.e, &operands.d}) {
    addresses.push_back(machine.allocate(4 * operand->size()));
    machine.copy_in(addresses.back(), operand->data(), 4 * operand->size());
    arguments.emplace_back(addresses.back());
  }
  const emulator::Result result = machine.launch(module, form.kernel, {{}, {32}}, arguments);
  for (const emulator::Finding& finding : result.findings) ADD_FAILURE() << finding.message;
  Registers d(operands.d.size());
  machine.copy_out(d.data(), addresses.back(), 4 * d.size());
  for (const emulator::Address address : addresses) machine.free(address);
  return d;
}

TEST_P(PtxMmaEmulated, EqualsTheReference) {
  test_family(GetParam(), 1, emulate);
}

// The reference itself, without a GPU: every element is in one register of one lane, and comes back from
// there.
class PtxMmaReference : public ::testing::TestWithParam<std::string> {};

TEST_P(PtxMmaReference, PacksAndUnpacksEveryElement) {
  Random random(1);
  for (const MmaCase& form : mma_cases()) {
    if (form.family != GetParam()) continue;
    SCOPED_TRACE(form.mnemonic);
    const MmaSpec spec = parse_mnemonic(form.mnemonic);
    // A sparse A: what is kept of it.
    Matrices a(spec.matrices(), spec.m, spec.sparse ? spec.k / 2 : spec.k),
        b(spec.matrices(), spec.k, spec.n);
    Matrices c(spec.matrices(), spec.m, spec.n);
    for (double& x : a.values) x = factor(spec.a, Trial::exact, false, random);
    for (double& x : b.values) x = factor(spec.b, Trial::exact, false, random);
    for (double& x : c.values) x = addend(spec, Trial::exact, random);
    EXPECT_EQ(unpack(spec, Operand::a, pack(spec, Operand::a, a)).values, a.values);
    EXPECT_EQ(unpack(spec, Operand::b, pack(spec, Operand::b, b)).values, b.values);
    EXPECT_EQ(unpack(spec, Operand::c, pack(spec, Operand::c, c)).values, c.values);
  }
}

INSTANTIATE_TEST_SUITE_P(Family, PtxMmaReference, ::testing::ValuesIn(families()), test_name);
INSTANTIATE_TEST_SUITE_P(Family, PtxMmaEmulated, ::testing::ValuesIn(families()), test_name);
INSTANTIATE_TEST_SUITE_P(Family, PtxMma, ::testing::ValuesIn(families()), test_name);

}  // namespace
}  // namespace tenon::test
