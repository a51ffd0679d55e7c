// A progress bar on stderr, where stderr is a terminal: scripts and logs see nothing of it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace tenon::command {

class Progress {
 public:
  // Nothing shows before the work has taken a third of a second, so that short work does not flicker.
  Progress(std::string label, std::int64_t total);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::int64_t amount = 1);  // cheap: redraws at most ten times a second

 private:
  std::string label_;
  std::int64_t total_, done_ = 0;
  double next_draw_;  // seconds of the steady clock
  bool terminal_, drawn_ = false;
};

// The same for work that cannot say how far it is: the seconds that it has taken, from the first on.
class Elapsed {
 public:
  explicit Elapsed(std::string label);
  ~Elapsed();  // clears the line
  Elapsed(const Elapsed&) = delete;
  Elapsed& operator=(const Elapsed&) = delete;

 private:
  void draw();

  std::string label_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_over_ = false;
  std::thread thread_;  // none where stderr is not a terminal
};

}  // namespace tenon::command
