// The producer of the wgmma kernel of MLA decode: one thread loads the parts of all tiles of keys by TMA, as
// far ahead as the ring allows. Below: config_decode_wgmma.hpp, work_decode_wgmma.hpp,
// pipeline/tma_box_4d.hpp.
#pragma once

#include "tenon/attention/config_decode_wgmma.hpp"
#include "tenon/attention/work_decode_wgmma.hpp"
#include "tenon/pipeline/tma_box_4d.hpp"

namespace tenon {

template <class Config>
class LatentProducer {
  using Ring = typename Config::Ring;
  using RingStage = typename Config::RingStage;
  static constexpr int box_rows = Config::key_tile / Config::cluster;

 public:
  // By one thread. memory: of the CTA, aligned.
  __device__ __forceinline__ LatentProducer(const TensorMap& map, const AttentionDecodeArguments& a,
                                            const Ring& ring, std::uint8_t* memory)
      : map_(map),
        a_(a),
        ring_(ring),
        memory_(memory),
        rank_(static_cast<int>(blockIdx.x) % Config::cluster) {}

  __device__ __forceinline__ void run(const LatentWork& work) const {
    RingStage stage;
#pragma unroll 1
    for (int tile = 0; tile < work.tiles; ++tile) {
      const BoxPosition at = position(work, work.template key<Config>(tile));
      std::uint8_t* const to = memory_ + Config::keys_at + tile % Config::slots * Config::tile_bytes;
      const auto load_parts = [&](int begin, int end) {
#pragma unroll 1
        for (int i = begin; i < end; ++i) {
          const int part = Config::part(Config::owner(tile), i);
          load<typename Config::KeyPart>(stage, to + part * Config::KeyPart::bytes, at,
                                         part * Config::part_columns);
          stage = stage.next();
        }
      };
      load_parts(0, Config::tail_stage);
      load<typename Config::TailPart>(stage, to + Config::tail_at, at, Config::value_dimension);
      stage = stage.next();
      load_parts(Config::own_stage, Config::stages_of_tile);
    }
    if constexpr (Config::cluster > 1) ring_.drain(stage);
  }

 private:
  // Of a page that does not exist, a box outside the tensor: zeros.
  __device__ __forceinline__ BoxPosition position(const LatentWork& work, int key) const {
    if (a_.lengths.pages == nullptr)
      return {work.sequence.first_key + key, work.at.key_head,
              a_.lengths.key_offsets != nullptr ? 0 : work.at.batch};
    const KeyPlace place = place_of_key(a_.lengths, work.at.batch, key);
    if (place.page < 0) report_out_of_range(a_.lengths);
    return {place.row, work.at.key_head, place.page < 0 ? a_.lengths.page_count : place.page};
  }
  template <class Part>
  __device__ __forceinline__ void load(RingStage stage, std::uint8_t* to, BoxPosition at, int column) const {
    ring_.wait_empty(stage);
    ring_.expect(stage, Part::bytes);
#pragma unroll
    for (int panel = 0; panel < Part::panels; ++panel) {
      std::uint8_t* const box = to + panel * Part::panel_bytes + rank_ * box_rows * Part::row_bytes;
      const BoxPosition share{at.row + rank_ * box_rows, at.outer0, at.outer1};
      if constexpr (Config::cluster == 1) {
        copy_box_4d(box, map_, share, column + panel * Part::panel_columns, ring_.full_barrier(stage));
      } else {
        copy_box_4d_to_cluster(box, map_, share, column + panel * Part::panel_columns,
                               ring_.full_barrier(stage), (1U << Config::cluster) - 1);
      }
    }
  }

  const TensorMap& map_;
  const AttentionDecodeArguments& a_;
  const Ring& ring_;
  std::uint8_t* memory_;
  int rank_;
};

}  // namespace tenon
