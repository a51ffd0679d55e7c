// The wgmma backward kernel of attention as launches. Below: kernel_backward_wgmma.hpp, launch_backward.hpp,
// launch_sm90.hpp.
#pragma once

#include "tenon/attention/kernel_backward_wgmma.hpp"
#include "tenon/attention/launch_backward.hpp"
#include "tenon/attention/launch_sm90.hpp"

namespace tenon::sm90 {

// Config: AttentionBackwardConfig. Mask: mask.hpp. Plain scores, with a scale above 0.
template <class Config_, class Mask_>
struct AttentionBackwardKernel {
  using Config = Config_;
  using Mask = Mask_;
  using T = typename Config::T;

  // Whether the kernel takes a problem that check_problem() takes and that is not empty.
  static Status check(const AttentionBackwardProblem& problem, const DeviceDescription& device) noexcept {
    constexpr StatusCode no = StatusCode::unsupported;
    const AttentionProblem& p = problem.forward;
    if (p.type != TypeOf<T>::value)
      return Status(no, "the type is %s but the kernel is for %s", name(p.type), name(TypeOf<T>::value));
    if (p.head_dimension != Config::head || p.value_dimension != Config::head)
      return Status(no, "head_dimension and value_dimension are %d and %d but the kernel is for %d and %d",
                    p.head_dimension, p.value_dimension, Config::head, Config::head);
    if (p.queries == 0 || p.keys == 0)
      return Status(no, "there are %lld queries and %lld keys but the kernel needs one of each",
                    static_cast<long long>(p.queries), static_cast<long long>(p.keys));
    if (!fits_window<Mask>(p.window))
      return Status(no, "this kernel's mask does not have the window {%d, %d}", p.window.left,
                    p.window.right);
    if (device.sm != 90)
      return Status(StatusCode::device_unsupported, "the device is sm_%d but the kernel needs sm_90",
                    device.sm);
    if (Status s = check_backward_grid(p); !s) return s;
    const struct {
      const char* name;
      AttentionTensor<const void*> tensor;
      std::int64_t heads, rows;
    } tensors[] = {{"q", p.q, p.heads, p.queries},
                   {"d_o", problem.d_o, p.heads, p.queries},
                   {"k", p.k, p.key_heads, p.keys},
                   {"v", p.v, p.key_heads, p.keys},
                   {"dq", as_input(problem.dq), p.heads, p.queries},
                   {"dk", as_input(problem.dk), p.key_heads, p.keys},
                   {"dv", as_input(problem.dv), p.key_heads, p.keys}};
    for (const auto& x : tensors) {
      if (Status s = check_tma_tensor(x.name, x.tensor, 2, p.batch, x.heads, x.rows); !s) return s;
    }
    return {};
  }

  static BackwardWorkspace workspace(const AttentionBackwardProblem& problem,
                                     const DeviceDescription& device) noexcept {
    const Sections sections(problem, device);
    return backward_workspace(problem.forward, sections.slots, sections.counters);
  }

  // make_map(TensorInMemory, box_rows, box_columns, TensorMap*): make_tensor_map_4d() or its like.
  template <class MakeMap>
  static Status plan(const AttentionBackwardProblem& problem, const DeviceDescription& device,
                     const char* ptx, const MakeMap& make_map, BackwardLaunches* launches) {
    const AttentionProblem& p = problem.forward;
    const int batch = static_cast<int>(p.batch);
    AttentionBackwardArguments a = backward_arguments(problem, Config::queries, Config::keys, device);
    const Sections sections(problem, device);
    add_query_sums(problem, sections, &a);
    // Under a causal mask most queries see the first keys: their CTAs take longest and begin first. A
    // deterministic sum is added up from the last keys on, whose CTAs end first.
    const BackwardOrder order(sections.key_tiles, sections.key_heads, sections.section, a.group,
                              sections.parts, problem.deterministic);
    AttentionBackwardMaps maps;
    const auto map = [&](const AttentionTensor<const void*>& x, std::int64_t rows, std::int64_t heads,
                         int box_rows, TensorMap* to) {
      return make_map(TensorInMemory{x.data,
                                     2,
                                     Config::head,
                                     static_cast<int>(rows),
                                     {static_cast<int>(heads), batch},
                                     x.row_stride,
                                     {x.head_stride, x.batch_stride}},
                      box_rows, Config::TileQ::panel_columns, to);
    };
    if (Status s = map(p.q, p.queries, p.heads, Config::queries, &maps.q); !s) return s;
    if (Status s = map(problem.d_o, p.queries, p.heads, Config::queries, &maps.d_o); !s) return s;
    if (Status s = map(p.k, p.keys, p.key_heads, Config::keys, &maps.k); !s) return s;
    if (Status s = map(p.v, p.keys, p.key_heads, Config::keys, &maps.v); !s) return s;

    add_backward_prepare<T>(a, launches, ptx, batch);
    Launch& main = launches->add();
    main.what = "attention backward on wgmma";
    main.ptx = ptx;
    main.function = reinterpret_cast<const void*>(&attention_backward_wgmma<Config, Mask>);
    main.grid.x = static_cast<unsigned>(order.size());
    main.block.x = Config::threads;
    main.shared_bytes = Config::shared_bytes;
    main.overlaps_previous = true;
    main.arguments.set(maps, a, order, mask_of<Mask>(p));
    return {};
  }

 private:
  // The sizes of BackwardOrder and BackwardQuerySums. A section has one wave of CTAs that add: with two the
  // L2 does not hold dQ of the sections in progress. Three of those: one is added to, one rounded, and of the
  // third the last CTAs add yet or the first ones already.
  struct Sections {
    static constexpr int in_progress = 3;
    int key_tiles, key_heads, section, parts, slots, turns;
    std::int64_t counters;
    Sections(const AttentionBackwardProblem& problem, const DeviceDescription& device) noexcept {
      const AttentionProblem& p = problem.forward;
      key_tiles = static_cast<int>((p.keys + Config::keys - 1) / Config::keys);
      key_heads = static_cast<int>(p.batch * p.key_heads);
      const int padded = static_cast<int>((p.queries + backward_row_padding - 1) / backward_row_padding);
      const int tiles = padded * (backward_row_padding / Config::queries);
      parts = (tiles + Config::rounded_tiles - 1) / Config::rounded_tiles;
      const int least = std::min(key_heads, (device.multiprocessors + key_tiles - 1) / key_tiles);
      section = least;
      // The last section is at least three quarters of the others: it must keep the device busy, too.
      while (section < std::min(key_heads, 2 * least) && key_heads % section != 0 &&
             4 * (key_heads % section) < 3 * section)
        ++section;
      slots = std::min(key_heads, in_progress * section) * static_cast<int>(p.heads / p.key_heads);
      turns = problem.deterministic ? slots * tiles * Config::parts : 0;
      counters = turns + 2 * std::int64_t{slots};
    }
  };
  static void add_query_sums(const AttentionBackwardProblem& problem, const Sections& sections,
                             AttentionBackwardArguments* a) noexcept {
    const BackwardWorkspace w = backward_workspace(problem.forward, sections.slots, sections.counters);
    auto* const base = static_cast<unsigned char*>(problem.workspace);
    BackwardQuerySums& sums = a->dq_sums;
    sums.sums = reinterpret_cast<float*>(base + w.dq_sums_at);
    sums.finished = reinterpret_cast<std::uint32_t*>(base + w.counters_at);
    sums.rounded = sums.finished + sections.slots;
    sums.turns = sections.turns > 0 ? sums.rounded + sections.slots : nullptr;
    sums.slots = sections.slots;
    sums.counters = static_cast<int>(sections.counters);
    sums.adders = sections.key_tiles;
    sums.parts = sections.parts;
    sums.by_slots = Divisor(sections.slots);
  }
  static AttentionTensor<const void*> as_input(const AttentionTensor<void*>& x) {
    return {x.data, x.row_stride, x.head_stride, x.batch_stride};
  }
};

}  // namespace tenon::sm90
