// The masks and the order of the tiles of attention: every query tile is computed once, by every grid; the
// key tiles that it visits are those with a key that it sees; and the CTAs get about the same work.
#include "tenon/attention/persistent_scheduler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "tenon/attention/scheduler_backward.hpp"

namespace tenon {
namespace {

template <class Mask>
void expect_spans(const Mask& mask, int queries, int keys, int left, int right) {
  for (int i = 0; i < queries; ++i) {
    const KeySpan seen = mask.visible(i);
    for (int j = 0; j < keys; ++j) {
      const int distance = j - (i + keys - queries);
      const bool expected = (left < 0 || distance >= -left) && (right < 0 || distance <= right);
      ASSERT_EQ(seen.begin <= j && j < seen.end, expected) << "query " << i << ", key " << j;
    }
  }
}

TEST(AttentionMask, SeesWhatItsWindowSays) {
  for (const int queries : {1, 7, 20}) {
    for (const int keys : {1, 7, 20}) {
      const KeySequence sequence{queries, keys};
      expect_spans(FullMask{sequence}, queries, keys, -1, -1);
      expect_spans(CausalMask{sequence}, queries, keys, -1, 0);
      for (const int left : {0, 3, 30})
        for (const int right : {0, 4, 30})
          expect_spans(LocalMask{sequence, left, right}, queries, keys, left, right);
      expect_spans(LocalMask{sequence, LocalMask::unlimited, LocalMask::unlimited}, queries, keys, -1, -1);
    }
  }
}

TEST(AttentionMask, VisitsTheTilesWithKeysThatAreSeen) {
  const LocalMask mask{{100, 130}, 20, 5};
  for (int first = 0; first < 100; first += 16) {
    const int last = std::min(first + 16, 100) - 1;
    const KeySpan tiles = key_tiles(mask, first, last, 8);
    for (int tile = 0; tile < 17; ++tile) {
      bool some = false, all = true;
      for (int i = first; i <= last; ++i) {
        for (int j = 8 * tile; j < 8 * tile + 8; ++j) {
          const bool seen = mask.visible(i).begin <= j && j < mask.visible(i).end;
          some = some || seen;
          all = all && seen;
        }
      }
      EXPECT_EQ(tiles.begin <= tile && tile < tiles.end, some) << tile;
      EXPECT_EQ(sees_all(mask, first, last, 8 * tile, 8), all) << tile;
    }
  }
  // A tile of queries that see nothing visits one tile of keys all the same.
  const CausalMask none{{100, 10}};
  EXPECT_EQ(key_tiles(none, 0, 15, 8).begin, 0);
  EXPECT_EQ(key_tiles(none, 0, 15, 8).end, 1);
}

TEST(AttentionRaster, KeepsTheHeadsOfASectionTogetherAndStartsWithLongTiles) {
  const AttentionRaster raster(4, 5, 2, true);
  std::vector<std::pair<int, int>> order;
  for (int i = 0; i < raster.size(); ++i) order.push_back({raster.at(i).tile, raster.at(i).head});
  const std::vector<std::pair<int, int>> expected = {{3, 0}, {3, 1}, {2, 0}, {2, 1}, {1, 0}, {1, 1}, {0, 0},
                                                     {0, 1}, {3, 2}, {3, 3}, {2, 2}, {2, 3}, {1, 2}, {1, 3},
                                                     {0, 2}, {0, 3}, {3, 4}, {2, 4}, {1, 4}, {0, 4}};
  EXPECT_EQ(order, expected);
}

TEST(PersistentScheduler, ComputesEachTileOnce) {
  for (const int tiles : {1, 2, 3, 5, 16, 17}) {
    for (const int heads : {1, 6, 7, 40}) {
      for (const bool longest_last : {false, true}) {
        for (const int ctas : {1, 2, 5, 13, 200}) {
          const PersistentOrder order(tiles, heads, ctas, longest_last);
          std::set<std::pair<int, int>> seen;
          int count = 0;
          for (int cta = 0; cta < ctas; ++cta) {
            const PersistentScheduler scheduler(order, cta, ctas);
            for (int wave = 0; scheduler.index(wave) < order.size(); ++wave, ++count) {
              const QueryTile tile = order.at(scheduler.index(wave));
              ASSERT_TRUE(tile.tile >= 0 && tile.tile < tiles && tile.head >= 0 && tile.head < heads);
              seen.insert({tile.tile, tile.head});
            }
          }
          EXPECT_EQ(count, tiles * heads);
          EXPECT_EQ(static_cast<int>(seen.size()), tiles * heads)
              << tiles << " tiles, " << heads << " heads, " << ctas << " CTAs";
        }
      }
    }
  }
}

// Key tiles that a CTA computes at most, in relation to the mean.
template <int rows, int keys>
double imbalance(int length, int heads) {
  constexpr int ctas = 132;
  const CausalMask mask{{length, length}};
  const PersistentOrder order((length + rows - 1) / rows, heads, ctas, true);
  int most = 0, all = 0;
  for (int cta = 0; cta < ctas; ++cta) {
    const PersistentScheduler scheduler(order, cta, ctas);
    int work = 0;
    for (KeyTileWalk<CausalMask, rows, keys> walk(scheduler, mask); !walk.ended(); walk.next()) ++work;
    most = std::max(most, work);
    all += work;
  }
  return static_cast<double>(most) * ctas / all;
}

TEST(PersistentScheduler, BalancesCausalWork) {
  for (const int length : {2048, 4096, 8192, 16384}) {
    EXPECT_LT((imbalance<128, 128>(length, 16 * 16384 / length)), 1.03) << length;
    EXPECT_LT((imbalance<192, 128>(length, 32 * 16384 / length)), 1.03) << length;
    EXPECT_LT((imbalance<128, 80>(length, 8 * 16384 / length)), 1.03) << length;
  }
}

// The CTAs of a wave read few heads: their keys and values stay in the L2.
TEST(PersistentScheduler, WavesOfPairsKeepHeadsTogether) {
  const PersistentOrder order(16, 128, 132, true);
  ASSERT_GT(order.paired_waves(), 8);
  for (int wave = 0; wave < order.paired_waves(); ++wave) {
    std::set<int> heads;
    for (int cta = 0; cta < 132; ++cta)
      heads.insert(order.at(PersistentScheduler(order, cta, 132).index(wave)).head);
    EXPECT_LE(heads.size(), 18U) << wave;
  }
}

TEST(KeyTileWalk, VisitsTheKeyTilesUpwardsAndDownwardsInTurn) {
  const CausalMask mask{{40, 40}};
  const PersistentOrder order(3, 1, 1, true);
  const PersistentScheduler scheduler(order, 0, 1);
  std::vector<std::vector<int>> visited;
  for (KeyTileWalk<CausalMask, 16, 8> walk(scheduler, mask); !walk.ended(); walk.next()) {
    const KeyTile tile = walk.tile();
    if (tile.first) visited.emplace_back();
    visited.back().push_back(tile.key);
    EXPECT_EQ(tile.last, tile.key == (visited.size() == 2 ? 0 : std::min(tile.query + 8, 32)));
    EXPECT_EQ(tile.query, 32 - 16 * (static_cast<int>(visited.size()) - 1));
  }
  const std::vector<std::vector<int>> expected = {{0, 8, 16, 24, 32}, {24, 16, 8, 0}, {0, 8}};
  EXPECT_EQ(visited, expected);
}

// In waves of pairs: as long as all CTAs are equally fast, those of a head are in one of two places.
TEST(KeyTileWalk, CtasOfAHeadReadTheSameKeys) {
  constexpr int tiles = 32, ctas = 132;
  const CausalMask mask{{16 * tiles, 16 * tiles}};
  const PersistentOrder order(tiles, 64, ctas, true);
  const int steps = order.paired_waves() / 2 * (tiles + 1);
  ASSERT_GT(steps, 4 * tiles);
  std::vector<std::array<std::set<int>, 64>> keys(steps);
  for (int cta = 0; cta < ctas; ++cta) {
    const PersistentScheduler scheduler(order, cta, ctas);
    KeyTileWalk<CausalMask, 16, 16> walk(scheduler, mask);
    for (int step = 0; step < steps; ++step, walk.next())
      keys[step][walk.tile().head].insert(walk.tile().key);
  }
  for (int step = 0; step < steps; ++step)
    for (const std::set<int>& of_head : keys[step]) ASSERT_LE(of_head.size(), 2U) << step;
}

// Batches of 40, 0 and 20 queries and 40, 8 and 0 keys, and one whose offsets decrease; two heads.
TEST(KeyTileWalk, PassesOverTilesThatABatchDoesNotHave) {
  const std::int32_t query_offsets[] = {0, 40, 40, 60, 50}, key_offsets[] = {0, 40, 48, 48, 60};
  std::int32_t error = 0;
  BatchMask mask{{40, 40}, BatchMask::unlimited, 0, {}, Divisor(2)};
  mask.lengths.query_offsets = query_offsets, mask.lengths.query_rows = 60;
  mask.lengths.key_offsets = key_offsets, mask.lengths.key_rows = 60;
  mask.lengths.error = &error;
  const PersistentOrder order(3, 8, 2, true);
  std::vector<std::array<int, 3>> visited;
  for (int cta = 0; cta < 2; ++cta) {
    const PersistentScheduler scheduler(order, cta, 2);
    for (KeyTileWalk<BatchMask, 16, 16> walk(scheduler, mask); !walk.ended(); walk.next())
      visited.push_back({walk.tile().head, walk.tile().query, walk.tile().key});
  }
  std::sort(visited.begin(), visited.end());
  std::vector<std::array<int, 3>> expected;
  for (const int head : {0, 1}) {
    for (const int query : {0, 16, 32})
      for (int key = 0; key <= query; key += 16) expected.push_back({head, query, key});
  }
  for (const int head : {4, 5})  // without keys one tile is visited: it has an output
    for (const int query : {0, 16}) expected.push_back({head, query, 0});
  EXPECT_EQ(visited, expected);
  EXPECT_EQ(error, 1);
}

// Each tile is added and each part rounded once; a part after all tiles of its head, as a CTA waits only for
// CTAs before it, and before the tiles of the head that has its slot next, three sections later.
TEST(BackwardOrder, RoundsAHeadAfterItsTilesAndBeforeItsSlotIsUsedAgain) {
  for (const int tiles : {1, 3}) {
    for (const int key_heads : {1, 4, 9, 10}) {
      for (const int section : {1, 4, 12}) {
        for (const int group : {1, 2}) {
          const int parts = 5 - tiles, slots = 3 * section;
          const BackwardOrder order(tiles, key_heads, section, group, parts, false);
          std::vector<int> added(key_heads), rounded(group * key_heads);
          std::set<std::array<int, 3>> seen;
          for (int i = 0; i < order.size(); ++i) {
            const BackwardTask task = order.at(i);
            const int key_head = task.rounds ? task.head / group : task.head;
            ASSERT_TRUE(task.head >= 0 && key_head < key_heads) << i;
            ASSERT_TRUE(task.tile >= 0 && task.tile < (task.rounds ? parts : tiles)) << i;
            ASSERT_TRUE(seen.insert({task.rounds ? 1 : 0, task.tile, task.head}).second) << i;
            if (task.rounds) {
              ASSERT_EQ(added[key_head], tiles) << i;
              ++rounded[task.head];
            } else {
              ++added[key_head];
              for (int head = group * (key_head - slots); head >= 0 && head < group * (key_head - slots + 1);
                   ++head)
                ASSERT_EQ(rounded[head], parts) << i;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tenon
