// workspace_size() needs no allocated memory, and ignores the workspace of the problem.
#include <gtest/gtest.h>

#include <cstdint>

#include "host/gemm_on.hpp"
#include "host/kernel_list.hpp"
#include "host/refusing_launcher.hpp"

namespace tenon {
namespace {

using test::problem;
using test::RefusingLauncher;

std::size_t asked(const Gemm& p) {
  RefusingLauncher h200;
  return workspace_size(h200, p);
}

TEST(WorkspaceSize, IsAskedBeforeAnythingIsAllocated) {
  for (const Type type : {Type::e4m3, Type::f16, Type::s8}) {
    const Gemm p = problem(1000, 999, 509, type);
    const std::size_t needed = asked(p);
    EXPECT_GT(needed, 0U) << name(type);
    for (int which = 1; which < 8; ++which) {
      Gemm q = p;
      if ((which & 1) != 0) q.a.data = nullptr;
      if ((which & 2) != 0) q.b.data = nullptr;
      if ((which & 4) != 0) q.c.data = nullptr;
      EXPECT_EQ(asked(q), needed) << name(type) << ", null: " << which;
    }
  }
  Gemm p = problem(1024, 1024, 1024, Type::e4m3);
  p.a.data = p.b.data = p.c.data = nullptr;
  EXPECT_EQ(asked(p), 0U) << "allocated memory is aligned";
}

TEST(WorkspaceSize, IsNothingForWhatCannotRun) {
  Gemm p = problem(1000, 999, 509, Type::e4m3);
  p.a.data = p.b.data = p.c.data = nullptr;
  p.a.ld = 508;
  EXPECT_EQ(asked(p), 0U);
  p = problem(1000, 999, 509, Type::e4m3);
  p.kernel = "nobody";
  EXPECT_EQ(asked(p), 0U);
  p = problem(1000, 999, 509, Type::e4m3);
  p.alpha = 0;
  EXPECT_EQ(asked(p), 0U) << "C is only scaled";
}

// The workspace may be too small or invalid: the answer is what it should be.
TEST(WorkspaceSize, IgnoresTheWorkspaceOfTheProblem) {
  Gemm p = problem(1000, 999, 509, Type::e4m3);
  const std::size_t needed = asked(p);
  p.workspace_bytes = 1;
  EXPECT_EQ(asked(p), needed);
  p.workspace = p.c.data;
  EXPECT_EQ(asked(p), needed);
  p.workspace = reinterpret_cast<void*>(std::uintptr_t{1});
  p.workspace_bytes = SIZE_MAX;
  EXPECT_EQ(asked(p), needed);
}

}  // namespace
}  // namespace tenon
