// The matrices of a batch on the host: one operand that holds those of all problems, each behind that of the
// problem before.
#pragma once

#include <cmath>
#include <cstring>

#include "command_line/check.hpp"
#include "command_line/operand.hpp"

namespace tenon::command {

struct Stack {
  std::int64_t count;  // problems

  // All matrices, which are rows x columns each.
  Operand random(const std::string& label, std::uint64_t seed, std::int64_t rows, std::int64_t columns,
                 std::int64_t ld, Order order, Type type) const {
    return random_operand(label, seed, order == row_major ? count * rows : rows,
                          order == row_major ? columns : count * columns, ld, order, type);
  }
  Operand poisoned(std::int64_t rows, std::int64_t columns, std::int64_t ld, Type type) const {
    return command::poisoned(count * rows, columns, ld, row_major, type);
  }

  // Elements from the matrix of a problem to that of the next.
  std::int64_t stride(const Operand& all) const { return count == 0 ? 0 : all.vectors() / count * all.ld; }

  // The matrix of one problem. What lies between its last row (column) and the next problem is its own.
  Operand part(const Operand& all, std::int64_t problem) const {
    Operand one = all;
    (all.order == row_major ? one.rows : one.columns) = all.vectors() / count;
    const std::size_t bytes_of_one = static_cast<std::size_t>(stride(all)) * bytes(all.type);
    const std::size_t first = static_cast<std::size_t>(problem) * bytes_of_one;
    const std::size_t size = std::min(bytes_of_one, all.data.size() - first);
    one.data.assign(all.data.begin() + static_cast<std::ptrdiff_t>(first),
                    all.data.begin() + static_cast<std::ptrdiff_t>(first + size));
    return one;
  }
};

// Whether a problem's result is further off than another's, against their bounds.
inline bool worse(const CheckResult& x, const CheckResult& y) {
  if (x.ok != y.ok) return !x.ok;
  const auto part_of_bound = [](const CheckResult& r) {
    return r.error_bound > 0.0 ? r.max_error / r.error_bound : 0.0;
  };
  return part_of_bound(x) > part_of_bound(y);
}

}  // namespace tenon::command
