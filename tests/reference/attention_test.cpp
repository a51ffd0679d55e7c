// The reference kernels of attention, from their PTX in the emulator (L3) and through attention.hpp on a GPU
// (L4).
#include "reference/attention.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "attention/attention_case.hpp"

namespace tenon {
namespace {

using reference::AttentionAlgorithm;
using test::AttentionCase;

// The name of the kernel in a file of PTX whose mangled name has this part.
std::string entry_of(const std::string& path, const std::string& part) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::ostringstream read;
  read << file.rdbuf();
  const std::string text = read.str(), begins = ".entry ";
  for (std::size_t at = text.find(begins); at != std::string::npos; at = text.find(begins, at)) {
    at += begins.size();
    const std::string name = text.substr(at, text.find('(', at) - at);
    if (name.find(part) != std::string::npos) return name;
  }
  ADD_FAILURE() << path << " has no kernel with " << part;
  return {};
}

class ReferenceAttention : public test::DeviceTest,
                           public ::testing::WithParamInterface<std::tuple<AttentionAlgorithm, Type>> {
 protected:
  static AttentionAlgorithm algorithm() { return std::get<0>(GetParam()); }
  static AttentionCase of_lengths(int queries, int keys) {
    AttentionCase c;
    c.type = std::get<1>(GetParam());
    c.queries = queries, c.keys = keys;
    return c;
  }
  static void expect_right(const AttentionCase& c) {
    const test::Attention attention(c);
    const Status status = run(attention.problem());
    ASSERT_TRUE(status) << status.message();
    ASSERT_TRUE(test::device()->synchronize());
    attention.check();
  }

 private:
  static Status run(const AttentionProblem& problem) {
    if (!test::emulated()) return reference::attention(algorithm(), problem);
    if (Status s = reference::can_implement(algorithm(), problem); !s) return s;
    const bool wmma = algorithm() == AttentionAlgorithm::wmma;
    const std::string file = wmma ? TENON_ATTENTION_WMMA_PTX : TENON_ATTENTION_F32_PTX;
    static const int anything = 0;
    Launch launch;
    launch.what = wmma ? "attention_wmma" : "attention_scalar_f32";
    launch.function = &anything;  // the emulator takes the entry
    launch.ptx = file.c_str();
    const std::string entry =
        entry_of(file + ".ptx", problem.type == Type::f16 ? "6__half" : "13__nv_bfloat16");
    launch.entry = entry.c_str();
    const std::int64_t rows = problem.batch * problem.heads * problem.queries;
    launch.grid.x = static_cast<unsigned>(wmma ? problem.batch * problem.heads * ((problem.queries + 31) / 32)
                                               : (rows + 3) / 4);
    launch.block = wmma ? Extent3{128, 1, 1} : Extent3{32, 4, 1};
    launch.arguments.set(problem);
    return test::launcher().launch(launch);
  }
};

TEST_P(ReferenceAttention, OddLengths) {
  for (const auto& [queries, keys] : {std::pair<int, int>{1, 1}, {17, 63}, {33, 129}}) {
    SCOPED_TRACE(std::to_string(queries) + " queries, " + std::to_string(keys) + " keys");
    expect_right(of_lengths(queries, keys));
  }
}

TEST_P(ReferenceAttention, CausalWithQueriesThatSeeNothing) {
  AttentionCase c = of_lengths(40, 17);
  c.window = {-1, 0};
  expect_right(c);
}

TEST_P(ReferenceAttention, Everything) {
  AttentionCase c = of_lengths(35, 50);
  c.batch = 2, c.heads = 4, c.key_heads = 2, c.pad = 1, c.shift = 3;
  c.window = {20, 3}, c.soft_cap = 2, c.slopes = true;
  expect_right(c);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, ReferenceAttention,
                         ::testing::Combine(::testing::Values(AttentionAlgorithm::scalar_f32,
                                                              AttentionAlgorithm::wmma),
                                            ::testing::Values(Type::f16, Type::bf16)));

TEST(ReferenceAttentionRefuses, HeadDimensions) {
  AttentionProblem p;
  p.head_dimension = 64, p.value_dimension = 32;
  EXPECT_STREQ(reference::can_implement(AttentionAlgorithm::wmma, p).message(),
               "the head dimensions are 64 and 32 but the WMMA kernel needs 64");
  EXPECT_TRUE(reference::can_implement(AttentionAlgorithm::scalar_f32, p));
  p.head_dimension = 257;
  EXPECT_STREQ(reference::can_implement(AttentionAlgorithm::scalar_f32, p).message(),
               "the head dimensions are 257 and 32 but the scalar kernel needs <= 256");
}

}  // namespace
}  // namespace tenon
