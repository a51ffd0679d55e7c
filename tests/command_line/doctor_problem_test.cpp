// What `tenon doctor` says about a problem, with made-up kernels and devices.
#include "command_line/doctor_problem.hpp"

#include <gtest/gtest.h>

#include <string>

#include "host/kernel_list.hpp"

namespace tenon::command {
namespace {

using test::a100;
using test::h200;
using test::kernel_list;
using test::problem;
using Severity = Obstacle::Severity;

const Obstacle* find(const Diagnosis& d, const std::string& kind) {
  for (const Obstacle& obstacle : d.obstacles) {
    if (obstacle.kind == kind) return &obstacle;
  }
  return nullptr;
}

std::string message(const Diagnosis& d, const std::string& kind) {
  const Obstacle* found = find(d, kind);
  return found != nullptr ? found->message : "";
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(DoctorProblem, ALargeAlignedProductHasNoObstacle) {
  const Diagnosis d = diagnose(kernel_list(), problem(8192, 8192, 8192), h200);
  ASSERT_NE(d.kernel, nullptr);
  EXPECT_EQ(d.kernel->copy, Copy::tma);
  EXPECT_EQ(d.kernel_without_workspace, d.kernel);
  EXPECT_EQ(d.workspace_bytes, 0U);
  EXPECT_GT(d.efficiency, 0.9);
  EXPECT_LE(d.efficiency, 1.0);
  EXPECT_TRUE(d.obstacles.empty()) << d.obstacles.front().message;
}

TEST(DoctorProblem, AnOddLeadingDimensionIsNamedWithTheNextGoodOne) {
  Gemm p = problem(4096, 4096, 4096);
  p.a.ld = 4097;
  const Diagnosis d = diagnose(kernel_list(), p, h200);
  ASSERT_NE(d.kernel, nullptr);
  EXPECT_EQ(d.kernel->copy, Copy::tma);
  ASSERT_NE(d.kernel_without_workspace, nullptr);
  EXPECT_EQ(d.kernel_without_workspace->copy, Copy::any);
  EXPECT_EQ(d.workspace_bytes, 4096U * 4096 * 2);
  EXPECT_TRUE(d.pads_a && !d.pads_b);
  const Obstacle* found = find(d, "alignment");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->severity, Severity::against);
  EXPECT_TRUE(holds(found->message, "lda is 4097, not a multiple of 8, so rows of A")) << found->message;
  EXPECT_TRUE(holds(found->remedy, "lda = 4112")) << found->remedy;
}

TEST(DoctorProblem, RowsThatCrossL2SectorsAreANote) {
  const std::vector<Kernel> with_tma = {test::kernel("tma", Copy::tma, 256, 128)};
  const std::vector<Kernel> without = {test::kernel("async", Copy::cp_async, 256, 128)};
  Gemm p = problem(4096, 4096, 4096);
  p.b.ld = 4104;
  const Diagnosis d = diagnose(with_tma, p, h200);
  ASSERT_EQ(d.obstacles.size(), 1U);
  const Obstacle& found = d.obstacles.front();
  EXPECT_STREQ(found.kind, "alignment");
  EXPECT_EQ(found.severity, Severity::note);
  EXPECT_TRUE(holds(found.message, "half of the columns of B begin between multiples of 32 bytes"))
      << found.message;
  EXPECT_TRUE(holds(found.message, "(ldb is 4104)")) << found.message;
  EXPECT_EQ(found.remedy, "ldb = 4112");
  EXPECT_TRUE(diagnose(without, p, h200).obstacles.empty());

  p.b.ld = 4112;
  EXPECT_TRUE(diagnose(with_tma, p, h200).obstacles.empty());
  p.a.data = static_cast<const char*>(p.a.data) + 16;
  const Diagnosis shifted = diagnose(with_tma, p, h200);
  EXPECT_TRUE(holds(message(shifted, "alignment"), "all rows of A begin between"));
  EXPECT_EQ(find(shifted, "alignment")->remedy, "let A begin at a multiple of 32 bytes");
}

TEST(DoctorProblem, AnOffsetPointerIsNamed) {
  Gemm p = problem(4096, 4096, 4096);
  p.b.data = static_cast<const char*>(p.b.data) + 6;
  const Diagnosis d = diagnose(kernel_list(), p, h200);
  EXPECT_TRUE(d.pads_b && !d.pads_a);
  EXPECT_TRUE(holds(message(d, "alignment"), "B begins 6 bytes past a multiple of 16"));
}

TEST(DoctorProblem, TheRowsOfCAreANoteAndLeaveTheKernelAlone) {
  Gemm p = problem(4096, 4096, 4096);
  p.c.type = Type::f16;
  p.c.ld = 4100;
  const Diagnosis d = diagnose(kernel_list(), p, h200);
  const Obstacle* found = find(d, "alignment");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->severity, Severity::note);
  EXPECT_TRUE(holds(found->message, "ldc is 4100")) << found->message;
  p.c.type = Type::f32;  // 4100 of them are a multiple of 16 bytes
  EXPECT_EQ(find(diagnose(kernel_list(), p, h200), "alignment"), nullptr);
}

TEST(DoctorProblem, RowsOfCThatEndWithin16BytesAreANote) {
  Gemm p = problem(4096, 4092, 4096);
  p.c.ld = 4096;
  EXPECT_EQ(find(diagnose(kernels(), p, h200), "alignment"), nullptr);  // 4092 of f32
  p.c.type = Type::f16;
  const Diagnosis d = diagnose(kernels(), p, h200);
  ASSERT_EQ(d.kernel->instruction, Instruction::wgmma);
  const Obstacle* found = find(d, "alignment");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->severity, Severity::note);
  EXPECT_TRUE(holds(found->message, "n is 4092")) << found->message;
}

TEST(DoctorProblem, FewTilesLeaveMultiprocessorsIdle) {
  const Diagnosis d = diagnose(kernel_list(), problem(64, 512, 4096), h200);
  ASSERT_NE(d.kernel, nullptr);
  ASSERT_LT(d.tiles, 132);
  const Obstacle* found = find(d, "size");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->severity, Severity::against);
  EXPECT_TRUE(holds(found->message, std::to_string(132 - d.tiles) + " of 132 multiprocessors"))
      << found->message;
  EXPECT_LT(d.efficiency, 0.5);
}

TEST(DoctorProblem, EdgeTilesCountAsWaste) {
  const Diagnosis d = diagnose(kernel_list(), problem(1, 65536, 4096), h200);
  bool told = false;
  for (const Obstacle& obstacle : d.obstacles) {
    told = told ||
           (obstacle.severity == Severity::against && holds(obstacle.message, "lies inside C, 1 x 65536"));
  }
  EXPECT_TRUE(told);
  EXPECT_LT(d.efficiency, 0.1);
}

TEST(DoctorProblem, AShortKIsNoted) {
  const Diagnosis d = diagnose(kernel_list(), problem(8192, 8192, 40), h200);
  ASSERT_NE(d.kernel, nullptr);
  EXPECT_TRUE(holds(message(d, "size"), "k is 40 but the kernel multiplies")) << message(d, "size");
  EXPECT_EQ(find(diagnose(kernel_list(), problem(8192, 8192, 8192), h200), "size"), nullptr);
}

TEST(DoctorProblem, F32IsDiagnosedAsTheBugThatItIs) {
  Gemm p = problem(4096, 4096, 4096);
  p.a.type = p.b.type = Type::f32;
  const Diagnosis d = diagnose(kernel_list(), p, h200);
  EXPECT_EQ(d.kernel, nullptr);
  const Obstacle* found = find(d, "type");
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(holds(found->message, "leaves the tensor cores idle"));
  EXPECT_TRUE(holds(found->remedy, "round A and B to bf16 or f16"));
  Gemm rounded = problem(4096, 4096, 4096);
  rounded.a.type = rounded.b.type = Type::bf16;
  const Diagnosis then = diagnose(kernel_list(), rounded, h200);
  const std::string rounding = found->remedy.substr(found->remedy.find("round A and B"));
  EXPECT_EQ(then.kernel != nullptr, holds(rounding, "the problem then gets "));
}

TEST(DoctorProblem, F32MayBeCalledTf32WhereThereIsAKernel) {
  Gemm p = problem(4096, 4096, 4096);
  p.a.type = p.b.type = Type::f32;
  const std::string say = "declare them tf32", gets = "the problem then gets tf32";
  const Diagnosis hopper = diagnose(kernel_list(), p, h200), ampere = diagnose(kernel_list(), p, a100);
  EXPECT_TRUE(holds(find(hopper, "type")->remedy, say) && holds(find(hopper, "type")->remedy, gets));
  EXPECT_FALSE(holds(find(ampere, "type")->remedy, say));
}

TEST(DoctorProblem, OtherTypesAreSaidToBeTransposed) {
  Gemm p = problem(4096, 4096, 4096, Type::e4m3);
  EXPECT_TRUE(diagnose(kernel_list(), p, h200).obstacles.empty());
  p.b.order = row_major;
  const Diagnosis d = diagnose(kernel_list(), p, h200);
  ASSERT_NE(d.kernel, nullptr);
  EXPECT_EQ(d.kernel_without_workspace, nullptr);
  EXPECT_EQ(d.workspace_bytes, 4096U * 4096);
  EXPECT_TRUE(d.pads_b && !d.pads_a);
  const Obstacle* found = find(d, "layout");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->severity, Severity::against);
  EXPECT_EQ(
      found->message,
      "B is row-major, but elements of e4m3 are multiplied with k contiguous: it is transposed into the "
      "workspace first, so a workspace is required");
  EXPECT_TRUE(holds(found->remedy, "A row-major and B column-major need no copy")) << found->remedy;
  EXPECT_EQ(find(d, "alignment"), nullptr);
  p.b.ld = 4097;  // a transposing copy takes any alignment
  EXPECT_EQ(find(diagnose(kernel_list(), p, h200), "alignment"), nullptr);
  Gemm sixteen = problem(4096, 4096, 4096);
  sixteen.a.order = column_major;
  sixteen.b.order = row_major;
  EXPECT_EQ(find(diagnose(kernel_list(), sixteen, h200), "layout"), nullptr);
}

TEST(DoctorProblem, AlignmentIsCountedInElements) {
  Gemm p = problem(4096, 4096, 4096, Type::s8);
  p.a.ld = 4104;
  EXPECT_TRUE(
      holds(message(diagnose(kernel_list(), p, h200), "alignment"),
            "lda is 4104, not a multiple of 16, so rows of A begin where 16-byte copies cannot: it is "
            "copied to aligned rows first, so a workspace is required"));
  EXPECT_TRUE(holds(find(diagnose(kernel_list(), p, h200), "alignment")->remedy, "lda = 4128"));
  p = problem(4096, 4096, 4096, Type::tf32);
  p.a.ld = 4104;
  EXPECT_EQ(find(diagnose(kernel_list(), p, h200), "alignment"), nullptr);
}

TEST(DoctorProblem, OtherTypesNeedAnotherDevice) {
  const Diagnosis d = diagnose(kernel_list(), problem(4096, 4096, 4096, Type::s8), a100);
  EXPECT_EQ(d.kernel, nullptr);
  EXPECT_TRUE(holds(message(d, "device"), "needs sm_90 exactly but the device is sm_80"));
}

TEST(DoctorProblem, AKernelThatTheDeviceLacksIsNamed) {
  const Diagnosis d = diagnose(kernel_list(), problem(8192, 8192, 8192), a100);
  ASSERT_NE(d.kernel, nullptr);
  EXPECT_NE(d.kernel->copy, Copy::tma);
  EXPECT_TRUE(holds(message(d, "device"), "needs sm_90 exactly but the device is sm_80"))
      << message(d, "device");
}

TEST(DoctorProblem, TheLeadingDimensionOfASingleRowIsNoObstacle) {
  Gemm p = problem(1, 4096, 4096);
  p.a.ld = 4097;
  p.c.ld = 4099;
  const Diagnosis d = diagnose(kernel_list(), p, h200);
  ASSERT_NE(d.kernel, nullptr);
  EXPECT_EQ(d.workspace_bytes, 0U);
  EXPECT_EQ(find(d, "alignment"), nullptr);
}

TEST(DoctorProblem, ASizeThatNoKernelTakesIsNotBlamedOnTheTypes) {
  Gemm p = problem(1, std::int64_t{1} << 30, 32);
  p.a.type = p.b.type = Type::e4m3;
  p.promote = true;
  p.a.ld = p.b.ld = 32;
  p.c = {p.c.data, p.n, Type::f32};
  const Diagnosis d = diagnose(kernels(), p, h200);
  EXPECT_EQ(d.kernel, nullptr);
  EXPECT_TRUE(holds(message(d, "size"), "needs n <= 1073741823 but n is 1073741824")) << message(d, "size");
}

TEST(DoctorProblem, NothingToMultiply) {
  const Diagnosis d = diagnose(kernel_list(), problem(0, 8, 8), h200);
  EXPECT_EQ(d.kernel, nullptr);
  EXPECT_NE(find(d, "empty"), nullptr);
}

TEST(DoctorProblem, NoKernelOfTheBuild) {
  const Diagnosis d = diagnose({}, problem(64, 64, 64), h200);
  EXPECT_EQ(d.kernel, nullptr);
  EXPECT_TRUE(holds(message(d, "type"), "this build has no kernel for f16 inputs")) << message(d, "type");
}

}  // namespace
}  // namespace tenon::command
