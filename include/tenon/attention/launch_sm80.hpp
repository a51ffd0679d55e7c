// The mma.sync attention kernel as a launch: for sm_80 and newer, header-only.
//
//   using Config = tenon::AttentionMmaConfig<half, 64, 64, 4, 2, 64, 64, 2, true, 2>;
//   using Kernel = tenon::sm80::AttentionKernel<Config, MyScore>;
//   tenon::Status s = tenon::launch_attention<Kernel>(problem, MyScore{...}, stream);
//
// Nothing is allocated, nothing synchronises, and nothing is launched where the status is not ok. Below:
// kernel_mma.hpp, check_problem.hpp, gemm/cuda_launcher.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <algorithm>
#include <limits>

#include "tenon/attention/check_problem.hpp"
#include "tenon/attention/kernel_mma.hpp"
#include "tenon/attention/key_splits.hpp"
#include "tenon/gemm/cuda_launcher.hpp"
#include "tenon/gemm/element_type.hpp"

namespace tenon {

// Whether base and strides of a tensor are multiples of 16 bytes. Strides that lead nowhere do not count.
template <class Pointer>
bool is_aligned_to_16(const AttentionTensor<Pointer>& tensor, std::int64_t batch, std::int64_t heads,
                      std::int64_t rows) noexcept {
  return reinterpret_cast<std::uintptr_t>(tensor.data) % 16 == 0 &&
         (rows < 2 || tensor.row_stride % 8 == 0) && (heads < 2 || tensor.head_stride % 8 == 0) &&
         (batch < 2 || tensor.batch_stride % 8 == 0);
}

// Likewise of all tensors of a problem.
inline bool is_aligned_to_16(const AttentionProblem& p) noexcept {
  const AttentionExtents queries = query_extents(p), keys = key_extents(p);
  return is_aligned_to_16(p.q, queries.batch, p.heads, queries.rows) &&
         is_aligned_to_16(p.k, keys.batch, p.key_heads, keys.rows) &&
         is_aligned_to_16(p.v, keys.batch, p.key_heads, keys.rows) &&
         is_aligned_to_16(p.o, queries.batch, p.heads, queries.rows);
}

// Heads of a section of the raster: those whose keys and values half of the L2 holds. Where tiles of queries
// see different numbers of keys, enough for 16 tiles a multiprocessor, since each section begins with the
// longest tiles: sections of 3 heads of 128 tiles cost 9 % on an H200, although their keys fit the L2.
inline int heads_of_section(const AttentionProblem& p, int tiles, const DeviceDescription& device) noexcept {
  const std::int64_t bytes = std::max<std::int64_t>(1, 2 * p.keys * (p.head_dimension + p.value_dimension));
  const std::int64_t in_l2 = static_cast<std::int64_t>(device.l2_bytes) / 2 / bytes * (p.heads / p.key_heads);
  const std::int64_t balanced = p.window.right < 0 ? 1 : 16 * std::int64_t{device.multiprocessors} / tiles;
  return static_cast<int>(std::min(p.batch * p.heads, std::max<std::int64_t>({in_l2, balanced, 1})));
}

// rows: queries of a tile.
inline AttentionArguments attention_arguments(const AttentionProblem& p, int rows,
                                              const DeviceDescription& device) noexcept {
  const auto limit = [](int keys) {
    return keys < 0 || keys > AttentionArguments::unlimited_keys ? AttentionArguments::unlimited_keys : keys;
  };
  AttentionArguments a{};
  a.q = p.q, a.k = p.k, a.v = p.v, a.o = p.o, a.log_sum_exp = p.log_sum_exp;
  a.sinks = p.sinks;
  a.lengths = variable_lengths(p);
  if (p.query_offsets != nullptr) a.q.batch_stride = a.o.batch_stride = 0;
  if (p.key_offsets != nullptr) a.k.batch_stride = a.v.batch_stride = 0;
  a.queries = static_cast<int>(p.queries), a.keys = static_cast<int>(p.keys);
  a.heads = static_cast<int>(p.heads);
  a.left = limit(p.window.left), a.right = limit(p.window.right);
  const int tiles = static_cast<int>((p.queries + rows - 1) / rows);
  // Under a mask that limits the keys behind a query, the last tiles of queries see the most.
  a.raster = AttentionRaster(tiles, static_cast<int>(p.batch * p.heads), heads_of_section(p, tiles, device),
                             p.window.right >= 0);
  a.by_heads = Divisor(static_cast<int>(p.heads));
  a.by_group = Divisor(static_cast<int>(p.heads / p.key_heads));
  return a;
}

// Whether a device runs a kernel for sm_80 and newer whose CTAs have so much shared memory.
inline Status check_device_sm80(const DeviceDescription& device, int shared_bytes) noexcept {
  if (device.sm < 80)
    return Status(StatusCode::device_unsupported, "the device is sm_%d but the kernel needs sm_80 or newer",
                  device.sm);
  if (device.shared_bytes_per_block_optin < static_cast<std::size_t>(shared_bytes))
    return Status(StatusCode::device_unsupported,
                  "a CTA may have %zu bytes of shared memory but the kernel needs %d",
                  device.shared_bytes_per_block_optin, shared_bytes);
  return {};
}

// The function of a launch, and what it is called with. An overload calls kernels that were compiled apart
// from the program.
template <class Config, Alignment alignment, Sequences sequences, class Score>
Status call_attention_mma(const AttentionArguments& arguments, const Score& score, Launch* launch) noexcept {
  launch->function = reinterpret_cast<const void*>(&attention_mma<Config, Score, alignment, sequences>);
  launch->arguments.set(arguments, score);
  return {};
}

namespace sm80 {

// alignment: full_16 where is_aligned_to_16(), or any. sequences: variable where has_variable_lengths().
template <class Config_, class Score_ = PlainScore, Alignment alignment_ = Alignment::full_16,
          Sequences sequences_ = Sequences::equal>
struct AttentionKernel {
  using Config = Config_;
  using Score = Score_;
  static constexpr Alignment alignment = alignment_;
  static constexpr Sequences sequences = sequences_;
  static_assert(alignment == Alignment::full_16 || alignment == Alignment::any,
                "AttentionKernel: the alignment is full_16 or any");

  // Whether the kernel takes a problem that check_problem() takes; Score's factors are the caller's affair.
  static Status check(const AttentionProblem& p, const DeviceDescription& device) noexcept {
    constexpr Type type = TypeOf<typename Config::T>::value;
    if (p.type != type)
      return Status(StatusCode::unsupported, "type is %s but the kernel is for %s", name(p.type), name(type));
    if (p.head_dimension != Config::head_dimension || p.value_dimension != Config::value_dimension)
      return Status(StatusCode::unsupported,
                    "head_dimension and value_dimension are %d and %d but the kernel is for %d and %d",
                    p.head_dimension, p.value_dimension, Config::head_dimension, Config::value_dimension);
    if (alignment == Alignment::full_16 && !is_aligned_to_16(p))
      return Status(StatusCode::unsupported,
                    "q, k, v and o must lie on multiples of 16 bytes, with strides that are multiples of 8 "
                    "elements");
    if (sequences == Sequences::equal && has_variable_lengths(p))
      return Status(StatusCode::unsupported,
                    "offsets, lengths or pages are given but the kernel has equal lengths");
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    const std::int64_t tiles = (p.queries + Config::rows - 1) / Config::rows;
    if (p.batch > most / p.heads || tiles > most / (p.batch * p.heads))
      return Status(StatusCode::unsupported,
                    "a batch of %lld with %lld heads and %lld queries has more tiles than a grid holds, %lld",
                    static_cast<long long>(p.batch), static_cast<long long>(p.heads),
                    static_cast<long long>(p.queries), static_cast<long long>(most));
    return check_device_sm80(device, Config::shared_bytes);
  }

  static std::int64_t ctas(const AttentionProblem& p) noexcept {
    return (p.queries + Config::rows - 1) / Config::rows * p.batch * p.heads;
  }
  // With a workspace, which holds O and the logarithms of the splits.
  static int splits(const AttentionProblem& p, const DeviceDescription& device) noexcept {
    static_assert(sequences == Sequences::variable, "AttentionKernel: of equal lengths it has no splits");
    std::int64_t keys = p.keys;  // that a tile of queries sees
    if (p.window.left >= 0)
      keys = std::min<std::int64_t>(keys,
                                    std::int64_t{Config::rows} + p.window.left + std::max(p.window.right, 0));
    return key_splits(ctas(p), std::int64_t{Config::ctas_per_sm} * device.multiprocessors,
                      (keys + Config::key_tile - 1) / Config::key_tile);
  }
  static std::size_t workspace(const AttentionProblem& p, int splits) noexcept {
    if (splits == 1) return 0;
    return static_cast<std::size_t>(p.batch * p.heads * p.queries) * static_cast<std::size_t>(splits) *
           (static_cast<std::size_t>(p.value_dimension) + 1) * 4;
  }

  // The launch for a problem that is not empty and that the kernel takes. splits > 1: that of the splits
  // follows, AttentionDecodeKernel::combine() of launch_decode.hpp, whose Config does not matter.
  static Status plan(const AttentionProblem& p, const Score& score, const DeviceDescription& device,
                     Launch* launch, int splits = 1) noexcept {
    launch->what = "attention by mma.sync";
    AttentionArguments arguments = attention_arguments(p, Config::rows, device);
    arguments.split_o = static_cast<float*>(p.workspace);
    arguments.split_log2_sums =
        arguments.split_o + p.batch * p.heads * p.queries * splits * p.value_dimension;
    launch->grid.x = static_cast<unsigned>(arguments.raster.size());
    launch->grid.y = static_cast<unsigned>(splits);
    launch->block.x = Config::threads;
    launch->shared_bytes = Config::shared_bytes;
    return call_attention_mma<Config, alignment, sequences>(arguments, score, launch);
  }
};

}  // namespace sm80

// Enqueues the computation on a stream of the current device and returns.
template <class Kernel>
Status launch_attention(const AttentionProblem& problem, const typename Kernel::Score& score,
                        cudaStream_t stream = nullptr) noexcept {
  if (Status s = check_problem(problem); !s) return s;
  if (is_empty(problem)) return {};
  StreamLauncher launcher(stream);
  DeviceDescription device;
  if (Status s = launcher.describe(&device); !s) return s;
  if (Status s = Kernel::check(problem, device); !s) return s;
  Launch launch;
  if (Status s = Kernel::plan(problem, score, device, &launch); !s) return s;
  return launcher.launch(launch);
}

}  // namespace tenon
