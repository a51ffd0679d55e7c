// Ordinary CUDA C++ with tensor maps, cuda::barrier and wgmma (tma_wgmma.cu), compiled by nvcc and executed.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "emulator/numerics/formats.hpp"
#include "tenon/emulator/emulator.hpp"
#include "tenon/emulator/tensor_map.hpp"

namespace tenon::emulator {
namespace {

std::string compiled() {
  std::ifstream file(TENON_TMA_WGMMA_PTX);
  EXPECT_TRUE(file) << TENON_TMA_WGMMA_PTX;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TensorMap rows_of_k(Address address, std::uint64_t k) {
  const std::uint64_t dimensions[] = {k, 64}, strides[] = {k * 2};
  const std::uint32_t box[] = {64, 64}, steps[] = {1, 1};
  return encode_tiled(TensorMapType::float16, 2, address, dimensions, strides, box, steps,
                      TensorMapInterleave::none, TensorMapSwizzle::bytes_128, TensorMapL2Promotion::none,
                      TensorMapFill::zeros);
}

void expect_product(const std::string& text, int k, const Options& options) {
  Emulator emulator;
  const Module module = emulator.load(text);
  std::mt19937 random(3);
  std::vector<int> a(static_cast<std::size_t>(64 * k)), b(a.size());
  for (int& value : a) value = static_cast<int>(random() % 9) - 4;
  for (int& value : b) value = static_cast<int>(random() % 9) - 4;
  const auto upload = [&](const std::vector<int>& values) {
    std::vector<std::uint16_t> half;
    for (const int value : values) {
      half.push_back(
          static_cast<std::uint16_t>(numerics::from_float(numerics::f16, static_cast<float>(value))));
    }
    const Address address = emulator.allocate(half.size() * 2);
    emulator.copy_in(address, half.data(), half.size() * 2);
    return address;
  };
  const Address to = emulator.allocate(64 * 64 * 4);
  const auto depth = static_cast<std::uint64_t>(k);
  const Result result =
      emulator.launch(module, "gemm", {{1, 1, 1}, {160, 1, 1}},
                      {rows_of_k(upload(a), depth), rows_of_k(upload(b), depth), to, k}, options);
  for (const Finding& finding : result.findings) {
    ADD_FAILURE() << name(finding.kind) << " at line " << finding.ptx_line << " (" << finding.source
                  << "): " << finding.message;
  }
  EXPECT_EQ(result.counters.total.matrix_operations, static_cast<std::uint64_t>(k / 16));
  std::vector<float> c(64 * 64);
  emulator.copy_out(c.data(), to, c.size() * 4);
  for (std::size_t row = 0; row < 64; ++row) {
    for (std::size_t column = 0; column < 64; ++column) {
      int sum = 0;
      for (std::size_t i = 0; i < depth; ++i) sum += a[row * depth + i] * b[column * depth + i];
      ASSERT_EQ(c[row * 64 + column], static_cast<float>(sum)) << row << ", " << column;
    }
  }
}

TEST(TmaWgmma, of_cuda_cpp_computes_the_product_under_every_schedule) {
  const std::string text = compiled();
  for (const int k : {64, 128, 320}) {
    for (const Schedule schedule : {Schedule::early, Schedule::late, Schedule::random}) {
      for (std::uint64_t seed = 1; seed <= (schedule == Schedule::random ? 5 : 1); ++seed) {
        SCOPED_TRACE(std::to_string(k) + " schedule " + std::to_string(static_cast<int>(schedule)) + ":" +
                     std::to_string(seed));
        Options options;
        options.schedule = schedule;
        options.seed = seed;
        expect_product(text, k, options);
      }
    }
  }
}

TEST(TmaWgmma, of_cuda_cpp_runs_with_findings_off) {
  Options options;
  options.findings = false;
  expect_product(compiled(), 320, options);
}

// Faults planted in the compiled text, which must be found at their lines.
std::string without(std::string text, const std::string& line) {
  const std::size_t at = text.find(line);
  EXPECT_NE(at, std::string::npos) << line;
  if (at != std::string::npos) text.erase(at, line.size());
  return text;
}

bool finds(const std::string& text, FindingKind kind) {
  Emulator emulator;
  const Module module = emulator.load(text);
  const std::vector<std::uint16_t> zeros(64 * 192);
  const Address a = emulator.allocate(zeros.size() * 2), to = emulator.allocate(64 * 64 * 4);
  emulator.copy_in(a, zeros.data(), zeros.size() * 2);
  const Result result = emulator.launch(module, "gemm", {{1, 1, 1}, {160, 1, 1}},
                                        {rows_of_k(a, 192), rows_of_k(a, 192), to, 192});
  for (const Finding& finding : result.findings) {
    if (finding.kind == kind) return true;
  }
  return false;
}

TEST(TmaWgmma, of_cuda_cpp_with_a_fault_is_found_out) {
  const std::string text = compiled();
  EXPECT_TRUE(finds(without(text, "wgmma.wait_group.sync.aligned 0;"), FindingKind::async_use));
  EXPECT_TRUE(finds(without(text, "wgmma.fence.sync.aligned;"), FindingKind::async_use));
  EXPECT_TRUE(finds(without(text, "bar.sync \t0;"), FindingKind::barrier));
}

}  // namespace
}  // namespace tenon::emulator
