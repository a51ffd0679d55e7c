// Tensor copies: boxes in 1 to 5 dimensions against a direct computation, swizzles, edges, multicast, stores
// and reductions, and the findings about misuse.
#include <numeric>

#include "emulator/instructions/tensor_kernel.hpp"

namespace tenon::emulator::testing {
namespace {

// One thread loads a box, and all threads write the shared memory out unchanged.
std::string load(int rank, const std::string& coordinates, std::size_t bytes) {
  return tensor_load(load_of_box(coordinates, rank), bytes, bytes);
}

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

// The elements of the box, one by one, from its definition.
std::vector<std::uint16_t> box_of(const Tensor& t, const std::vector<std::uint16_t>& memory,
                                  const std::vector<std::int32_t>& at, std::uint16_t outside) {
  std::vector<std::uint64_t> strides = t.strides();
  strides.insert(strides.begin(), 2);
  std::vector<std::uint32_t> counts = t.box, steps = t.steps;
  steps[0] = 1;  // the first dimension has no steps
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = (counts[i] + steps[i] - 1) / steps[i];
  std::vector<std::uint16_t> result;
  for (const std::int64_t offset : box_offsets(t.dimensions, strides, counts, steps, at))
    result.push_back(offset < 0 ? outside : memory[static_cast<std::size_t>(offset) / 2]);
  return result;
}

// Loads a box without a swizzle and compares it.
void expect_box(const Tensor& tensor, const std::vector<std::int32_t>& at, std::uint16_t outside = 0) {
  const std::vector<std::uint16_t> memory = numbered(tensor.elements());
  const std::vector<std::uint16_t> expected = box_of(tensor, memory, at, outside);
  expect_tensor_load(
      load_of_box(at), [&](std::uint64_t address) { return tensor.map(address); }, memory, expected, 3);
}

TEST(TensorLoad, of_1_to_5_dimensions) {
  expect_box({TensorMapType::uint16, {100}, {64}, {1}}, {16});
  expect_box({TensorMapType::uint16, {40, 20}, {16, 8}, {1, 1}}, {8, 3});
  expect_box({TensorMapType::uint16, {40, 20, 5}, {8, 4, 3}, {1, 1, 1}}, {8, 2, 1});
  expect_box({TensorMapType::uint16, {24, 10, 5, 4}, {8, 4, 3, 2}, {1, 1, 1, 1}}, {8, 2, 1, 2});
  expect_box({TensorMapType::uint16, {24, 6, 5, 4, 3}, {8, 4, 2, 2, 2}, {1, 1, 1, 1, 1}}, {8, 2, 1, 2, 1});
}

TEST(TensorLoad, fills_what_is_outside) {
  expect_box({TensorMapType::uint16, {40, 20}, {16, 8}, {1, 1}}, {32, 16});
  expect_box({TensorMapType::uint16, {40, 20}, {16, 8}, {1, 1}}, {-8, -2});
  expect_box({TensorMapType::uint16, {40, 20, 3}, {16, 8, 2}, {1, 1, 1}}, {-104, 5, 2});
  Tensor nan{TensorMapType::bfloat16, {40, 20}, {16, 8}, {1, 1}};
  nan.fill = TensorMapFill::nan_request_zero_fma;
  expect_box(nan, {32, 16}, 0x7ff7);
}

TEST(TensorLoad, fills_every_type_with_the_same_pattern) {
  for (const TensorMapType type : {TensorMapType::float16, TensorMapType::float32, TensorMapType::float64,
                                   TensorMapType::tfloat32, TensorMapType::float32_ftz}) {
    const bool wide = type == TensorMapType::float64;
    const std::uint64_t dimension = 64, stride = 0;
    const std::uint32_t box = wide ? 4 : 16, step = 1;
    const std::uint32_t bytes = box * (wide ? 8 : type == TensorMapType::float16 ? 2 : 4);
    PtxKernel kernel(tensor_parameters, load(1, "64", bytes));
    const std::uint64_t to = kernel.zeros<std::uint8_t>(bytes);
    const TensorMap map = encode_tiled(type, 1, kernel.upload(numbered(256)), &dimension, &stride, &box,
                                       &step, TensorMapInterleave::none, TensorMapSwizzle::none,
                                       TensorMapL2Promotion::none, TensorMapFill::nan_request_zero_fma);
    kernel.grid(1, 64).argument(0, map).argument(1, to);
    expect_clean(kernel, [&] {
      EXPECT_EQ(kernel.download<std::uint16_t>(to, bytes / 2), std::vector<std::uint16_t>(bytes / 2, 0x7ff7));
    });
  }
}

TEST(TensorLoad, rounds_to_tf32_and_flushes_nothing) {
  const std::vector<std::uint32_t> values = {
      0x3f800fff, 0x3f801000, 0x3f801001, 0x3f803000, 0xbf801001, 0x7f800001, 0xff800001, 0x7f7fffff,
      0x7f800000, 0x00000fff, 0x00001001, 0x807fffff, 0x00003000, 0x00801000, 0x7fffffff, 0x80001001};
  const std::vector<std::uint32_t> rounded = {
      0x3f800000, 0x3f800000, 0x3f802000, 0x3f804000, 0xbf802000, 0x7fffe000, 0x7fffe000, 0x7f800000,
      0x7f800000, 0x00000000, 0x00002000, 0x80800000, 0x00004000, 0x00800000, 0x7fffe000, 0x80002000};
  for (const TensorMapType type : {TensorMapType::float32, TensorMapType::float32_ftz,
                                   TensorMapType::tfloat32, TensorMapType::tfloat32_ftz}) {
    const std::uint64_t dimension = values.size(), stride = 0;
    const std::uint32_t box = 16, step = 1;
    PtxKernel kernel(tensor_parameters, load(1, "0", 64));
    const std::uint64_t to = kernel.zeros<std::uint8_t>(64);
    const TensorMap map = encode_tiled(type, 1, kernel.upload(values), &dimension, &stride, &box, &step,
                                       TensorMapInterleave::none, TensorMapSwizzle::none,
                                       TensorMapL2Promotion::none, TensorMapFill::zeros);
    kernel.grid(1, 64).argument(0, map).argument(1, to);
    const bool rounds = type == TensorMapType::tfloat32 || type == TensorMapType::tfloat32_ftz;
    expect_clean(kernel,
                 [&] { EXPECT_EQ(kernel.download<std::uint32_t>(to, 16), rounds ? rounded : values); });
  }
}

TEST(TensorLoad, steps_over_elements) {
  expect_box({TensorMapType::uint16, {40, 20, 9}, {16, 8, 5}, {1, 3, 2}}, {8, 1, 2});
}

TEST(TensorLoad, swizzles_by_the_row_of_128_bytes) {
  for (const int span : {32, 64, 128}) {
    Tensor tensor{TensorMapType::uint16, {100, 40}, {static_cast<std::uint32_t>(span / 2), 32}, {1, 1}};
    tensor.swizzle = span == 32   ? TensorMapSwizzle::bytes_32
                     : span == 64 ? TensorMapSwizzle::bytes_64
                                  : TensorMapSwizzle::bytes_128;
    const std::vector<std::uint16_t> memory = numbered(tensor.elements());
    const std::vector<std::uint16_t> plain = box_of(tensor, memory, {8, 2}, 0);
    std::vector<std::uint16_t> expected(plain.size());
    const std::size_t chunks = static_cast<std::size_t>(span) / 16;
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const std::size_t row = i / (chunks * 8), chunk = i / 8 % chunks;
      const std::size_t row_of_128 = row * chunks / 8;  // of 128 bytes
      expected[row * chunks * 8 + (chunk ^ row_of_128 % chunks) * 8 + i % 8] = plain[i];
    }
    SCOPED_TRACE(span);
    expect_tensor_load(
        load_of_box({8, 2}), [&](std::uint64_t address) { return tensor.map(address); }, memory, expected, 3);
  }
}

TEST(TensorLoad, of_something_else_than_a_map_is_found) {
  PtxKernel kernel(tensor_parameters, load(2, "0, 0", 256));
  TensorMap other{};
  kernel.grid(1, 64).argument(0, other).argument(1, kernel.zeros<std::uint8_t>(256));
  expect_fault(kernel, FindingKind::argument, "cannot be used: All its bytes are zero");
}

// As an H200 does, which stops with an illegal instruction.
TEST(TensorLoad, starts_at_a_multiple_of_16_bytes) {
  const Tensor tensor{TensorMapType::uint16, {40, 20}, {16, 8}, {1, 1}};
  for (const char* const at : {"3, 0", "4, 0", "-4, 0", "41, 0"}) {
    PtxKernel kernel(tensor_parameters, load(2, at, 256));
    kernel.grid(1, 64)
        .argument(0, tensor.map(kernel.upload(numbered(tensor.elements()))))
        .argument(1, kernel.zeros<std::uint8_t>(256));
    expect_fault(kernel, FindingKind::argument, "but needs a multiple of 16 bytes");
  }
}

TEST(TensorLoad, must_have_the_rank_of_the_map) {
  const Tensor tensor{TensorMapType::uint16, {40, 20}, {16, 8}, {1, 1}};
  PtxKernel kernel(tensor_parameters, load(3, "0, 0, 0", 256));
  const std::uint64_t memory = kernel.upload(numbered(tensor.elements()));
  kernel.grid(1, 64).argument(0, tensor.map(memory)).argument(1, kernel.zeros<std::uint8_t>(256));
  expect_fault(kernel, FindingKind::argument, "Its rank is 2 but the instruction is .3d.");
}

TEST(TensorLoad, of_memory_outside_the_allocation_is_found) {
  const Tensor tensor{TensorMapType::uint16, {40, 20}, {16, 8}, {1, 1}};
  PtxKernel kernel(tensor_parameters, load(2, "0, 16", 256));
  const std::uint64_t memory = kernel.upload(numbered(tensor.elements() / 2));
  kernel.grid(1, 64).argument(0, tensor.map(memory)).argument(1, kernel.zeros<std::uint8_t>(256));
  expect_fault(kernel, FindingKind::out_of_bounds);
}

TEST(TensorLoad, needs_a_target_aligned_to_128_bytes) {
  const Tensor tensor{TensorMapType::uint16, {40, 20}, {16, 8}, {1, 1}};
  PtxKernel kernel(tensor_parameters,
                   changed(tensor_load(load_of_box("0, 0", 2), 256, 512), "bytes [%r1],", "bytes [%r1+64],"));
  const std::uint64_t memory = kernel.upload(numbered(tensor.elements()));
  kernel.grid(1, 64).argument(0, tensor.map(memory)).argument(1, kernel.zeros<std::uint8_t>(512));
  expect_fault(kernel, FindingKind::misaligned, "The destination address");
}

// --- multicast: each CTA of a cluster of two loads one half of a tile into both.

constexpr char multicast[] = R"(
  .shared .align 128 .b8 tile[512]; .shared .align 8 .b64 bar;
  .reg .b32 %r<10>; .reg .b64 %d<6>; .reg .pred %p<4>; .reg .b16 %h<2>;
  mov.b64 %d0, map; cvta.param.u64 %d0, %d0; ld.param.u64 %d1, [data];
  mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, bar; mov.u32 %r7, %cluster_ctarank;
  mov.b16 %h0, 3;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra READY;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
READY:
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  @%p0 bra WAIT;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;
  shl.b32 %r8, %r7, 3; shl.b32 %r9, %r7, 8; add.s32 %r9, %r9, %r1; mov.u32 %r3, 0;
  and.b32 %r9, %r9, 0xffffff;  // the offset in any CTA; the mask selects the CTAs
  mapa.shared::cluster.u32 %r9, %r9, %r7;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%r9], [%d0, {%r3, %r8}], [%r2], %h0;
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
  @!%p1 bra WAIT;
  mov.u32 %r3, %ctaid.x; shl.b32 %r3, %r3, 7; add.s32 %r3, %r3, %r0;
  shl.b32 %r4, %r0, 2; add.s32 %r5, %r1, %r4; mul.wide.u32 %d2, %r3, 4; add.s64 %d2, %d1, %d2;
  ld.shared.b32 %r6, [%r5];
  st.global.b32 [%d2], %r6;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  ret;)";

TEST(TensorLoad, multicasts_to_a_cluster) {
  const Tensor tensor{TensorMapType::uint16, {16, 20}, {16, 8}, {1, 1}};
  const std::vector<std::uint16_t> memory = numbered(tensor.elements());
  std::vector<std::uint16_t> expected = box_of(tensor, memory, {0, 0}, 0);
  for (const std::uint16_t value : box_of(tensor, memory, {0, 8}, 0)) expected.push_back(value);
  PtxKernel kernel(tensor_parameters, multicast);
  const std::uint64_t to = kernel.zeros<std::uint8_t>(1024);
  kernel.grid(2, 128, 2).argument(0, tensor.map(kernel.upload(memory))).argument(1, to);
  expect_clean(kernel, [&] {
    const auto result = kernel.download<std::uint16_t>(to, 512);
    EXPECT_EQ(std::vector<std::uint16_t>(result.begin(), result.begin() + 256), expected);
    EXPECT_EQ(std::vector<std::uint16_t>(result.begin() + 256, result.end()), expected);
  });
}

TEST(TensorLoad, a_mask_beyond_the_cluster_is_found) {
  const Tensor tensor{TensorMapType::uint16, {16, 20}, {16, 8}, {1, 1}};
  PtxKernel kernel(tensor_parameters, changed(changed(multicast, "mov.b16 %h0, 3;", "mov.b16 %h0, 7;"),
                                              "[%r2], %h0;", "[%r2], %h0;  // FAULT"));
  const std::uint64_t memory = kernel.upload(numbered(tensor.elements()));
  kernel.grid(2, 128, 2).argument(0, tensor.map(memory)).argument(1, kernel.zeros<std::uint8_t>(1024));
  expect_fault(kernel, FindingKind::argument, "The CTA mask of the multicast is 7");
}

TEST(TensorLoad, a_multicast_without_a_cluster_barrier_is_found) {
  const Tensor tensor{TensorMapType::uint16, {16, 20}, {16, 8}, {1, 1}};
  PtxKernel kernel(tensor_parameters, changed(multicast,
                                              "  barrier.cluster.arrive.release.aligned;\n"
                                              "  barrier.cluster.wait.acquire.aligned;\n",
                                              "  bar.sync 0;\n"));
  const std::uint64_t memory = kernel.upload(numbered(tensor.elements()));
  kernel.grid(2, 128, 2).argument(0, tensor.map(memory)).argument(1, kernel.zeros<std::uint8_t>(1024));
  for (const ScheduleChoice choice : all_schedules()) {
    const LaunchReport report = kernel.run(choice);
    EXPECT_FALSE(report.findings.empty()) << text(choice);
  }
}

// --- stores and reductions: 64 threads write a tile of 16 x 8, one stores it with the map.

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
