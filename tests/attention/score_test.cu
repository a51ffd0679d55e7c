// Runs the example of an own score function (tests/examples/attention_score.cu): on a GPU by its own call, in
// the emulator by the launch that the call plans. Its slopes are those of AttentionCase for 8 heads of
// 2^-(h+1).
#include "examples/attention_score.cu"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "attention/attention_case.hpp"

namespace tenon {
namespace {

// The name of the only kernel in the PTX of this file.
std::string entry() {
  std::ifstream file(std::string(TENON_SCORE_TEST_PTX) + ".ptx");
  std::ostringstream read;
  read << file.rdbuf();
  const std::string text = read.str(), begins = ".entry ";
  const std::size_t at = text.find(begins) + begins.size();
  return text.substr(at, text.find('(', at) - at);
}

using OwnScore = test::DeviceTest;
TEST_F(OwnScore, IsThatOfTheExample) {
  for (const int n : {1, 63, 129}) {
    SCOPED_TRACE(n);
    test::AttentionCase c;
    c.heads = c.key_heads = 8, c.queries = c.keys = n;
    c.window = {-1, 0}, c.slopes = true;
    const test::Attention attention(c);
    const AttentionProblem p = attention.problem();
    Status status;
    if (test::emulated()) {
      DeviceDescription device;
      ASSERT_TRUE(test::launcher().describe(&device));
      ASSERT_TRUE(Kernel::check(p, device)) << Kernel::check(p, device).message();
      Launch launch;
      ASSERT_TRUE(Kernel::plan(p, Alibi{c.scale, 8}, device, &launch));
      launch.ptx = TENON_SCORE_TEST_PTX;
      const std::string name = entry();
      launch.entry = name.c_str();
      status = test::launcher().launch(launch);
    } else {
      status = launch_attention<Kernel>(p, Alibi{c.scale, 8}, nullptr);
    }
    ASSERT_TRUE(status) << status.message();
    ASSERT_TRUE(test::device()->synchronize());
    attention.check();
    test::expect_no_findings();
  }
}

}  // namespace
}  // namespace tenon
