// wgmma: every type, n, layout and operand source against the definition of the product; and the findings
// about misuse.
#include "emulator/instructions/wgmma_kernel.hpp"

namespace tenon::emulator::testing {
namespace {

void expect_product(const WgmmaCase& form, std::uint64_t seeds = 0) {
  const WgmmaData data(form);
  SCOPED_TRACE(data.instruction() + " swizzle " + std::to_string(form.span));
  WgmmaKernel run(data, data.body());
  const std::vector<std::uint32_t> expected = data.result();
  expect_clean(
      run.kernel, [&] { EXPECT_EQ(run.kernel.download<std::uint32_t>(run.to, run.count), expected); }, seeds);
}

TEST(Wgmma, every_n) {
  for (int n = 8; n <= 256; n += 8) {
    WgmmaCase form;
    form.n = n;
    form.span = n % 3 == 0 ? 0 : 128;
    expect_product(form);
  }
}

struct Types {
  const char *d, *a, *b;
};
constexpr Types all_types[] = {{"f32", "f16", "f16"},   {"f16", "f16", "f16"},   {"f32", "bf16", "bf16"},
                               {"f32", "tf32", "tf32"}, {"f32", "e4m3", "e4m3"}, {"f32", "e4m3", "e5m2"},
                               {"f32", "e5m2", "e4m3"}, {"f32", "e5m2", "e5m2"}, {"f16", "e4m3", "e4m3"},
                               {"f16", "e5m2", "e4m3"}, {"s32", "s8", "s8"},     {"s32", "u8", "u8"},
                               {"s32", "s8", "u8"},     {"s32", "u8", "s8"},     {"s32", "b1", "b1"}};

WgmmaCase of(const Types& types) {
  WgmmaCase form;
  form.d = types.d;
  form.a = types.a;
  form.b = types.b;
  return form;
}

TEST(Wgmma, every_type_in_every_swizzle) {
  for (const Types& types : all_types) {
    for (const int span : {0, 32, 64, 128}) {
      WgmmaCase form = of(types);
      form.span = span;
      form.n = 24;
      expect_product(form);
    }
  }
}

TEST(Wgmma, a_from_registers) {
  for (const Types& types : all_types) {
    WgmmaCase form = of(types);
    form.a_in_registers = true;
    form.span = 128;
    expect_product(form, 2);
  }
}

TEST(Wgmma, mn_major_operands) {
  for (const char* type : {"f16", "bf16"}) {
    for (const int span : {0, 32, 64, 128}) {
      for (int which = 1; which < 4; ++which) {
        WgmmaCase form;
        form.a = form.b = type;
        form.span = span;
        form.n = 128;
        form.a_mn_major = (which & 1) != 0;
        form.b_mn_major = (which & 2) != 0;
        expect_product(form);
      }
    }
  }
}

TEST(Wgmma, scales_and_signs) {
  for (int which = 0; which < 8; ++which) {
    WgmmaCase form;
    form.negate_a = (which & 1) != 0;
    form.negate_b = (which & 2) != 0;
    form.accumulate = (which & 4) != 0;
    expect_product(form);
  }
}

TEST(Wgmma, sparse) {
  for (const Types& types : all_types) {
    if (std::string(types.a) == "b1") continue;
    for (const bool in_registers : {false, true}) {
      WgmmaCase form = of(types);
      form.sparse = true;
      form.span = 128;
      form.a_in_registers = in_registers;
      expect_product(form);
      if (bits_of_type(form.a) < 16) continue;
      form.selector = 1;
      form.span = 64;
      expect_product(form);
    }
  }
}

TEST(Wgmma, under_many_schedules) {
  WgmmaCase form;
  form.n = 64;
  form.span = 128;
  expect_product(form, 20);
}

TEST(Wgmma, clamps_integers_when_asked_to) {
  WgmmaCase form = of({"s32", "s8", "s8"});
  WgmmaData data(form);
  std::fill(data.c.begin(), data.c.end(), 0x7fffffff);
  WgmmaKernel run(data, changed(data.body(), ".s32.s8.s8 ", ".s32.s8.s8.satfinite "));
  const auto clamped = [&](int row, int column) {
    return static_cast<int>(
        std::min<std::int64_t>(0x7fffffff, std::int64_t{0x7fffffff} + data.product(row, column)));
  };
  const std::vector<std::uint32_t> expected = data.registers(clamped);
  expect_clean(
      run.kernel, [&] { EXPECT_EQ(run.kernel.download<std::uint32_t>(run.to, run.count), expected); }, 0);
}

TEST(Wgmma, counts_its_operations) {
  const WgmmaData data{WgmmaCase{}};
  WgmmaKernel run(data, data.body());
  const LaunchReport report = run.kernel.run({Schedule::early, 0});
  EXPECT_EQ(report.counters.total.matrix_operations, 1u);
  EXPECT_EQ(report.counters.total.flop, 2u * 64 * 16 * 16);
}

// --- faults

void expect_wgmma_fault(const WgmmaCase& form, const std::function<std::string(std::string)>& spoil,
                        FindingKind kind, const std::string& says = "") {
  const WgmmaData data(form);
  WgmmaKernel run(data, spoil(data.body()));
  expect_fault(run.kernel, kind, says);
}

TEST(Wgmma, using_accumulators_before_the_wait_is_found) {
  for (const char* instead : {"", "wgmma.wait_group.sync.aligned 1;"}) {
    expect_wgmma_fault(
        {},
        [&](const std::string& body) {
          return changed(changed(body, "wgmma.wait_group.sync.aligned 0;", instead), "// USE", "// FAULT");
        },
        FindingKind::async_use);
  }
}

TEST(Wgmma, a_wait_without_a_commit_waits_for_nothing) {
  expect_wgmma_fault(
      {},
      [](const std::string& body) {
        return changed(changed(body, "wgmma.commit_group.sync.aligned;", ""), "// USE", "// FAULT");
      },
      FindingKind::async_use);
}

TEST(Wgmma, a_missing_fence_is_found) {
  expect_wgmma_fault(
      {},
      [](const std::string& body) {
        return changed(changed(body, "wgmma.fence.sync.aligned;", ""), "// MMA", "// FAULT");
      },
      FindingKind::async_use, "no wgmma.fence precedes it");
}

TEST(Wgmma, registers_written_after_the_fence_are_found) {
  expect_wgmma_fault(
      {},
      [](const std::string& body) {
        return changed(changed(body, "// FENCE", "\n add.f32 %c3, %c3, %c3;"), "// MMA", "// FAULT");
      },
      FindingKind::async_use, "was written or read after the last wgmma.fence");
  WgmmaCase form;
  form.a_in_registers = true;
  expect_wgmma_fault(
      form,
      [](const std::string& body) {
        return changed(changed(body, "// FENCE", "\n not.b32 %a1, %a1;"), "// MMA", "// FAULT");
      },
      FindingKind::async_use, "was written or read after the last wgmma.fence");
}

TEST(Wgmma, a_missing_proxy_fence_is_found) {
  expect_wgmma_fault(
      {},
      [](const std::string& body) {
        return changed(changed(body, "fence.proxy.async.shared::cta;", ""), "// MMA", "// FAULT");
      },
      FindingKind::proxy_fence);
}

// The fault is found at the later of the two.
TEST(Wgmma, operands_must_not_change_before_the_wait) {
  expect_wgmma_fault(
      {},
      [](const std::string& body) {
        return changed(changed(body, "// COMMIT",
                               "\n  setp.eq.u32 %p1, %r0, 0;\n @%p1 st.shared.b32 [%r1], %r0;  // FAULT"),
                       "// MMA", "// FAULT");
      },
      FindingKind::async_use);
  WgmmaCase form;
  form.a_in_registers = true;
  expect_wgmma_fault(
      form,
      [](const std::string& body) { return changed(body, "// COMMIT", "\n  not.b32 %a0, %a0;  // FAULT"); },
      FindingKind::async_use);
}

TEST(Wgmma, a_chain_on_the_same_accumulators_needs_no_fence) {
  const WgmmaData data{WgmmaCase{}};
  WgmmaKernel run(data, changed(data.body(), "// COMMIT",
                                "\n" + data.instruction() +
                                    "\n wgmma.commit_group.sync.aligned;\n"
                                    "wgmma.wait_group.sync.aligned 1;\n" +
                                    data.instruction() +
                                    "\n wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n" +
                                    data.instruction() + "\n wgmma.commit_group.sync.aligned;"));
  const std::vector<std::uint32_t> expected = data.registers([&](int row, int column) {
    return 4 * data.product(row, column) + data.c[static_cast<std::size_t>(row * data.form.n + column)];
  });
  expect_clean(run.kernel,
               [&] { EXPECT_EQ(run.kernel.download<std::uint32_t>(run.to, run.count), expected); });
}

TEST(Wgmma, going_on_with_changed_accumulators_needs_a_fence) {
  const WgmmaData data{WgmmaCase{}};
  const std::string second =
      "\n add.f32 %c0, %c0, %c0;\n" + data.instruction() +
      "  // FAULT\n wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n";
  expect_wgmma_fault(
      {}, [&](const std::string& body) { return changed(body, "// WAIT", second); }, FindingKind::async_use,
      "was written or read after the last wgmma.fence");
  WgmmaKernel run(data, changed(data.body(), "// WAIT",
                                changed(second, "add.f32 %c0, %c0, %c0;",
                                        "add.f32 %c0, %c0, %c0; wgmma.fence.sync.aligned;")));
  expect_clean(run.kernel);
}

TEST(Wgmma, accumulators_of_one_shape_are_no_operands_of_another_in_flight) {
  WgmmaCase small;
  small.n = 8;
  const WgmmaData other(small);
  expect_wgmma_fault(
      {},
      [&](const std::string& body) {
        return changed(body, "// COMMIT",
                       "\n" + other.instruction() + "  // FAULT\n wgmma.commit_group.sync.aligned;");
      },
      FindingKind::async_use, "of another shape");
}

TEST(Wgmma, is_for_four_whole_warps) {
  const WgmmaData data{WgmmaCase{}};
  WgmmaKernel run(data, changed(data.body(), "// MMA", "// FAULT"));
  run.kernel.grid(1, 96);
  expect_fault(run.kernel, FindingKind::divergence, "four whole warps");
}

TEST(Wgmma, one_warp_that_does_not_arrive_is_a_deadlock) {
  expect_wgmma_fault(
      {},
      [](const std::string& body) {
        return changed(changed(body, "// FENCE", "\n setp.ge.u32 %p1, %r0, 96;\n @%p1 ret;\n"), "// WAIT",
                       "// FAULT");
      },
      FindingKind::deadlock);
}

TEST(Wgmma, descriptors_are_the_same_in_all_lanes) {
  expect_wgmma_fault(
      {},
      [](const std::string& body) {
        return changed(changed(body, "// FENCE",
                               "\n cvt.u64.u32 %d10, %r0; and.b64 %d10, %d10, 8; add.s64 %d4, %d4, %d10;"),
                       "// MMA", "// FAULT");
      },
      FindingKind::argument, "must be the same in all lanes");
}

TEST(Wgmma, operands_outside_shared_memory_are_found) {
  expect_wgmma_fault(
      {},
      [](const std::string& body) {
        return changed(changed(body, "// FENCE", "\n add.s64 %d5, %d5, 2000;"), "// MMA", "// FAULT");
      },
      FindingKind::out_of_bounds);
}

std::string refusal(const std::string& instruction) {
  try {
    PtxKernel kernel("",
                     ".reg .b32 %r<8>; .reg .b64 %d<4>; .reg .f32 %f<8>; .reg .pred %p<2>;\n" + instruction);
  } catch (const ptx::Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Wgmma, refuses_forms_that_do_not_exist) {
  const std::string good =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d0, %d1, %p0, 1, 1, 0, 0;";
  const auto refuses = [&](const std::string& from, const std::string& to, const std::string& says) {
    const std::string message = refusal(changed(good, from, to));
    EXPECT_NE(message.find(says), std::string::npos) << message;
  };
  EXPECT_EQ(refusal(good), "accepted");
  refuses("m64n8k16", "m64n12k16", "n is 12");
  refuses("m64n8k16", "m64n264k16", "n is 264");
  refuses("m64n8k16", "m64n8k8", "k is 8 but must be 16");
  refuses(".f32.f16.f16", ".f32.f16.bf16", "do not go together");
  refuses(".f32.f16.f16", ".f16.bf16.bf16", "type of D");
  refuses("{%f0, %f1, %f2, %f3}", "{%f0, %f1, %f2}", "3 registers but needs 4");
  refuses("1, 1, 0, 0", "1, 2, 0, 0", "must be 1 or -1");
  refuses("1, 1, 0, 0", "1, 1, 0, 2", "must be 0 or 1");
  refuses(", 0, 0;", ", 0;", "operands");
  refuses(".f32.f16.f16", ".satfinite.f32.f16.f16", "satfinite");
  EXPECT_NE(refusal("wgmma.wait_group.sync.aligned 8;").find("from 0 to 7"), std::string::npos);
  EXPECT_NE(refusal("wgmma.fence.sync;").find("aligned"), std::string::npos);
}

// --- end to end: TMA load, wgmma, TMA store

// C (64 x 64, f16) = A B over k = 128 in two stages of 64, tiles of 64 x 64 with the 128-byte swizzle. A: m x
// k with k contiguous, or k x m with m contiguous; B likewise. TMA stores C from swizzled shared memory.
std::string pipeline(bool a_mn_major, bool b_mn_major) {
  const auto load = [](const char* map, int tile, bool mn_major) {
    const std::string coordinates = mn_major ? "%r9, %r8" : "%r8, %r9";
    return "  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1+" +
           std::to_string(tile) + "], [" + map + ", {" + coordinates + "}], [%r2];\n";
  };
  std::string registers, mma, store;
  for (int i = 0; i < 32; ++i) registers += (i == 0 ? "%f" : ", %f") + std::to_string(i);
  for (int step = 0; step < 4; ++step) {
    // A step of k = 16: 32 bytes along a row of k; 16 rows of 128 bytes where mn is contiguous.
    mma += "  add.s64 %d5, %d3, " + std::to_string(step * (a_mn_major ? 128 : 2)) + "; add.s64 %d6, %d4, " +
           std::to_string(step * (b_mn_major ? 128 : 2)) +
           ";\n  wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" + registers +
           "}, %d5, %d6, 1, 1, 1, " + (a_mn_major ? "1, " : "0, ") + (b_mn_major ? "1;\n" : "0;\n");
  }
  for (int i = 0; i < 32; i += 2) {
    // Row of 128 bytes; columns 8 * (i / 4) + 2 * (lane % 4): chunk i / 4, word lane % 4.
    const std::string row = i % 4 < 2 ? "%r10" : "%r11";
    store += "  cvt.rn.f16x2.f32 %r12, %f" + std::to_string(i + 1) + ", %f" + std::to_string(i) +
             "; xor.b32 %r13, %r15, " + std::to_string(i / 4 * 16) + "; add.s32 %r13, %r13, " + row +
             "; st.shared.b32 [%r13], %r12;\n";
  }
  return R"(
  .shared .align 1024 .b8 tile[24576]; .shared .align 8 .b64 bar;
  .reg .b32 %r<20>; .reg .b64 %d<16>; .reg .pred %p<6>; .reg .f32 %f<32>;
  mov.b64 %d0, map_a; cvta.param.u64 %d0, %d0; mov.b64 %d1, map_b; cvta.param.u64 %d1, %d1;
  mov.b64 %d2, map_c; cvta.param.u64 %d2, %d2;
  mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mov.u32 %r2, bar;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra READY;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
READY:
  bar.sync 0;
  and.b32 %r3, %r1, 0x3ffff; shr.u32 %r3, %r3, 4; cvt.u64.u32 %d3, %r3; add.s64 %d4, %d3, 512;
  or.b64 %d3, %d3, 0x4000004000010000; or.b64 %d4, %d4, 0x4000004000010000;
)" +
         [&] {
           std::string zeros;
           for (int i = 0; i < 32; ++i) zeros += "  mov.f32 %f" + std::to_string(i) + ", 0f00000000;\n";
           return zeros;
         }() +
         R"(
  mov.u32 %r8, 0; mov.u32 %r9, 0; mov.u32 %r7, 0;
STAGE:
  @%p0 bra WAIT;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 16384;
)" + load("%d0", 0, a_mn_major) +
         load("%d1", 8192, b_mn_major) + R"(
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], %r7;
  @!%p1 bra WAIT;
  wgmma.fence.sync.aligned;
)" + mma +
         R"(
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  bar.sync 0;  // the stage is free
  xor.b32 %r7, %r7, 1; add.s32 %r8, %r8, 64;
  setp.lt.u32 %p2, %r8, 128;
  @%p2 bra STAGE;
  // Row of the accumulator: 16 * warp + lane / 4, and 8 below; its swizzle is the row modulo 8.
  shr.u32 %r4, %r0, 5; shl.b32 %r4, %r4, 4; and.b32 %r5, %r0, 31; shr.u32 %r6, %r5, 2; add.s32 %r4, %r4, %r6;
  shl.b32 %r10, %r4, 7; add.s32 %r10, %r10, %r1; add.s32 %r10, %r10, 16384; add.s32 %r11, %r10, 1024;
  and.b32 %r14, %r4, 7; shl.b32 %r15, %r14, 4; and.b32 %r16, %r5, 3; shl.b32 %r16, %r16, 2; add.s32 %r15, %r15, %r16;
)" + store +
         R"(
  fence.proxy.async.shared::cta;  // PROXY
  bar.sync 0;
  @%p0 bra DONE;
  mov.u32 %r9, 0;
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d2, {%r9, %r9}], [%r1+16384];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:
  ret;)";
}

TEST(Wgmma, between_tma_loads_and_a_tma_store) {
  for (int which = 0; which < 4; ++which) {
    const bool a_mn = (which & 1) != 0, b_mn = (which & 2) != 0;
    SCOPED_TRACE(which);
    PtxKernel kernel(
        ".param .align 64 .b8 map_a[128], .param .align 64 .b8 map_b[128], .param .align 64 .b8 map_c[128]",
        pipeline(a_mn, b_mn));
    std::mt19937 random(7);
    std::vector<int> a(64 * 128), b(64 * 128);  // a[m][k], b[n][k]
    for (int& value : a) value = static_cast<int>(random() % 7) - 3;
    for (int& value : b) value = static_cast<int>(random() % 7) - 3;
    const auto upload = [&](const std::vector<int>& matrix, bool mn_major) {
      std::vector<std::uint16_t> data(matrix.size());
      for (std::size_t mn = 0; mn < 64; ++mn) {
        for (std::size_t k = 0; k < 128; ++k) {
          data[mn_major ? k * 64 + mn : mn * 128 + k] =
              static_cast<std::uint16_t>(element("f16", matrix[mn * 128 + k]));
        }
      }
      return kernel.upload(data);
    };
    const auto map = [](std::uint64_t address, std::uint64_t inner, std::uint64_t outer) {
      const std::uint64_t dimensions[] = {inner, outer}, strides[] = {inner * 2};
      const std::uint32_t box[] = {64, 64}, steps[] = {1, 1};
      return encode_tiled(TensorMapType::float16, 2, address, dimensions, strides, box, steps,
                          TensorMapInterleave::none, TensorMapSwizzle::bytes_128, TensorMapL2Promotion::none,
                          TensorMapFill::zeros);
    };
    const std::uint64_t to = kernel.zeros<std::uint16_t>(64 * 64);
    kernel.grid(1, 128)
        .argument(0, map(upload(a, a_mn), a_mn ? 64 : 128, a_mn ? 128 : 64))
        .argument(1, map(upload(b, b_mn), b_mn ? 64 : 128, b_mn ? 128 : 64))
        .argument(2, map(to, 64, 64));
    std::vector<std::uint16_t> expected(64 * 64);
    for (std::size_t m = 0; m < 64; ++m) {
      for (std::size_t n = 0; n < 64; ++n) {
        int sum = 0;
        for (std::size_t k = 0; k < 128; ++k) sum += a[m * 128 + k] * b[n * 128 + k];
        expected[m * 64 + n] = static_cast<std::uint16_t>(element("f16", sum));
      }
    }
    expect_clean(kernel, [&] { EXPECT_EQ(kernel.download<std::uint16_t>(to, 64 * 64), expected); });
  }
}

}  // namespace
}  // namespace tenon::emulator::testing
