// The instructions that the warps of a launch may still execute, shared by the host threads that run its
// clusters. The count is exact: an instruction is reserved before it runs, and then either spent or returned.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace tenon::emulator {

class LaunchBudget {
 public:
  explicit LaunchBudget(std::uint64_t limit) : limit_(limit) {}  // 0: no limit

  // False: the launch has executed all instructions that it may. While another host thread holds the last
  // one, and may still return it, this waits.
  bool reserve() {
    if (limit_ == 0) return true;
    for (;;) {
      if (reserved_.fetch_add(1) < limit_) return true;
      reserved_.fetch_sub(1);
      if (spent_.load() >= limit_) return false;
      std::this_thread::yield();
    }
  }
  void spend() {
    if (limit_ != 0) spent_.fetch_add(1);
  }
  // The instruction was blocked, and will be tried again.
  void give_back() {
    if (limit_ != 0) reserved_.fetch_sub(1);
  }

 private:
  const std::uint64_t limit_;
  std::atomic<std::uint64_t> reserved_{0};  // includes the spent ones
  std::atomic<std::uint64_t> spent_{0};
};

}  // namespace tenon::emulator
