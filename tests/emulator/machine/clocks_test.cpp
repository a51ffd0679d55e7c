// The vector clocks of threads, objects and agents, step by step.
#include "emulator/machine/clocks.hpp"

#include <gtest/gtest.h>

namespace tenon::emulator {
namespace {

bool covers(const Clocks& clocks, ThreadId observer, ThreadId other, Epoch epoch) {
  return clocks.covers(clocks.view(observer), other, epoch);
}

TEST(Clocks, ABarrierOrdersAllThreadsAfterAll) {
  Clocks clocks(4, true);
  const Epoch before = clocks.view(2).now;
  EXPECT_TRUE(covers(clocks, 2, 2, before));
  EXPECT_FALSE(covers(clocks, 1, 2, before));
  const ThreadId threads[] = {0, 1, 2};
  clocks.barrier(threads, 3);
  EXPECT_TRUE(covers(clocks, 1, 2, before));
  EXPECT_FALSE(covers(clocks, 3, 2, before)) << "thread 3 was not there";
  EXPECT_FALSE(covers(clocks, 1, 2, clocks.view(2).now)) << "what thread 2 does after it";
  EXPECT_EQ(clocks.view(0).seen, clocks.view(1).seen) << "one snapshot for all";
}

TEST(Clocks, ReleaseAndAcquireCarryWhatWasLearntBefore) {
  Clocks clocks(3, true);
  SyncClock first, second;
  const Epoch done = clocks.view(0).now;
  clocks.release(0, first);
  const Epoch later = clocks.view(0).now;
  clocks.acquire(1, first);
  clocks.release(1, second);
  clocks.acquire(2, second);
  EXPECT_TRUE(covers(clocks, 2, 0, done));
  EXPECT_FALSE(covers(clocks, 2, 0, later));
}

TEST(Clocks, SeveralThreadsReleaseAndAcquireAsEachByItself) {
  Clocks together(5, true), alone(5, true);
  SyncClock object, other;
  const ThreadId first[] = {0, 1, 2}, second[] = {3, 4};
  together.fence_proxy(1);
  alone.fence_proxy(1);
  together.release(first, 3, object);
  for (const ThreadId thread : first) alone.release(thread, other);
  together.acquire(second, 2, object);
  for (const ThreadId thread : second) alone.acquire(thread, other);
  for (ThreadId observer = 0; observer < 5; ++observer)
    for (ThreadId thread = 0; thread < 5; ++thread)
      for (Epoch epoch = 1; epoch < 4; ++epoch) {
        EXPECT_EQ(covers(together, observer, thread, epoch), covers(alone, observer, thread, epoch));
        EXPECT_EQ(together.fenced(together.view(observer), thread, epoch),
                  alone.fenced(alone.view(observer), thread, epoch));
      }
}

TEST(Clocks, WhoeverSharesASnapshotDoesNotSeeWhatIsAddedToItLater) {
  Clocks clocks(4, true);
  const Epoch first = clocks.view(0).now, second = clocks.view(1).now;
  SyncClock object;
  clocks.release(0, object);
  const SyncClock copy = object;
  clocks.acquire(2, object);
  clocks.release(1, object);  // the object's clock has other owners
  clocks.acquire(3, copy);
  for (const ThreadId observer : {ThreadId{2}, ThreadId{3}}) {
    EXPECT_TRUE(covers(clocks, observer, 0, first));
    EXPECT_FALSE(covers(clocks, observer, 1, second));
  }
  SyncClock own;
  clocks.release(0, own);
  clocks.release(1, own);  // and this one none: it is added to in place
  clocks.acquire(3, own);
  EXPECT_TRUE(covers(clocks, 3, 1, second));
}

TEST(Clocks, AnAgentIsOrderedAfterItsIssueAndBeforeItsWait) {
  Clocks clocks(2, true);
  const Epoch before = clocks.view(0).now;
  const Agent agent = clocks.start({0, 0}, clocks.copies_of(0), 1, false);
  const Epoch after = clocks.view(0).now;
  EXPECT_TRUE(clocks.covers(agent.view, 0, before));
  EXPECT_FALSE(clocks.covers(agent.view, 0, after)) << "what the thread does after the issue";
  EXPECT_FALSE(clocks.covers(agent.view, agent.component, agent.epoch)) << "other copies of its group";
  EXPECT_FALSE(covers(clocks, 0, agent.component, agent.epoch));
  clocks.complete(0, agent.component, 1);
  EXPECT_TRUE(covers(clocks, 0, agent.component, 1));
  EXPECT_FALSE(covers(clocks, 1, agent.component, 1));
  SyncClock object;
  clocks.release(0, object);
  clocks.acquire(1, object);
  EXPECT_TRUE(covers(clocks, 1, agent.component, 1));
  EXPECT_FALSE(covers(clocks, 1, agent.component, 2));
}

TEST(Clocks, AnAgentOfAWarpgroupKnowsWhatAllItsThreadsKnow) {
  Clocks clocks(3, true);
  const Epoch of_0 = clocks.view(0).now, of_1 = clocks.view(1).now;
  SyncClock issue;
  clocks.release(0, issue);
  clocks.release(1, issue);
  const Component component = clocks.new_component();
  const Agent agent = Clocks::start({0, 0}, issue, component, 1, true);
  EXPECT_TRUE(clocks.covers(agent.view, 0, of_0));
  EXPECT_TRUE(clocks.covers(agent.view, 1, of_1));
  EXPECT_FALSE(clocks.covers(agent.view, 2, clocks.view(2).now));
  EXPECT_FALSE(clocks.covers(agent.view, 1, clocks.view(1).now));
  SyncClock object;
  clocks.complete(object, component, 1);
  clocks.acquire(2, object);
  EXPECT_TRUE(covers(clocks, 2, component, 1));
}

TEST(Clocks, TheAsyncProxyReliesOnWhatWasFencedOnly) {
  Clocks clocks(2, true);
  const Epoch written = clocks.view(0).now;
  clocks.fence_proxy(0);
  const Epoch unfenced = clocks.view(0).now;
  const ThreadId threads[] = {0, 1};
  clocks.barrier(threads, 2);
  EXPECT_TRUE(clocks.fenced(clocks.view(1), 0, written));
  EXPECT_TRUE(covers(clocks, 1, 0, unfenced));
  EXPECT_FALSE(clocks.fenced(clocks.view(1), 0, unfenced));
  clocks.fence_proxy(1);
  EXPECT_TRUE(clocks.fenced(clocks.view(1), 0, unfenced)) << "a fence after the barrier suffices too";
  EXPECT_FALSE(clocks.fenced(clocks.view(0), 0, unfenced));
}

TEST(Clocks, AFenceReleasesAndAcquiresForTheRelaxedAccessesAroundIt) {
  Clocks clocks(2, true);
  const Epoch done = clocks.view(0).now;
  clocks.fence(0);
  const SyncClock flag = clocks.at_last_fence(0);
  clocks.observe(1, flag);
  EXPECT_FALSE(covers(clocks, 1, 0, done));
  clocks.fence(1);
  EXPECT_TRUE(covers(clocks, 1, 0, done));
  EXPECT_FALSE(covers(clocks, 1, 0, clocks.view(0).now));
}

}  // namespace
}  // namespace tenon::emulator
