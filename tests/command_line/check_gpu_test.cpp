// The exact product on the device against the one on the host: sums equal to FP64 rounding, bounds not below.
#include <algorithm>
#include <cmath>
#include <memory>

#include "command_line/check.hpp"
#include "command_line/exit_status.hpp"
#include "support/gpu.hpp"

namespace tenon::command {
namespace {

using CheckGpu = test::GpuTest;

TEST_F(CheckGpu, AgreesWithTheHost) {
  const std::int64_t m = 37, n = 53, k = 171;  // more than a chunk of promoted sums
  std::unique_ptr<Device> cuda;
  require(open_cuda_device(&cuda));
  constexpr Type types[][2] = {{Type::f16, Type::f16},   {Type::bf16, Type::bf16}, {Type::tf32, Type::tf32},
                               {Type::e4m3, Type::e4m3}, {Type::e4m3, Type::e5m2}, {Type::e5m2, Type::e4m3},
                               {Type::e5m2, Type::e5m2}, {Type::s8, Type::s8}};
  for (const auto& [type, type_b] : types) {
    for (const Order a_order : {row_major, column_major}) {
      for (const Order b_order : {row_major, column_major}) {
        const Operand a = random_operand("A", 1, m, k, (a_order == row_major ? k : m) + 1, a_order, type);
        const Operand b = random_operand("B", 2, k, n, (b_order == row_major ? n : k) + 2, b_order, type_b);
        const DeviceBuffer a_device(*cuda, a, "A"), b_device(*cuda, b, "B");
        Gemm p;
        p.m = m;
        p.n = n;
        p.k = k;
        p.a = {a_device.get(), a.ld, a_order, type};
        p.b = {b_device.get(), b.ld, b_order, type_b};
        const auto a_rows = decoded(a, row_major), b_columns = decoded(b, column_major);
        const std::int64_t first = 5, count = 20;  // a band from the middle
        std::vector<DotProduct> dots;
        device_dot_products(*cuda, p, first, count, &dots);
        ASSERT_EQ(dots.size(), static_cast<std::size_t>(count * n));
        for (std::int64_t row = 0; row < count; ++row) {
          for (std::int64_t column = 0; column < n; ++column) {
            DotProduct exact;
            for (std::int64_t i = 0; i < k; ++i) {
              const double x = static_cast<double>(a_rows[static_cast<std::size_t>((first + row) * k + i)]);
              const double y = static_cast<double>(b_columns[static_cast<std::size_t>(column * k + i)]);
              exact.add(x * y, aligned_magnitude(x, type, y, type_b));
            }
            const DotProduct& dot = dots[static_cast<std::size_t>(row * n + column)];
            if (type == Type::s8) {
              ASSERT_EQ(dot.sum, exact.sum);
            }
            ASSERT_NEAR(dot.sum, exact.sum, 1e-12);
            ASSERT_GE(dot.largest_prefix, exact.largest_prefix);
            ASSERT_LE(dot.largest_prefix, exact.largest_prefix * (1 + 1e-5));
            ASSERT_GE(dot.largest_product, exact.largest_product);
            ASSERT_LE(dot.largest_product, exact.largest_product * (1 + 1e-5));
            if (is_fp8(type)) {
              ASSERT_GE(dot.chunk_magnitudes, exact.chunk_magnitudes * (1 - 1e-12));
              ASSERT_LE(dot.chunk_magnitudes, exact.chunk_magnitudes * (1 + 1e-5));
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tenon::command
