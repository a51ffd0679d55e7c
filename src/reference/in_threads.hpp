// A loop whose iterations run on every core.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace tenon::reference {

// Calls work(0) to work(count - 1), each once, in any order and on several threads.
template <class Work>
void in_threads(std::int64_t count, const Work& work) {
  std::atomic<std::int64_t> next{0};
  const auto run = [&] {
    for (std::int64_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> threads;
  const std::int64_t helpers =
      std::min<std::int64_t>(count, std::max(1U, std::thread::hardware_concurrency())) - 1;
  for (std::int64_t i = 0; i < helpers; ++i) threads.emplace_back(run);
  run();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace tenon::reference
