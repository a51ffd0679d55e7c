// The wrappers of wgmma and the descriptors of its operands, executed: every type, operand source and n,
// transposed, negated, sparse, saturating, in every swizzle, against the definition of the product. The
// operands lie in shared memory as the figures of the PTX ISA say (emulator/instructions/wgmma_kernel.hpp),
// the descriptors are those of the library. In the emulator, or with TENON_TEST_DEVICE=cuda on a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "emulator/instructions/wgmma_kernel.hpp"
#include "support/ptx_entries.hpp"
#include "tenon/shared/descriptor_words.hpp"

namespace tenon::emulator::testing {
namespace {

const std::map<std::string, PtxEntry>& entries() {
  static const auto all = ptx_entries(TENON_WGMMA_PTX);
  return all;
}

struct Form {
  std::string name;
  WgmmaCase form;
  bool satfinite = false;
};

// D_A_B_nN and flags.
Form form_of(const std::string& name) {
  std::istringstream words(name);
  std::vector<std::string> word;
  for (std::string each; std::getline(words, each, '_');) word.push_back(each);
  Form result;
  result.name = name;
  WgmmaCase& form = result.form;
  form.d = word.at(0), form.a = word.at(1), form.b = word.at(2), form.n = std::stoi(word.at(3).substr(1));
  for (std::size_t i = 4; i < word.size(); ++i) {
    const std::string& flag = word[i];
    if (flag == "rs")
      form.a_in_registers = true;
    else if (flag == "sp0" || flag == "sp1")
      form.sparse = true, form.selector = flag[2] - '0';
    else if (flag == "na")
      form.negate_a = true;
    else if (flag == "nb")
      form.negate_b = true;
    else if (flag == "ta")
      form.a_mn_major = true;
    else if (flag == "tb")
      form.b_mn_major = true;
    else if (flag == "sat")
      result.satfinite = true;
    else
      ADD_FAILURE() << name << ": " << flag;
  }
  return result;
}

// The descriptor of one operand, from the named constructor for how it lies. k: of A as it is stored.
template <class T>
MatrixDescriptor descriptor_of(int span, bool mn_major, int mn, int k, std::uint32_t start) {
  using D = MatrixDescriptor;
  if constexpr (Element<T>::bits == 16) {
    if (mn_major) {  // lines of k, one operand k deep
      if (span == 128)
        return k == 16 ? D::mn_major<T, tenon::Swizzle::bytes_128, 2048>(start)
                       : D::mn_major<T, tenon::Swizzle::bytes_128, 4096>(start);
      if (span == 64)
        return k == 16 ? D::mn_major<T, tenon::Swizzle::bytes_64, 1024>(start)
                       : D::mn_major<T, tenon::Swizzle::bytes_64, 2048>(start);
      if (span == 32)
        return k == 16 ? D::mn_major<T, tenon::Swizzle::bytes_32, 512>(start)
                       : D::mn_major<T, tenon::Swizzle::bytes_32, 1024>(start);
      return mn == 64 ? D::mn_major<T, tenon::Swizzle::none, 1024>(start)
                      : D::mn_major<T, tenon::Swizzle::none, 2048>(start);
    }
  }
  if (span == 128) return D::k_major<T, tenon::Swizzle::bytes_128>(start);
  if (span == 64) return D::k_major<T, tenon::Swizzle::bytes_64>(start);
  if (span == 32) return D::k_major<T, tenon::Swizzle::bytes_32>(start);
  // The B of a sparse product has 64 bytes of k: four core matrices side by side.
  return k * Element<T>::bits == 512 ? D::k_major<T, tenon::Swizzle::none, 512>(start)
                                     : D::k_major<T, tenon::Swizzle::none>(start);
}

MatrixDescriptor descriptor_of(const std::string& type, int span, bool mn_major, int mn, int k,
                               std::uint32_t start) {
  if (type == "f16") return descriptor_of<__half>(span, mn_major, mn, k, start);
  if (type == "bf16") return descriptor_of<__nv_bfloat16>(span, mn_major, mn, k, start);
  if (type == "tf32") return descriptor_of<tf32>(span, mn_major, mn, k, start);
  if (type == "e4m3") return descriptor_of<e4m3>(span, mn_major, mn, k, start);
  if (type == "e5m2") return descriptor_of<e5m2>(span, mn_major, mn, k, start);
  if (type == "s8") return descriptor_of<std::int8_t>(span, mn_major, mn, k, start);
  if (type == "u8") return descriptor_of<std::uint8_t>(span, mn_major, mn, k, start);
  return descriptor_of<b1>(span, mn_major, mn, k, start);
}

void expect_product(Form f, int span, bool accumulate, std::uint64_t seeds) {
  f.form.span = span;
  f.form.accumulate = accumulate;
  WgmmaData data(f.form);
  if (f.satfinite) {  // sums to either side of the end
    for (std::size_t i = 0; i < data.c.size(); ++i) data.c[i] = i % 2 == 0 ? 0x7ffffff0 : -0x7ffffff0;
  }
  const auto b_start = static_cast<std::uint32_t>((data.b_descriptor & 0x3fff) << 4);
  const MatrixDescriptor a = descriptor_of(f.form.a, span, f.form.a_mn_major, 64, data.stored, 0);
  const MatrixDescriptor b = descriptor_of(f.form.b, span, f.form.b_mn_major, f.form.n, data.k, b_start);
  SCOPED_TRACE(f.name + ", swizzle " + std::to_string(span) + ", A: " + explain(a) + ", B: " + explain(b));
  const PtxEntry& entry = entries().at(f.name);
  PtxKernel kernel(entry.parameters, entry.body);
  const auto count = static_cast<std::size_t>(128 * data.accumulator_registers());
  const std::uint64_t to = kernel.zeros<std::uint32_t>(count);
  kernel.grid(1, 128)
      .argument(0, kernel.upload(data.image))
      .argument(1, kernel.upload(data.a_registers))
      .argument(2, kernel.upload(data.start()))
      .argument(3, to)
      .argument(4, a.bits())
      .argument(5, b.bits())
      .argument(6, kernel.upload(data.metadata))
      .argument(7, static_cast<std::int32_t>(data.image.size() / 4))
      .argument(8, std::int32_t{accumulate ? 1 : 0});
  int saturated = 0;
  const std::vector<std::uint32_t> expected = data.registers([&](int row, int column) {
    const std::int64_t sum = std::int64_t{data.product(row, column)} +
                             (accumulate ? data.c[static_cast<std::size_t>(row * f.form.n + column)] : 0);
    const std::int64_t clamped = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
    saturated += clamped != sum ? 1 : 0;
    return static_cast<int>(clamped);
  });
  EXPECT_EQ(saturated > 0, f.satfinite);
  expect_clean(
      kernel, [&] { EXPECT_EQ(kernel.download<std::uint32_t>(to, count), expected); }, seeds);
}

std::vector<Form> forms(const std::function<bool(const Form&)>& wanted) {
  std::vector<Form> list;
  for (const auto& [name, entry] : entries()) {
    Form form = form_of(name);
    if (wanted(form)) list.push_back(std::move(form));
  }
  return list;
}

bool modified(const Form& f) {
  return f.form.negate_a || f.form.negate_b || f.form.a_mn_major || f.form.b_mn_major || f.satfinite;
}

TEST(WgmmaWrapper, MultipliesEveryTypeFromEverySource) {
  int count = 0;
  for (const Form& f : forms([](const Form& f) { return f.form.n == 24 && !modified(f); })) {
    expect_product(f, f.form.a_in_registers ? 128 : 64, true, 0);
    ++count;
  }
  EXPECT_EQ(count, 4 * 6 + 12 * 4 + 2);
}

TEST(WgmmaWrapper, MultipliesEveryTypeInEverySwizzle) {
  for (const Form& f :
       forms([](const Form& f) { return f.form.n == 24 && !modified(f) && !f.form.a_in_registers; })) {
    for (const int span : {0, 32, 128}) {
      if (f.form.sparse && span == 32) continue;  // 64 bytes of k do not fit a line
      expect_product(f, span, span != 128, 0);
    }
  }
}

TEST(WgmmaWrapper, MultipliesEveryN) {
  std::map<std::string, std::set<int>> dense, sparse;
  for (const Form& f : forms([](const Form& f) { return !modified(f); })) {
    (f.form.sparse && f.form.a_in_registers ? sparse : dense)[f.form.d].insert(f.form.n);
    if (f.form.n != 24) expect_product(f, 128, f.form.n % 16 == 0, 0);
  }
  for (const auto& each : {dense, sparse}) {
    EXPECT_EQ(each.at("f32").size(), 32U);
    EXPECT_EQ(each.at("f16").size(), 32U);
    EXPECT_EQ(each.at("s32").size(), 18U);
  }
}

TEST(WgmmaWrapper, TransposesAndNegates) {
  int count = 0;
  for (const Form& f : forms([](const Form& f) { return modified(f) && !f.satfinite; })) {
    const bool transposed = f.form.a_mn_major || f.form.b_mn_major;
    for (const int span : {0, 32, 64, 128}) {
      if (span != 128 && (!transposed || f.form.sparse)) continue;
      expect_product(f, span, span != 0, 0);
    }
    ++count;
  }
  EXPECT_EQ(count, 18);
}

TEST(WgmmaWrapper, SumsThatSaturate) {
  const std::vector<Form> saturating = forms([](const Form& f) { return f.satfinite; });
  EXPECT_EQ(saturating.size(), 4U);
  for (const Form& f : saturating) expect_product(f, 128, true, 0);
}

// Fence, commit and wait are where they have to be, whenever the operands are read and the sums are written.
TEST(WgmmaWrapper, WaitsUnderManySchedules) {
  for (const char* name :
       {"f32_f16_f16_n64", "f32_tf32_tf32_n24_rs", "s32_u8_u8_n24_rs_sp0", "f16_e5m2_e5m2_n24"}) {
    expect_product(form_of(name), 128, true, 20);
  }
}

}  // namespace
}  // namespace tenon::emulator::testing
