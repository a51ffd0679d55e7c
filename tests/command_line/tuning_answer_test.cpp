// What `tenon gemm --tuning` says about its table.
#include "command_line/tuning_answer.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tenon/tuning.hpp"

namespace tenon::command {
namespace {

class Answers : public ::testing::Test {
 protected:
  Answers() : list_(3) {
    list_[0].name = "one";
    list_[1].name = "two";
    list_[2].name = "by_name";
    list_[2].copy = Copy::module;
    problem_.m = 80, problem_.n = problem_.k = 64;
    problem_.a = {nullptr, 64, row_major, Type::f16};
    problem_.b = {nullptr, 64, column_major, Type::f16};
    problem_.c = {nullptr, 64, Type::f32};
    problem_.tuning = &tuning_;
    load("one");
  }
  void load(const std::string& kernel, const char* chip = "90, \"multiprocessors\": 132") {
    const std::string text = std::string("{\"tenon_tuning\": 1, \"device\": \"a chip\", \"sm\": ") + chip +
                             ", \"entries\": [{\"a\": \"f16\", \"b\": \"f16\", \"accumulate\": \"f32\", "
                             "\"c\": \"f32\", \"promote\": false, \"layout\": \"tn\", \"m\": 64, \"n\": 64, "
                             "\"k\": 64, \"kernel\": \"" +
                             kernel +
                             "\", \"microseconds\": 1, \"documented\": \"two\", "
                             "\"documented_microseconds\": 2}]}";
    const Status s = tuning_.load_text(text.data(), text.size());
    ASSERT_TRUE(s) << s.message();
  }
  std::string why_not(const char* running = "two") const {
    const TuningAnswer answer = tuning_answer(list_, problem_, device_, running);
    EXPECT_FALSE(answer.used);
    return answer.why;
  }

  std::vector<Kernel> list_;
  Tuning tuning_;
  Gemm problem_;
  DeviceDescription device_{90, 132, 0, 0};
};

TEST_F(Answers, AnEntryIsUsed) {
  const TuningAnswer answer = tuning_answer(list_, problem_, device_, "one");
  EXPECT_TRUE(answer.used);
  EXPECT_EQ(answer.why, "it has an entry for m = 64");
}

TEST_F(Answers, WhyATableIsNotUsed) {
  EXPECT_EQ(why_not(nullptr), "there is no product to compute");
  EXPECT_EQ(why_not(), "it has an entry for m = 64, but its kernel one does not take this problem");
  load("three");
  EXPECT_EQ(why_not(), "it has an entry for m = 64, but its kernel three is not in this build");
  load("by_name");
  EXPECT_EQ(why_not(), "it has an entry for m = 64, but its kernel by_name runs only where it is named");
  load("one", "80, \"multiprocessors\": 108");
  EXPECT_EQ(why_not(),
            "it was measured on a chip, sm_80 with 108 multiprocessors, but this device is sm_90 with 132 "
            "multiprocessors");
  load("one");
  problem_.m = 100;
  EXPECT_EQ(why_not(), "it has no entry for this problem");
  problem_.tuning = nullptr;
  EXPECT_EQ(why_not(), "there is no table");
  problem_.kernel = "two";
  EXPECT_EQ(why_not(), "a kernel that is named comes before it");
}

}  // namespace
}  // namespace tenon::command
