// Runs the warps of one cluster, one after the other, a slice of instructions at a time.
//
// In a warp, lanes at the same place form a group that is run together. The group in the deepest frame and at
// the lowest place goes first, so that lanes that left structured code early wait at its end and are joined
// there; but a group that polls, or that has kept others waiting for long, lets the one that has waited
// longest go on for a while.
//
// Nobody can move when every group is blocked, or goes in circles: its warp polls, and its registers come
// back to what they were at an earlier poll while nothing in memory has changed. Then asynchronous operations
// that are still pending take effect one by one; then it is a stall, which is for the launch to judge:
// another cluster may change what this one looks at.
//
// Loops that meet at barriers never stand still: there every warp has to come back to an earlier state while
// nothing but barriers has happened. A loop that reads a clock never comes back to the same state: it goes in
// circles when it has looked very often. Time may end it, so before that is a deadlock the clock leaps.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "emulator/machine/launch_budget.hpp"
#include "emulator/machine/warp.hpp"

namespace tenon::emulator {

class Executor {
 public:
  Executor(Cluster& cluster, LaunchBudget& budget);

  enum class Outcome : std::uint8_t {
    finished,
    paused,  // it can move, but has polled for long: others should run
    stalled,
    over_budget  // the launch has executed its limit of instructions; refused() is the one that was next
  };
  Outcome run();
  Issue refused() const { return refused_; }
  // After a stall: somebody else has changed memory. A warp that went in circles has to go round once more to
  // show that it still does.
  void look_again();
  // When nobody else can help: lets the clock leap, if a warp that goes in circles reads it. False: no use.
  bool let_time_pass();

  // At a stall. Is there a warp that looks at memory again and again (rather than waiting at a barrier)?
  bool polls() const;
  // Lets lanes that wait at an .aligned operation for the rest of their warp go on alone, with a finding.
  bool force_divergence();
  void report_deadlock();

 private:
  // The polls of a warp while a counter of the cluster stands still.
  struct Circle {
    std::uint64_t counter = 0;
    std::uint32_t polls = 0;
    std::uint32_t timed_polls = 0;  // of them: with a look at a clock since the one before
    std::uint64_t state = 0;        // hash of the warp at an earlier one
    std::uint32_t closed = 0;       // how often it has come back
  };
  struct Runner {
    Warp* warp = nullptr;
    Circle quiet;                 // while Cluster::changes stands still
    Circle idle;                  // while Cluster::news does
    bool is_circling = false;     // while Cluster::changes is quiet.counter
    bool has_read_timer = false;  // since the last poll
    int rests = 0;                // rounds in which it has not moved
    Place poll_place = no_place;  // of the last poll
    int favoured_lane = -1;       // whose group runs next...
    int favoured_steps = 0;       // ...for so many steps
    int steps_since_choice = 0;
    int idle_steps = 0;           // without a change in memory
    std::uint64_t idle_news = 0;  // Cluster::news then
  };

  bool run_slice(Runner& runner, int steps);
  int choose(Runner& runner);
  bool step(Warp& warp, std::size_t index);
  bool may_execute(const Warp& warp, LaneMask active);
  void settle(Warp& warp, std::size_t index, Flow flow, LaneMask active);
  void clear_tokens(Warp& warp, LaneMask leaving);
  void note_poll(Runner& runner,
                 bool is_idle);  // idle: not a poll by itself, but many steps without a change
  bool closes(Circle& circle, std::uint64_t counter, Runner& runner, bool is_idle, std::uint64_t& hash);
  std::uint64_t state_of(const Warp& warp) const;
  bool each_has_come_back() const;
  bool all_go_in_circles();
  void start_window();
  void note_wgmma_registers(Warp& warp, const Step& step, LaneMask active);
  LaneMask needed(const Warp& warp, const Step& step) const;
  std::string awaited(Warp& warp, const Warp::Group& group, Place place, int lane) const;

  Cluster& cluster_;
  LaunchBudget& budget_;
  std::uint64_t executed_ = 0;  // instructions of the cluster's warps
  bool is_over_budget_ = false;
  Issue refused_;
  const std::vector<Step>& steps_;
  std::vector<Runner> runners_;
  std::vector<std::size_t> order_;
  std::mt19937_64 random_;
  bool is_random_;
  bool has_looped_ = false;                     // the last step went back
  bool has_read_timer_ = false;                 // a step has, since that was asked
  std::uint64_t window_news_ = ~0ull;           // Cluster::news when all_go_in_circles began to look
  int window_ = 0, rounds_ = 0;                 // of a window: how many there are, and have been
  int agreements_ = 0;                          // windows in which each warp has come back
  bool goes_in_circles_ = false;                // that is why it is stalled
  std::uint64_t leap_ = 0, leaped_ = 0;         // of the clock: the last one, and all
  std::uint64_t leap_news_ = 0;                 // Cluster::news then
  std::uint64_t polls_ = 0, poll_changes_ = 0;  // of the cluster, since something changed
};

}  // namespace tenon::emulator
