// The four reference kernels on a GPU compared with the host product: every shape, layout, type, scaling and
// special value that tenon::Gemm admits.
#include <gtest/gtest.h>

#include <limits>

#include "product.hpp"
#include "support/gpu.hpp"

namespace tenon::reference {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr Type all_types[] = {Type::f16, Type::bf16, Type::f32};
constexpr Order both_orders[] = {row_major, column_major};

// One instance for each algorithm.
class ReferenceGemm : public test::GpuTest, public ::testing::WithParamInterface<AlgorithmInfo> {
 protected:
  Algorithm algorithm() const { return GetParam().algorithm; }
  bool takes(Type type) const { return type != Type::f32 || !GetParam().tensor_cores; }

  void check(const Case& what) {
    SCOPED_TRACE(::testing::Message()
                 << what.m << " x " << what.n << " x " << what.k << " " << name(what.type) << " to "
                 << name(what.out) << ", A " << (what.a_order == row_major ? "t" : "n") << ", B "
                 << (what.b_order == row_major ? "t" : "n") << ", padding " << what.a_pad << " " << what.b_pad
                 << " " << what.c_pad << ", offset " << what.offset << ", alpha " << what.alpha << ", beta "
                 << what.beta);
    Product(what).check(algorithm());
  }
};

// WMMA of tf32, s8 and f64. f64 is compared as floats, which shows a wrong element, and not its last bits.
class ReferenceOfType : public test::GpuTest, public ::testing::WithParamInterface<AlgorithmOfType> {};

TEST_P(ReferenceOfType, EveryShapeAndLayout) {
  const Type type = GetParam().operand;
  int turn = 0;
  for (const std::int64_t m : {1, 17, 64, 97}) {
    for (const std::int64_t n : {1, 16, 33, 128}) {
      for (const std::int64_t k : {0, 1, 15, 64, 131}) {
        Case what;
        what.type = type, what.out = GetParam().accumulate;
        what.m = m, what.n = n, what.k = k;
        what.a_order = both_orders[turn / 2 % 2], what.b_order = both_orders[turn / 3 % 2];
        what.a_pad = turn % 3, what.b_pad = turn % 4, what.c_pad = turn % 5, what.offset = turn % 2;
        what.alpha = turn % 2 == 0 ? 1.0F : -3.0F, what.beta = turn % 7 == 0 ? 2.0F : 0.0F;
        ++turn;
        SCOPED_TRACE(::testing::Message() << m << " x " << n << " x " << k << ", turn " << turn);
        Product(what).check(GetParam().algorithm);
        if (HasFatalFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Reference, ReferenceOfType, ::testing::ValuesIn(algorithms_of_other_types()),
                         [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(Reference, ReferenceGemm, ::testing::ValuesIn(algorithms()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(ReferenceGemm, EveryShape) {
  int turn = 0;
  for (std::int64_t m : {0, 1, 17, 64, 97}) {
    for (std::int64_t n : {0, 1, 16, 33, 128}) {
      for (std::int64_t k : {0, 1, 15, 64, 131}) {
        Case what;
        what.m = m, what.n = n, what.k = k;
        what.type = turn % 2 == 0 ? Type::f16 : Type::bf16;
        what.a_order = both_orders[turn / 2 % 2];
        what.b_order = both_orders[turn / 3 % 2];
        what.c_pad = turn % 5;
        what.beta = turn % 7 == 0 ? 1.0F : 0.0F;
        ++turn;
        check(what);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(ReferenceGemm, EveryLayoutAndType) {
  for (Type type : all_types) {
    if (!takes(type)) continue;
    for (Type out : all_types) {
      for (Order a_order : both_orders) {
        for (Order b_order : both_orders) {
          Case what;
          what.type = type, what.out = out, what.a_order = a_order, what.b_order = b_order;
          what.m = 128, what.n = 192, what.k = 64;  // full tiles, aligned
          check(what);
          what.m = 131, what.n = 67, what.k = 101;  // primes: every edge is ragged, nothing is aligned
          check(what);
          what.m = 72, what.n = 136,
          what.k = 88;  // ragged, yet aligned: the residue tile ends within a chunk of 8 rows
          what.a_pad = 8, what.b_pad = 16, what.c_pad = 3;
          check(what);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(ReferenceGemm, AnyElementAlignedPointer) {
  for (int offset : {1, 2, 8}) {
    for (Order order : both_orders) {
      Case what;
      what.m = 80, what.n = 96, what.k = 112;
      what.offset = offset, what.a_order = order, what.b_order = order, what.out = Type::f16;
      check(what);
    }
  }
}

TEST_P(ReferenceGemm, AnyLeadingDimension) {
  for (std::int64_t pad : {1, 2, 7, 8, 1000}) {
    for (Order order : both_orders) {
      Case what;
      what.m = 65, what.n = 63, what.k = 64;
      what.a_pad = pad, what.b_pad = pad + 1, what.c_pad = pad;
      what.a_order = order, what.type = Type::bf16, what.out = Type::bf16, what.beta = 1.0F;
      check(what);
    }
  }
}

TEST_P(ReferenceGemm, AlphaAndBeta) {
  for (float alpha : {0.0F, 1.0F, -0.5F, 3.25F}) {
    for (float beta : {0.0F, 1.0F, -1.0F, 0.3F}) {
      for (Type out : all_types) {
        Case what;
        what.m = 37, what.n = 50, what.k = 29, what.c_pad = 2;
        what.alpha = alpha, what.beta = beta, what.out = out;
        check(what);
        what.k = 0;
        check(what);
      }
    }
  }
}

TEST_P(ReferenceGemm, LargeK) {
  Case what;
  what.m = 70, what.n = 130, what.k = 5003;
  check(what);
  what.m = 515, what.n = 1030, what.k = 777;
  check(what);
}

TEST_P(ReferenceGemm, SmallIntegersAreExact) {
  for (Order a_order : both_orders) {
    for (Order b_order : both_orders) {
      Case what;
      what.m = 100, what.n = 75, what.k = 203, what.a_order = a_order, what.b_order = b_order;
      what.alpha = 2.0F, what.beta = -3.0F;
      Product product(what);
      // Distinct within a row and between rows, so that a swapped or repeated element changes the result.
      for (std::size_t i = 0; i < product.a.size(); ++i)
        product.a[i] = static_cast<float>(i * 31 % 127) - 63.0F;
      for (std::size_t i = 0; i < product.b.size(); ++i)
        product.b[i] = static_cast<float>(i * 57 % 113) - 56.0F;
      for (std::size_t i = 0; i < product.c.size(); ++i) product.c[i] = static_cast<float>(i % 1009);
      const std::vector<float> found = product.run(algorithm());
      const std::vector<double> wanted = product.expected().value;
      for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], wanted[i]) << i;
    }
  }
}

TEST_P(ReferenceGemm, AlphaZeroDoesNotReadAOrB) {
  Case what;
  what.m = 40, what.n = 40, what.k = 40, what.alpha = 0.0F, what.beta = 0.5F;
  Product product(what);
  product.a.assign(product.a.size(), nan);
  product.b.assign(product.b.size(), infinity);
  const std::vector<float> found = product.run(algorithm());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], 0.5F * product.c[i]);
}

TEST_P(ReferenceGemm, AnEmptyProductIsNotScaled) {
  Case what;
  what.m = 20, what.n = 30, what.k = 0, what.alpha = infinity;  // infinity * 0 would be NaN
  for (float value : Product(what).run(algorithm())) ASSERT_EQ(value, 0.0F);
}

// A special value in row 3 of A and one in column 5 of B must reach exactly that row and that column, also
// where the tiles reach beyond the matrices.
TEST_P(ReferenceGemm, NanAndInfinitySpreadAsTheyShould) {
  const struct {
    float in_a, in_b;
  } specials[] = {{nan, 1.0F}, {infinity, 1.0F}, {1.0F, -infinity}, {infinity, -infinity}, {infinity, nan}};
  for (Type type : all_types) {
    if (!takes(type)) continue;
    for (const auto& special : specials) {
      for (std::int64_t position : {0, 24}) {
        Case what;
        what.type = type, what.m = 21, what.n = 35, what.k = 25;
        Product product(what);
        product.a[3 * 25 + position] = special.in_a;         // A(3, position)
        product.b[5 * 25 + (24 - position)] = special.in_b;  // B(24 - position, 5)
        product.a[7 * 25 + 2] = infinity;                    // row 7: inf - inf
        product.a[7 * 25 + 3] = -infinity;
        for (std::int64_t j = 0; j < 35; ++j) product.b[j * 25 + 2] = product.b[j * 25 + 3] = 1.0F;
        product.check(algorithm());
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(ReferenceGemm, SubnormalsAreKept) {
  const struct {
    Type type;
    float small, large;  // small is the smallest number of its type; the product is a normal float
  } cases[] = {
      {Type::f16, 0x1p-24F, 0x1p4F}, {Type::bf16, 0x1p-133F, 0x1p100F}, {Type::f32, 0x1p-149F, 0x1p100F}};
  for (const auto& subnormal : cases) {
    if (!takes(subnormal.type)) continue;
    Case what;
    what.type = subnormal.type, what.m = 18, what.n = 20, what.k = 32;
    Product product(what);
    product.a.assign(product.a.size(), subnormal.small);
    product.b.assign(product.b.size(), subnormal.large);
    for (float value : product.run(algorithm())) ASSERT_EQ(value, 32.0F * subnormal.small * subnormal.large);
  }
}

TEST_P(ReferenceGemm, SubnormalResultsAreKept) {
  for (Type out : all_types) {
    const float smallest = out == Type::f16 ? 0x1p-24F : out == Type::bf16 ? 0x1p-133F : 0x1p-149F;
    Case what;
    what.m = 18, what.n = 20, what.k = 3, what.out = out, what.alpha = smallest;
    Product product(what);
    product.a.assign(product.a.size(), 1.0F);
    product.b.assign(product.b.size(), 1.0F);
    for (float value : product.run(algorithm())) ASSERT_EQ(value, 3.0F * smallest);
  }
}

TEST_P(ReferenceGemm, OverflowGivesInfinity) {
  Case what;
  what.m = 18, what.n = 20, what.k = 2, what.out = Type::f16;
  Product product(what);
  product.a.assign(product.a.size(), 200.0F);
  product.b.assign(product.b.size(), 200.0F);  // 80000: exceeds f16, not the FP32 accumulator
  for (float value : product.run(algorithm())) ASSERT_EQ(value, infinity);
}

// Element offsets beyond 2^31 and byte offsets beyond 2^32, in each matrix in turn.
TEST_P(ReferenceGemm, HugeStrides) {
  constexpr std::int64_t huge = (std::int64_t{1} << 30) + 8;
  for (int which = 0; which < 3; ++which) {
    Case what;
    what.m = 3, what.n = 3, what.k = 40, what.out = Type::f16, what.beta = 1.0F;
    (which == 0 ? what.a_pad : which == 1 ? what.b_pad : what.c_pad) = huge;
    Product product(what);
    if (!product.allocated()) GTEST_SKIP() << "needs 4.3 GB of device memory";
    const std::vector<float> found = product.run(algorithm());
    expect_close(found, product.expected(), what.n, what.k, what.out);
  }
}

// A capture shows that the work goes to the given stream, that it is one kernel, and that nothing waits or
// allocates.
TEST_P(ReferenceGemm, CanBeCaptured) {
  Case what;
  what.m = 50, what.n = 60, what.k = 70, what.beta = 1.0F;
  Product product(what);
  product.run(algorithm());  // the first launch loads the kernel, which must not happen during a capture
  product.upload();          // C as it was before
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  const Status status = gemm(algorithm(), product.problem(), stream);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_TRUE(status) << status.message();
  std::size_t nodes = 0;
  ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 1U);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  expect_close(product.result(), product.expected(), what.n, what.k, what.out);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

class ReferenceFp32 : public test::GpuTest {};

TEST_F(ReferenceFp32, TiledEqualsNaiveBitForBit) {
  for (Type type : all_types) {
    for (Order order : both_orders) {
      Case what;
      what.type = type, what.m = 77, what.n = 130, what.k = 259, what.alpha = 1.7F;
      what.a_order = order, what.b_order = order;
      Product product(what);
      EXPECT_EQ(product.run(Algorithm::naive_f32), product.run(Algorithm::tiled_f32));
    }
  }
}

}  // namespace
}  // namespace tenon::reference
