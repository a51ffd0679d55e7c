// Tensor loads: boxes in 1 to 5 dimensions against a direct computation, swizzles, edges, multicast, and the
// findings about misuse.
#include "emulator/instructions/tensor_kernel.hpp"

namespace tenon::emulator::testing {
namespace {

// One thread loads a box, and all threads write the shared memory out unchanged.
std::string load(int rank, const std::string& coordinates, std::size_t bytes) {
  return tensor_load(load_of_box(coordinates, rank), bytes, bytes);
}

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

}  // namespace
}  // namespace tenon::emulator::testing
