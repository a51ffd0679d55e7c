// The wgmma kernel of MLA decode as one or two launches, header-only. Splits, workspace and the launch that
// merges them are those of launch_decode.hpp. Below: kernel_decode_wgmma.hpp, launch_decode.hpp,
// launch_sm90.hpp.
#pragma once

#include "tenon/attention/kernel_decode_wgmma.hpp"
#include "tenon/attention/launch_decode.hpp"
#include "tenon/attention/launch_sm90.hpp"

namespace tenon::sm90 {

// Config: LatentWgmmaConfig.
template <class Config_>
struct LatentWgmmaKernel {
  using Config = Config_;
  using Decode = sm80::AttentionDecodeKernel<Config, PlainScore>;

  // Whether the kernel takes a problem that check_problem() takes; factors of scores are the caller's affair.
  static Status check(const AttentionProblem& p, const DeviceDescription& device) noexcept {
    constexpr StatusCode no = StatusCode::unsupported;
    if (Status s = Decode::check(p, device); !s) return s;
    if (device.sm != 90)
      return Status(StatusCode::device_unsupported, "wgmma needs sm_90 but the device is sm_%d", device.sm);
    if (p.pages.table != nullptr && p.pages.page_size % Config::key_tile != 0)
      return Status(no, "page_size is %d but this kernel needs a multiple of %d", p.pages.page_size,
                    Config::key_tile);
    if (Decode::row_tiles(p) % Config::cluster != 0)
      return Status(no,
                    "%lld tiles of %d query tokens and heads share a head of keys but the kernel needs a "
                    "multiple of %d",
                    static_cast<long long>(Decode::row_tiles(p)), Config::rows, Config::cluster);
    const AttentionExtents keys = key_extents(p);
    return check_tma_tensor("k", p.k, Config::KeyPart::element_bytes, keys.batch, p.key_heads, keys.rows);
  }

  // make_map(TensorInMemory, box_rows, box_columns, TensorMap*): make_tensor_map_4d() or its like. splits >
  // 1: Decode::combine() follows.
  template <class MakeMap>
  static Status plan(const AttentionProblem& p, const PlainScore& score, int splits, const MakeMap& make_map,
                     Launch* launch) {
    // A map has a row. Without keys nothing is loaded, and the row may be anything: one of Q.
    const bool none = has_no_keys(p);
    const AttentionTensor<const void*>& k = none ? p.q : p.k;
    const AttentionExtents of = none ? AttentionExtents{1, 1} : key_extents(p);
    TensorMap keys;
    if (Status s =
            make_map(TensorInMemory{k.data,
                                    Config::KeyPart::element_bytes,
                                    Config::head_dimension,
                                    static_cast<int>(of.rows),
                                    {none ? 1 : static_cast<int>(p.key_heads), static_cast<int>(of.batch)},
                                    k.row_stride,
                                    {k.head_stride, k.batch_stride}},
                     Config::key_tile / Config::cluster, Config::KeyPart::panel_columns, &keys);
        !s)
      return s;
    launch->what = "attention of few queries on wgmma";
    launch->function = reinterpret_cast<const void*>(&attention_decode_latent_wgmma<Config>);
    launch->grid.x = static_cast<unsigned>(p.batch * p.key_heads * Decode::row_tiles(p) * splits);
    launch->block.x = Config::threads;
    launch->shared_bytes = Config::shared_bytes;
    launch->overlaps_previous = true;
    launch->arguments.set(keys, Decode::arguments(p, splits), score);
    return {};
  }
};

}  // namespace tenon::sm90
