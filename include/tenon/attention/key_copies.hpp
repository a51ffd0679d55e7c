// One warp's copies of rows of K and V to shared memory by cp.async, for keys that lie in one tensor or in
// pages of a pool. Below: arguments_decode.hpp, warp/panel_cursor.hpp, ptx/cp_async.hpp.
#pragma once

#include "tenon/attention/arguments_decode.hpp"
#include "tenon/ptx/cp_async.hpp"
#include "tenon/warp/panel_cursor.hpp"

namespace tenon {

// The place of one lane in the copies of Tile, by a warp: chunks of 16 bytes, rows of a panel after each
// other.
template <class Tile>
class RowCopies {
  static constexpr int lanes_per_row = Tile::row_bytes / chunk_bytes;
  static constexpr int swizzles = lanes_per_row == 8 ? 2 : 1;  // places of a lane within 8 rows

 public:
  static constexpr int rows_per_pass = 32 / lanes_per_row, passes = Tile::rows / rows_per_pass;
  static_assert(Tile::rows % 8 == 0 && rows_per_pass * swizzles % 8 == 0,
                "RowCopies: the swizzle repeats every 8 rows");

  // first: where the columns of row 0 begin.
  __device__ __forceinline__ RowCopies(const void* first, int lane)
      : from_(static_cast<const std::uint16_t*>(first) + lane % lanes_per_row * Tile::chunk_elements) {
#pragma unroll
    for (int i = 0; i < swizzles; ++i)
      to_[i] = static_cast<std::uint32_t>(Tile::offset(i * rows_per_pass + lane / lanes_per_row,
                                                       lane % lanes_per_row * Tile::chunk_elements));
  }
  __device__ __forceinline__ static int row(int pass, int lane) {
    return pass * rows_per_pass + lane / lanes_per_row;
  }
  // Row row(pass, lane), whose elements begin `offset` behind the first; zeros if it is not there. Of the
  // panels first_panel, first_panel + panel_step, and so on.
  __device__ __forceinline__ void copy(std::uint32_t tile, int pass, std::int64_t offset, bool there,
                                       int first_panel = 0, int panel_step = 1) const {
    const std::uint32_t to =
        tile + to_[pass % swizzles] +
        static_cast<std::uint32_t>(pass / swizzles * swizzles * rows_per_pass * Tile::row_bytes);
#pragma unroll
    for (int panel = 0; panel < Tile::panels; ++panel) {
      if (panel % panel_step != first_panel) continue;
      ptx::cp_async_cg_shared_global_16(to + static_cast<std::uint32_t>(panel * Tile::panel_bytes),
                                        from_ + offset + panel * Tile::panel_columns, there ? 16U : 0U);
    }
  }

 private:
  const std::uint16_t* from_;
  std::uint32_t to_[swizzles];
};

// Where the keys of a step lie, a key a lane: keys beyond the end, and those of pages that do not exist, are
// not there. The entries of the page table are loaded a step ahead.
template <int step>
class KeyPlaces {
  static_assert(step == 16 || step == 32, "KeyPlaces: a step has 16 or 32 keys");

 public:
  // end: of the keys that may be read. advance: keys from a step to the next.
  __device__ __forceinline__ KeyPlaces(const AttentionDecodeArguments& a, const DecodeSequence& s, int batch,
                                       int key, int end, int advance)
      : a_(a), key_(key + lane_id() % step), end_(end), advance_(advance) {
    if (a.lengths.pages != nullptr) {
      entries_ = a.lengths.pages + static_cast<std::int64_t>(batch) * a.lengths.table_stride;
      load_entry();
    } else {
      page_ = batch;
      first_row_ = s.first_key;
    }
  }

  // Takes the places of the next step: copy(row) may be called. Returns a bit a key that is there.
  __device__ __forceinline__ std::uint32_t next() {
    bool there = key_ < end_;
    row_ = 0;
    if (entries_ != nullptr) {
      if (there && (entry_ < 0 || entry_ >= a_.lengths.page_count)) {
        there = false;
        report_out_of_range(a_.lengths);
      }
      page_ = there ? entry_ : 0;
      if (there) row_ = key_ - a_.lengths.by_page.quotient(key_) * a_.lengths.page_size;
    } else if (there) {
      row_ = key_;
    }
    key_ += advance_;
    if (entries_ != nullptr) load_entry();
    return __ballot_sync(0xffffffffU, there) & (step == 32 ? 0xffffffffU : 0xffffU);
  }
  // Of a row of the step: its place in a tensor.
  struct Place {
    int page, row;
    template <class Tensor>
    __device__ __forceinline__ std::int64_t in(const Tensor& tensor) const {
      return page * tensor.batch_stride + row * tensor.row_stride;  // in 64 bits
    }
  };
  __device__ __forceinline__ Place place(int row) const {
    return {__shfl_sync(0xffffffffU, page_, row), first_row_ + __shfl_sync(0xffffffffU, row_, row)};
  }

 private:
  __device__ __forceinline__ void load_entry() {
    if (key_ < end_) entry_ = entries_[a_.lengths.by_page.quotient(key_)];
  }

  const AttentionDecodeArguments& a_;
  const std::int32_t* entries_ = nullptr;  // of the batch; null: keys are not paged
  int first_row_ = 0;
  int key_, end_, advance_;
  int entry_ = 0, page_ = 0, row_ = 0;
};

}  // namespace tenon
