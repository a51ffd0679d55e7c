// The drawing of progress.hpp.
#include "command_line/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

namespace tenon::command {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Progress::Progress(std::string label, std::int64_t total)
    : label_(std::move(label)),
      total_(total),
      next_draw_(now() + 0.33),
      terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::advance(std::int64_t amount) {
  done_ += amount;
  if (!terminal_ || total_ <= 0) return;
  const double time = now();
  if (time < next_draw_) return;
  next_draw_ = time + 0.1;
  drawn_ = true;
  constexpr int width = 30;
  const double share = std::clamp(static_cast<double>(done_) / static_cast<double>(total_), 0.0, 1.0);
  std::string bar(static_cast<std::size_t>(share * width), '#');
  bar.resize(width, '.');
  std::fprintf(stderr, "\r%-24s [%s] %3.0f %%", label_.c_str(), bar.c_str(), 100.0 * share);
  std::fflush(stderr);
}

Elapsed::Elapsed(std::string label) : label_(std::move(label)) {
  if (::isatty(STDERR_FILENO) == 1) thread_ = std::thread([this] { draw(); });
}

Elapsed::~Elapsed() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_over_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void Elapsed::draw() {
  std::unique_lock<std::mutex> lock(mutex_);
  int seconds = 0;
  while (!ended_.wait_for(lock, std::chrono::seconds(1), [this] { return is_over_; })) {
    std::fprintf(stderr, "\r%s, %d s", label_.c_str(), ++seconds);
    std::fflush(stderr);
  }
  if (seconds > 0) std::fputs("\r\033[K", stderr);
}

}  // namespace tenon::command
