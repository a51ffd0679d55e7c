// Tensor stores and reductions, maps that a kernel changes, and the instructions that are refused.
#include <numeric>

#include "emulator/instructions/tensor_kernel.hpp"

namespace tenon::emulator::testing {
namespace {

// 64 threads write a tile of 16 x 8, one stores it with the map.

constexpr char store[] = R"(
  .shared .align 128 .b8 tile[256];
  .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<4>;
  mov.b64 %d0, map; cvta.param.u64 %d0, %d0;
  mov.u32 %r0, %tid.x; mov.u32 %r1, tile;
  setp.ne.u32 %p0, %r0, 0;
  shl.b32 %r3, %r0, 2; add.s32 %r4, %r1, %r3;
  shl.b32 %r5, %r0, 1; add.s32 %r6, %r5, 1; prmt.b32 %r5, %r5, %r6, 0x5410;
  st.shared.b32 [%r4], %r5;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @%p0 bra DONE;
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d0, {32, 15}], [%r1];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:
  ret;)";

std::vector<std::uint16_t> stored(const Tensor& tensor, std::vector<std::uint16_t> memory, bool adds) {
  for (std::uint64_t y = 0; y < 8; ++y) {
    for (std::uint64_t x = 0; x < 16; ++x) {
      if (32 + x >= tensor.dimensions[0] || 15 + y >= tensor.dimensions[1]) continue;
      std::uint16_t& element = memory[((15 + y) * tensor.strides()[0] + (32 + x) * 2) / 2];
      const auto value = static_cast<std::uint16_t>(y * 16 + x);
      element = adds ? static_cast<std::uint16_t>(element + value) : value;
    }
  }
  return memory;
}

TEST(TensorStore, writes_what_is_inside) {
  const Tensor tensor{TensorMapType::uint16, {40, 20}, {16, 8}, {1, 1}};
  PtxKernel kernel(tensor_parameters, store);
  const std::vector<std::uint16_t> before = numbered(tensor.elements());
  const std::uint64_t memory = kernel.upload(before);
  kernel.grid(1, 64).argument(0, tensor.map(memory)).argument(1, memory);
  expect_clean(kernel, [&] {
    EXPECT_EQ(kernel.download<std::uint16_t>(memory, before.size()), stored(tensor, before, false));
  });
}

// As an H200 does: TmaStoreGpu.CompletesTheLast16BytesOfARow.
TEST(TensorStore, writes_whole_16_bytes_beyond_the_end_of_a_row) {
  const Tensor tensor{TensorMapType::uint16, {40, 20}, {16, 8}, {1, 1}};
  Tensor narrow = tensor;
  narrow.dimensions[0] = 35;
  PtxKernel kernel(tensor_parameters, store);
  const std::vector<std::uint16_t> before = numbered(tensor.elements());
  const std::uint64_t memory = kernel.upload(before);
  ASSERT_EQ(narrow.strides(), tensor.strides());
  kernel.grid(1, 64).argument(0, narrow.map(memory)).argument(1, memory);
  expect_clean(kernel, [&] {
    EXPECT_EQ(kernel.download<std::uint16_t>(memory, before.size()), stored(tensor, before, false));
  });
}

TEST(TensorStore, needs_a_proxy_fence) {
  const Tensor tensor{TensorMapType::uint16, {40, 20}, {16, 8}, {1, 1}};
  PtxKernel kernel(tensor_parameters, changed(changed(store, "fence.proxy.async.shared::cta;", ""),
                                              "{32, 15}], [%r1];", "{32, 15}], [%r1];  // FAULT"));
  const std::uint64_t memory = kernel.upload(numbered(tensor.elements()));
  kernel.grid(1, 64).argument(0, tensor.map(memory)).argument(1, memory);
  expect_fault(kernel, FindingKind::proxy_fence);
}

TEST(TensorStore, reads_through_the_swizzle) {
  // Loaded and stored with the same swizzle: the elements keep their positions.
  Tensor tensor{TensorMapType::uint16, {64, 16}, {64, 16}, {1, 1}};
  tensor.swizzle = TensorMapSwizzle::bytes_128;
  PtxKernel kernel(".param .align 64 .b8 map[128], .param .align 64 .b8 other[128]", R"(
  .shared .align 1024 .b8 tile[2048]; .shared .align 8 .b64 bar;
  .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<4>;
  mov.b64 %d0, map; cvta.param.u64 %d0, %d0; mov.b64 %d1, other; cvta.param.u64 %d1, %d1;
  mov.u32 %r1, tile; mov.u32 %r2, bar; mov.u32 %r3, 0;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  fence.proxy.async;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 2048;
  cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%d0, {%r3, %r3}], [%r2];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
  @!%p1 bra WAIT;
  cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d1, {%r3, %r3}], [%r1];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;
  cp.async.bulk.wait_group 0;
  ret;)");
  const std::vector<std::uint16_t> memory = numbered(tensor.elements());
  const std::uint64_t from = kernel.upload(memory), to = kernel.zeros<std::uint16_t>(memory.size());
  kernel.grid(1, 1).argument(0, tensor.map(from)).argument(1, tensor.map(to));
  expect_clean(kernel, [&] {
    const auto result = kernel.download<std::uint16_t>(to, memory.size());
    for (std::size_t y = 0; y < 16; ++y) {
      for (std::size_t x = 0; x < 64; ++x) {
        EXPECT_EQ(result[y * tensor.strides()[0] / 2 + x], memory[y * tensor.strides()[0] / 2 + x]);
      }
    }
  });
}

TEST(TensorStore, reduces) {
  // As u32: each pair of 16-bit values of the tile is one element.
  const std::uint64_t dimensions[] = {40, 20}, strides[] = {176};
  const std::uint32_t box[] = {8, 8}, steps[] = {1, 1};
  PtxKernel kernel(tensor_parameters,
                   changed(store, "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group",
                           "cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.tile.bulk_group"));
  std::vector<std::uint32_t> before(20 * 44, 0x00200020);
  const std::uint64_t memory = kernel.upload(before);
  kernel.grid(1, 64)
      .argument(0, encode_tiled(TensorMapType::uint32, 2, memory, dimensions, strides, box, steps,
                                TensorMapInterleave::none, TensorMapSwizzle::none, TensorMapL2Promotion::none,
                                TensorMapFill::zeros))
      .argument(1, memory);
  for (std::uint32_t y = 0; y < 5; ++y) {
    for (std::uint32_t x = 0; x < 8; ++x) {
      const std::uint32_t number = y * 8 + x, value = (2 * number + 1) << 16 | 2 * number;
      std::uint32_t& element = before[(15 + y) * 44 + 32 + x];
      element = std::max(element, value);
    }
  }
  expect_clean(kernel, [&] { EXPECT_EQ(kernel.download<std::uint32_t>(memory, before.size()), before); });
}

TEST(TensorStore, a_reduction_that_the_type_lacks_is_found) {
  const Tensor tensor{TensorMapType::float16, {40, 20}, {16, 8}, {1, 1}};
  PtxKernel kernel(
      tensor_parameters,
      changed(store, "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d0, {32, 15}], [%r1];",
              "cp.reduce.async.bulk.tensor.2d.global.shared::cta.xor.tile.bulk_group [%d0, {32, "
              "15}], [%r1];  // FAULT"));
  const std::uint64_t memory = kernel.upload(numbered(tensor.elements()));
  kernel.grid(1, 64).argument(0, tensor.map(memory)).argument(1, memory);
  expect_fault(kernel, FindingKind::argument, "does not have this reduction");
}

// --- maps that a kernel changes

TEST(TensorMapReplace, changes_a_map_in_shared_memory) {
  PtxKernel kernel(tensor_parameters, R"(
  .shared .align 128 .b8 copy[128]; .shared .align 128 .b8 tile[256]; .shared .align 8 .b64 bar;
  .reg .b32 %r<8>; .reg .b64 %d<10>; .reg .pred %p<4>;
  mov.b64 %d0, map; cvta.param.u64 %d0, %d0; ld.param.u64 %d1, [data];
  mov.u32 %r0, %tid.x; mov.u32 %r1, copy; mov.u32 %r2, bar; mov.u32 %r7, tile;
  shl.b32 %r3, %r0, 2; cvt.u64.u32 %d2, %r3; add.s64 %d2, %d0, %d2; add.s32 %r4, %r1, %r3;
  ld.b32 %r5, [%d2]; st.shared.b32 [%r4], %r5;
  bar.warp.sync -1;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra CHANGED;
  add.s64 %d3, %d1, 1024;
  tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r1], %d3;
  tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r1], 0, 12;
  tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r1], 1;
  tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r1], 1, 4;
  tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r1], 6;
  tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r1], 0;
CHANGED:
  bar.warp.sync -1;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [%r1], 128;
  bar.warp.sync -1;
  @%p0 ret;
  fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  fence.proxy.async;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 128;
  mov.u32 %r5, 0;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r7], [%d1, {%r5, %r5}], [%r2];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
  @!%p1 bra WAIT;
  ld.shared.v4.b32 {%r3, %r4, %r5, %r6}, [%r7+32];
  st.global.v4.b32 [%d1+128], {%r3, %r4, %r5, %r6};
  ld.shared.v4.b32 {%r3, %r4, %r5, %r6}, [%r7+48];
  st.global.v4.b32 [%d1+144], {%r3, %r4, %r5, %r6};
  ret;)");
  const Tensor tensor{TensorMapType::uint16, {16, 20}, {16, 8}, {1, 1}};
  std::vector<std::uint16_t> memory(1024);
  std::iota(memory.begin() + 512, memory.end(), std::uint16_t{100});
  const std::uint64_t to = kernel.upload(memory);
  kernel.grid(1, 32).argument(0, tensor.map(to)).argument(1, to);
  expect_clean(kernel, [&] {
    const auto result = kernel.download<std::uint16_t>(to + 128, 16);
    for (std::uint16_t x = 0; x < 16; ++x) {
      EXPECT_EQ(result[x], x < 12 ? 100 + tensor.strides()[0] / 2 + x : 0)
          << "row 1, which has 12 elements now";
    }
  });
}

std::string refusal(const std::string& instruction) {
  try {
    PtxKernel kernel(tensor_parameters,
                     ".reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p<2>; .reg .b16 %h<2>;\n" + instruction);
  } catch (const ptx::Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(TensorCopy, refuses_what_it_does_not_know) {
  EXPECT_NE(refusal("cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes "
                    "[%r0], [%d0, "
                    "{%r0, %r0, %r0}], [%r1], {%h0};")
                .find(".im2col::w needs sm_100"),
            std::string::npos);
  EXPECT_NE(
      refusal(
          "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r0], [%d0, "
          "{%r0, %r0, %r0}], [%r1], {%h0, %h1};")
          .find("a list of 1"),
      std::string::npos);
  EXPECT_NE(refusal("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], "
                    "[%d0, {%r0}], "
                    "[%r1];")
                .find("coordinates"),
            std::string::npos);
  EXPECT_NE(refusal("tensormap.replace.tile.elemtype.global.b1024.b32 [%d0], 13;").find("from 0 to 12"),
            std::string::npos);
  EXPECT_NE(refusal("tensormap.replace.tile.box_dim.global.b1024.b32 [%d0], 5, %r0;").find("from 0 to 4"),
            std::string::npos);
  EXPECT_EQ(refusal("cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%d0, {%r0}];"), "accepted");
}

TEST(TensorMapReplace, values_that_no_map_can_hold_are_found) {
  for (const char* replaced :
       {"rank.global.b1024.b32 [%d0], 5", "rank.global.b1024.b32 [%d0], 257",
        "box_dim.global.b1024.b32 [%d0], 0, 257", "box_dim.global.b1024.b32 [%d0], 0, 0",
        "element_stride.global.b1024.b32 [%d0], 0, 9"}) {
    PtxKernel kernel(".param .u64 map", std::string(".reg .b64 %d<2>; ld.param.u64 %d0, [map];\n") +
                                            "tensormap.replace.tile." + replaced + ";  // FAULT\nret;");
    const Tensor tensor{TensorMapType::uint16, {16, 20}, {16, 8}, {1, 1}};
    const TensorMap map = tensor.map(kernel.zeros<std::uint16_t>(320));
    kernel.grid(1, 1).argument(0, kernel.upload(std::vector<std::uint8_t>(map.bytes, map.bytes + 128)));
    expect_fault(kernel, FindingKind::argument, "but must be from");
  }
}

}  // namespace
}  // namespace tenon::emulator::testing
