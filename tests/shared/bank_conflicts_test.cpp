// Wavefronts of known patterns, and of random ones against a count by sets.
#include "tenon/shared/bank_conflicts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "tenon/shared/tile.hpp"

namespace tenon {
namespace {

constexpr LaneAddresses stride(int bytes) {
  LaneAddresses address{};
  for (int lane = 0; lane < 32; ++lane) address.at[lane] = lane * bytes;
  return address;
}

static_assert(bank_conflicts(stride(4), 4) == 0, "neighbours");
static_assert(bank_conflicts(stride(8), 4) == 1, "every other bank, twice");
static_assert(bank_conflicts(stride(128), 4) == 31, "a column of rows of 128 bytes: one bank");
static_assert(bank_conflicts(stride(132), 4) == 0, "the same, with a word of padding");
static_assert(bank_conflicts(stride(64), 4) == 15, "two banks");
static_assert(bank_conflicts(stride(0), 4) == 0, "a broadcast");
static_assert(wavefronts(stride(0), 4) == 1);

// Half a warp at a time.
static_assert(bank_conflicts(stride(8), 8) == 0);
static_assert(bank_conflicts(stride(16), 8) == 2, "each half accesses each bank twice");
static_assert(bank_conflicts(stride(128), 8) == 30);
static_assert(bank_conflicts(stride(0), 8) == 0);

// A quarter of a warp at a time.
static_assert(bank_conflicts(stride(16), 16) == 0);
static_assert(bank_conflicts(stride(32), 16) == 4);
static_assert(bank_conflicts(stride(128), 16) == 28);
static_assert(bank_conflicts(stride(144), 16) == 0, "rows of 128 bytes with 16 of padding");

// Rows of one matrix.
static_assert(matrix_bank_conflicts(stride(128), 1) == 7);
static_assert(matrix_bank_conflicts(stride(128), 2) == 14);
static_assert(matrix_bank_conflicts(stride(128), 4) == 28);
static_assert(matrix_bank_conflicts(stride(64), 4) == 12, "four rows on the same banks");
static_assert(matrix_bank_conflicts(stride(32), 4) == 4);
static_assert(matrix_bank_conflicts(stride(16), 4) == 0, "a dense matrix");
static_assert(matrix_bank_conflicts(stride(144), 4) == 0);

TEST(BankConflicts, LanesOfOnePhaseMayShareAWordButNotABank) {
  LaneAddresses address = stride(4);
  address.at[7] = address.at[3];
  EXPECT_EQ(bank_conflicts(address, 4), 0);
  address.at[7] = address.at[3] + 128;
  EXPECT_EQ(bank_conflicts(address, 4), 1);
  address.at[8] = address.at[3] + 256;
  EXPECT_EQ(bank_conflicts(address, 4), 2);
}

TEST(BankConflicts, PhasesDoNotDisturbEachOther) {
  LaneAddresses address = stride(8);
  for (int lane = 16; lane < 32; ++lane) address.at[lane] = address.at[lane - 16] + 4096;
  EXPECT_EQ(bank_conflicts(address, 8), 0);
  address.at[15] = address.at[0] + 128;  // within the first half
  EXPECT_EQ(bank_conflicts(address, 8), 1);
}

// The swizzle's purpose: no conflict between any 8 rows at one column, whatever the width of the rows.
template <class Tile>
void expect_no_conflict_down_a_column() {
  for (int first = 0; first + 8 <= Tile::rows; first += 8) {
    for (int column = 0; column < Tile::columns; column += Tile::chunk_elements) {
      LaneAddresses address{};
      for (int lane = 0; lane < 8; ++lane) address.at[lane] = Tile::offset(first + lane, column);
      ASSERT_EQ(matrix_bank_conflicts(address, 1), 0) << "row " << first << " column " << column;
    }
  }
}

TEST(BankConflicts, SwizzledTilesHaveNone) {
  expect_no_conflict_down_a_column<SharedTile<__half, 64, 16>>();
  expect_no_conflict_down_a_column<SharedTile<__half, 64, 32>>();
  expect_no_conflict_down_a_column<SharedTile<__half, 64, 64>>();
  expect_no_conflict_down_a_column<SharedTile<__half, 64, 192>>();
  expect_no_conflict_down_a_column<SharedTile<std::int8_t, 64, 128>>();
}

// The most words that any bank delivers, phase by phase.
int counted_by_sets(const LaneAddresses& address, int bytes) {
  int total = 0;
  const int together = 128 / bytes;
  for (int first = 0; first < 32; first += together) {
    std::array<std::set<int>, 32> words;
    for (int lane = first; lane < first + together; ++lane) {
      for (int byte = 0; byte < bytes; byte += 4) {
        const int word = (address.at[lane] + byte) / 4;
        words[static_cast<std::size_t>(word % 32)].insert(word);
      }
    }
    std::size_t most = 0;
    for (const std::set<int>& bank : words) most = std::max(most, bank.size());
    total += static_cast<int>(most);
  }
  return total;
}

TEST(BankConflicts, RandomPatternsAgreeWithACountBySets) {
  std::mt19937 random(1);
  for (const int bytes : {4, 8, 16}) {
    for (const int range : {64, 256, 1024}) {  // few addresses, so that lanes share words; and many
      for (int turn = 0; turn < 200; ++turn) {
        LaneAddresses address{};
        for (int& at : address.at) at = static_cast<int>(random() % static_cast<unsigned>(range)) * bytes;
        ASSERT_EQ(wavefronts(address, bytes), counted_by_sets(address, bytes));
      }
    }
  }
}

}  // namespace
}  // namespace tenon
