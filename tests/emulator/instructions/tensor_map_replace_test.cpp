// Tensor maps that a kernel builds from zeros with tensormap.replace, as Triton does, and maps in which the
// host changes a bit, as CUTLASS does.
#include <cstring>
#include <numeric>

#include "emulator/instructions/run_ptx.hpp"

namespace tenon::emulator::testing {
namespace {

constexpr int rows = 20, columns = 44, pitch = 48, box_rows = 8, box_columns = 32;  // of 16-bit elements

// Loads the box of 8 x 32 elements at row 15, column 16 by the map at %d0, and stores it from %d1.
constexpr char load_box[] = R"(
  mov.u32 %r2, bar; mov.u32 %r3, tile;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  fence.proxy.async;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;
  mov.u32 %r4, 16; mov.u32 %r5, 15;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [%d0, {%r4, %r5}], [%r2];  // FAULT
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
  @!%p1 bra WAIT;
  mov.u32 %r4, 0;
DUMP:
  add.s32 %r5, %r3, %r4; cvt.u64.u32 %d2, %r4; add.s64 %d2, %d1, %d2;
  ld.shared.b32 %r6, [%r5];
  st.global.b32 [%d2], %r6;
  add.s32 %r4, %r4, 4;
  setp.lt.u32 %p2, %r4, 512;
  @%p2 bra DUMP;
  ret;)";

constexpr char declarations[] = R"(
  .shared .align 1024 .b8 tile[512]; .shared .align 128 .b8 copy[128]; .shared .align 8 .b64 bar;
  .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .pred %p<4>;)";

// What the box holds: the swizzle of 64 bytes permutes the 16-byte chunks, and elements outside are zero.
std::vector<std::uint16_t> box_of(const std::vector<std::uint16_t>& memory) {
  std::vector<std::uint16_t> box(box_rows * box_columns);
  for (int y = 0; y < box_rows; ++y) {
    for (int x = 0; x < box_columns; ++x) {
      const int at = y * box_columns + x, chunk = at / 8 ^ (at / 64 & 3);
      const bool is_inside = 15 + y < rows && 16 + x < columns;
      box[static_cast<std::size_t>(chunk * 8 + at % 8)] =
          is_inside ? memory[static_cast<std::size_t>((15 + y) * pitch + 16 + x)] : std::uint16_t{0};
    }
  }
  return box;
}

std::vector<std::uint16_t> numbered_memory() {
  std::vector<std::uint16_t> memory(rows * pitch);
  std::iota(memory.begin(), memory.end(), std::uint16_t{1});
  return memory;
}

// The map that the kernels below make of zeros.
TensorMap encoded_map(std::uint64_t address) {
  const std::uint64_t dimensions[] = {columns, rows}, strides[] = {pitch * 2};
  const std::uint32_t box[] = {box_columns, box_rows}, steps[] = {1, 1};
  return encode_tiled(TensorMapType::float16, 2, address, dimensions, strides, box, steps,
                      TensorMapInterleave::none, TensorMapSwizzle::bytes_64, TensorMapL2Promotion::bytes_128,
                      TensorMapFill::zeros);
}

TEST(TensorMapOfTheHost, a_bit_that_cutlass_changes_makes_no_difference) {
  for (const bool is_set : {false, true}) {
    PtxKernel kernel(".param .align 64 .b8 map[128], .param .u64 to",
                     std::string(declarations) +
                         "mov.b64 %d0, map; cvta.param.u64 %d0, %d0; ld.param.u64 %d1, [to];" + load_box);
    const std::vector<std::uint16_t> memory = numbered_memory();
    TensorMap map = encoded_map(kernel.upload(memory));
    std::uint64_t word;
    std::memcpy(&word, map.bytes + 8, 8);
    word = (word & ~(1ULL << 21)) | (is_set ? 1ULL << 21 : 0);
    std::memcpy(map.bytes + 8, &word, 8);
    const std::uint64_t to = kernel.zeros<std::uint16_t>(box_rows * box_columns);
    kernel.grid(1, 1).argument(0, map).argument(1, to);
    expect_clean(kernel, [&] {
      EXPECT_EQ(kernel.download<std::uint16_t>(to, box_rows * box_columns), box_of(memory)) << is_set;
    });
  }
}

// Each field of a map of float16: `space` is the state space with its dot, `map` the address, %d3 the tensor.
std::string all_fields(const std::string& space, const std::string& map) {
  std::string text;
  for (const char* field : {"global_address|b64|%d3", "rank|b32|1", "box_dim|b32|0, 32", "box_dim|b32|1, 8",
                            "global_dim|b32|0, 44", "global_dim|b32|1, 20", "global_stride|b64|0, %d4",
                            "element_stride|b32|0, 1", "element_stride|b32|1, 1", "elemtype|b32|6",
                            "interleave_layout|b32|0", "swizzle_mode|b32|2", "fill_mode|b32|0"}) {
    const std::string all = field;
    const std::size_t first = all.find('|'), second = all.find('|', first + 1);
    text += "  tensormap.replace.tile." + all.substr(0, first) + space + ".b1024." +
            all.substr(first + 1, second - first - 1) + " [" + map + "], " + all.substr(second + 1) + ";\n";
  }
  return text;
}

constexpr char parameters[] = ".param .u64 map, .param .u64 to, .param .u64 tensor";
constexpr char load_parameters[] = R"(
  ld.param.u64 %d0, [map]; ld.param.u64 %d1, [to]; ld.param.u64 %d3, [tensor]; mov.u64 %d4, 96;
  mov.u32 %r0, %tid.x;)";

// Zeros in shared memory, written by a warp, become a map, which is copied to global memory.
std::string made_in_shared() {
  return std::string(declarations) + load_parameters + R"(
  mov.u32 %r1, copy; shl.b32 %r2, %r0, 2; add.s32 %r2, %r1, %r2; mov.u32 %r3, 0;
  st.shared.b32 [%r2], %r3;
  bar.warp.sync -1;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra MADE;
)" + all_fields(".shared::cta", "%r1") +
         R"(MADE:
  bar.warp.sync -1;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d0], [%r1], 128;
  bar.warp.sync -1;
  @%p0 ret;
  fence.proxy.tensormap::generic.acquire.gpu [%d0], 128;)" +
         load_box;
}

std::string made_in_global(const std::string& space) {
  return std::string(declarations) + load_parameters + "\n" + all_fields(space, "%d0") + R"(
  fence.proxy.tensormap::generic.release.gpu;
  fence.proxy.tensormap::generic.acquire.gpu [%d0], 128;)" +
         load_box;
}

struct Made {
  PtxKernel kernel;
  std::vector<std::uint16_t> memory = numbered_memory();
  std::uint64_t tensor, map, to;

  Made(const std::string& body, unsigned threads)
      : kernel(parameters, body),
        tensor(kernel.upload(memory)),
        map(kernel.upload(Map{})),
        to(kernel.zeros<std::uint16_t>(box_rows * box_columns)) {
    kernel.grid(1, threads).argument(0, map).argument(1, to).argument(2, tensor);
  }
  struct Map : std::vector<std::uint8_t> {
    Map() : vector(128) {}
  };
  void expect_box() {
    expect_clean(kernel, [&] {
      EXPECT_EQ(kernel.download<std::uint16_t>(to, box_rows * box_columns), box_of(memory));
    });
  }
  // All but the driver's notes about the box, from byte 64, and the L2 promotion, which no field changes.
  void expect_bits() {
    if (on_gpu()) return;  // the address there is another
    TensorMap expected = encoded_map(tensor);
    expected.bytes[10] &= 0xf9U;
    const auto made = kernel.download<std::uint8_t>(map, 64);
    EXPECT_EQ(made, std::vector<std::uint8_t>(expected.bytes, expected.bytes + 64));
  }
};

TEST(TensorMapReplace, makes_a_map_of_zeros_in_shared_memory) {
  Made made(made_in_shared(), 32);
  made.expect_box();
  made.expect_bits();
}

TEST(TensorMapReplace, makes_a_map_of_zeros_in_global_memory) {
  for (const char* space : {".global", ""}) {
    SCOPED_TRACE(space);
    Made made(made_in_global(space), 1);
    made.expect_box();
    made.expect_bits();
  }
}

TEST(TensorMapReplace, a_field_that_is_forgotten_is_found_at_the_copy) {
  const struct {
    const char *from, *to, *sentence;
  } cases[] = {
      {"box_dim.global.b1024.b32 [%d0], 0, 32", "box_dim.global.b1024.b32 [%d0], 0, 1",
       "cannot be used: The innermost row of the box is 2 but must be a multiple of 16 bytes."},
      {"rank.global.b1024.b32 [%d0], 1", "rank.global.b1024.b32 [%d0], 0",
       "cannot be used: Its rank is 1 but the instruction is .2d."},
      {"elemtype.global.b1024.b32 [%d0], 6", "elemtype.global.b1024.b32 [%d0], 9",
       "cannot be used: The innermost row of the box is 256 but a swizzle of 64 bytes needs a row of at "
       "most"},
  };
  for (const auto& c : cases) {
    Made made(changed(made_in_global(".global"), c.from, c.to), 1);
    expect_fault(made.kernel, FindingKind::argument, c.sentence, 1);
  }
}

TEST(TensorMapReplace, a_copy_by_bytes_that_are_no_map_is_found) {
  PtxKernel kernel(parameters, std::string(declarations) + load_parameters + load_box);
  const std::uint64_t map = kernel.upload(std::vector<std::uint8_t>(128, 0xff));
  kernel.grid(1, 1).argument(0, map).argument(1, kernel.zeros<std::uint16_t>(256)).argument(2, map);
  expect_fault(kernel, FindingKind::argument,
               "cannot be used: The code of its element type is 15 but must be from 0 to 10.", 1);
}

TEST(TensorMapReplace, a_stride_that_loses_bits_is_found) {
  for (const auto& [stride, found] : {std::pair("104", "104"), std::pair("0x10000000000", "1099511627776")}) {
    const std::string body = changed(made_in_global(".global"), "[%d0], 0, %d4;", "[%d0], 0, %d4;  // FAULT");
    Made made(changed(changed(body, "[%r2];  // FAULT", "[%r2];"), "%d4, 96", std::string("%d4, ") + stride),
              1);
    expect_fault(
        made.kernel, FindingKind::argument,
        std::string("The stride is ") + found + " but must be a multiple of 16 bytes and less than 2^40.", 1);
  }
}

TEST(TensorMapReplace, the_field_of_sm_100_is_refused) {
  try {
    PtxKernel kernel(parameters,
                     std::string(declarations) + load_parameters +
                         "tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%d0], 1;\nret;");
    FAIL() << "accepted";
  } catch (const ptx::Error& error) {
    EXPECT_NE(std::string(error.what()).find("the field .swizzle_atomicity needs sm_100"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tenon::emulator::testing
