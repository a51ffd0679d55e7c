// Matrix instructions as PTX text, executed by the whole emulator: every form of mma matches numerics::Mma on
// the same registers; ldmatrix, stmatrix, movmatrix and wmma's loads and stores move what the PTX ISA says;
// misuse is found and unknown spellings are refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "emulator/numerics/form_kernel.hpp"
#include "emulator/numerics/random_operands.hpp"
#include "tenon/emulator/emulator.hpp"

namespace tenon::emulator {
namespace {

using numerics::Coord;
using numerics::FormKernel;
using numerics::Fragment;
using numerics::Matrix;
using numerics::NamedForm;

// --- mma, mma.sp, wmma.mma

// Copies registers to the emulator as FormKernel wants them: [set][register][lane].
std::vector<std::uint8_t> packed(const Fragment& fragment, const std::uint64_t (*registers)[32]) {
  const std::size_t width = fragment.element_bits() == 64 ? 8 : 4;
  std::vector<std::uint8_t> bytes;
  for (int i = 0; i < 32 * fragment.registers(); ++i) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(&registers[i / 32][i % 32]);
    bytes.insert(bytes.end(), from, from + width);
  }
  return bytes;
}

void append(std::vector<std::uint8_t>& to, const std::vector<std::uint8_t>& bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

Address copied(Emulator& emulator, const std::vector<std::uint8_t>& bytes) {
  const Address address = emulator.allocate(bytes.size());
  emulator.copy_in(address, bytes.data(), bytes.size());
  return address;
}

void expect_same_as_numerics(const NamedForm& named) {
  constexpr std::uint64_t sets = 12;
  Emulator emulator;
  const Module module = emulator.load(FormKernel(named, "sm_90").text());
  numerics::RandomOperands operands(named);
  const numerics::Mma& mma = operands.mma();
  std::vector<std::uint8_t> a, b, c, metadata, expected;
  for (std::uint64_t set = 0; set < sets; ++set) {
    numerics::Registers registers{};
    operands.fill(3, set, registers);
    append(a, packed(mma.a(), registers.a));
    append(b, packed(mma.b(), registers.b));
    append(c, packed(mma.c(), registers.c));
    for (std::uint64_t lane : registers.metadata) {
      for (int i = 0; i < 4; ++i) metadata.push_back(static_cast<std::uint8_t>(lane >> (8 * i)));
    }
    mma(numerics::Model::sm_90, registers);
    append(expected, packed(mma.d(), registers.d));
  }
  const Address d = emulator.allocate(expected.size());
  const Result result = emulator.launch(
      module, "probe", {{sets / FormKernel::warps_per_block}, {32 * FormKernel::warps_per_block}, 0, {}},
      {copied(emulator, a), copied(emulator, b), copied(emulator, c), copied(emulator, metadata), d,
       static_cast<std::uint32_t>(sets)});
  for (const Finding& finding : result.findings) ADD_FAILURE() << named.text << ": " << finding.message;
  std::vector<std::uint8_t> found(expected.size());
  emulator.copy_out(found.data(), d, found.size());
  EXPECT_EQ(found, expected) << named.text;
  EXPECT_EQ(result.counters.total.matrix_operations, sets);
  const numerics::Shape& shape = named.form.shape;
  const int products = named.form.a == ptx::Type::f16 && shape.m == 8 && shape.n == 8 ? 4 : 1;
  EXPECT_EQ(result.counters.total.flop,
            sets * static_cast<std::uint64_t>(2 * shape.m * shape.n * shape.k * products));
}

TEST(MatrixInstructions, EveryFormGivesWhatNumericsGive) {
  for (NamedForm named : numerics::forms()) {
    const int selectors = named.form.sparse ? numerics::sparse_selectors(named.form.shape, named.form.a) : 1;
    for (named.form.selector = 0; named.form.selector < selectors; ++named.form.selector) {
      expect_same_as_numerics(named);
    }
  }
}

// CUTLASS writes it there, and ptxas takes it.
TEST(MatrixInstructions, TakeSatfiniteAfterTheTypes) {
  const std::string saturates = ".satfinite";
  int forms = 0;
  for (NamedForm named : numerics::forms()) {
    const std::size_t at = named.text.find(saturates + ".s32.");
    if (named.text.rfind("mma", 0) != 0 || at == std::string::npos) continue;
    named.text = named.text.erase(at, saturates.size()) + saturates;
    expect_same_as_numerics(named);
    ++forms;
  }
  EXPECT_GT(forms, 0);
}

TEST(MatrixInstructions, UseTheArithmeticThatTheLaunchAsksFor) {
  // 1 + 8 * 2^-25: sm_90 keeps the small terms, sm_80 loses them.
  const NamedForm* named = numerics::find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  ASSERT_NE(named, nullptr);
  const numerics::Mma mma(named->form);
  numerics::Registers registers{};
  const auto put = [](const Fragment& fragment, std::uint64_t(*to)[32], int row, int column, double value) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int reg = 0; reg < fragment.registers(); ++reg) {
        for (int element = 0; element < fragment.elements(); ++element) {
          const Coord at = fragment.at(lane, reg, element);
          if (at.row != row || at.column != column) continue;
          to[reg][lane] |= numerics::from_double(numerics::f16, value) << (16 * element);
        }
      }
    }
  };
  for (int k = 0; k <= 8; ++k) {
    put(mma.a(), registers.a, 0, k, k == 0 ? 1 : 0x1p-12);
    put(mma.b(), registers.b, k, 0, k == 0 ? 1 : 0x1p-13);
  }
  const auto answer = [&](const std::string& target, Numerics numerics) {
    Emulator emulator;
    const Module module = emulator.load(FormKernel(*named, target).text());
    const Address d = emulator.allocate(4 * 128);
    Options options;
    options.numerics = numerics;
    emulator.launch(
        module, "probe", {{1}, {32}, 0, {}},
        {copied(emulator, packed(mma.a(), registers.a)), copied(emulator, packed(mma.b(), registers.b)),
         copied(emulator, packed(mma.c(), registers.c)), emulator.allocate(128), d, 1U},
        options);
    std::uint32_t first = 0;
    emulator.copy_out(&first, d, 4);
    return first;
  };
  EXPECT_EQ(answer("sm_90", Numerics::target), 0x3f800002U);
  EXPECT_EQ(answer("sm_80", Numerics::target), 0x3f800000U);
  EXPECT_EQ(answer("sm_80", Numerics::sm_90), 0x3f800002U);
  EXPECT_EQ(answer("sm_90", Numerics::sm_80), 0x3f800000U);
  EXPECT_EQ(answer("sm_90", Numerics::ieee), 0x3f800002U);
}

// --- small kernels of one warp

// A kernel of 32 threads with an array `tile` in shared memory and the arguments %in and %out; %lane is set.
std::string kernel(const std::string& body, const std::string& target = "sm_90", int shared_bytes = 8192) {
  return ".version 9.0\n.target " + target +
         "\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
         ".reg .b32 %r<40>;\n.reg .b64 %rd<40>;\n.reg .f32 %f<16>;\n.reg .b32 %lane, %row, %s;\n"
         ".reg .b64 %in, %out, %at;\n.reg .pred %p;\n"
         ".shared .align 128 .b8 tile[" +
         std::to_string(shared_bytes) +
         "];\n"
         "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %lane, %laneid;\nmov.u32 %s, tile;\n" +
         body + "\nret;\n}\n";
}

struct Ran {
  Result result;
  std::vector<std::uint8_t> out;
};
Ran run(const std::string& text, const std::vector<std::uint8_t>& in, std::size_t out_bytes,
        std::uint32_t threads = 32) {
  Emulator emulator;
  const Module module = emulator.load(text);
  const Address out = emulator.allocate(out_bytes);
  Ran ran;
  ran.result = emulator.launch(module, "k", {{1}, {threads}, 0, {}}, {copied(emulator, in), out});
  ran.out.resize(out_bytes);
  emulator.copy_out(ran.out.data(), out, out_bytes);
  return ran;
}
void expect_no_findings(const Result& result) {
  for (const Finding& finding : result.findings) ADD_FAILURE() << finding.ptx_line << ": " << finding.message;
}

std::string error_of(const std::string& body, const std::string& target = "sm_90") {
  try {
    Emulator emulator;
    const Module module = emulator.load(kernel(body, target));
    emulator.check(module, "k");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Copies `bytes` from %in to tile, 4 bytes a lane at a time.
std::string fill_tile(int bytes) {
  std::string text =
      "mul.wide.u32 %rd1, %lane, 4;\nadd.s64 %rd2, %in, %rd1;\nshl.b32 %r30, %lane, 2;\n"
      "add.u32 %r31, %s, %r30;\n";
  for (int i = 0; i < bytes; i += 128) {
    text += "ld.global.u32 %r32, [%rd2+" + std::to_string(i) + "];\nst.shared.u32 [%r31+" +
            std::to_string(i) + "], %r32;\n";
  }
  return text + "bar.sync 0;\n";
}

// Stores `count` registers %r0.. of every lane: out[lane][register].
std::string store_registers(int count) {
  std::string text =
      "mul.wide.u32 %rd3, %lane, " + std::to_string(4 * count) + ";\nadd.s64 %rd4, %out, %rd3;\n";
  for (int i = 0; i < count; ++i) {
    text += "st.global.u32 [%rd4+" + std::to_string(4 * i) + "], %r" + std::to_string(i) + ";\n";
  }
  return text;
}

std::uint16_t half_at(const std::vector<std::uint8_t>& bytes, int index) {
  std::uint16_t value = 0;
  std::memcpy(&value, bytes.data() + 2 * index, 2);
  return value;
}

// 16 x 16 halves, element (row, column) = 16 * row + column.
std::vector<std::uint8_t> numbered_halves(int count) {
  std::vector<std::uint8_t> bytes;
  for (int i = 0; i < count; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(i));
    bytes.push_back(static_cast<std::uint8_t>(i >> 8));
  }
  return bytes;
}

// Row addresses for the four 8x8 matrices of a 16x16 tile, in the order of mma's A: lane l gives row l % 16,
// half l / 16.
const std::string row_address =
    "and.b32 %r20, %lane, 15;\nshl.b32 %r20, %r20, 5;\nshr.u32 %r21, %lane, 4;\nshl.b32 %r21, %r21, 4;\n"
    "add.u32 %row, %s, %r20;\nadd.u32 %row, %row, %r21;\n";

TEST(Ldmatrix, X4LoadsTheAFragmentOfM16n8k16) {
  const Ran ran = run(
      kernel(fill_tile(512) + row_address +
             "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%row];\n" + store_registers(4)),
      numbered_halves(256), 512);
  expect_no_findings(ran.result);
  const Fragment a = numerics::mma_fragment(Matrix::a, {16, 8, 16}, ptx::Type::f16);
  for (int lane = 0; lane < 32; ++lane) {
    for (int reg = 0; reg < 4; ++reg) {
      for (int element = 0; element < 2; ++element) {
        const Coord at = a.at(lane, reg, element);
        EXPECT_EQ(half_at(ran.out, 8 * lane + 2 * reg + element), 16 * at.row + at.column);
      }
    }
  }
}

TEST(Ldmatrix, TransposedLoadsTheBFragmentOfARowMajorTile) {
  // B is k x n = 16 x 8 in rows of 16 elements: x2, rows 0..15 by lanes 0..15.
  const Ran ran = run(kernel(fill_tile(512) + row_address +
                             "ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%r0, %r1}, [%row];\n" +
                             store_registers(2)),
                      numbered_halves(256), 256);
  expect_no_findings(ran.result);
  const Fragment b = numerics::mma_fragment(Matrix::b, {16, 8, 16}, ptx::Type::f16);
  for (int lane = 0; lane < 32; ++lane) {
    for (int reg = 0; reg < 2; ++reg) {
      for (int element = 0; element < 2; ++element) {
        const Coord at = b.at(lane, reg, element);
        EXPECT_EQ(half_at(ran.out, 4 * lane + 2 * reg + element), 16 * at.row + at.column);
      }
    }
  }
}

TEST(Ldmatrix, X1TakesGenericAddressesAndOnlyThoseOfTheFirstEightLanes) {
  // The other lanes give invalid addresses.
  const Ran ran = run(kernel(fill_tile(512) + row_address +
                             "cvt.u64.u32 %at, %row;\ncvta.shared.u64 %at, %at;\nsetp.gt.u32 %p, %lane, 7;\n"
                             "selp.b64 %at, 12, %at, %p;\n"
                             "ldmatrix.sync.aligned.m8n8.x1.b16 {%r0}, [%at+256];\n" +
                             store_registers(1)),
                      numbered_halves(256), 128);
  expect_no_findings(ran.result);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(half_at(ran.out, i), 16 * (8 + i / 8) + i % 8);
}

TEST(Ldmatrix, CountsAWavefrontAMatrixAndTheConflictsOfItsRows) {
  const std::string load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%row];\n";
  const auto wavefronts = [&](int row_bytes) {
    const std::string rows = "and.b32 %r20, %lane, 7;\nmul.lo.u32 %r20, %r20, " + std::to_string(row_bytes) +
                             ";\nshr.u32 %r21, %lane, 3;\nshl.b32 %r21, %r21, 4;\nadd.u32 %row, %s, %r20;\n"
                             "add.u32 %row, %row, %r21;\n";
    const Ran ran =
        run(kernel(fill_tile(1152) + rows + load + store_registers(4)), numbered_halves(576), 512);
    expect_no_findings(ran.result);
    for (const LineCounts& line : ran.result.counters.lines) {
      if (line.instruction.rfind("ldmatrix", 0) == 0) {
        EXPECT_EQ(line.counts.ideal_shared_wavefronts, 4U);
        return line.counts.shared_wavefronts;
      }
    }
    return std::uint64_t{0};
  };
  EXPECT_EQ(wavefronts(128), 32U);  // all rows in the same banks
  EXPECT_EQ(wavefronts(64), 16U);   // every second
  EXPECT_EQ(wavefronts(144), 4U);   // padded by 16 bytes
  EXPECT_EQ(wavefronts(16), 4U);
}

TEST(Ldmatrix, ReportsRowsThatAreMisalignedOutOfBoundsOrNotShared) {
  const auto first_kind = [](const std::string& address, const std::string& space) {
    const Ran ran = run(kernel(fill_tile(512) + row_address + address + "ldmatrix.sync.aligned.m8n8.x1" +
                               space + ".b16 {%r0}, [%at];\n" + store_registers(1)),
                        numbered_halves(256), 128);
    EXPECT_FALSE(ran.result.findings.empty());
    return ran.result.findings.empty() ? FindingKind::trap : ran.result.findings[0].kind;
  };
  EXPECT_EQ(first_kind("cvt.u64.u32 %at, %row;\nadd.s64 %at, %at, 8;\n", ".shared"), FindingKind::misaligned);
  EXPECT_EQ(first_kind("cvt.u64.u32 %at, %row;\nadd.s64 %at, %at, 65536;\n", ".shared"),
            FindingKind::out_of_bounds);
  EXPECT_EQ(first_kind("mov.b64 %at, %in;\n", ""), FindingKind::argument);
}

TEST(Stmatrix, IsTheInverseOfLdmatrix) {
  for (const char* trans : {"", ".trans"}) {
    const std::string t = trans;
    const Ran ran =
        run(kernel(fill_tile(512) + row_address + "ldmatrix.sync.aligned.m8n8.x4" + t +
                   ".shared.b16 {%r0, %r1, %r2, %r3}, [%row];\nstmatrix.sync.aligned.m8n8.x4" + t +
                   ".shared.b16 [%row+512], {%r0, %r1, %r2, %r3};\nbar.sync 0;\n"
                   "add.s64 %rd5, %out, %rd1;\n"
                   "ld.shared.u32 %r4, [%r31+512];\nst.global.u32 [%rd5], %r4;\n"
                   "ld.shared.u32 %r4, [%r31+640];\nst.global.u32 [%rd5+128], %r4;\n"
                   "ld.shared.u32 %r4, [%r31+768];\nst.global.u32 [%rd5+256], %r4;\n"
                   "ld.shared.u32 %r4, [%r31+896];\nst.global.u32 [%rd5+384], %r4;\n"),
            numbered_halves(256), 512);
    expect_no_findings(ran.result);
    EXPECT_EQ(ran.out, numbered_halves(256));
  }
}

TEST(Movmatrix, Transposes) {
  const Ran ran = run(kernel(fill_tile(128) +
                             "ld.shared.u32 %r1, [%r31];\n"
                             "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;\n" +
                             store_registers(1)),
                      numbered_halves(64), 128);
  expect_no_findings(ran.result);
  for (int row = 0; row < 8; ++row) {
    for (int column = 0; column < 8; ++column)
      EXPECT_EQ(half_at(ran.out, 8 * row + column), 8 * column + row);
  }
}

TEST(MatrixInstructions, NeedTheWholeWarp) {
  const std::string body = fill_tile(128) +
                           "ld.shared.u32 %r1, [%r31];\nmov.u32 %r0, 0;\nsetp.lt.u32 %p, %lane, 16;\n"
                           "@%p movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;\n" +
                           store_registers(1);
  const Ran ran = run(kernel(body), numbered_halves(64), 128);
  ASSERT_EQ(ran.result.findings.size(), 1U);
  EXPECT_EQ(ran.result.findings[0].kind, FindingKind::divergence);
  EXPECT_EQ(half_at(ran.out, 40), 0U);  // lanes that did not execute it keep their values
}

// --- wmma.load and wmma.store

struct WmmaMatrix {
  const char* matrix;
  const char* shape;
  const char* type;
  Matrix role;
  numerics::Shape sizes;
  ptx::Type ptx_type;
  int registers;  // 32-bit registers of the operand
};
const WmmaMatrix wmma_matrices[] = {
    {"a", "m16n16k16", "f16", Matrix::a, {16, 16, 16}, ptx::Type::f16, 8},
    {"b", "m16n16k16", "f16", Matrix::b, {16, 16, 16}, ptx::Type::f16, 8},
    {"c", "m16n16k16", "f16", Matrix::c, {16, 16, 16}, ptx::Type::f16, 4},
    {"c", "m16n16k16", "f32", Matrix::c, {16, 16, 16}, ptx::Type::f32, 8},
    {"a", "m32n8k16", "f16", Matrix::a, {32, 8, 16}, ptx::Type::f16, 8},
    {"b", "m32n8k16", "f16", Matrix::b, {32, 8, 16}, ptx::Type::f16, 8},
    {"c", "m32n8k16", "s32", Matrix::c, {32, 8, 16}, ptx::Type::s32, 8},
    {"a", "m8n32k16", "bf16", Matrix::a, {8, 32, 16}, ptx::Type::bf16, 2},
    {"b", "m8n32k16", "bf16", Matrix::b, {8, 32, 16}, ptx::Type::bf16, 8},
    {"c", "m8n32k16", "f32", Matrix::c, {8, 32, 16}, ptx::Type::f32, 8},
    {"a", "m16n16k16", "s8", Matrix::a, {16, 16, 16}, ptx::Type::s8, 2},
    {"b", "m16n16k16", "u8", Matrix::b, {16, 16, 16}, ptx::Type::u8, 2},
    {"b", "m8n32k16", "s8", Matrix::b, {8, 32, 16}, ptx::Type::s8, 4},
    {"a", "m16n16k8", "tf32", Matrix::a, {16, 16, 8}, ptx::Type::tf32, 4},
    {"b", "m16n16k8", "tf32", Matrix::b, {16, 16, 8}, ptx::Type::tf32, 4},
    {"a", "m8n8k32", "s4", Matrix::a, {8, 8, 32}, ptx::Type::s4, 1},
    {"b", "m8n8k32", "u4", Matrix::b, {8, 8, 32}, ptx::Type::u4, 1},
    {"b", "m8n8k128", "b1", Matrix::b, {8, 8, 128}, ptx::Type::b1, 1},
    {"c", "m8n8k128", "s32", Matrix::c, {8, 8, 128}, ptx::Type::s32, 2},
};

int rows_of(const WmmaMatrix& m) {
  return m.role == Matrix::b ? m.sizes.k : m.sizes.m;
}
int columns_of(const WmmaMatrix& m) {
  return m.role == Matrix::a ? m.sizes.k : m.sizes.n;
}

std::string register_list(int count, const char* prefix = "%r") {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + std::string(prefix) + std::to_string(i);
  return text + "}";
}

std::uint64_t bits_at(const std::vector<std::uint8_t>& bytes, std::int64_t element, int bits) {
  std::uint64_t value = 0;
  for (int i = 0; i < bits; ++i) {
    const std::int64_t bit = element * bits + i;
    value |=
        std::uint64_t{static_cast<std::uint64_t>(bytes[static_cast<std::size_t>(bit / 8)] >> (bit % 8) & 1)}
        << i;
  }
  return value;
}

TEST(Wmma, LoadsEveryElementFromWhereItsLayoutAndStrideSay) {
  numerics::Random random(1);
  std::vector<std::uint8_t> memory(8192);
  for (auto& byte : memory) byte = static_cast<std::uint8_t>(random());
  for (const WmmaMatrix& m : wmma_matrices) {
    const int bits = numerics::element_bits(m.ptx_type);
    for (const bool by_rows : {true, false}) {
      if (bits < 8 && by_rows != (m.role == Matrix::a)) continue;
      const int natural = by_rows ? columns_of(m) : rows_of(m);
      for (const int stride : {natural, natural + 128 / std::min(bits, 32)}) {
        for (const char* space : {".global", ".shared", ""}) {
          const bool in_shared = std::string(space) == ".shared";
          const std::string text = "wmma.load." + std::string(m.matrix) + ".sync.aligned." +
                                   (by_rows ? "row." : "col.") + m.shape + space + "." + m.type + " " +
                                   register_list(m.registers, m.ptx_type == ptx::Type::f32 ? "%f" : "%r") +
                                   (in_shared ? ", [%s+32]" : ", [%in+32]") +
                                   (stride == natural ? ";\n" : ", " + std::to_string(stride) + ";\n");
          std::string moves;
          if (m.ptx_type == ptx::Type::f32) {
            for (int i = 0; i < m.registers; ++i) {
              moves += "mov.b32 %r" + std::to_string(i) + ", %f" + std::to_string(i) + ";\n";
            }
          }
          const Ran ran =
              run(kernel((in_shared ? fill_tile(8192) : "") + text + moves + store_registers(m.registers)),
                  memory, static_cast<std::size_t>(128 * m.registers));
          expect_no_findings(ran.result);
          const Fragment fragment = numerics::wmma_fragment(m.role, m.sizes, m.ptx_type);
          ASSERT_EQ(fragment.registers() * fragment.copies(), m.registers);
          for (int lane = 0; lane < 32; ++lane) {
            for (int i = 0; i < m.registers; ++i) {
              for (int element = 0; element < fragment.elements(); ++element) {
                const Coord at = fragment.at(lane, i % fragment.registers(), element);
                const std::int64_t position = by_rows ? std::int64_t{at.row} * stride + at.column
                                                      : std::int64_t{at.column} * stride + at.row;
                ASSERT_EQ(bits_at(ran.out, (lane * m.registers + i) * fragment.elements() + element, bits),
                          bits_at(memory, position + 32 * 8 / bits, bits))
                    << text << " lane " << lane;
              }
            }
          }
        }
      }
    }
  }
}

TEST(Wmma, StoresBackWhatItLoaded) {
  numerics::Random random(2);
  std::vector<std::uint8_t> memory(1024);
  for (auto& byte : memory) byte = static_cast<std::uint8_t>(random());
  for (const WmmaMatrix& m : wmma_matrices) {
    if (m.role != Matrix::c) continue;
    const auto bytes =
        static_cast<std::size_t>(rows_of(m) * columns_of(m) * numerics::element_bits(m.ptx_type) / 8);
    const std::string list = register_list(m.registers, m.ptx_type == ptx::Type::f32 ? "%f" : "%r");
    for (const char* layout : {"row", "col"}) {
      const std::string end =
          ".sync.aligned." + std::string(layout) + "." + m.shape + ".global." + m.type + " ";
      const Ran ran =
          run(kernel("wmma.load.c" + end + list + ", [%in];\nwmma.store.d" + end + "[%out], " + list + ";\n"),
              memory, bytes);
      expect_no_findings(ran.result);
      EXPECT_TRUE(std::equal(ran.out.begin(), ran.out.end(), memory.begin())) << m.shape << m.type << layout;
    }
  }
}

TEST(Wmma, MultipliesATile) {
  // D = A B + C with A row-major and B column-major, integers, f16 -> f32.
  const int size = 16;
  std::vector<std::uint8_t> in;
  const auto value = [](int matrix, int i) { return (i * 7 + matrix * 5) % 9 - 4; };
  for (int matrix = 0; matrix < 2; ++matrix) {
    for (int i = 0; i < size * size; ++i) {
      const std::uint64_t bits = numerics::from_double(numerics::f16, value(matrix, i));
      in.push_back(static_cast<std::uint8_t>(bits));
      in.push_back(static_cast<std::uint8_t>(bits >> 8));
    }
  }
  std::string zero;
  for (int i = 0; i < 8; ++i) zero += "mov.f32 %f" + std::to_string(i) + ", 0f3F800000;\n";
  const std::string f = register_list(8, "%f");
  const Ran ran = run(
      kernel(
          zero +
          "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, "
          "[%in];\n"
          "wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}, "
          "[%in+512];\n"
          "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 " +
          f + ", {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, {%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}, " +
          f + ";\nmov.u32 %r20, 16;\nwmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%out], " + f +
          ", %r20;\n"),
      in, 1024);
  expect_no_findings(ran.result);
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column) {
      int sum = 1;
      for (int k = 0; k < size; ++k) sum += value(0, row * size + k) * value(1, column * size + k);
      float found = 0;
      std::memcpy(&found, ran.out.data() + 4 * (row * size + column), 4);
      EXPECT_EQ(found, static_cast<float>(sum));
    }
  }
  EXPECT_EQ(ran.result.counters.total.flop, 2U * 16 * 16 * 16);
}

TEST(Wmma, CountsSectorsAndWavefrontsOfWholeRows) {
  const auto counts_of = [](const std::string& text, const std::string& start) {
    const Ran ran = run(kernel(fill_tile(2048) + text), numbered_halves(1024), 1024);
    expect_no_findings(ran.result);
    for (const LineCounts& line : ran.result.counters.lines) {
      if (line.instruction.rfind(start, 0) == 0) return line.counts;
    }
    return Counts{};
  };
  const std::string list = register_list(8);
  const Counts shared =
      counts_of("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " + list + ", [%s], 24;\n", "wmma.load");
  EXPECT_EQ(shared.shared_wavefronts, 4U);  // rows of 48 bytes: no two of eight share a bank
  EXPECT_EQ(shared.ideal_shared_wavefronts, 4U);
  const Counts transposed =
      counts_of("wmma.load.a.sync.aligned.col.m16n16k16.shared.f16 " + list + ", [%s], 24;\n", "wmma.load");
  EXPECT_EQ(transposed.shared_wavefronts, 4U);
  const Counts conflicting =
      counts_of("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " + list + ", [%s], 64;\n", "wmma.load");
  EXPECT_EQ(conflicting.shared_wavefronts, 32U);  // rows of 128 bytes
  const Counts global =
      counts_of("wmma.load.c.sync.aligned.row.m16n16k16.global.f32 " + register_list(8, "%f") + ", [%in];\n",
                "wmma.load");
  EXPECT_EQ(global.global_sectors, 32U);  // 1024 bytes
  EXPECT_EQ(global.ideal_global_sectors, 32U);
}

TEST(Wmma, ReportsAlignmentAndLanesThatDisagree) {
  const std::string list = register_list(8);
  const auto first_kind = [&](const std::string& operands, const std::string& before) {
    const Ran ran = run(kernel(before + "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " + list + ", " +
                               operands + ";\n"),
                        std::vector<std::uint8_t>(4096), 4);
    EXPECT_FALSE(ran.result.findings.empty());
    return ran.result.findings.empty() ? FindingKind::trap : ran.result.findings[0].kind;
  };
  EXPECT_EQ(first_kind("[%in+16]", ""), FindingKind::misaligned);
  EXPECT_EQ(first_kind("[%in], 20", ""), FindingKind::misaligned);
  EXPECT_EQ(first_kind("[%in], %r20", "add.u32 %r20, %lane, 16;\nand.b32 %r20, %r20, 24;\n"),
            FindingKind::argument);
}

// --- what is refused

TEST(MatrixInstructions, RefuseWhatThePtxIsaDoesNotHave) {
  const auto expect_error = [](const std::string& instruction, const std::string& part,
                               const std::string& target = "sm_90") {
    const std::string error = error_of(instruction + "\n", target);
    EXPECT_NE(error.find(part), std::string::npos) << instruction << " -> " << error;
  };
  const std::string f4 = "{%f0, %f1, %f2, %f3}";
  const std::string operands = " " + f4 + ", {%r0, %r1, %r2, %r3}, {%r4, %r5}, " + f4;
  expect_error("mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32" + operands + ";", "m16n8k16.row.row");
  expect_error("mma.sync.aligned.m16n8k24.row.col.f32.f16.f16.f32" + operands + ";", "m16n8k24");
  expect_error("mma.sync.m16n8k16.row.col.f32.f16.f16.f32" + operands + ";", "knows no such");
  expect_error("mma.sync.aligned.m16n8k16.row.col.relu.f32.f16.f16.f32" + operands + ";", "relu");
  expect_error(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2}, {%r0, %r1, %r2, %r3}, {%r4, "
      "%r5}, " +
          f4 + ";",
      "D has 3 registers but needs 4");
  expect_error("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + f4 +
                   ", {%r0, %r1, %r2, %rd3}, {%r4, %r5}, " + f4 + ";",
               "of type .b64");
  expect_error("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32" + operands + ";", "sm_89", "sm_80");
  expect_error("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + f4 + ", {%r0, %r1}, {%r4, %r5}, " +
                   f4 + ", %r6, 4;",
               "selector is 4 but must be from 0 to 3");
  expect_error("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + f4 + ", {%r0, %r1}, {%r4, %r5}, " +
                   f4 + ", %r6, %r7;",
               "selector must be an integer constant");
  expect_error("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0, %r1}, [%s];", "sm_100a");
  expect_error("ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r0, %r1, %r2}, [%s];", "x1, .x2, .x4");
  expect_error("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0}, [%s];", "has 1 registers but needs 2");
  expect_error("ldmatrix.sync.aligned.m8n8.x1.global.b16 {%r0}, [%s];", ".global");
  expect_error("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%s], {%r0};", "sm_90", "sm_80");
  expect_error("movmatrix.sync.aligned.m8n8.b16 %r0, %r1;", ".trans");
  expect_error("wmma.load.a.sync.aligned.row.m16n16k16.global.f32 {%r0}, [%in];", "type .f32");
  expect_error("wmma.load.a.sync.aligned.col.m8n8k32.global.s4 {%r0}, [%in];", "below a byte");
  expect_error("wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.f16.f32" + operands + ";", "knows no such");
}

}  // namespace
}  // namespace tenon::emulator
