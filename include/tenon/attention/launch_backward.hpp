// The backward pass of attention as launches: what every kernel needs, and the mma.sync kernels for sm_80 and
// newer. Below: kernel_backward_mma.hpp, kernel_backward_rows.hpp, check_backward_problem.hpp,
// launch_sm80.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <algorithm>
#include <limits>

#include "tenon/attention/backward_launches.hpp"
#include "tenon/attention/check_backward_problem.hpp"
#include "tenon/attention/kernel_backward_mma.hpp"
#include "tenon/attention/kernel_backward_rows.hpp"
#include "tenon/attention/launch_sm80.hpp"

namespace tenon {

// query_rows, key_rows: of a tile, of each kernel's own.
inline AttentionBackwardArguments backward_arguments(const AttentionBackwardProblem& problem, int query_rows,
                                                     int key_rows, const DeviceDescription& device) noexcept {
  const AttentionProblem& p = problem.forward;
  const auto limit = [](int keys) {
    return keys < 0 || keys > AttentionArguments::unlimited_keys ? AttentionArguments::unlimited_keys : keys;
  };
  AttentionBackwardArguments a{};
  a.q = p.q, a.k = p.k, a.v = p.v, a.o = {p.o.data, p.o.row_stride, p.o.head_stride, p.o.batch_stride};
  a.d_o = problem.d_o, a.dq = problem.dq, a.dk = problem.dk, a.dv = problem.dv;
  a.log_sum_exp = p.log_sum_exp;
  auto* const base = static_cast<unsigned char*>(problem.workspace);
  a.log2_sums = reinterpret_cast<float*>(base);
  a.deltas = reinterpret_cast<float*>(base + backward_workspace(p).deltas_at);
  a.queries = static_cast<int>(p.queries), a.keys = static_cast<int>(p.keys);
  a.padded_queries = (a.queries + backward_row_padding - 1) / backward_row_padding * backward_row_padding;
  a.heads = static_cast<int>(p.heads), a.key_heads = static_cast<int>(p.key_heads);
  a.group = a.heads / a.key_heads;
  a.head_dimension = p.head_dimension, a.value_dimension = p.value_dimension;
  a.left = limit(p.window.left), a.right = limit(p.window.right);
  a.scale = p.scale;
  const auto tiles = [](int count, int rows) { return std::max(1, (count + rows - 1) / rows); };
  const int query_tiles = tiles(a.queries, query_rows), key_tiles = tiles(a.keys, key_rows);
  const int batch = static_cast<int>(p.batch);
  a.query_tiles = AttentionRaster(query_tiles, batch * a.heads, heads_of_section(p, query_tiles, device),
                                  p.window.right >= 0);
  // The first keys are those that most queries see under a causal mask.
  const int section = std::max(1, heads_of_section(p, key_tiles, device) / a.group);
  a.key_tiles = AttentionRaster(key_tiles, batch * a.key_heads, section, false);
  a.by_heads = Divisor(a.heads);
  a.by_key_heads = Divisor(a.key_heads);
  a.by_group = Divisor(a.group);
  a.by_padded_tiles = Divisor(std::max(1, a.padded_queries / backward_rows_per_cta));
  return a;
}

template <class T>
void add_backward_prepare(const AttentionBackwardArguments& a, BackwardLaunches* launches, const char* ptx,
                          int batch) noexcept {
  Launch& launch = launches->add();
  launch.what = "attention backward, sums of dO * O";
  launch.ptx = ptx;
  launch.function = reinterpret_cast<const void*>(&attention_backward_prepare<T>);
  launch.grid.x = static_cast<unsigned>(a.padded_queries / backward_rows_per_cta * a.heads * batch);
  launch.block.x = backward_row_threads;
  launch.arguments.set(a);
}

// Whether the tiles of a problem that is not empty can be numbered.
inline Status check_backward_grid(const AttentionProblem& p) noexcept {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  const std::int64_t rows = std::max(p.queries, p.keys) / backward_rows_per_cta + 4;
  if (p.batch > most / p.heads || 2 * rows > most / (p.batch * p.heads))
    return Status(StatusCode::unsupported,
                  "a batch of %lld with %lld heads, %lld queries and %lld keys has more tiles than a grid "
                  "holds",
                  static_cast<long long>(p.batch), static_cast<long long>(p.heads),
                  static_cast<long long>(p.queries), static_cast<long long>(p.keys));
  return {};
}

namespace sm80 {

// Visited: rows of a stage.
template <class T, int head, int value, int Visited>
struct AttentionBackwardKernel {
  using Keys = AttentionBackwardMmaConfig<T, head, value, Visited, BackwardOwner::keys>;
  using Queries = AttentionBackwardMmaConfig<T, head, value, Visited, BackwardOwner::queries>;

  // Whether the kernels take a problem that check_problem() takes and that is not empty.
  static Status check(const AttentionBackwardProblem& problem, const DeviceDescription& device) noexcept {
    const AttentionProblem& p = problem.forward;
    if (p.type != TypeOf<T>::value)
      return Status(StatusCode::unsupported, "the type is %s but the kernel is for %s", name(p.type),
                    name(TypeOf<T>::value));
    if (p.head_dimension != head || p.value_dimension != value)
      return Status(StatusCode::unsupported,
                    "head_dimension and value_dimension are %d and %d but the kernel is for %d and %d",
                    p.head_dimension, p.value_dimension, head, value);
    if (Status s = check_backward_grid(p); !s) return s;
    return check_device_sm80(device, Keys::shared_bytes);
  }

  static void plan(const AttentionBackwardProblem& problem, const DeviceDescription& device, const char* ptx,
                   BackwardLaunches* launches) noexcept {
    const AttentionProblem& p = problem.forward;
    const AttentionBackwardArguments a = backward_arguments(problem, Queries::rows, Keys::rows, device);
    const GeneralScore score{p.scale, p.soft_cap, p.alibi_slopes};
    if (p.queries > 0) add_backward_prepare<T>(a, launches, ptx, static_cast<int>(p.batch));
    const auto add = [&](const void* function, const char* what, int shared_bytes, int ctas) {
      Launch& launch = launches->add();
      launch.what = what;
      launch.ptx = ptx;
      launch.function = function;
      launch.grid.x = static_cast<unsigned>(ctas);
      launch.block.x = Keys::threads;
      launch.shared_bytes = static_cast<unsigned>(shared_bytes);
      launch.arguments.set(a, score);
    };
    if (p.keys > 0)
      add(reinterpret_cast<const void*>(&attention_backward_mma<Keys>), "attention backward, dK and dV",
          Keys::shared_bytes, a.key_tiles.size() * Keys::parts);
    if (p.queries > 0)
      add(reinterpret_cast<const void*>(&attention_backward_mma<Queries>), "attention backward, dQ",
          Queries::shared_bytes, a.query_tiles.size());
  }
};

}  // namespace sm80
}  // namespace tenon
