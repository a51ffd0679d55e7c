// The wgmma attention kernels of one type: for each head dimension one without a mask and one with the causal
// mask, of plain scores, and one of any window and score.
#pragma once

#include <string>

#include "attention/kernels.hpp"
#include "attention/plain_score_check.hpp"
#include "attention/with_tensor_maps.hpp"
#include "tenon/attention/launch_sm90.hpp"

namespace tenon {

// Where its tiles keep less than half of the multiprocessors busy, the smaller ones of mma.sync are faster.
// There are no others of e4m3.
template <class Config>
bool wgmma_suits(const AttentionProblem& p, const DeviceDescription& device) {
  if (p.type == Type::e4m3) return true;
  const std::int64_t tiles = (p.queries + Config::Block::m - 1) / Config::Block::m * p.batch;
  return tiles * p.heads * 2 >= device.multiprocessors;
}

// Whether Large, whose tiles have more queries than those of Small, is faster: LargeAttentionTiles.
template <class Large, class Small>
bool large_wgmma_suits(const AttentionProblem& p, const DeviceDescription& device) {
  const auto rows_of_a_multiprocessor = [&](std::int64_t rows) {
    const std::int64_t tiles = (p.queries + rows - 1) / rows * p.batch * p.heads;
    return (tiles + device.multiprocessors - 1) / device.multiprocessors * rows;
  };
  return wgmma_suits<Large>(p, device) &&
         rows_of_a_multiprocessor(Large::Block::m) * 96 < rows_of_a_multiprocessor(Small::Block::m) * 100;
}

template <class Kernel, class MakeScore>
AttentionKernel attention_wgmma_kernel(const char* ptx, const char* variant, const MakeScore&) {
  using Config = typename Kernel::Config;
  AttentionKernel kernel;
  kernel.name = std::string(ptx) + "_" + std::to_string(Config::head);
  if (Config::value != Config::head) kernel.name += "_" + std::to_string(Config::value);
  kernel.name += "_" + std::to_string(Config::Block::m) + "x" + std::to_string(Config::Block::n) + variant;
  kernel.ptx = ptx;
  kernel.type = TypeOf<typename Config::T>::value;
  kernel.head_dimension = Config::head, kernel.value_dimension = Config::value;
  kernel.takes = [](const AttentionProblem& p, const DeviceDescription& device) {
    if (Status s = Kernel::check(p, device); !s) return s;
    return MakeScore::check(p);
  };
  kernel.suits = &wgmma_suits<Config>;
  kernel.fill = [](const AttentionProblem& p, const DeviceDescription& device, Launcher& launcher,
                   Launch* launch) {
    const char* const name = launch->what;
    const Status s = with_tensor_maps(launcher, [&](const auto& make_map) {
      return Kernel::plan(p, MakeScore::of(p), device, make_map, launch);
    });
    launch->what = name;
    return s;
  };
  return kernel;
}

struct MakePlainScore {
  static Status check(const AttentionProblem& p) { return takes_plain_score(p); }
  static PlainScore of(const AttentionProblem& p) { return {p.scale}; }
};
struct MakeGeneralScore {
  static Status check(const AttentionProblem&) { return {}; }
  static GeneralScore of(const AttentionProblem& p) { return {p.scale, p.soft_cap, p.alibi_slopes}; }
};

template <class T, int head, int value = head>
void append_attention_wgmma_of(const char* ptx, std::vector<AttentionKernel>& list) {
  const auto append = [&](auto mask, auto score, auto make_score, const char* variant) {
    using Mask = decltype(mask);
    using Score = decltype(score);
    using Config = sm90::AttentionConfigFor<T, head, Mask, Score, value>;
    list.push_back(
        attention_wgmma_kernel<sm90::AttentionKernel<Config, Mask, Score>>(ptx, variant, make_score));
  };
  append(FullMask{}, PlainScore{}, MakePlainScore{}, "_full");
  append(CausalMask{}, PlainScore{}, MakePlainScore{}, "_causal");
  append(LocalMask{}, GeneralScore{}, MakeGeneralScore{}, "_general");
}

// The kernel of large tiles, of head dimension 128 without a mask.
template <class T>
void append_large_attention_wgmma(const char* ptx, std::vector<AttentionKernel>& list) {
  using Small = sm90::AttentionConfigFor<T, 128, FullMask, PlainScore>;
  using Large = AttentionConfig<T, 128, 128, sm90::LargeAttentionTiles>;
  using Kernel = sm90::AttentionKernel<Large, FullMask, PlainScore>;
  AttentionKernel kernel = attention_wgmma_kernel<Kernel>(ptx, "_full", MakePlainScore{});
  kernel.suits = &large_wgmma_suits<Large, Small>;
  list.push_back(kernel);
}

// The kernel of batches of variable lengths.
template <class T, int head, int value = head>
void append_variable_attention_wgmma(const char* ptx, std::vector<AttentionKernel>& list) {
  using Config = sm90::AttentionConfigFor<T, head, BatchMask, PlainScore, value>;
  using Kernel = sm90::AttentionKernel<Config, BatchMask, PlainScore>;
  AttentionKernel kernel = attention_wgmma_kernel<Kernel>(ptx, "_variable", MakePlainScore{});
  kernel.suits = [](const AttentionProblem& p, const DeviceDescription& device) {
    return has_variable_lengths(p) && wgmma_suits<Config>(p, device);
  };
  list.push_back(kernel);
}

template <class T>
void append_attention_wgmma(const char* ptx, std::vector<AttentionKernel>& list) {
  append_attention_wgmma_of<T, 32>(ptx, list);
  append_attention_wgmma_of<T, 64>(ptx, list);
  append_attention_wgmma_of<T, 96>(ptx, list);
  append_large_attention_wgmma<T>(ptx, list);
  append_attention_wgmma_of<T, 128>(ptx, list);
  append_attention_wgmma_of<T, 192>(ptx, list);
  append_attention_wgmma_of<T, 192, 128>(ptx, list);
  append_attention_wgmma_of<T, 256>(ptx, list);
  append_variable_attention_wgmma<T, 64>(ptx, list);
  append_variable_attention_wgmma<T, 128>(ptx, list);
  append_variable_attention_wgmma<T, 192, 128>(ptx, list);
}

}  // namespace tenon
