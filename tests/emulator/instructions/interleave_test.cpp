// Tensor copies by maps with an interleaved layout (PTX ISA 5.5.6): NC/8HWC8 and NC/16HWC16 against a direct
// computation, edges, and the maps whose copies are not documented.
#include <functional>

#include "emulator/instructions/run_ptx.hpp"

namespace tenon::emulator::testing {
namespace {

// Channels of one slice, W, H, slices of an image, images: N (C/8) H W C8 as a tensor of 2-byte elements.
struct Sliced {
  std::vector<std::uint64_t> dimensions;
  std::vector<std::uint32_t> box;
  std::vector<std::uint32_t> steps = {1, 1, 1, 1, 1};
  TensorMapInterleave interleave = TensorMapInterleave::bytes_16;
  TensorMapSwizzle swizzle = TensorMapSwizzle::none;
  TensorMapType type = TensorMapType::uint16;
  TensorMapFill fill = TensorMapFill::zeros;
  std::uint64_t pixel_stride = 0;  // bytes; 0: packed

  std::vector<std::uint64_t> strides() const {  // bytes, and of all; rows of pixels are padded by one
    const std::uint64_t slice = interleave == TensorMapInterleave::bytes_32 ? 32 : 16;
    std::vector<std::uint64_t> all{pixel_stride == 0 ? slice : pixel_stride};
    all.push_back(all[0] * (dimensions[1] + 1));
    for (std::size_t i = 2; i < dimensions.size(); ++i) all.push_back(all.back() * dimensions[i]);
    return all;
  }
  std::size_t elements() const { return strides().back() / 2; }
  TensorMap map(std::uint64_t address) const {
    return encode_tiled(type, static_cast<int>(dimensions.size()), address, dimensions.data(),
                        strides().data(), box.data(), steps.data(), interleave, swizzle,
                        TensorMapL2Promotion::none, fill);
  }
};

// The indices in memory of a box's elements, in the order of the box; -1: outside the tensor.
std::vector<std::int64_t> places_of(const Sliced& t, const std::vector<std::int32_t>& at) {
  std::vector<std::int64_t> places;
  const std::vector<std::uint64_t> strides = t.strides();
  std::uint32_t total = 1;
  std::vector<std::uint32_t> counts;
  for (std::size_t i = 0; i < at.size(); ++i) {
    counts.push_back((t.box[i] + t.steps[i] - 1) / t.steps[i]);
    total *= counts.back();
  }
  for (std::uint32_t number = 0; number < total; ++number) {
    std::uint32_t rest = number;
    std::int64_t place = 0;
    bool inside = true;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const std::int64_t index = at[i] + std::int64_t{rest % counts[i]} * t.steps[i];
      rest /= counts[i];
      inside = inside && index >= 0 && index < static_cast<std::int64_t>(t.dimensions[i]);
      place += index * (i == 0 ? 1 : static_cast<std::int64_t>(strides[i - 1] / 2));
    }
    places.push_back(inside ? place : -1);
  }
  return places;
}

// Where an element of the box lies in shared memory, in elements. The swizzle of 32 bytes exchanges the
// chunks of 16 bytes in every second row of 128 bytes.
std::size_t shared_place(const Sliced& t, std::size_t i) {
  return t.swizzle == TensorMapSwizzle::bytes_32 ? i ^ (i / 64 % 2 * 8) : i;
}

std::string joined(const std::vector<std::int32_t>& values) {
  std::string text;
  for (const std::int32_t value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return text;
}

std::vector<std::uint16_t> numbered(std::size_t count) {
  std::vector<std::uint16_t> memory(count);
  for (std::size_t i = 0; i < count; ++i) memory[i] = static_cast<std::uint16_t>(i * 7 + 1);
  return memory;
}

constexpr char parameters[] = ".param .align 64 .b8 map[128], .param .u64 data";
constexpr char start[] = R"(
  .shared .align 1024 .b8 tile[16384]; .shared .align 8 .b64 bar;
  .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<4>;
  mov.b64 %d0, map; cvta.param.u64 %d0, %d0; ld.param.u64 %d1, [data];
  mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, bar;
  setp.ne.u32 %p0, %r0, 0;)";

// One thread loads a box, and all threads write the shared memory out unchanged.
std::string load(const std::vector<std::int32_t>& at, std::size_t bytes) {
  return start + (R"(
  @%p0 bra READY;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], )" +
                  std::to_string(bytes) + ";\n  cp.async.bulk.tensor." + std::to_string(at.size()) +
                  "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%d0, {" + joined(at) +
                  R"(}], [%r2];  // FAULT
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
  bra DUMP;)");
}

void expect_load(const Sliced& t, const std::vector<std::int32_t>& at, std::uint16_t outside = 0) {
  SCOPED_TRACE("at " + joined(at));
  const std::vector<std::uint16_t> memory = numbered(t.elements());
  const std::vector<std::int64_t> places = places_of(t, at);
  std::vector<std::uint16_t> expected(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    expected[shared_place(t, i)] = places[i] < 0 ? outside : memory[static_cast<std::size_t>(places[i])];
  }
  PtxKernel kernel(parameters, load(at, expected.size() * 2));
  const std::uint64_t to = kernel.zeros<std::uint16_t>(expected.size());
  kernel.grid(1, 64).argument(0, t.map(kernel.upload(memory))).argument(1, to);
  expect_clean(
      kernel, [&] { EXPECT_EQ(kernel.download<std::uint16_t>(to, expected.size()), expected); }, 2);
}

Sliced slices_of_32(std::vector<std::uint64_t> dimensions, std::vector<std::uint32_t> box) {
  Sliced t{std::move(dimensions), std::move(box)};
  t.interleave = TensorMapInterleave::bytes_32;
  t.swizzle = TensorMapSwizzle::bytes_32;
  return t;
}

TEST(Interleave, loads_slices_of_16_bytes) {
  expect_load({{8, 7, 5}, {8, 4, 3}}, {0, 2, 1});
  expect_load({{8, 7, 5, 3}, {8, 4, 3, 2}}, {0, 2, 1, 1});
  expect_load({{8, 7, 5, 3, 2}, {8, 4, 3, 2, 2}}, {0, 2, 1, 1, 0});
}

TEST(Interleave, loads_slices_of_32_bytes_with_their_swizzle) {
  expect_load(slices_of_32({16, 9, 5}, {16, 8, 3}), {0, 1, 1});
  expect_load(slices_of_32({16, 7, 5, 3}, {16, 5, 3, 2}), {0, 2, 1, 1});
  expect_load(slices_of_32({16, 7, 5, 3, 2}, {16, 3, 2, 2, 2}), {0, 2, 1, 1, 0});
}

TEST(Interleave, fills_what_is_outside) {
  expect_load({{8, 7, 5, 3}, {8, 4, 3, 2}}, {0, 5, 4, 2});
  expect_load({{8, 7, 5, 3}, {8, 4, 3, 2}}, {0, -2, -1, -1});
  expect_load({{8, 7, 5, 3}, {8, 4, 3, 2}}, {8, 0, 0, 0});
  expect_load(slices_of_32({16, 7, 5, 3}, {16, 5, 3, 2}), {0, -3, 3, 2});
  Sliced nan{{8, 7, 5, 3}, {8, 4, 3, 2}};
  nan.type = TensorMapType::bfloat16;
  nan.fill = TensorMapFill::nan_request_zero_fma;
  expect_load(nan, {0, 5, 4, 2}, 0x7ff7);
}

TEST(Interleave, steps_over_pixels) {
  Sliced t{{8, 9, 8, 3}, {8, 7, 4, 2}};
  t.steps = {1, 3, 2, 1};
  expect_load(t, {0, 1, -1, 1});
}

TEST(Interleave, stores_slices_inside_the_tensor) {
  for (const Sliced& t : {Sliced{{8, 7, 5, 3}, {8, 4, 3, 2}}, slices_of_32({16, 7, 5, 3}, {16, 4, 3, 2})}) {
    const std::vector<std::int32_t> at{0, 5, -1, 2};  // over three edges
    const std::vector<std::int64_t> places = places_of(t, at);
    const std::string bytes = std::to_string(places.size() * 2);
    PtxKernel kernel(parameters, std::string(start) + R"(
  shl.b32 %r3, %r0, 2;
FILL:
  setp.ge.u32 %p2, %r3, )" + bytes +
                                     R"(;
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
  cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%d0, {)" +
                                     joined(at) + R"(}], [%r1];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;)");
    const std::vector<std::uint16_t> data = numbered(places.size());
    std::vector<std::uint16_t> expected(t.elements());
    for (std::size_t i = 0; i < places.size(); ++i)
      if (places[i] >= 0) expected[static_cast<std::size_t>(places[i])] = data[shared_place(t, i)];
    const std::uint64_t tensor = kernel.zeros<std::uint16_t>(expected.size());
    kernel.grid(1, 64).argument(0, t.map(tensor)).argument(1, kernel.upload(data));
    expect_clean(
        kernel, [&] { EXPECT_EQ(kernel.download<std::uint16_t>(tensor, expected.size()), expected); }, 2);
  }
}

// The map is encoded, as the driver does, and its copy is a finding.
void expect_refused(const Sliced& t, const std::string& says) {
  PtxKernel kernel(parameters, load({0, 0, 0}, 128));
  kernel.grid(1, 64)
      .argument(0, t.map(kernel.upload(numbered(t.elements()))))
      .argument(1, kernel.zeros<std::uint16_t>(64));
  expect_fault(kernel, FindingKind::argument, says, 1);
}

TEST(Interleave, of_several_slices_in_the_innermost_dimension_is_not_documented) {
  expect_refused(
      {{20, 4, 4}, {8, 4, 2}},
      "cannot be used: The layout interleaved by 16 bytes has an innermost dimension of 40 bytes; the "
      "emulator copies only maps whose innermost dimension is one slice of 16 bytes");
  expect_refused({{6, 4, 4}, {8, 4, 2}}, "has an innermost dimension of 12 bytes");
  expect_refused({{8, 4, 4}, {16, 4, 1}}, "has a box of 32 bytes in the innermost dimension; it needs 16.");
}

TEST(Interleave, of_other_elements_steps_and_strides_is_not_documented) {
  Sliced t{{8, 4, 4}, {8, 4, 2}};
  t.type = TensorMapType::float32;
  expect_refused(t, "has elements of 4 bytes; only slices of 2-byte elements are documented.");
  t.type = TensorMapType::float16;
  t.pixel_stride = 48;
  expect_refused(t, "has a stride of 48 bytes from one slice to the next");
  t.pixel_stride = 0;
  t.steps[0] = 2;
  expect_refused(t, "has an innermost element stride of 2");
}

TEST(Interleave, of_16_bytes_with_a_swizzle_is_not_documented) {
  Sliced t{{8, 4, 4}, {8, 4, 2}};
  t.swizzle = TensorMapSwizzle::bytes_128;
  expect_refused(t, "has a swizzle of 128 bytes; how slices of 16 bytes fill its rows is not documented.");
}

TEST(Interleave, of_im2col_is_not_documented) {
  const std::uint64_t dimensions[] = {8, 4, 4}, strides[] = {16, 64};
  const int corner[] = {0};
  const std::uint32_t steps[] = {1, 1, 1};
  PtxKernel kernel(parameters, changed(changed(load({0, 0, 0}, 64), ".tile.", ".im2col."), "[%r2];  // FAULT",
                                       "[%r2], {0};  // FAULT"));
  const TensorMap map =
      encode_im2col(TensorMapType::uint16, 3, kernel.upload(numbered(128)), dimensions, strides, corner,
                    corner, 8, 4, steps, TensorMapInterleave::bytes_16, TensorMapSwizzle::none,
                    TensorMapL2Promotion::none, TensorMapFill::zeros);
  kernel.grid(1, 64).argument(0, map).argument(1, kernel.zeros<std::uint16_t>(32));
  expect_fault(kernel, FindingKind::argument, "The layout interleaved by 16 bytes is of im2col", 1);
}

TEST(Interleave, of_32_bytes_needs_the_swizzle_of_32_bytes) {
  Sliced t = slices_of_32({16, 4, 4}, {16, 4, 2});
  t.swizzle = TensorMapSwizzle::none;
  try {
    t.map(0x10000);
    ADD_FAILURE() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(
        error.what(),
        "The swizzle, CUtensorMapSwizzle, is 0 but the interleave of 32 bytes needs 1, the swizzle of "
        "32 bytes.");
  }
}

}  // namespace
}  // namespace tenon::emulator::testing
