// make_tensor_map() refuses what no driver accepts, with the value found and the value needed. TMA reads
// through its maps in tma_ring_gpu_test.cu.
#include "tenon/pipeline/make_tensor_map.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace tenon {
namespace {

const void* const aligned = reinterpret_cast<const void*>(std::uintptr_t{0x7f0000000000});

std::string refusal(const MatrixInMemory& matrix, int box_rows, int box_columns) {
  TensorMap map, before;
  std::memset(&map, 0x5a, sizeof map);
  before = map;
  const Status status = make_tensor_map(matrix, box_rows, box_columns, &map);
  EXPECT_EQ(status.code(), StatusCode::device_unsupported);
  EXPECT_EQ(std::memcmp(&map, &before, sizeof map), 0) << "a refused map was written";
  return status.message();
}

TEST(MakeTensorMap, NamesTheValueFoundAndTheValueNeeded) {
  EXPECT_EQ(refusal({aligned, 8, 64, 64, 64}, 64, 64),
            "elements have 8 bytes but tensor maps are made of 1, 2 or 4");
  EXPECT_EQ(refusal({aligned, 2, 0, 64, 64}, 64, 64),
            "the matrix has 0 rows of 64 elements but a tensor map needs 1 or more of both");
  EXPECT_EQ(refusal({static_cast<const char*>(aligned) + 2, 2, 64, 64, 64}, 64, 64),
            "the matrix begins at 0x7f0000000002 but TMA needs an address that is a multiple of 16 bytes");
  EXPECT_EQ(refusal({aligned, 2, 64, 63, 63}, 64, 64),
            "rows are 63 elements of 2 bytes apart but TMA needs a multiple of 16 bytes");
  EXPECT_EQ(refusal({aligned, 2, 64, 64, -64}, 64, 64),
            "rows are -64 elements of 2 bytes apart but TMA needs a multiple of 16 bytes");
  for (const auto& [rows, columns] : {std::pair{257, 64}, {0, 64}, {64, 264}, {64, 60}, {64, 0}}) {
    EXPECT_EQ(
        refusal({aligned, 2, 512, 512, 512}, rows, columns),
        "a box has " + std::to_string(rows) + " rows of " + std::to_string(columns) +
            " elements of 2 bytes but may have 1 to 256 rows of at most 256 elements and of a multiple of "
            "16 bytes");
  }
}

}  // namespace
}  // namespace tenon
