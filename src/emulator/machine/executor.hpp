// Runs the warps of one cluster in turn, a slice of instructions at a time.
//
// Lanes of a warp with the same program counter form a group, which runs as one. The group in the deepest
// frame and at the lowest program counter goes first, so that lanes that left structured code early wait at
// its end and are joined there. If that group polls, or has run for long, the group that has waited longest
// runs for a while.
//
// The cluster makes no progress when every group is blocked or spins: its warp polls, and its registers
// return to their values at an earlier poll while memory has not changed. Then pending asynchronous
// operations take effect one by one. After the last of them the cluster is stalled, and the launch decides:
// another cluster may change the memory that this one polls.
//
// In a loop with barriers some warp always moves. Such a cluster spins if every warp returns to an earlier
// state while nothing but barriers has happened. A loop that reads a clock never returns to the same state:
// it counts as spinning after very many polls. Since the time that passes may end the loop, the clock skips
// ahead before a deadlock is reported.
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
    paused,  // it can move, but has polled for long: other clusters should run
    stalled,
    over_budget  // the launch has reached its instruction limit; refused() is the next instruction
  };
  Outcome run();
  Issue refused() const { return refused_; }
  // After a stall: another cluster has changed memory. A spinning warp must show again that it still spins.
  void recheck();
  // When no other cluster can help: skips the clock ahead if a spinning warp reads it. False: no warp does.
  bool skip_time();

  // At a stall: does a warp poll memory, rather than wait at a barrier?
  bool polls() const;
  // Lets lanes that wait at an .aligned operation for the rest of their warp go on alone, with a finding.
  bool force_divergence();
  void report_deadlock();

 private:
  // The polls of a warp while a counter of the cluster does not change.
  struct PollHistory {
    std::uint64_t counter = 0;
    std::uint32_t polls = 0;
    std::uint32_t timed_polls = 0;  // polls with a read of a clock since the poll before
    std::uint64_t state = 0;        // hash of the warp's state at an earlier poll
    std::uint32_t repeats = 0;      // how often the state has repeated
  };
  struct Runner {
    Warp* warp = nullptr;
    PollHistory quiet;            // while Cluster::changes does not change
    PollHistory idle;             // while Cluster::data_changes does not change
    bool is_spinning = false;     // while Cluster::changes is quiet.counter
    bool has_read_timer = false;  // since the last poll
    int idle_rounds = 0;          // rounds in which it has not moved
    Pc poll_pc = no_pc;           // of the last poll
    int favoured_lane = -1;       // whose group runs next, ...
    int favoured_steps = 0;       // ... for so many steps
    int steps_since_choice = 0;
    int idle_steps = 0;                   // without a change in memory
    std::uint64_t idle_data_changes = 0;  // Cluster::data_changes at the first of them
  };

  bool run_slice(Runner& runner, int steps);
  int choose(Runner& runner);
  bool step(Warp& warp, std::size_t index);
  bool may_execute(const Warp& warp, LaneMask active);
  void settle(Warp& warp, std::size_t index, Flow flow, LaneMask active);
  void clear_tokens(Warp& warp, LaneMask leaving);
  void note_poll(Runner& runner,
                 bool is_idle);  // idle: not a poll by itself, but many steps without a change
  bool repeats(PollHistory& history, std::uint64_t counter, Runner& runner, bool is_idle,
               std::uint64_t& hash);
  std::uint64_t state_of(const Warp& warp) const;
  bool each_has_repeated() const;
  bool all_spin();
  void start_window();
  void note_wgmma_registers(Warp& warp, const Step& step, LaneMask active);
  LaneMask needed(const Warp& warp, const Step& step) const;
  std::string awaited(Warp& warp, const Warp::Group& group, Pc pc, int lane) const;

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
  bool has_looped_ = false;                     // the last step branched backwards
  bool has_read_timer_ = false;                 // a step has, since this was last read
  std::uint64_t window_data_changes_ = ~0ull;   // Cluster::data_changes when all_spin began to watch
  int window_ = 0, rounds_ = 0;                 // of a window: its length, and the rounds so far
  int agreements_ = 0;                          // windows in which every warp has repeated its state
  bool spins_at_barriers_ = false;              // why the cluster is stalled
  std::uint64_t skip_ = 0, skipped_ = 0;        // of the clock, in total: the last skip, and all skips
  std::uint64_t skip_data_changes_ = 0;         // Cluster::data_changes at the last skip
  std::uint64_t polls_ = 0, poll_changes_ = 0;  // of the cluster, since the last change
};

}  // namespace tenon::emulator
