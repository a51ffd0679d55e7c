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
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "emulator/machine/warp.hpp"

namespace tenon::emulator {

class Executor {
 public:
  explicit Executor(Cluster& cluster);

  enum class Outcome : std::uint8_t {
    finished,
    paused,  // it can move, but has polled for long: others should run
    stalled
  };
  Outcome run();
  // After a stall: somebody else has changed memory. A warp that went in circles has to go round once more to
  // show that it still does.
  void look_again();

  // At a stall. Is there a warp that looks at memory again and again (rather than waiting at a barrier)?
  bool polls() const;
  // Lets lanes that wait at an .aligned operation for the rest of their warp go on alone, with a finding.
  bool force_divergence();
  void report_deadlock();

 private:
  struct Runner {
    Warp* warp = nullptr;
    std::uint32_t polls = 0;      // since something changed
    std::uint64_t changes = 0;    // then
    std::uint64_t state = 0;      // hash of the warp at an earlier poll
    bool is_circling = false;     // while Cluster::changes is `changes`
    Place poll_place = no_place;  // of the last poll
    int favoured_lane = -1;       // whose group runs next...
    int favoured_steps = 0;       // ...for so many steps
    int steps_since_choice = 0;
    int idle_steps = 0;              // without a change in memory
    std::uint64_t idle_changes = 0;  // Cluster::changes then
  };

  bool run_slice(Runner& runner, int steps);
  int choose(Runner& runner);
  bool step(Warp& warp, std::size_t index);
  void settle(Warp& warp, std::size_t index, Flow flow, LaneMask active);
  void clear_tokens(Warp& warp, LaneMask leaving);
  void note_poll(Runner& runner,
                 bool is_idle);  // idle: not a poll by itself, but many steps without a change
  void check_owned(Warp& warp, const Op& op, LaneMask active);
  LaneMask needed(const Warp& warp, const Step& step) const;
  std::string awaited(Warp& warp, const Warp::Group& group, Place place, int lane) const;

  Cluster& cluster_;
  const std::vector<Step>& steps_;
  std::vector<Runner> runners_;
  std::vector<std::size_t> order_;
  std::mt19937_64 random_;
  bool is_random_;
  bool has_looped_ = false;                     // the last step went back
  std::uint64_t polls_ = 0, poll_changes_ = 0;  // of the cluster, since something changed
};

}  // namespace tenon::emulator
