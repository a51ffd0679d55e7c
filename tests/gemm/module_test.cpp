// Checks the hand-written PTX module without running it. The tests read its instructions from the text and
// compute their shared-memory addresses by a model of the swizzle: loads must read what copies wrote, copies
// must fill each stage, and no access may have bank conflicts.
//
// The model repeats sections 2, 3, 7 and 8 of the module as functions of the thread; offsets and registers
// come from the text.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gemm/module/module.hpp"
#include "gemm/select.hpp"
#include "host/cuda_launcher.hpp"

namespace tenon {
namespace {

constexpr int stage_bytes = 16384, b_tile = 8192;

// The offset of 16-byte chunk `chunk` of row `row` of a tile in the ring, and of an element in the tile of C.
int ring_position(int row, int chunk) {
  return 64 * row + 16 * (chunk ^ ((row >> 1) & 3));
}
int result_position(int row, int column) {
  return 512 * row + 32 * ((column >> 3) ^ (row & 3)) + 4 * (column & 7);
}

// The addresses that a thread computes (sections 2, 3, 7, 8).
int copy_to(int tid) {
  return 64 * (tid >> 2) + 16 * (((tid >> 3) & 3) ^ (tid & 3));
}
int load_a(int lane, int warp_row) {
  return 64 * (64 * warp_row + (lane & 15)) + 16 * ((lane >> 4) ^ ((lane >> 1) & 3));
}
int load_b(int lane, int warp_column) {
  const int row = 8 * (lane >> 4) | (lane & 7);
  return b_tile + 64 * (64 * warp_column + row) + 16 * (((lane >> 3) & 1) ^ ((lane >> 1) & 3));
}
int put(int lane, int warp_row, int warp_column, int j) {
  const int g = lane >> 2;
  return 512 * (64 * warp_row + g) + 256 * warp_column + 8 * (lane & 3) + 32 * ((g & 3) ^ j);
}
int get_wide(int lane, int warp) {
  return 512 * warp + 32 * ((lane >> 1) ^ warp) + 16 * (lane & 1);
}
int get_element(int lane, int warp) {
  return 512 * warp + 32 * ((lane >> 3) ^ warp) + 4 * (lane & 7);
}

// Extra wavefronts of one warp access of `width` bytes per lane: the hardware serves 128 bytes, so 128 /
// width consecutive lanes, at a time, and each of the 32 banks delivers one 4-byte word.
int bank_conflicts(const std::array<int, 32>& address, int width) {
  int extra = 0;
  const int together = 128 / width;
  for (int first = 0; first < 32; first += together) {
    std::array<std::set<int>, 32> words;
    for (int lane = first; lane < first + together; ++lane) {
      for (int byte = 0; byte < width; byte += 4) {
        const int word = (address[lane] + byte) / 4;
        words[word % 32].insert(word);
      }
    }
    for (const auto& bank : words) extra = std::max(extra, static_cast<int>(bank.size()) - 1);
  }
  return extra;
}

template <class Address>
int bank_conflicts_of(int width, Address address) {
  std::array<int, 32> addresses{};
  for (int lane = 0; lane < 32; ++lane) addresses[lane] = address(lane);
  return bank_conflicts(addresses, width);
}

// Every match of the pattern in the module's text, with its groups as strings.
std::vector<std::vector<std::string>> lines(const std::string& pattern) {
  const std::string text = module_text;
  const std::regex expression(pattern);
  std::vector<std::vector<std::string>> found;
  for (std::sregex_iterator i(text.begin(), text.end(), expression), end; i != end; ++i) {
    found.emplace_back(i->begin(), i->end());
  }
  return found;
}

TEST(ModuleText, IsTheFileToTheByte) {
  std::ifstream file(TENON_MODULE_PTX, std::ios::binary);
  ASSERT_TRUE(file) << TENON_MODULE_PTX;
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), module_text);
}

TEST(ModuleText, TheConflictCounterSeesConflicts) {
  EXPECT_EQ(bank_conflicts_of(16, [](int lane) { return 64 * lane; }), 3);  // the ring without its swizzle
  EXPECT_EQ(bank_conflicts_of(8, [](int lane) { return 512 * (lane >> 2) + 8 * (lane & 3); }), 3);
  EXPECT_EQ(bank_conflicts_of(4, [](int) { return 0; }), 0);  // one word for all: a broadcast
}

TEST(ModuleText, CopiesFillEveryStageOnceWithoutConflicts) {
  const auto copies = lines(R"(cp\.async\.cg\.shared\.global \[(copy_to|copy_at) \+ (\d+)\])");
  ASSERT_EQ(copies.size(), 32U);  // 3 stages before the loop, one in it (whose stage is in copy_at)
  for (int stage = 0; stage < 4; ++stage) {
    std::set<int> filled;
    for (int i = 0; i < 8; ++i) {
      const auto& copy = copies[8 * stage + i];
      ASSERT_EQ(copy[1], stage < 3 ? "copy_to" : "copy_at");
      const int offset = std::stoi(copy[2]) - (stage < 3 ? stage * stage_bytes : 0);
      const int tile = i / 4 * b_tile;  // A's four, then B's
      for (int tid = 0; tid < 128; ++tid) {
        const int to = copy_to(tid) + offset;
        EXPECT_EQ(to, tile + ring_position((tid >> 2) + 32 * (i % 4), tid & 3));
        EXPECT_TRUE(filled.insert(to).second) << "thread " << tid << " copies where another did";
      }
      for (int warp = 0; warp < 4; ++warp) {
        EXPECT_EQ(bank_conflicts_of(16, [&](int lane) { return copy_to(32 * warp + lane) + offset; }), 0);
      }
    }
    EXPECT_EQ(filled.size(), stage_bytes / 16U);
  }
}

TEST(ModuleText, LdmatrixReadsTheFragmentsWithoutConflicts) {
  // Registers of A are <step>a<i>_0..3, of B <step>b<4j>..<4j + 3>, step e (chunks 0, 1) or o (chunks 2, 3).
  const auto loads = lines(
      R"(ldmatrix\.sync\.aligned\.m8n8\.x4\.shared\.b16 \{([eo])([ab])(\d+)(_0)?, (\w+), (\w+), (\w+)\}, )"
      R"(\[([ab])_(even|odd) \+ (\d+)\])");
  ASSERT_EQ(loads.size(), 24U);  // even before the loop, odd and even in it
  for (const auto& load : loads) {
    const bool odd = load[1] == "o", is_a = load[2] == "a";
    const int index = is_a ? std::stoi(load[3]) : std::stoi(load[3]) / 4;
    const int offset = std::stoi(load[10]);
    EXPECT_EQ(load[8], load[2]);
    EXPECT_EQ(load[9], odd ? "odd" : "even");
    for (int r = 1; r < 4; ++r) {
      EXPECT_EQ(load[4 + r], is_a ? load[1] + "a" + std::to_string(index) + "_" + std::to_string(r)
                                  : load[1] + "b" + std::to_string(4 * index + r));
    }
    for (int half = 0; half < 2; ++half) {  // of the CTA tile: warp_row or warp_column
      const auto address = [&](int lane) {
        return ((is_a ? load_a(lane, half) : load_b(lane, half)) ^ (odd ? 32 : 0)) + offset;
      };
      for (int lane = 0; lane < 32; ++lane) {
        // PTX ISA, mma.m16n8k16: A's registers are (rows 0-7, k 0-7), (8-15, 0-7), (0-7, 8-15), (8-15, 8-15);
        // B's are k 0-7 and 8-15 of columns 0-7, and one x4 brings those of the next 8 columns too.
        const int matrix = lane >> 3, r = lane & 7, step = odd ? 2 : 0;
        const int row = 64 * half + 16 * index + r + 8 * (is_a ? matrix & 1 : matrix >> 1);
        const int chunk = step + (is_a ? matrix >> 1 : matrix & 1);
        EXPECT_EQ(address(lane), (is_a ? 0 : b_tile) + ring_position(row, chunk));
      }
      EXPECT_EQ(bank_conflicts_of(16, address), 0);
    }
  }
}

TEST(ModuleText, EveryPairOfFragmentsIsMultipliedOnce) {
  const std::string four = R"(\{(\w+), (\w+), (\w+), (\w+)\})", two = R"(\{(\w+), (\w+)\})";
  const auto products = lines(R"(mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.f16\.f16\.f32 )" + four + ", " +
                              four + ", " + two + ", " + four + ";");
  ASSERT_EQ(products.size(), 64U);
  std::set<std::tuple<char, int, int>> taken;
  for (const auto& product : products) {
    const char step = product[5][0];
    const int i = product[1][1] - '0', j = std::stoi(product[1].substr(3)) / 4;
    const std::string c = "c" + std::to_string(i) + "_",
                      a = std::string{step} + "a" + std::to_string(i) + "_";
    for (int e = 0; e < 4; ++e) {
      EXPECT_EQ(product[1 + e], c + std::to_string(4 * j + e));
      EXPECT_EQ(product[11 + e], product[1 + e]);
      EXPECT_EQ(product[5 + e], a + std::to_string(e));
    }
    for (int e = 0; e < 2; ++e)
      EXPECT_EQ(product[9 + e], std::string{step} + "b" + std::to_string(2 * j + e));
    EXPECT_TRUE(taken.emplace(step, i, j).second);
  }
  EXPECT_EQ(taken.size(), 64U);
}

TEST(ModuleText, TheTileOfCGoesThroughSharedMemoryWithoutConflicts) {
  const auto stores = lines(R"(st\.shared\.v2\.f32 \[put(\d) \+ (\d+)\], \{c(\d)_(\d+), c(\d)_(\d+)\};)");
  ASSERT_EQ(stores.size(), 64U);
  std::set<int> filled;
  for (const auto& store : stores) {
    const int j = std::stoi(store[1]), offset = std::stoi(store[2]);
    const int i = std::stoi(store[3]), element = std::stoi(store[4]);
    EXPECT_EQ(store[5], store[3]);
    EXPECT_EQ(std::stoi(store[6]), element + 1);
    for (int warp = 0; warp < 4; ++warp) {
      const int warp_row = warp & 1, warp_column = warp >> 1;
      const auto address = [&](int lane) { return put(lane, warp_row, warp_column, j) + offset; };
      for (int lane = 0; lane < 32; ++lane) {
        const int row = 64 * warp_row + 16 * i + 8 * (element % 4 / 2) + (lane >> 2);
        const int column = 64 * warp_column + 8 * (element / 4) + 2 * (lane & 3);
        EXPECT_EQ(address(lane), result_position(row, column));
        EXPECT_TRUE(filled.insert(address(lane)).second);
      }
      EXPECT_EQ(bank_conflicts_of(8, address), 0);
    }
  }
  EXPECT_EQ(filled.size(), 128U * 128U / 2U);

  for (int warp = 0; warp < 4; ++warp) {
    for (int row = warp; row < 128; row += 4) {
      const int down = 512 * (row - warp);
      for (int lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(get_wide(lane, warp) + down, result_position(row, 4 * lane));
        for (int j = 0; j < 4; ++j) {
          EXPECT_EQ(get_element(lane, warp) + down + 128 * j, result_position(row, lane + 32 * j));
        }
      }
    }
    EXPECT_EQ(bank_conflicts_of(16, [&](int lane) { return get_wide(lane, warp); }), 0);
    EXPECT_EQ(bank_conflicts_of(4, [&](int lane) { return get_element(lane, warp); }), 0);
  }
  const auto wide = lines(R"(ld\.shared\.v4\.f32 \{[^}]*\}, \[get \+ (\d+)\])");
  ASSERT_EQ(wide.size(), 4U);
  for (int r = 0; r < 4; ++r) EXPECT_EQ(wide[r][1], std::to_string(2048 * r));
  const auto elements = lines(R"(ld\.shared\.f32 s\d, \[get \+ (\d+)\])");
  ASSERT_EQ(elements.size(), 4U);
  for (int j = 0; j < 4; ++j) EXPECT_EQ(elements[j][1], std::to_string(128 * j));
}

// Addresses that are compared, never read.
Gemm some_problem() {
  static __half* const somewhere = reinterpret_cast<__half*>(0x1000);
  Gemm problem;
  problem.m = problem.n = problem.k = 64;
  problem.a = ConstMatrix(somewhere, 64, row_major, Type::f16);
  problem.b = ConstMatrix(somewhere, 64, column_major, Type::f16);
  problem.c = Matrix(somewhere, 64, Type::f16);
  return problem;
}

// Refused before any driver call, so also without a GPU.
void expect_refused(const Gemm& problem, const std::string& words) {
  const Kernel kernel = module_kernel();
  CudaLauncher launcher(nullptr);
  Launch launch;
  const Status status = kernel.configure(problem, {}, launcher, &launch);
  EXPECT_EQ(status.code(), StatusCode::unsupported) << status.message();
  EXPECT_NE(std::string(status.message()).find(words), std::string::npos) << status.message();
}

TEST(ModuleKernel, RefusesWhatItDoesNotCompute) {
  Gemm problem = some_problem();
  problem.c.type = Type::f32;
  expect_refused(problem, "f16 x f16 -> f32");
  problem = some_problem();
  problem.a.type = problem.b.type = Type::bf16;
  expect_refused(problem, "bf16 x bf16");
  problem = some_problem();
  problem.accumulate = Type::f16;
  expect_refused(problem, "with f16");
  problem = some_problem();
  problem.b.order = row_major;
  expect_refused(problem, "B is row-major");
  problem = some_problem();
  problem.a.ld = 68;
  expect_refused(problem, "lda 68");
  problem = some_problem();
  problem.b.data = static_cast<const char*>(problem.b.data) + 2;
  expect_refused(problem, "0x1002");
  problem = some_problem();
  problem.m = 1LL << 31;
  expect_refused(problem, "2147483648");
  problem = some_problem();
  problem.m = problem.n = (1LL << 31) - 1;
  Status refusal;
  EXPECT_FALSE(accepts(module_kernel(), problem, {90, 132, std::size_t{227} << 10, 50 << 20}, &refusal));
  EXPECT_NE(std::string(refusal.message()).find("281474976710656"), std::string::npos) << refusal.message();
}

TEST(ModuleKernel, DescribesItself) {
  const Kernel kernel = module_kernel();
  EXPECT_EQ(kernel.name, "module_f16_f32_tn_128x128x32_s4");
  EXPECT_EQ(kernel.shared_bytes, static_cast<std::size_t>(kernel.stages * stage_bytes));
  EXPECT_EQ(lines(R"(\.maxntid (\d+), 1, 1)").at(0).at(1), std::to_string(kernel.threads));
  EXPECT_EQ(lines(R"(\.visible \.entry (\w+)\()").at(0).at(1), module_symbol);
  EXPECT_EQ(module_symbol, "tenon_" + kernel.name);
  EXPECT_EQ(lines(R"(\.target (\w+))").at(0).at(1), "sm_" + std::to_string(kernel.minimum_sm));
}

}  // namespace
}  // namespace tenon
