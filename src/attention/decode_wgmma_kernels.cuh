// The wgmma kernels of MLA decode of one type, for many rows that share the keys, and plain scores.
#pragma once

#include <string>

#include "attention/kernels.hpp"
#include "attention/plain_score_check.hpp"
#include "attention/with_tensor_maps.hpp"
#include "tenon/attention/launch_decode_wgmma.hpp"

namespace tenon {

// The least query tokens and heads that share a head of keys for which the library chooses these kernels: as
// measured on an H100, where those of mma.sync have more than one block of 16 rows.
inline constexpr int least_wgmma_rows = 17;

template <class Config>
void append_attention_decode_wgmma_of(const char* ptx, std::vector<AttentionKernel>& list) {
  using Kernel = sm90::LatentWgmmaKernel<Config>;
  using Decode = typename Kernel::Decode;
  AttentionKernel kernel;
  kernel.name = std::string(ptx) + "_" + std::to_string(Config::head_dimension) + "_" +
                std::to_string(Config::value_dimension) + "_" + std::to_string(Config::rows) + "x" +
                std::to_string(Config::key_tile);
  if (Config::cluster > 1) kernel.name += "_cluster" + std::to_string(Config::cluster);
  kernel.ptx = ptx;
  kernel.type = TypeOf<typename Config::T>::value;
  kernel.head_dimension = Config::head_dimension, kernel.value_dimension = Config::value_dimension;
  kernel.takes = [](const AttentionProblem& p, const DeviceDescription& device) {
    if (Status s = Kernel::check(p, device); !s) return s;
    return takes_plain_score(p);
  };
  kernel.suits = [](const AttentionProblem& p, const DeviceDescription&) {
    return p.queries * (p.heads / p.key_heads) >= least_wgmma_rows;
  };
  kernel.workspace = [](const AttentionProblem& p, const DeviceDescription& device) {
    return Decode::workspace(p, Decode::splits(p, device));
  };
  kernel.fill = [](const AttentionProblem& p, const DeviceDescription& device, Launcher& launcher,
                   Launch* launch) {
    const char* const name = launch->what;
    const int splits = p.workspace == nullptr ? 1 : Decode::splits(p, device);
    const Status s = with_tensor_maps(launcher, [&](const auto& make_map) {
      return Kernel::plan(p, PlainScore{p.scale}, splits, make_map, launch);
    });
    launch->what = name;
    return s;
  };
  kernel.combine = [](const AttentionProblem& p, const DeviceDescription& device, Launch* launch) {
    Decode::combine(p, Decode::splits(p, device), launch);
  };
  list.push_back(kernel);
}

template <class T>
void append_attention_decode_wgmma(const char* ptx, std::vector<AttentionKernel>& list) {
  // Where the row tiles come in pairs, the CTAs of a cluster share the keys.
  append_attention_decode_wgmma_of<LatentWgmmaConfig<T, 576, 512, 2>>(ptx, list);
  append_attention_decode_wgmma_of<LatentWgmmaConfig<T, 576, 512, 1>>(ptx, list);
}

}  // namespace tenon
