// The launch of the wgmma kernel of attention (kernel_wgmma.hpp): from a problem to tensor maps, the order of
// the tiles, grid and arguments. Header-only; an embedder's score function is one type and one call:
//
//   using Config = tenon::sm90::AttentionConfigFor<half, 128, tenon::CausalMask, MyScore>;
//   using Kernel = tenon::sm90::AttentionKernel<Config, tenon::CausalMask, MyScore>;
//   tenon::Status s = tenon::sm90::launch_attention<Kernel>(problem, MyScore{...}, stream);
//
// Below: kernel_wgmma.hpp, check_problem.hpp, score_function.hpp, tiles_sm90.hpp, gemm/cuda_launcher.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <algorithm>

#include "tenon/attention/check_problem.hpp"
#include "tenon/attention/kernel_wgmma.hpp"
#include "tenon/attention/problem.hpp"
#include "tenon/attention/score_function.hpp"
#include "tenon/attention/tiles_sm90.hpp"
#include "tenon/gemm/check_sm90.hpp"
#include "tenon/gemm/cuda_launcher.hpp"
#include "tenon/gemm/element_type.hpp"

namespace tenon {

// The mask of a window: FullMask and CausalMask fit one window each, LocalMask fits any.
template <class Mask>
bool fits_window(const AttentionWindow& window) {
  if constexpr (Mask::left_limit) return true;
  return window.left < 0 && (Mask::right_limit ? window.right == 0 : window.right < 0);
}
template <class Mask>
Mask mask_of(const AttentionProblem& problem) {
  const KeySequence sequence{static_cast<int>(problem.queries), static_cast<int>(problem.keys)};
  if constexpr (Mask::left_limit) {
    const auto limit = [](int side) {
      return side < 0 ? Mask::unlimited : std::min<int>(side, Mask::unlimited);
    };
    if constexpr (has_batches<Mask>) {
      return {sequence, limit(problem.window.left), limit(problem.window.right), variable_lengths(problem),
              Divisor(static_cast<int>(problem.heads))};
    } else {
      return {sequence, limit(problem.window.left), limit(problem.window.right)};
    }
  } else {
    return {sequence};
  }
}

// The function of a launch, and what it is called with. An overload calls kernels that were compiled apart
// from the program.
template <class Config, class Mask, class Score>
Status call_attention_wgmma(const AttentionMaps& maps, const AttentionWgmmaArguments& arguments,
                            const Mask& mask, const Score& score, Launch* launch) {
  launch->function = reinterpret_cast<const void*>(&attention_wgmma<Config, Mask, Score>);
  launch->arguments.set(maps, arguments, mask, score);
  return {};
}

namespace sm90 {

// Whether TMA can load a tensor; the store of O asks for the same. Strides of a dimension of size 1 do not
// count.
template <class Pointer>
Status check_tma_tensor(const char* name, const AttentionTensor<Pointer>& tensor, int element_bytes,
                        std::int64_t batch, std::int64_t heads, std::int64_t rows) {
  constexpr StatusCode no = StatusCode::unsupported;
  if (reinterpret_cast<std::uintptr_t>(tensor.data) % 16 != 0)
    return Status(no, "%s is at %p but this kernel needs a multiple of 16 bytes", name,
                  static_cast<const void*>(tensor.data));
  const AttentionExtent extents[] = {{"row", rows, tensor.row_stride},
                                     {"head", heads, tensor.head_stride},
                                     {"batch", batch, tensor.batch_stride}};
  const int unit = 16 / element_bytes;
  const std::int64_t end = (std::int64_t{1} << 40) / element_bytes;
  for (const AttentionExtent& x : extents) {
    if (x.count > 1 && (x.stride < unit || x.stride % unit != 0 || x.stride >= end))
      return Status(
          no, "the %s stride of %s is %lld but this kernel needs a multiple of %d from %d to 2^%d - %d",
          x.name, name, static_cast<long long>(x.stride), unit, unit, element_bytes == 1 ? 40 : 39, unit);
  }
  return {};
}

template <class Config_, class Mask_, class Score_>
struct AttentionKernel {
  using Config = Config_;
  using Mask = Mask_;
  using Score = Score_;
  static constexpr const char* name = "attention on wgmma";

  // Whether the kernel takes a problem that check_problem() takes and that is not empty; the sentence says
  // why not. Score's factors are the caller's affair.
  static Status check(const AttentionProblem& problem, const DeviceDescription& device);
  // make_map(TensorInMemory, box_rows, box_columns, TensorMap*): make_tensor_map_4d() or its like.
  template <class MakeMap>
  static Status plan(const AttentionProblem& problem, const Score& score, const DeviceDescription& device,
                     const MakeMap& make_map, Launch* launch);
};

template <class Config, class Mask, class Score>
Status AttentionKernel<Config, Mask, Score>::check(const AttentionProblem& p,
                                                   const DeviceDescription& device) {
  constexpr StatusCode no = StatusCode::unsupported;
  if (p.type != TypeOf<typename Config::T>::value)
    return Status(no, "this kernel's elements are %s but the problem's are %s",
                  tenon::name(TypeOf<typename Config::T>::value), tenon::name(p.type));
  if (p.head_dimension != Config::head || p.value_dimension != Config::value)
    return Status(no,
                  "this kernel's head dimensions are %d (Q, K) and %d (V, O) but the problem's are %d and %d",
                  Config::head, Config::value, p.head_dimension, p.value_dimension);
  if (Status s = check_sm90(name, device); !s) return s;
  if (!fits_window<Mask>(p.window))
    return Status(no, "this kernel's mask does not have the window {%d, %d}", p.window.left, p.window.right);
  if (!has_batches<Mask> && has_variable_lengths(p))
    return Status(no, "offsets, lengths or pages are given but the kernel has equal lengths");
  if (p.pages.table != nullptr) return Status(no, "keys lie in pages but the kernel has no pages");
  const std::int64_t tiles = (p.queries + Config::Block::m - 1) / Config::Block::m;
  constexpr std::int64_t most_tiles = std::int64_t{1} << 30;
  if (p.heads > most_tiles || p.batch > most_tiles / p.heads || tiles > most_tiles / (p.batch * p.heads))
    return Status(no,
                  "batch x heads x queries has %lld x %lld x %lld tiles of %d queries, but 2^30 is the most",
                  static_cast<long long>(p.batch), static_cast<long long>(p.heads),
                  static_cast<long long>(tiles), Config::Block::m);
  constexpr int bytes = Config::TileQ::element_bytes;
  const AttentionExtents queries = query_extents(p), keys = key_extents(p);
  if (Status s = check_tma_tensor("q", p.q, bytes, queries.batch, p.heads, queries.rows); !s) return s;
  if (Status s = check_tma_tensor("k", p.k, bytes, keys.batch, p.key_heads, keys.rows); !s) return s;
  if (Status s = check_tma_tensor("v", p.v, bytes, keys.batch, p.key_heads, keys.rows); !s) return s;
  return check_tma_tensor("o", p.o, 2, queries.batch, p.heads, queries.rows);
}

template <class Config, class Mask, class Score>
template <class MakeMap>
Status AttentionKernel<Config, Mask, Score>::plan(const AttentionProblem& p, const Score& score,
                                                  const DeviceDescription& device, const MakeMap& make_map,
                                                  Launch* launch) {
  const int batch = static_cast<int>(p.batch), heads = static_cast<int>(p.heads);
  const int key_heads = static_cast<int>(p.key_heads);
  AttentionMaps maps;
  const auto map = [&](const AttentionTensor<const void*>& tensor, int columns, AttentionExtents of,
                       int count, int box_rows, int box_columns, TensorMap* to) {
    return make_map(TensorInMemory{tensor.data,
                                   Config::TileQ::element_bytes,
                                   columns,
                                   static_cast<int>(of.rows),
                                   {count, static_cast<int>(of.batch)},
                                   tensor.row_stride,
                                   {tensor.head_stride, tensor.batch_stride}},
                    box_rows, box_columns, to);
  };
  // A map has a row. Without keys every score is masked, and the row may be anything: one of Q.
  const bool none = has_no_keys(p);
  const AttentionExtents of_queries = query_extents(p);
  const AttentionExtents of_keys = none ? AttentionExtents{of_queries.batch, 1} : key_extents(p);
  const AttentionTensor<const void*> k = none ? p.q : p.k;
  const AttentionTensor<const void*> v = none ? p.q : p.v;
  using TileQ = typename Config::TileQ;
  using TileK = typename Config::TileK;
  using TileV = typename Config::TileV;
  if (Status s = map(p.q, Config::head, of_queries, heads, TileQ::rows, TileQ::panel_columns, &maps.q); !s)
    return s;
  if (Status s = map(k, Config::head, of_keys, key_heads, TileK::rows, TileK::panel_columns, &maps.k); !s)
    return s;
  const int columns = none ? std::min(Config::head, Config::value) : Config::value;
  if (Status s = map(v, columns, of_keys, key_heads, TileV::rows, TileV::panel_columns, &maps.v); !s)
    return s;

  const int tiles = static_cast<int>((p.queries + Config::Block::m - 1) / Config::Block::m);
  AttentionWgmmaArguments arguments;
  const int ctas = std::min(device.multiprocessors, tiles * batch * heads);
  arguments.order = PersistentOrder(tiles, batch * heads, ctas, Mask::right_limit);
  arguments.by_heads = Divisor(heads);
  arguments.by_group = Divisor(heads / key_heads);
  arguments.heads = heads;
  arguments.queries = static_cast<int>(p.queries);
  arguments.o = p.o;
  arguments.log_sum_exp = p.log_sum_exp;
  arguments.sinks = p.sinks;
  arguments.q_scales = p.q_scales;
  arguments.k_scales = p.k_scales;
  arguments.v_scales = p.v_scales;
  arguments.output_is_f16 = p.output_type == Type::f16;

  launch->what = name;
  launch->block.x = Config::threads;
  launch->grid.x = static_cast<unsigned>(ctas);
  launch->shared_bytes = Config::shared_bytes;
  launch->overlaps_previous = true;
  return call_attention_wgmma<Config>(maps, arguments, mask_of<Mask>(p), score, launch);
}

// Enqueues the computation on a stream of the current device and returns. Nothing is allocated, nothing
// synchronises, and nothing is launched where the status is not ok. `score` alone says what becomes of Q K^T:
// scale, soft_cap and alibi_slopes of the problem are not read. O must have memory of its own, which is not
// checked here.
template <class Kernel>
Status launch_attention(const AttentionProblem& problem, const typename Kernel::Score& score,
                        cudaStream_t stream = nullptr) {
  if (Status s = check_problem(problem); !s) return s;
  if (is_empty(problem)) return {};
  DeviceDescription device;
  if (Status s = describe_cuda_device(&device); !s) return s;
  if (Status s = Kernel::check(problem, device); !s) return s;
  Launch launch;
  const auto make_map = [](const TensorInMemory& tensor, int box_rows, int box_columns, TensorMap* map) {
    return make_tensor_map_4d(tensor, box_rows, box_columns, map);
  };
  if (Status s = Kernel::plan(problem, score, device, make_map, &launch); !s) return s;
  return launch_on_stream(launch, stream);
}

}  // namespace sm90
}  // namespace tenon
