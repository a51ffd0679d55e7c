// The wgmma backward kernel of attention as launches. Below: kernel_backward_wgmma.hpp, launch_backward.hpp,
// launch_sm90.hpp.
#pragma once

#include "tenon/attention/kernel_backward_wgmma.hpp"
#include "tenon/attention/launch_backward.hpp"
#include "tenon/attention/launch_sm90.hpp"

namespace tenon::sm90 {

inline int backward_waves_of_section = 2, backward_sections_in_progress = 2;

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
    if (device.sm != 90)
      return Status(StatusCode::device_unsupported, "the device is sm_%d but the kernel needs sm_90",
                    device.sm);
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
    return backward_workspace(problem.forward, Sections(problem.forward, device).slots, Config::queries,
                              Config::parts);
  }

  // make_map(TensorInMemory, box_rows, box_columns, TensorMap*): make_tensor_map_4d() or its like.
  template <class MakeMap>
  static Status plan(const AttentionBackwardProblem& problem, const DeviceDescription& device,
                     const char* ptx, const MakeMap& make_map, BackwardLaunches* launches) {
    const AttentionProblem& p = problem.forward;
    const int batch = static_cast<int>(p.batch);
    AttentionBackwardArguments a = backward_arguments(problem, Config::queries, Config::keys, device);
    add_query_sums(problem, device, &a);
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
    main.grid.x = static_cast<unsigned>(a.key_tiles.size());
    main.block.x = Config::threads;
    main.shared_bytes = Config::shared_bytes;
    main.overlaps_previous = true;
    main.arguments.set(maps, a, mask_of<Mask>(p));
    return {};
  }

 private:
  // The heads of keys whose CTAs come before those of any other, and the heads of queries whose dQ is in the
  // workspace.
  struct Sections {
    int tiles, all, section, slots;
    Sections(const AttentionProblem& p, const DeviceDescription& device) noexcept
        : tiles(std::max<int>(1, static_cast<int>((p.keys + Config::keys - 1) / Config::keys))),
          all(static_cast<int>(p.batch * p.key_heads)) {
      const int least = std::min(all, std::max(1, backward_waves_of_section * device.multiprocessors / tiles));
      section = least;
      // The last section is as large as most: few CTAs would not keep the device busy.
      while (section < std::min(all, 2 * least) && all % section != 0 && 4 * (all % section) < 3 * section) ++section;
      slots = std::min(all, backward_sections_in_progress * section) * static_cast<int>(p.heads / p.key_heads);
    }
  };
  static void add_query_sums(const AttentionBackwardProblem& problem, const DeviceDescription& device,
                             AttentionBackwardArguments* a) noexcept {
    const Sections sections(problem.forward, device);
    // The first keys are those that most queries see under a causal mask. Ordered CTAs add last keys first.
    a->key_tiles = AttentionRaster(sections.tiles, sections.all, sections.section, problem.deterministic);
    const BackwardWorkspace w = workspace(problem, device);
    auto* const base = static_cast<unsigned char*>(problem.workspace);
    BackwardQuerySums& sums = a->dq_sums;
    sums.sums = reinterpret_cast<float*>(base + w.dq_sums_at);
    sums.counts = reinterpret_cast<std::uint32_t*>(base + w.counts_at);
    sums.slots = sections.slots;
    sums.by_slots = Divisor(sections.slots);
    const KeyRange seeing = seeing_queries(*a, 0, a->keys - 1);
    const int begin = seeing.begin / Config::queries, end = (seeing.end + Config::queries - 1) / Config::queries;
    sums.parts = std::max(0, end - begin) * Config::parts;
    sums.tile_counts = sections.slots * (a->padded_queries / Config::queries) * Config::parts;
    sums.ordered = problem.deterministic;
  }
  static AttentionTensor<const void*> as_input(const AttentionTensor<void*>& x) {
    return {x.data, x.row_stride, x.head_stride, x.batch_stride};
  }
};

}  // namespace tenon::sm90
