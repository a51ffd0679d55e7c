// The decode kernel as one or two launches: for sm_80 and newer, header-only. How many splits the keys have
// follows from the problem and the device; several need a workspace. Below: decode_splits.hpp,
// kernel_decode.hpp, kernel_decode_combine.hpp, launch_sm80.hpp.
#pragma once

#include "tenon/needs_host.hpp"

#include <algorithm>
#include <limits>

#include "tenon/attention/decode_splits.hpp"
#include "tenon/attention/kernel_decode.hpp"
#include "tenon/attention/kernel_decode_combine.hpp"
#include "tenon/attention/kernel_decode_latent.hpp"
#include "tenon/attention/launch_sm80.hpp"

namespace tenon {

namespace sm80 {

// Config_: AttentionDecodeConfig, or AttentionLatentConfig.
template <class Config_, class Score_ = PlainScore>
struct AttentionDecodeKernel {
  using Config = Config_;
  using Score = Score_;
  using T = typename Config::T;

  static std::int64_t row_tiles(const AttentionProblem& p) noexcept {
    return (p.queries * (p.heads / p.key_heads) + Config::rows - 1) / Config::rows;
  }
  static std::int64_t rows(const AttentionProblem& p) noexcept { return p.batch * p.heads * p.queries; }

  // Whether the kernel takes a problem that check_problem() takes; Score's factors are the caller's affair.
  static Status check(const AttentionProblem& p, const DeviceDescription& device) noexcept {
    constexpr Type type = TypeOf<T>::value;
    if (p.type != type)
      return Status(StatusCode::unsupported, "type is %s but the kernel is for %s", name(p.type), name(type));
    if (p.head_dimension != Config::head_dimension || p.value_dimension != Config::value_dimension)
      return Status(StatusCode::unsupported,
                    "head_dimension and value_dimension are %d and %d but the kernel is for %d and %d",
                    p.head_dimension, p.value_dimension, Config::head_dimension, Config::value_dimension);
    if (!is_aligned_to_16(p))
      return Status(StatusCode::unsupported,
                    "q, k, v and o must lie on multiples of 16 bytes, with strides that are multiples of 8 "
                    "elements");
    if (Config::latent && (p.v.data != p.k.data || p.v.row_stride != p.k.row_stride ||
                           p.v.head_stride != p.k.head_stride || p.v.batch_stride != p.k.batch_stride))
      return Status(StatusCode::unsupported,
                    "v must be the first %d columns of k, with the pointer and the strides of k",
                    Config::value_dimension);
    constexpr std::int64_t most = std::numeric_limits<int>::max() / most_splits;
    if (p.batch > most / p.heads || p.queries > most / (p.batch * p.heads))
      return Status(StatusCode::unsupported,
                    "a batch of %lld with %lld heads and %lld queries has more rows than the kernel's grids "
                    "hold, %lld",
                    static_cast<long long>(p.batch), static_cast<long long>(p.heads),
                    static_cast<long long>(p.queries), static_cast<long long>(most));
    return check_device_sm80(device, Config::shared_bytes);
  }

  // With a workspace. It holds O and the logarithms of the splits.
  static int splits(const AttentionProblem& p, const DeviceDescription& device) noexcept {
    std::int64_t keys = p.keys;
    if (p.window.left >= 0) keys = std::min(keys, p.queries + p.window.left + std::max(p.window.right, 0));
    return decode_splits(p.batch * p.key_heads * row_tiles(p), device.multiprocessors,
                         (keys + Config::key_tile - 1) / Config::key_tile);
  }
  static std::size_t workspace(const AttentionProblem& p, int splits) noexcept {
    if (splits == 1) return 0;
    return static_cast<std::size_t>(rows(p)) * static_cast<std::size_t>(splits) *
           (static_cast<std::size_t>(p.value_dimension) + 1) * 4;
  }

  static AttentionDecodeArguments arguments(const AttentionProblem& p, int splits) noexcept {
    const auto limit = [](int keys) {
      return keys < 0 || keys > AttentionArguments::unlimited_keys ? AttentionArguments::unlimited_keys
                                                                   : keys;
    };
    AttentionDecodeArguments a{};
    a.q = p.q, a.k = p.k, a.v = p.v, a.o = p.o, a.log_sum_exp = p.log_sum_exp, a.sinks = p.sinks;
    a.lengths = variable_lengths(p);
    if (p.query_offsets != nullptr) a.q.batch_stride = a.o.batch_stride = 0;
    if (p.key_offsets != nullptr) a.k.batch_stride = a.v.batch_stride = 0;
    a.queries = static_cast<int>(p.queries), a.keys = static_cast<int>(p.keys);
    a.heads = static_cast<int>(p.heads), a.key_heads = static_cast<int>(p.key_heads);
    a.group = a.heads / a.key_heads;
    a.left = limit(p.window.left), a.right = limit(p.window.right);
    a.row_tiles = static_cast<int>(row_tiles(p)), a.splits = splits;
    a.by_row_tiles = Divisor(a.row_tiles), a.by_splits = Divisor(splits);
    a.by_key_heads = Divisor(a.key_heads), a.by_group = Divisor(a.group);
    a.split_o = static_cast<float*>(p.workspace);
    a.split_log2_sums = a.split_o + rows(p) * splits * p.value_dimension;
    return a;
  }

  // The launch for a problem that is not empty and that the kernel takes. splits > 1: combine() follows.
  static void plan(const AttentionProblem& p, const Score& score, int splits, Launch* launch) noexcept {
    launch->what = "attention of few queries";
    if constexpr (Config::latent) {
      launch->function = reinterpret_cast<const void*>(&attention_decode_latent<Config, Score>);
    } else {
      launch->function = reinterpret_cast<const void*>(&attention_decode<Config, Score>);
    }
    launch->grid.x =
        static_cast<unsigned>(p.batch * p.key_heads * row_tiles(p) * static_cast<std::int64_t>(splits));
    launch->block.x = Config::threads;
    launch->shared_bytes = Config::shared_bytes;
    // Without splits, CTAs of two such grids would share multiprocessors that one grid alone fills evenly.
    launch->overlaps_previous = splits > 1;
    launch->arguments.set(arguments(p, splits), score);
  }
  static void combine(const AttentionProblem& p, int splits, Launch* launch) noexcept {
    launch->what = "the splits of attention";
    launch->function = reinterpret_cast<const void*>(&attention_decode_combine<T>);
    launch->grid.x = static_cast<unsigned>(rows(p));
    launch->grid.y = static_cast<unsigned>((p.value_dimension + 127) / 128);
    launch->block.x = 32;
    launch->overlaps_previous = true;
    launch->arguments.set(arguments(p, splits), p.value_dimension);
  }
};

}  // namespace sm80
}  // namespace tenon
