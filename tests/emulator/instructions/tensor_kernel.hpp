// Kernels of one tensor copy, for the tests of tensor copies: one thread loads into shared memory and the
// block writes it out, or the other way around. Also the elements that a box visits, from its definition.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "emulator/instructions/run_ptx.hpp"

namespace tenon::emulator::testing {

// The tensor map, and global memory that holds the bytes of shared memory unchanged.
constexpr char tensor_parameters[] = ".param .align 64 .b8 map[128], .param .u64 data";

// %d0: the map; %d1: the data; %r0: the thread; %r1: the tile; %r2: the mbarrier; %p0: not the first thread.
constexpr char tensor_start[] = R"(
  .shared .align 1024 .b8 tile[16384]; .shared .align 8 .b64 bar;
  .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<4>;
  mov.b64 %d0, map; cvta.param.u64 %d0, %d0; ld.param.u64 %d1, [data];
  mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, bar;
  setp.ne.u32 %p0, %r0, 0;)";

// The first of 64 threads executes `copy`, which brings `expected` bytes; then all write `bytes` to the data.
inline std::string tensor_load(const std::string& copy, std::size_t expected, std::size_t bytes) {
  return std::string(tensor_start) + R"(
  @%p0 bra READY;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
  prefetch.tensormap [%d0];
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], )" +
         std::to_string(expected) + ";\n  " + copy + R"(
READY:
  bar.sync 0;
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
  @!%p1 bra WAIT;
  shl.b32 %r3, %r0, 2;
DUMP:
  setp.ge.u32 %p2, %r3, )" +
         std::to_string(bytes) + R"(;
  @%p2 ret;
  add.s32 %r5, %r1, %r3; cvt.u64.u32 %d2, %r3; add.s64 %d2, %d1, %d2;
  ld.shared.b32 %r6, [%r5];
  st.global.b32 [%d2], %r6;
  add.s32 %r3, %r3, 256;
  bra DUMP;)";
}

// 64 threads bring `bytes` of the data to shared memory; then the first executes `copy`.
inline std::string tensor_store(const std::string& copy, std::size_t bytes) {
  return std::string(tensor_start) + R"(
  shl.b32 %r3, %r0, 2;
FILL:
  setp.ge.u32 %p2, %r3, )" +
         std::to_string(bytes) + R"(;
  @%p2 bra FILLED;
  add.s32 %r5, %r1, %r3; cvt.u64.u32 %d2, %r3; add.s64 %d2, %d1, %d2;
  ld.global.b32 %r6, [%d2];
  st.shared.b32 [%r5], %r6;
  add.s32 %r3, %r3, 256;
  bra FILL;
FILLED:
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @%p0 ret;
  )" + copy +
         R"(
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;)";
}

template <class Integer>
std::string joined(const std::vector<Integer>& values) {
  std::string text;
  for (const Integer value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return text;
}

inline std::string load_of_box(const std::string& coordinates, int rank) {
  return "cp.async.bulk.tensor." + std::to_string(rank) +
         "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%d0, {" + coordinates +
         "}], [%r2];  // FAULT";
}
inline std::string load_of_box(const std::vector<std::int32_t>& at) {
  return load_of_box(joined(at), static_cast<int>(at.size()));
}

inline std::vector<std::uint16_t> numbered(std::size_t count) {
  std::vector<std::uint16_t> memory(count);
  for (std::size_t i = 0; i < count; ++i) memory[i] = static_cast<std::uint16_t>(i * 7 + 1);
  return memory;
}

// A tensor of 2-byte elements and a box of it.
struct Tensor {
  TensorMapType type = TensorMapType::uint16;
  std::vector<std::uint64_t> dimensions;
  std::vector<std::uint32_t> box;
  std::vector<std::uint32_t> steps;
  TensorMapSwizzle swizzle = TensorMapSwizzle::none;
  TensorMapFill fill = TensorMapFill::zeros;

  // Packed but for padding of each innermost row to 16 bytes and 32 more.
  std::vector<std::uint64_t> strides() const {
    std::vector<std::uint64_t> all;
    std::uint64_t stride = (dimensions[0] * 2 + 15) / 16 * 16 + 32;
    for (std::size_t i = 1; i < dimensions.size(); ++i) {
      all.push_back(stride);
      stride *= dimensions[i];
    }
    all.push_back(stride);
    return all;
  }
  TensorMap map(std::uint64_t address) const {
    return encode_tiled(type, static_cast<int>(dimensions.size()), address, dimensions.data(),
                        strides().data(), box.data(), steps.data(), TensorMapInterleave::none, swizzle,
                        TensorMapL2Promotion::none, fill);
  }
  std::size_t elements() const { return strides().back() / 2; }
};

using MapAt = std::function<TensorMap(std::uint64_t)>;  // the map of a tensor at an address

// `copy` loads `expected` from the tensor whose memory is given.
inline void expect_tensor_load(const std::string& copy, const MapAt& map_at,
                               const std::vector<std::uint16_t>& memory,
                               const std::vector<std::uint16_t>& expected, std::uint64_t seeds) {
  const std::size_t bytes = expected.size() * 2;
  PtxKernel kernel(tensor_parameters, tensor_load(copy, bytes, bytes));
  const std::uint64_t to = kernel.zeros<std::uint16_t>(expected.size());
  kernel.grid(1, 64).argument(0, map_at(kernel.upload(memory))).argument(1, to);
  expect_clean(
      kernel, [&] { EXPECT_EQ(kernel.download<std::uint16_t>(to, expected.size()), expected); }, seeds);
}

// `copy` stores `data` into a tensor of zeros, whose memory is `expected` afterwards.
inline void expect_tensor_store(const std::string& copy, const MapAt& map_at,
                                const std::vector<std::uint16_t>& data,
                                const std::vector<std::uint16_t>& expected, std::uint64_t seeds) {
  PtxKernel kernel(tensor_parameters, tensor_store(copy, data.size() * 2));
  const std::uint64_t tensor = kernel.zeros<std::uint16_t>(expected.size());
  kernel.grid(1, 64).argument(0, map_at(tensor)).argument(1, kernel.upload(data));
  expect_clean(
      kernel, [&] { EXPECT_EQ(kernel.download<std::uint16_t>(tensor, expected.size()), expected); }, seeds);
}

// The offsets in memory of the positions of a box, in its order, one by one; -1: outside the tensor. Along
// dimension i are counts[i] positions, steps[i] apart, and strides[i] from one to the next in memory.
inline std::vector<std::int64_t> box_offsets(const std::vector<std::uint64_t>& dimensions,
                                             const std::vector<std::uint64_t>& strides,
                                             const std::vector<std::uint32_t>& counts,
                                             const std::vector<std::uint32_t>& steps,
                                             const std::vector<std::int32_t>& at) {
  std::uint32_t total = 1;
  for (const std::uint32_t count : counts) total *= count;
  std::vector<std::int64_t> offsets;
  for (std::uint32_t number = 0; number < total; ++number) {
    std::uint32_t rest = number;
    std::int64_t offset = 0;
    bool inside = true;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const std::int64_t index = at[i] + std::int64_t{rest % counts[i]} * steps[i];
      rest /= counts[i];
      inside = inside && index >= 0 && index < static_cast<std::int64_t>(dimensions[i]);
      offset += index * static_cast<std::int64_t>(strides[i]);
    }
    offsets.push_back(inside ? offset : -1);
  }
  return offsets;
}

}  // namespace tenon::emulator::testing
