// can_implement() and gemm() agree, even at the limits of tensor maps, grids and sizes. The launcher refuses
// what a GPU would refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "host/gemm_on.hpp"
#include "host/kernel_list.hpp"

namespace tenon {
namespace {

using test::problem;

// An H200 that computes nothing, and records what cuTensorMapEncodeTiled and a launch would refuse.
class StrictLauncher final : public Launcher {
 public:
  std::vector<std::string> launched, refused;

  Status describe(DeviceDescription* device) noexcept override {
    *device = test::h200;
    return {};
  }
  Status make_tensor_map(const MatrixInMemory& matrix, int box_rows, int box_columns,
                         TensorMap* /*map*/) noexcept override {
    const auto stride =
        static_cast<std::uint64_t>(matrix.ld) * static_cast<std::uint64_t>(matrix.element_bytes);
    const bool fits = reinterpret_cast<std::uintptr_t>(matrix.data) % 16 == 0 && stride % 16 == 0 &&
                      stride < std::uint64_t{1} << 40 && matrix.rows > 0 && matrix.columns > 0 &&
                      box_rows > 0 && box_rows <= 256 && box_columns > 0 && box_columns <= 256;
    return fits ? Status() : refuse("a tensor map");
  }
  Status launch(const Launch& launch) noexcept override {
    const auto within = [](unsigned x, unsigned most) { return x > 0 && x <= most; };
    if (!within(launch.grid.x, INT32_MAX) || !within(launch.grid.y, 65535) || !within(launch.grid.z, 65535))
      return refuse(launch.what);
    launched.emplace_back(launch.what);
    return {};
  }

 private:
  Status refuse(const char* what) {
    refused.emplace_back(what);
    return Status(StatusCode::device_unsupported, "%s is refused", what);
  }
};

// Runs the problem with the workspace that it asks for. No launch may be refused that can_implement()
// promised.
StatusCode run(Gemm p) {
  StrictLauncher launcher;
  p.workspace_bytes = workspace_size(launcher, p);
  if (p.workspace_bytes != 0) p.workspace = reinterpret_cast<void*>(std::uintptr_t{1} << 52);
  const Status can = can_implement(launcher, p);
  const char* const name = kernel_name(launcher, p);
  const Status did = gemm(launcher, p);
  EXPECT_EQ(can.code(), did.code()) << can.message() << " / " << did.message();
  EXPECT_STREQ(can.message(), did.message());
  EXPECT_TRUE(launcher.refused.empty()) << launcher.refused[0] << ", " << launcher.refused.size();
  if (did) {
    EXPECT_TRUE(std::find(launcher.launched.begin(), launcher.launched.end(), name) !=
                launcher.launched.end());
  } else {
    EXPECT_TRUE(launcher.launched.empty() && name == nullptr);
  }
  return did.code();
}

constexpr std::int64_t power(int exponent) {
  return std::int64_t{1} << exponent;
}

TEST(Limits, OfRowsOfC) {
  for (const Type type : {Type::f16, Type::tf32, Type::e4m3}) {
    const bool promote = type == Type::e4m3;  // only wgmma kernels do, which store C through a tensor map
    for (const std::int64_t m : {1, 2, 64, 500}) {
      Gemm p = problem(m, 512, 4096, type);
      p.promote = promote;
      p.c.ld = power(38);
      EXPECT_EQ(run(p), m == 1 || !promote ? StatusCode::ok : StatusCode::unsupported) << m;
      p.c.ld = power(38) - 4;
      EXPECT_EQ(run(p), StatusCode::ok) << m;
      p.c.ld = power(38) + 1;
      EXPECT_EQ(run(p), StatusCode::ok) << m;
    }
  }
}

TEST(Limits, OfSingleRows) {
  for (const std::int64_t ld : {power(37) + 1, power(40), power(61), std::int64_t{INT64_MAX}}) {
    for (const Type type : {Type::f16, Type::e4m3, Type::tf32, Type::s8}) {
      Gemm p = problem(1, 600, 131, type);
      p.a.ld = p.c.ld = ld;
      EXPECT_EQ(run(p), StatusCode::ok) << name(type);
      p = problem(600, 1, 131, type);
      p.b.ld = ld;
      EXPECT_EQ(run(p), StatusCode::ok) << name(type);
      p = problem(100, 100, 1, type);
      p.a = {p.a.data, ld, column_major, type};
      p.b = {p.b.data, ld, row_major, type};
      EXPECT_EQ(run(p), StatusCode::ok) << name(type);
    }
    // A transposing copy of A uses tensor maps as well.
    Gemm p = problem(1, 4095, 4095);
    p.a.ld = p.c.ld = ld;
    p.a.data = static_cast<const char*>(p.a.data) + 2;
    p.c.type = Type::f16;
    p.kernel = "wgmma_f16_f32_tt_128x128x64_s5_c1x2_rowinterleaved";
    EXPECT_EQ(run(p), StatusCode::ok);
  }
}

TEST(Limits, OfTheSizeOfAGrid) {
  for (const int m : {22, 23, 24}) {
    for (const int n : {22, 23, 24}) {
      Gemm p = problem(power(m), power(n), 8);
      p.c.type = Type::f16;
      for (const std::int64_t ld : {8, 9}) {
        p.a.ld = p.b.ld = ld;
        EXPECT_EQ(run(p), m + n <= 46 ? StatusCode::ok : StatusCode::unsupported) << m << ", " << n;
      }
    }
  }
}

TEST(Limits, OfSizes) {
  const std::int64_t most = power(31) - 4096;
  for (const Type type : {Type::f16, Type::e4m3, Type::s8}) {
    for (const std::int64_t other : {1, 5}) {
      EXPECT_EQ(run(problem(most, other, 16, type)), StatusCode::ok) << name(type);
      EXPECT_EQ(run(problem(other, other, most - 1, type)), StatusCode::ok) << name(type);
      EXPECT_EQ(run(problem(other, most, 16, type)), StatusCode::ok) << name(type);
      if (type != Type::e4m3) continue;
      Gemm p = problem(other, most, 16, type);
      p.promote = true;
      EXPECT_EQ(run(p), StatusCode::unsupported);
    }
  }
}

}  // namespace
}  // namespace tenon
