// Contenders put together from others, without a GPU: what is enqueued, in which order, and what a failure
// does.
#include "microbench/contender.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tenon::microbench {
namespace {

CUstream_st* const stream = reinterpret_cast<CUstream_st*>(0x40);

// Writes "product 0 on 0x40" and so on.
class Enqueued {
 public:
  Contender product(bool fails = false) {
    Contender contender;
    contender.name = "product";
    contender.flop = 7;
    contender.rotation = 2;
    contender.enqueue = [this, fails](CUstream_st* where, int iteration) -> Status {
      EXPECT_EQ(where, stream);
      list.push_back("product " + std::to_string(iteration));
      if (fails) return {StatusCode::unsupported, "k is 3 but must be 4"};
      return {};
    };
    return contender;
  }
  std::function<Status(CUstream_st*)> foreign(bool fails = false) {
    return [this, fails](CUstream_st* where) -> Status {
      EXPECT_EQ(where, stream);
      list.emplace_back("foreign");
      if (fails) return {StatusCode::cuda_error, "no launch"};
      return {};
    };
  }

  std::vector<std::string> list;
};
using Strings = std::vector<std::string>;

TEST(Contender, IsFollowedByTheForeignKernelAfterEachLaunch) {
  Enqueued enqueued;
  const Contender pair = followed_by(enqueued.product(), enqueued.foreign());
  EXPECT_EQ(pair.name, "product");
  EXPECT_EQ(pair.flop, 7);
  EXPECT_EQ(pair.rotation, 2);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(pair.enqueue(stream, i));
  EXPECT_EQ(enqueued.list, (Strings{"product 0", "foreign", "product 1", "foreign", "product 2", "foreign"}));
}

TEST(Contender, ThatFailsIsNotFollowed) {
  Enqueued enqueued;
  const Status status = followed_by(enqueued.product(true), enqueued.foreign()).enqueue(stream, 5);
  EXPECT_STREQ(status.message(), "k is 3 but must be 4");
  EXPECT_EQ(enqueued.list, (Strings{"product 5"}));
}

TEST(Contender, FailsWithWhatFollowsIt) {
  Enqueued enqueued;
  EXPECT_STREQ(followed_by(enqueued.product(), enqueued.foreign(true)).enqueue(stream, 0).message(),
               "no launch");
}

TEST(Contender, RotatesThroughTheSets) {
  Enqueued enqueued;
  const Contender rotated = rotating(enqueued.product(), 3);
  EXPECT_EQ(rotated.rotation, 3);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(rotated.enqueue(stream, i));
  EXPECT_EQ(enqueued.list, (Strings{"product 0", "product 1", "product 2", "product 0", "product 1"}));
  enqueued.list.clear();
  EXPECT_TRUE(rotating(rotated, 1).enqueue(stream, 4));
  EXPECT_EQ(enqueued.list, (Strings{"product 0"})) << "one set is set 0 in each launch";
}

// A product with a cold L2 between others: the foreign kernel does not change the order of the sets.
TEST(Contender, RotatesAndIsFollowed) {
  Enqueued enqueued;
  const Contender pair = followed_by(rotating(enqueued.product(), 2), enqueued.foreign());
  for (int i = 1; i < 3; ++i) EXPECT_TRUE(pair.enqueue(stream, i));
  EXPECT_EQ(enqueued.list, (Strings{"product 1", "foreign", "product 0", "foreign"}));
}

}  // namespace
}  // namespace tenon::microbench
