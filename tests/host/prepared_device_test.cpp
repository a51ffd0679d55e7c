// Prepared products on a device: the same bits as those of gemm(), wherever a run has its matrices.
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "host/cuda_loading_launcher.hpp"
#include "host/gemm_on.hpp"
#include "host/gemm_prepared_on.hpp"
#include "support/device.hpp"

namespace tenon {
namespace {

using test::Buffer;
using Prepared = test::DeviceTest;

// The device of the tests, which needs nothing to be loaded.
class Loading final : public LoadingLauncher {
 public:
  Status describe(DeviceDescription* device) noexcept override { return test::launcher().describe(device); }
  Status make_tensor_map(const MatrixInMemory& matrix, int rows, int columns,
                         TensorMap* map) noexcept override {
    const Status s = test::launcher().make_tensor_map(matrix, rows, columns, map);
    made_.push_back({matrix, rows, columns, *map});
    return s;
  }
  // The emulator makes the map anew.
  Status replace_address(const void* data, TensorMap* map) noexcept override {
    ++replaced;
    if (!test::emulated()) return CudaLoadingLauncher(nullptr).replace_address(data, map);
    for (const Made& made : made_) {
      if (std::memcmp(&made.map, map, sizeof *map) != 0) continue;
      MatrixInMemory matrix = made.matrix;
      matrix.data = data;
      return make_tensor_map(matrix, made.rows, made.columns, map);
    }
    return Status(StatusCode::invalid_argument, "no map that was made here");
  }
  Status launch(const Launch& launch) noexcept override { return test::launcher().launch(launch); }
  Status identify(DeviceIdentity* identity) noexcept override {
    *identity = {};
    return {};
  }
  Status load(const Launch&) noexcept override { return {}; }
  Status launch_loaded(const Launch& launch) noexcept override { return test::launcher().launch(launch); }

  int replaced = 0;

 private:
  struct Made {
    MatrixInMemory matrix;
    int rows, columns;
    TensorMap map;
  };
  std::vector<Made> made_;
};

// The bits of f16 numbers between -2 and 2.
std::vector<std::uint16_t> numbers(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint16_t> result(static_cast<std::size_t>(count));
  for (std::uint16_t& x : result) x = static_cast<std::uint16_t>(random() % 2 << 15U | random() % 0x4000);
  return result;
}

TEST_F(Prepared, RunsGiveTheBitsOfGemm) {
  const struct {
    std::int64_t m, n, k, lda;
    bool workspace;
  } cases[] = {{72, 136, 200, 200, false}, {65, 33, 47, 48, false}, {65, 70, 71, 71, true}};
  for (const auto& x : cases) {
    SCOPED_TRACE(std::to_string(x.m) + " x " + std::to_string(x.n) + " x " + std::to_string(x.k));
    Gemm p;
    p.m = x.m, p.n = x.n, p.k = x.k;
    p.a = {nullptr, x.lda, row_major, Type::f16};
    p.b = {nullptr, x.lda, column_major, Type::f16};
    p.c = {nullptr, x.n, Type::f32};
    Loading loading;
    if (x.workspace) p.workspace_bytes = workspace_size(loading, p);
    PreparedGemm prepared;
    const Status made = PreparedGemmAccess::prepare(loading, p, &prepared);
    ASSERT_TRUE(made) << made.message();
    const Buffer<unsigned char> workspace(std::vector<unsigned char>(p.workspace_bytes + 1, 0xff));
    for (unsigned run = 0; run < 3; ++run) {
      const Buffer<std::uint16_t> a(numbers(x.m * x.lda, 2 * run + 1)), b(numbers(x.n * x.lda, 2 * run + 2));
      const std::vector<float> poison(static_cast<std::size_t>(x.m * x.n), -12345.0F);
      const Buffer<float> expected(poison), found(poison);
      Gemm whole = p;
      whole.a.data = a.get(), whole.b.data = b.get(), whole.c.data = expected.get();
      if (p.workspace_bytes != 0) whole.workspace = workspace.get();
      ASSERT_TRUE(gemm(loading, whole));
      GemmPointers pointers;
      pointers.a = a.get(), pointers.b = b.get(), pointers.c = found.get();
      pointers.workspace = whole.workspace;
      const Status s = PreparedGemmAccess::run(loading, prepared, pointers);
      ASSERT_TRUE(s) << s.message();
      EXPECT_EQ(found.read(), expected.read());
      EXPECT_NE(found.read()[0], -12345.0F);
    }
    EXPECT_EQ(loading.replaced > 0, x.lda % 8 == 0) << "the others copy operands, or run without maps";
  }
}

// An aux that a run writes or reads is that of the run.
TEST_F(Prepared, RunsHaveAnAuxOfTheirOwn) {
  const std::int64_t m = 72, n = 136, k = 64;
  for (const Activation activation : {Activation::gelu, Activation::dgelu}) {
    SCOPED_TRACE(name(activation));
    Gemm p;
    p.m = m, p.n = n, p.k = k;
    p.a = {nullptr, k, row_major, Type::f16};
    p.b = {nullptr, k, column_major, Type::f16};
    const Buffer<std::uint16_t> prepared_d(numbers(m * n, 1)), prepared_aux(numbers(m * n, 2));
    p.d = {prepared_d.get(), n, Type::f16};
    p.epilogue.activation = activation;
    p.epilogue.aux = {prepared_aux.get(), n, Type::f16};
    Loading loading;
    PreparedGemm prepared;
    const Status made = PreparedGemmAccess::prepare(loading, p, &prepared);
    ASSERT_TRUE(made) << made.message();
    for (unsigned run = 0; run < 3; ++run) {
      const Buffer<std::uint16_t> a(numbers(m * k, 5 * run + 3)), b(numbers(n * k, 5 * run + 4)),
          expected(numbers(m * n, 5 * run + 5)), found(numbers(m * n, 5 * run + 6)),
          expected_aux(numbers(m * n, 5 * run + 7)), found_aux(numbers(m * n, 5 * run + 7));
      Gemm whole = p;
      whole.a.data = a.get(), whole.b.data = b.get(), whole.d.data = expected.get();
      whole.epilogue.aux.data = expected_aux.get();
      ASSERT_TRUE(gemm(loading, whole));
      GemmPointers pointers;
      pointers.a = a.get(), pointers.b = b.get(), pointers.d = found.get(), pointers.aux = found_aux.get();
      const Status s = PreparedGemmAccess::run(loading, prepared, pointers);
      ASSERT_TRUE(s) << s.message();
      EXPECT_EQ(found.read(), expected.read());
      EXPECT_EQ(found_aux.read(), expected_aux.read());
      EXPECT_EQ(found_aux.read() == numbers(m * n, 5 * run + 7), reads_aux(activation));
    }
    EXPECT_EQ(prepared_aux.read(), numbers(m * n, 2)) << "the aux of prepare() has no part in these runs";
  }
}

}  // namespace
}  // namespace tenon
