// The mma.sync attention kernels of one type: for each head dimension one for aligned tensors and plain
// scores, of the most usual ones also with variable lengths, and one for everything else.
#pragma once

#include <string>

#include "attention/kernels.hpp"
#include "attention/plain_score_check.hpp"
#include "tenon/attention/launch_sm80.hpp"

namespace tenon {

template <class Config>
std::string attention_mma_name(const char* variant) {
  using Of = TypeOf<typename Config::T>;
  std::string text =
      std::string("attention_mma_") + name(Of::value) + "_" + std::to_string(Config::head_dimension);
  if (Config::value_dimension != Config::head_dimension)
    text += "_" + std::to_string(Config::value_dimension);
  return text + "_" + std::to_string(Config::rows) + "x" + std::to_string(Config::key_tile) + variant;
}

template <class Config>
void say_what_it_is_for(AttentionKernel* kernel) {
  kernel->type = TypeOf<typename Config::T>::value;
  kernel->head_dimension = Config::head_dimension, kernel->value_dimension = Config::value_dimension;
}

// Gives a kernel that reads lengths its splits of the keys. Kernel: sm80::AttentionKernel.
template <class Kernel>
void split_keys(AttentionKernel* kernel) {
  static constexpr bool f16 = TypeOf<typename Kernel::Config::T>::value == Type::f16;
  // The wgmma kernels are up to twice as fast as these on the multiprocessors that they fill, and the merge
  // costs a launch: splits pay where less than a third are.
  kernel->goes_first = [](const AttentionProblem& p, const DeviceDescription& device) {
    return p.workspace != nullptr && !has_few_queries(p) && 3 * Kernel::ctas(p) <= device.multiprocessors &&
           Kernel::splits(p, device) > 1;
  };
  kernel->workspace = [](const AttentionProblem& p, const DeviceDescription& device) {
    return Kernel::workspace(p, Kernel::splits(p, device));
  };
  kernel->combine = [](const AttentionProblem& p, const DeviceDescription& device, Launch* launch) {
    const int splits = Kernel::splits(p, device);
    f16 ? combine_attention_splits_f16(p, splits, launch) : combine_attention_splits_bf16(p, splits, launch);
  };
}
template <class Kernel>
int splits_of(const AttentionProblem& p, const DeviceDescription& device) {
  if constexpr (Kernel::sequences == Sequences::variable) {
    return p.workspace == nullptr ? 1 : Kernel::splits(p, device);
  } else {
    return 1;
  }
}

// The kernel for aligned tensors and plain scores.
template <class Config, Sequences sequences = Sequences::equal>
AttentionKernel plain_attention_mma(const char* ptx) {
  using Plain = sm80::AttentionKernel<Config, PlainScore, Alignment::full_16, sequences>;
  AttentionKernel plain;
  plain.name = attention_mma_name<Config>(sequences == Sequences::variable ? "_variable" : "");
  plain.ptx = ptx;
  say_what_it_is_for<Config>(&plain);
  plain.takes = [](const AttentionProblem& p, const DeviceDescription& device) {
    if (Status s = Plain::check(p, device); !s) return s;
    return takes_plain_score(p);
  };
  plain.fill = [](const AttentionProblem& p, const DeviceDescription& device, Launcher&, Launch* launch) {
    const char* const name = launch->what;
    const Status s = Plain::plan(p, PlainScore{p.scale}, device, launch, splits_of<Plain>(p, device));
    launch->what = name;
    return s;
  };
  if constexpr (sequences == Sequences::variable) split_keys<Plain>(&plain);
  return plain;
}

// The same of a small tile, for problems whose tiles of 128 queries would leave multiprocessors idle.
template <class Config>
void append_small_attention_mma(const char* ptx, std::vector<AttentionKernel>& list) {
  AttentionKernel small = plain_attention_mma<Config>(ptx);
  small.suits = [](const AttentionProblem& p, const DeviceDescription& device) {
    return (p.queries + 127) / 128 * p.heads * p.batch < device.multiprocessors;
  };
  list.push_back(small);
}

// The same of variable lengths: GeneralScore, which the general kernel has, takes as long as the products.
template <class Config>
void append_variable_attention_mma(const char* ptx, std::vector<AttentionKernel>& list) {
  AttentionKernel variable = plain_attention_mma<Config, Sequences::variable>(ptx);
  variable.suits = [](const AttentionProblem& p, const DeviceDescription&) {
    return has_variable_lengths(p);
  };
  list.push_back(variable);
}

// GeneralConfig: the tile of the general kernel, which has fewer registers left.
template <class Config, class GeneralConfig = Config>
void append_attention_mma_of(const char* ptx, std::vector<AttentionKernel>& list) {
  list.push_back(plain_attention_mma<Config>(ptx));

  using General = sm80::AttentionKernel<GeneralConfig, GeneralScore, Alignment::any, Sequences::variable>;
  AttentionKernel general;
  general.name = attention_mma_name<GeneralConfig>("_general");
  general.ptx = ptx;
  say_what_it_is_for<GeneralConfig>(&general);
  general.takes = &General::check;
  general.fill = [](const AttentionProblem& p, const DeviceDescription& device, Launcher&, Launch* launch) {
    const char* const name = launch->what;
    const Status s = General::plan(p, GeneralScore{p.scale, p.soft_cap, p.alibi_slopes}, device, launch,
                                   splits_of<General>(p, device));
    launch->what = name;
    return s;
  };
  split_keys<General>(&general);
  list.push_back(general);
}

// Warps, blocks of 16 queries a warp, keys of a stage and of a step, stages, Q in registers, CTAs an SM: as
// measured on an H200, those of head dimensions from 96 on on an H100. The shared memory of sm_86 and sm_89,
// 99 KB, holds each.
template <class T>
void append_attention_mma(const char* ptx, std::vector<AttentionKernel>& list) {
  constexpr Overlap ahead = Overlap::ahead;
  append_small_attention_mma<AttentionMmaConfig<T, 64, 64, 4, 1, 64, 32, 3, true, 3, ahead>>(ptx, list);
  append_small_attention_mma<AttentionMmaConfig<T, 128, 128, 4, 1, 64, 64, 2, true, 2>>(ptx, list);
  append_variable_attention_mma<AttentionMmaConfig<T, 64, 64, 4, 2, 64, 32, 3, true, 2, ahead>>(ptx, list);
  append_variable_attention_mma<AttentionMmaConfig<T, 128, 128, 4, 2, 64, 32, 2, false, 2>>(ptx, list);
  append_attention_mma_of<AttentionMmaConfig<T, 32, 32, 4, 2, 64, 32, 3, true, 2, ahead>>(ptx, list);
  append_attention_mma_of<AttentionMmaConfig<T, 64, 64, 4, 2, 64, 32, 3, true, 2, ahead>>(ptx, list);
  append_attention_mma_of<AttentionMmaConfig<T, 96, 96, 4, 2, 64, 32, 2, true, 2>,
                          AttentionMmaConfig<T, 96, 96, 4, 2, 64, 64, 2, false, 2>>(ptx, list);
  append_attention_mma_of<AttentionMmaConfig<T, 128, 128, 4, 2, 64, 32, 2, false, 2>>(ptx, list);
  append_attention_mma_of<AttentionMmaConfig<T, 192, 192, 4, 1, 64, 32, 2, true, 2>>(ptx, list);
  append_attention_mma_of<AttentionMmaConfig<T, 192, 128, 4, 1, 32, 32, 2, false, 2>>(ptx, list);
  append_attention_mma_of<AttentionMmaConfig<T, 256, 256, 4, 1, 32, 32, 3, true, 2>,
                          AttentionMmaConfig<T, 256, 256, 4, 1, 32, 32, 2, false, 2>>(ptx, list);
}

}  // namespace tenon
