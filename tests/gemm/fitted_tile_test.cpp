// How many columns a tile is fitted to.
#include "tenon/gemm/fitted_tile.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace tenon {
namespace {

std::int64_t divide_up(std::int64_t x, std::int64_t y) {
  return (x + y - 1) / y;
}

// What is measured of an H100 (microbench/HISTORY.md).
TEST(ClustersAtOnce, AreAsManyAsFitIntoTheGpcs) {
  EXPECT_EQ(clusters_at_once(1, 132), 132);
  EXPECT_EQ(clusters_at_once(2, 132), 66);
  EXPECT_EQ(clusters_at_once(3, 132), 38);
  EXPECT_EQ(clusters_at_once(4, 132), 30);
  EXPECT_EQ(clusters_at_once(5, 132), 22);
  for (const int ctas : {6, 7, 8}) EXPECT_EQ(clusters_at_once(ctas, 132), 15) << ctas;
  EXPECT_EQ(clusters_at_once(16, 132), 7);
  for (int ctas = 1; ctas <= 16; ++ctas) {
    EXPECT_EQ(clusters_at_once(ctas, 1), 1) << ctas;
    for (int multiprocessors = ctas; multiprocessors < 200; ++multiprocessors)
      ASSERT_LE(clusters_at_once(ctas, multiprocessors) * ctas, multiprocessors) << ctas;
  }
}

// For every C of up to 2000 columns: no other width takes less time, with two waves more at most.
TEST(FittedColumns, TakeTheLeastTimeOfAllWidths) {
  for (const int widest : {64, 112, 160, 256}) {
    for (const int narrowest : {8, 40, widest - 8}) {
      for (const auto& [step, along_n] : {std::pair{8, 1}, {16, 1}, {8, 2}, {16, 4}, {32, 2}}) {
        for (const auto& [rows_of_clusters, at_once] : {std::pair{1, 132}, {3, 66}, {7, 15}, {200, 132}}) {
          if (widest % step != 0) continue;
          const TileColumns tile{narrowest, widest, step, true};
          for (std::int64_t n = 1; n <= 2000; n += n < 300 ? 1 : 7) {
            const int columns = fitted_columns(tile, {n, along_n, rows_of_clusters, at_once, 20});
            ASSERT_EQ(columns % step, 0) << n;
            ASSERT_GE(columns, narrowest) << n;
            ASSERT_LE(columns, widest) << n;
            const auto waves = [&](std::int64_t of) {
              return divide_up(divide_up(n, of * along_n) * rows_of_clusters, at_once);
            };
            const auto time = [&](std::int64_t of) { return waves(of) * (20 * (of + 32) + 64); };
            for (int other = static_cast<int>(divide_up(narrowest, step)) * step; other <= widest;
                 other += step) {
              if (waves(other) <= waves(widest) + 2) {
                ASSERT_LE(time(columns), time(other))
                    << n << " columns, tiles of " << columns << ", not " << other;
              }
            }
          }
        }
      }
    }
  }
}

// 128 tiles of 80 columns keep 128 of 132 multiprocessors busy, 80 of 128 columns only 80.
TEST(FittedColumns, SpreadOneWaveOverTheDevice) {
  EXPECT_EQ(fitted_columns({72, 128, 8}, {10240, 1, 1, 132, 64}), 80);
}

// A last epilogue subtile of fewer than 64 columns costs more than one or two k-tiles of a few columns.
TEST(FittedColumns, KeepWholeSubtilesWhereKIsShort) {
  EXPECT_EQ(fitted_columns({40, 64, 8}, {60, 1, 132, 132, 1}), 64);
  EXPECT_EQ(fitted_columns({40, 64, 8, true}, {60, 1, 132, 132, 1}), 64) << "60 columns";
  EXPECT_EQ(fitted_columns({40, 64, 8, true}, {56, 1, 132, 132, 1}), 56) << "the rows of C";
}

TEST(FittedColumns, DoNotOverflow) {
  EXPECT_EQ(fitted_columns({40, 64, 8}, {0, 1, 1, 132, 5}), 64);
  EXPECT_EQ(fitted_columns({40, 64, 8}, {std::int64_t{1} << 40, 8, 1, 132, 5}), 64);
  EXPECT_EQ(fitted_columns({136, 160, 8}, {2147483647, 2, std::int64_t{1} << 31, 1, 5}), 160);
}

struct Fragments {
  using Value = float;
  static constexpr int columns = 16, rows = 1;  // 128 columns
};

// What of 64 columns from `first` on a store may write.
TEST(HeldColumns, EndWithTheTile) {
  const Fragments part;
  EXPECT_EQ(held_of(part, 0, 64), 64);
  EXPECT_EQ(held_of(part, 64, 64), 64);
  EXPECT_EQ(held_of(part, 128, 64), 0);
  const FittedPart<Fragments, 72> fitted{part, 104};
  EXPECT_EQ(held_of(fitted, 0, 64), 64);
  EXPECT_EQ(held_of(fitted, 64, 64), 40);
  EXPECT_LE(held_of(fitted, 112, 16), 0);
}

}  // namespace
}  // namespace tenon
