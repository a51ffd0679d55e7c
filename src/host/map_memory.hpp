// The tensor maps of the last run of a prepared product: where its pointers come again, no map is encoded.
#pragma once

#include "tenon/gemm/launch_plan.hpp"

namespace tenon {

// The maps in the order in which a product asks for them. For one thread at a time.
class MapMemory {
 public:
  // The map with the number `index`: that of the last run, or one that `launcher` makes.
  Status make(Launcher& launcher, int index, const MatrixInMemory& matrix, int box_rows, int box_columns,
              TensorMap* map) noexcept {
    if (index >= most) return launcher.make_tensor_map(matrix, box_rows, box_columns, map);
    Entry& entry = entries_[index];
    if (!entry.is_of(matrix, box_rows, box_columns)) {
      if (Status s = launcher.make_tensor_map(matrix, box_rows, box_columns, &entry.map); !s) return s;
      entry.matrix = matrix, entry.box_rows = box_rows, entry.box_columns = box_columns;
    }
    *map = entry.map;
    return {};
  }

 private:
  struct Entry {
    MatrixInMemory matrix{};
    int box_rows = 0, box_columns = 0;  // 0: nothing yet
    TensorMap map;

    bool is_of(const MatrixInMemory& x, int rows, int columns) const noexcept {
      return x.data == matrix.data && x.element_bytes == matrix.element_bytes && x.rows == matrix.rows &&
             x.columns == matrix.columns && x.ld == matrix.ld && rows == box_rows && columns == box_columns;
    }
  };
  static constexpr int most = 24;

  Entry entries_[most];
};

}  // namespace tenon
