// The decode kernels of one type: for each head dimension one for aligned tensors, of any score. They are
// bound by memory, which hides the score function.
#pragma once

#include <string>

#include "attention/kernels.hpp"
#include "tenon/attention/launch_decode.hpp"

namespace tenon {

template <class Config>
void append_attention_decode_of(const char* ptx, std::vector<AttentionKernel>& list) {
  using Decode = sm80::AttentionDecodeKernel<Config, GeneralScore>;
  AttentionKernel kernel;
  kernel.name = std::string("attention_decode_") + name(TypeOf<typename Config::T>::value) + "_" +
                std::to_string(Config::head_dimension);
  if (Config::value_dimension != Config::head_dimension)
    kernel.name += "_" + std::to_string(Config::value_dimension);
  kernel.ptx = ptx;
  kernel.type = TypeOf<typename Config::T>::value;
  kernel.head_dimension = Config::head_dimension, kernel.value_dimension = Config::value_dimension;
  kernel.takes = &Decode::check;
  if constexpr (Config::latent) {
    kernel.name += "_" + std::to_string(Config::rows) + "x" + std::to_string(Config::key_tile);
    // The smallest tile that holds all rows.
    kernel.suits = [](const AttentionProblem& p, const DeviceDescription&) {
      return Config::groups == 2 || p.queries * (p.heads / p.key_heads) <= Config::rows;
    };
  } else {
    kernel.suits = [](const AttentionProblem& p, const DeviceDescription&) { return has_few_queries(p); };
  }
  kernel.workspace = [](const AttentionProblem& p, const DeviceDescription& device) {
    return Decode::workspace(p, Decode::splits(p, device));
  };
  kernel.fill = [](const AttentionProblem& p, const DeviceDescription& device, Launcher&, Launch* launch) {
    const char* const name = launch->what;
    Decode::plan(p, GeneralScore{p.scale, p.soft_cap, p.alibi_slopes},
                 p.workspace == nullptr ? 1 : Decode::splits(p, device), launch);
    launch->what = name;
    return Status();
  };
  kernel.combine = [](const AttentionProblem& p, const DeviceDescription& device, Launch* launch) {
    Decode::combine(p, Decode::splits(p, device), launch);
  };
  list.push_back(kernel);
}

// Warps, keys of a warp's step, stages, CTAs an SM. The shared memory of sm_86 and sm_89, 99 KB, holds each,
// but not the latent ones, which need that of sm_90.
template <class T>
void append_attention_decode(const char* ptx, std::vector<AttentionKernel>& list) {
  append_attention_decode_of<AttentionDecodeConfig<T, 32, 32, 4, 32, 4, 2>>(ptx, list);
  append_attention_decode_of<AttentionDecodeConfig<T, 64, 64, 4, 32, 3, 2>>(ptx, list);
  append_attention_decode_of<AttentionDecodeConfig<T, 96, 96, 4, 16, 4, 2>>(ptx, list);
  append_attention_decode_of<AttentionDecodeConfig<T, 128, 128, 4, 16, 3, 2>>(ptx, list);
  append_attention_decode_of<AttentionDecodeConfig<T, 192, 192, 2, 16, 4, 2>>(ptx, list);
  append_attention_decode_of<AttentionDecodeConfig<T, 192, 128, 2, 16, 4, 2>>(ptx, list);
  append_attention_decode_of<AttentionDecodeConfig<T, 256, 256, 2, 16, 3, 2>>(ptx, list);
  // Blocks of 16 rows a warp, groups of four warps, stages.
  append_attention_decode_of<AttentionLatentConfig<T, 576, 512, 1, 1, 2>>(ptx, list);
  append_attention_decode_of<AttentionLatentConfig<T, 576, 512, 2, 1, 2>>(ptx, list);
  append_attention_decode_of<AttentionLatentConfig<T, 576, 512, 2, 2, 2>>(ptx, list);
}

template <class T>
void combine_attention_splits(const char* ptx, const AttentionProblem& problem, int splits, Launch* launch) {
  launch->ptx = ptx;
  sm80::AttentionDecodeKernel<AttentionDecodeConfig<T, 64, 64, 4, 32, 3, 2>, GeneralScore>::combine(
      problem, splits, launch);
}

}  // namespace tenon
