// main() of tests that name their device (support/device.hpp), beside GoogleTest's options.
//
// Exits with 77 if every test was skipped, so that ctest reports the program as skipped. A filter must match
// a test.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/device.hpp"

namespace {

using tenon::emulator::Schedule;

bool parse(const std::string& argument) {
  tenon::emulator::Options& options = tenon::test::emulator_options();
  const std::string random = "--schedule=random:";
  if (argument == "--device=cuda") return true;
  if (argument == "--device=emulator") {
    tenon::test::emulated() = true;
  } else if (argument == "--schedule=early") {
    options.schedule = Schedule::early;
  } else if (argument == "--schedule=late") {
    options.schedule = Schedule::late;
  } else if (argument.rfind(random, 0) == 0 && argument.size() > random.size()) {
    options.schedule = Schedule::random;
    options.seed = std::strtoull(argument.c_str() + random.size(), nullptr, 10);
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (parse(argv[i])) continue;
    std::fprintf(stderr,
                 "'%s' is not an option: --device=cuda, --device=emulator and --schedule=early, late, "
                 "random:SEED are\n",
                 argv[i]);
    return 2;
  }
  const int result = RUN_ALL_TESTS();
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  if (all.test_to_run_count() == 0) return 1;
  return all.skipped_test_count() == all.test_to_run_count() ? 77 : result;
}
