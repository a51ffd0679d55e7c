// main() of tests that name their device: --device=cuda or --device=emulator, beside GoogleTest's options.
//
// 77 where every test was skipped, so that ctest reports as skipped what did not run; a filter must match
// something.
#include <cstdio>
#include <cstring>

#include "support/device.hpp"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--device=emulator") == 0) {
      tenon::test::emulated() = true;
    } else if (std::strcmp(argv[i], "--device=cuda") != 0) {
      std::fprintf(stderr, "'%s' is no option: --device=cuda and --device=emulator are\n", argv[i]);
      return 2;
    }
  }
  const int result = RUN_ALL_TESTS();
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  if (all.test_to_run_count() == 0) return 1;
  return all.skipped_test_count() == all.test_to_run_count() ? 77 : result;
}
