#include "emulator/machine/executor.hpp"

#include <algorithm>
#include <numeric>

#include "emulator/machine/text.hpp"

namespace tenon::emulator {
namespace {

constexpr int slice = 128;         // instructions that a warp runs before the next warp does
constexpr int favour = 32;         // steps of the group that has waited longest
constexpr int patience = 1 << 16;  // steps after which it is chosen, without any poll
constexpr int idle_steps = 1024;   // steps without a change, after which a loop counts as a poll
constexpr std::uint32_t polls_before_hash = 32;  // hashing a warp costs as much as a thousand instructions
constexpr std::uint64_t polls_before_pause = 1 << 16;
constexpr std::uint32_t enough_timed_polls = 1 << 12;  // in a cluster in which nothing happens
constexpr std::uint32_t polls_after_skip = 64;
constexpr std::uint32_t enough_repeats = 8;  // of every warp, in loops with barriers
constexpr int enough_idle_rounds = 64;
constexpr int first_window = 256, last_window = 1 << 20, enough_windows = 3;    // in rounds
constexpr std::uint64_t first_skip = 1'000'003, last_skip = 1'000'000'000'000;  // nanoseconds

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

LaneMask true_lanes(const std::uint64_t* predicate) {
  LaneMask mask = 0;
  for (int lane = 0; lane < warp_size; ++lane) mask |= static_cast<LaneMask>(predicate[lane] & 1) << lane;
  return mask;
}

std::string hex(LaneMask mask) {
  return emulator::hex(mask, 8);
}

}  // namespace

Executor::Executor(Cluster& cluster, LaunchBudget& budget)
    : cluster_(cluster),
      budget_(budget),
      steps_(cluster.launch.program->steps),
      random_(cluster.launch.seed * 0xd1342543de82ef95u + cluster.number),
      is_random_(cluster.launch.schedule == Schedule::random) {
  for (const auto& cta : cluster.ctas)
    for (const auto& warp : cta->warps) {
      runners_.emplace_back();
      runners_.back().warp = warp.get();
    }
  order_.resize(runners_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
}

Executor::Outcome Executor::run() {
  polls_ = 0;
  while (cluster_.live_threads > 0 && !cluster_.is_aborted()) {
    if (is_random_) std::shuffle(order_.begin(), order_.end(), random_);
    bool has_moved = false;
    const std::uint64_t changes = cluster_.changes();
    for (const std::size_t index : order_) {
      Runner& runner = runners_[index];
      if (runner.is_spinning && runner.quiet.counter == cluster_.changes()) continue;
      runner.is_spinning = false;
      const bool moved = run_slice(runner, is_random_ ? static_cast<int>(1 + random_() % 48) : slice);
      runner.idle_rounds = moved ? 0 : runner.idle_rounds + 1;
      has_moved |= moved;
      cluster_.async.perform_some();
      if (cluster_.is_aborted()) return is_over_budget_ ? Outcome::over_budget : Outcome::finished;
    }
    // A warp may be waiting for a copy that has just landed.
    const bool stands = !has_moved && cluster_.changes() == changes;
    spins_at_barriers_ = !stands && all_spin();
    if ((stands || spins_at_barriers_) && !cluster_.async.perform_oldest()) return Outcome::stalled;
    if (polls_ > polls_before_pause) return Outcome::paused;
  }
  // Pending operations take effect without a wait: a copy may land after the kernel's last instruction.
  while (!cluster_.is_aborted() && cluster_.async.perform_oldest()) {
  }
  return Outcome::finished;
}

void Executor::recheck() {
  for (Runner& runner : runners_) {
    for (Warp::Group& group : runner.warp->groups_) group.blocked_at = ~std::uint64_t{0};
    runner.idle_rounds = 0;
    if (!runner.is_spinning) continue;
    runner.is_spinning = false;
    runner.idle_steps = idle_steps;
  }
  spins_at_barriers_ = false;
  agreements_ = 0;
  start_window();
}

// Short skips first: they end a timeout before enough time has passed to matter elsewhere.
bool Executor::skip_time() {
  const bool reads_timer = std::any_of(runners_.begin(), runners_.end(), [](const Runner& runner) {
    return runner.quiet.timed_polls != 0 || runner.idle.timed_polls != 0 || runner.has_read_timer;
  });
  if (!reads_timer) return false;
  if (skip_data_changes_ != cluster_.data_changes()) skip_ = 0;
  skip_data_changes_ = cluster_.data_changes();
  if (skip_ >= last_skip) return false;
  skip_ = skip_ == 0 ? first_skip : skip_ * 1000;
  cluster_.clock += skip_;
  skipped_ += skip_;
  for (Runner& runner : runners_)
    for (PollHistory* history : {&runner.quiet, &runner.idle})
      history->timed_polls = std::min(history->timed_polls, enough_timed_polls - polls_after_skip);
  recheck();
  return true;
}

bool Executor::run_slice(Runner& runner, int steps) {
  Warp& warp = *runner.warp;
  bool has_moved = false;
  for (; steps > 0; --steps) {
    const int index = choose(runner);
    if (index < 0) break;
    const bool moved = step(warp, static_cast<std::size_t>(index));
    has_moved |= moved;
    if (!moved) ++steps;  // however short the slice: another group of the warp may be able to move
    if (cluster_.is_aborted()) break;
    bool is_idle = false;
    runner.has_read_timer |= has_read_timer_;
    has_read_timer_ = false;
    if (runner.idle_data_changes != cluster_.data_changes()) {
      runner.idle_data_changes = cluster_.data_changes();
      runner.idle_steps = 0;
    }
    if (++runner.idle_steps > idle_steps && has_looped_) {
      runner.idle_steps = 0;
      is_idle = true;
    }
    if (warp.polled_ || is_idle) {
      warp.polled_ = false;
      note_poll(runner, is_idle);
      break;
    }
  }
  return has_moved;
}

// The index of the group to run next; -1: none can.
int Executor::choose(Runner& runner) {
  std::vector<Warp::Group>& groups = runner.warp->groups_;
  const std::uint64_t changes = cluster_.changes();
  const auto can_run = [&](const Warp::Group& group) {
    return !group.is_blocked || group.blocked_at != changes;
  };
  if (groups.size() == 1) return can_run(groups[0]) ? 0 : -1;
  if (runner.favoured_steps > 0) {
    --runner.favoured_steps;
    for (std::size_t i = 0; i < groups.size(); ++i)
      if ((groups[i].lanes >> runner.favoured_lane & 1) != 0 && can_run(groups[i]))
        return static_cast<int>(i);
    runner.favoured_steps = 0;
  }
  int first = -1, oldest = -1;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Warp::Group& group = groups[i];
    if (!can_run(group)) continue;
    const auto is_before = [&](int other) {
      const Warp::Group& that = groups[static_cast<std::size_t>(other)];
      return group.frame != that.frame ? group.frame > that.frame : group.pc < that.pc;
    };
    if (first < 0 || is_before(first)) first = static_cast<int>(i);
    if (oldest < 0 || group.last_run < groups[static_cast<std::size_t>(oldest)].last_run)
      oldest = static_cast<int>(i);
  }
  if (oldest >= 0 && ++runner.steps_since_choice > patience) {
    runner.steps_since_choice = 0;
    runner.favoured_lane = first_lane(groups[static_cast<std::size_t>(oldest)].lanes);
    runner.favoured_steps = favour;
    return oldest;
  }
  return first;
}

// The lanes that an .aligned operation needs. A matrix instruction needs all present lanes, since the
// registers of an exited lane are undefined. So does a barrier of the CTA (the only .aligned instruction of
// the class control): it is for the whole warp, so that the other lanes have exited too early. A barrier of
// the cluster waits for the lanes that have not exited.
LaneMask Executor::needed(const Warp& warp, const Step& step) const {
  const bool needs_all = step.kind == InstructionClass::matrix || step.kind == InstructionClass::wgmma ||
                         step.kind == InstructionClass::control;
  return needs_all ? warp.present() : warp.live();
}

// Runs one instruction for a group. False if the group could not move.
bool Executor::step(Warp& warp, std::size_t index) {
  has_looped_ = false;
  Warp::Group& group = warp.groups_[index];
  const Step& step = steps_[group.pc];
  const Op& op = step.op;
  warp.pc_ = group.pc;
  warp.frame_ = group.frame;
  group.last_run = ++cluster_.clock;
  LaneMask active = group.lanes;
  if (op.guard.slot >= 0) {
    const LaneMask mask = true_lanes(warp.lanes(op.guard.slot));
    active &= op.guard_negated ? ~mask : mask;
  }
  if (op.aligned) {
    const LaneMask all = needed(warp, step);
    if (group.lanes != all && (warp.live() & ~group.lanes) != 0 && !group.is_forced) {
      group.is_blocked = true;
      group.blocked_at = cluster_.changes();
      return false;
    }
    if (active != 0 && active != all && !group.is_forced) {
      warp.report(FindingKind::divergence, first_lane(active), 0, [&] {
        return "only the lanes " + hex(active) + " of the warp's " + hex(all) +
               " execute this .aligned instruction" +
               ((all & ~warp.live()) != 0 ? ": the others have exited" : "");
      });
    }
  }
  if (active == 0) {
    settle(warp, index, Flow::next, 0);
    return true;
  }
  if (!may_execute(warp, active)) return false;
  if (step.reads_timer) {
    warp.refresh_timers(*step.code, active);
    has_read_timer_ = true;
  }
  if (!step.wgmma_slots.empty()) note_wgmma_registers(warp, step, active);
  const Flow flow = op.handler(warp, op, active);
  if (flow == Flow::blocked) {
    budget_.give_back();
  } else {
    ++executed_;
    budget_.spend();
    Counts& counts = cluster_.counters.at(warp.pc_);
    ++counts.instructions;
    counts.thread_instructions += static_cast<std::uint64_t>(count_lanes(active));
  }
  settle(warp, index, flow, active);
  return flow != Flow::blocked;
}

// False: a limit is reached, and the cluster ends.
bool Executor::may_execute(const Warp& warp, LaneMask active) {
  const std::uint64_t limit = cluster_.launch.instruction_limit;
  const bool is_within_limit = limit == 0 || executed_ < limit;
  if (is_within_limit && budget_.reserve()) return true;
  const Issue issue{warp.pc_, warp.thread(first_lane(active))};
  if (is_within_limit) {
    is_over_budget_ = true;
    refused_ = issue;
  } else {
    cluster_.report(FindingKind::limit, issue, 0, [&] {
      return cluster_.describe(issue.thread) + " may not go on: the warps of its " +
             (cluster_.ctas.size() > 1 ? "cluster" : "block") + " have executed " + std::to_string(limit) +
             (limit == 1 ? " instruction" : " instructions") + ", the limit of a cluster";
    });
  }
  cluster_.abort();
  return false;
}

// Moves the lanes to their next instructions, and joins them with the groups that are there.
void Executor::settle(Warp& warp, std::size_t index, Flow flow, LaneMask active) {
  std::vector<Warp::Group>& groups = warp.groups_;
  const LaneMask rest = groups[index].lanes & ~active;  // whose guard was false
  const Pc next = warp.pc_ + 1;
  if (warp.tokens_used_ && flow != Flow::blocked && flow != Flow::branched) clear_tokens(warp, active);
  if (groups.size() == 1) {  // the usual case: one group, which goes on or branches to one target
    const bool goes_on = flow == Flow::next;
    const bool jumps = flow == Flow::branched && warp.moved_.size() == 1 && rest == 0 && !warp.tokens_used_ &&
                       warp.moved_[0].pc != warp.pc_;
    if (goes_on || jumps) {
      if (jumps) {
        has_looped_ = warp.moved_[0].pc < warp.pc_;
        groups[0].frame = warp.moved_[0].frame;
        groups[0].pc = warp.moved_[0].pc;
        warp.moved_.clear();
      } else {
        groups[0].pc = next;
      }
      groups[0].is_blocked = groups[0].is_forced = false;
      return;
    }
  }
  const auto add = [&](Pc pc, std::size_t frame, LaneMask lanes, bool stays) {
    if (lanes == 0) return;
    for (Warp::Group& group : groups) {
      if (group.pc != pc || group.frame != frame) continue;
      group.lanes |= lanes;
      group.is_blocked = group.is_forced = false;
      return;
    }
    groups.emplace_back();
    groups.back().pc = pc;
    groups.back().frame = frame;
    groups.back().lanes = lanes;
    groups.back().last_run = cluster_.clock;
    groups.back().is_blocked = stays;
    groups.back().blocked_at = cluster_.changes();
  };
  const std::size_t frame = warp.frame_;
  if (flow == Flow::blocked) {
    groups[index].lanes = active;
    groups[index].is_blocked = true;
    groups[index].blocked_at = cluster_.changes();
    add(next, frame, rest, false);
    return;
  }
  const LaneMask going = flow == Flow::next ? groups[index].lanes : rest;
  groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(index));
  add(next, frame, going, false);
  for (const Warp::Group& moved : warp.moved_) {
    // A branch to itself: a barrier that only some lanes have passed, or an endless empty loop.
    const bool stays = moved.pc == warp.pc_ && moved.frame == frame;
    has_looped_ |= moved.pc <= warp.pc_;
    if (warp.tokens_used_ && !stays) clear_tokens(warp, moved.lanes);
    add(moved.pc, moved.frame, moved.lanes, stays);
  }
  warp.moved_.clear();
}

void Executor::clear_tokens(Warp& warp, LaneMask leaving) {
  bool any = false;
  for (int lane = 0; lane < warp_size; ++lane) {
    std::uint64_t& token = warp.wait_tokens_[static_cast<std::size_t>(lane)];
    if ((leaving >> lane & 1) != 0) token = 0;
    any |= token != 0;
  }
  warp.tokens_used_ = any;
}

// An instruction uses registers of a wgmma: none may be in flight, and the next wgmma needs a fence.
void Executor::note_wgmma_registers(Warp& warp, const Step& step, LaneMask active) {
  for (const int slot : step.wgmma_slots) {
    Value value;
    value.slot = slot;
    warp.used_[warp.frame_ + static_cast<std::size_t>(slot)] = true;
    if (!warp.is_owned(value)) continue;
    const int lane = first_lane(active);
    cluster_.report(
        FindingKind::async_use, warp.issue(lane), 0,
        [&] {
          return cluster_.describe(warp.thread(lane)) +
                 " uses a register of a wgmma that is still running: a wgmma.wait_group is needed before";
        },
        warp.last_owner_);
  }
}

// Hashes what decides the warp's next steps, apart from what it reads from memory.
std::uint64_t Executor::state_of(const Warp& warp) const {
  std::uint64_t hash = 0;
  std::size_t end = 0;
  for (const Warp::Group& group : warp.groups_) {
    hash = mixed(mixed(mixed(hash, group.pc), group.lanes), group.frame);
    const auto& stack = warp.stacks_[static_cast<std::size_t>(first_lane(group.lanes))];
    end = std::max(end, group.frame + static_cast<std::size_t>(stack.back().code->slots));
  }
  std::uint64_t parts[4] = {1, 2, 3, 4};  // four independent chains of multiplications
  for (std::size_t i = 0; i < end * warp_size; i += 4)
    for (std::size_t part = 0; part < 4; ++part) parts[part] = mixed(parts[part], warp.registers_[i + part]);
  for (const std::uint64_t part : parts) hash = mixed(hash, part);
  for (const LocalMemory& local : warp.local_)
    for (const std::uint8_t byte : local.bytes) hash = mixed(hash, byte);
  return hash;
}

// Records a poll. True if the warp has returned to the state of an earlier poll, or has polled so often while
// reading a clock that it counts as spinning. `hash`: of the warp's state; 0: not computed yet.
bool Executor::repeats(PollHistory& history, std::uint64_t counter, Runner& runner, bool is_idle,
                       std::uint64_t& hash) {
  if (history.counter != counter) {
    history = {};
    history.counter = counter;
  }
  if (is_idle)
    history.polls = std::max(history.polls, polls_before_hash - 1);  // many idle steps justify a hash
  else if (runner.has_read_timer)
    history.timed_polls = std::min(history.timed_polls + 1, enough_timed_polls);
  if (++history.polls < polls_before_hash) return false;
  // In a window, the first state is the one to return to. Without windows, ever later states are.
  const bool is_new = &history == &runner.idle ? history.polls == polls_before_hash
                                               : (history.polls & (history.polls - 1)) == 0;
  bool has_repeated = history.timed_polls == enough_timed_polls;
  // A state that holds a clock seldom repeats: it is compared now and then.
  const bool is_looked_at = history.timed_polls < polls_before_hash || history.polls % 16 == 0;
  if (is_new || is_looked_at) {
    if (hash == 0) hash = state_of(*runner.warp);
    has_repeated |= !is_new && hash == history.state;
  }
  if (is_new) history.state = hash;
  if (has_repeated) ++history.repeats;
  return has_repeated;
}

// A warp spins for ever if its registers, local memory and program counters return to an earlier state while
// nothing that it could read has changed.
void Executor::note_poll(Runner& runner, bool is_idle) {
  runner.poll_pc = runner.warp->pc_;
  runner.favoured_steps = 0;
  runner.steps_since_choice = patience;  // another group runs first
  const std::uint64_t changes = cluster_.changes();
  if (poll_changes_ != changes) {
    poll_changes_ = changes;
    polls_ = 0;
  }
  ++polls_;
  std::uint64_t hash = 0;
  runner.is_spinning = repeats(runner.quiet, changes, runner, is_idle, hash);
  repeats(runner.idle, cluster_.data_changes(), runner, is_idle, hash);
  if (!is_idle) runner.has_read_timer = false;
}

// With barriers in the loop some warp always moves. So this asks whether every warp has returned, again and
// again, to its state at the start of the window, or waits for warps that have.
bool Executor::each_has_repeated() const {
  bool any = false;
  for (const Runner& runner : runners_) {
    const bool has_repeated =
        runner.idle.counter == cluster_.data_changes() && runner.idle.repeats >= enough_repeats;
    if (!has_repeated && runner.idle_rounds < enough_idle_rounds && runner.warp->live() != 0) return false;
    any |= has_repeated;
  }
  return any;
}

// Called once a round. One window is not a proof: a warp may have returned in its first half, and be on its
// way to a new state in the second, where another has begun to return.
bool Executor::all_spin() {
  if (window_data_changes_ != cluster_.data_changes()) {
    window_data_changes_ = cluster_.data_changes();
    window_ = first_window;
    rounds_ = agreements_ = 0;
    return false;
  }
  if (each_has_repeated()) {
    start_window();
    return ++agreements_ >= enough_windows;
  }
  if (++rounds_ < window_) return false;
  window_ = std::min(2 * window_, last_window);
  agreements_ = 0;
  start_window();
  return false;
}

void Executor::start_window() {
  rounds_ = 0;
  for (Runner& runner : runners_) {
    runner.idle.repeats = 0;
    runner.idle.polls =
        std::min(runner.idle.polls, polls_before_hash - 1);  // so that the next state is the first
  }
}

bool Executor::polls() const {
  return spins_at_barriers_ || std::any_of(runners_.begin(), runners_.end(),
                                           [](const Runner& runner) { return runner.is_spinning; });
}

bool Executor::force_divergence() {
  for (Runner& runner : runners_) {
    // Lanes that loop around a barrier diverge only for a moment.
    if (spins_at_barriers_ && !runner.is_spinning && runner.idle_rounds < enough_idle_rounds) continue;
    Warp& warp = *runner.warp;
    for (Warp::Group& group : warp.groups_) {
      const Step& step = steps_[group.pc];
      const LaneMask all = needed(warp, step);
      if (!step.op.aligned || !group.is_blocked || group.is_forced || group.lanes == all) continue;
      if ((warp.live() & ~group.lanes) == 0) continue;
      const int missing = first_lane(warp.live() & ~group.lanes);
      Pc elsewhere = group.pc;
      for (const Warp::Group& other : warp.groups_)
        if ((other.lanes >> missing & 1) != 0) elsewhere = other.pc;
      const Issue issue{group.pc, warp.thread(first_lane(group.lanes))};
      cluster_.report(FindingKind::divergence, issue, 0, [&] {
        return "only the lanes " + hex(group.lanes) + " of the warp's " + hex(all) +
               " have reached this .aligned instruction; lane " + std::to_string(missing) +
               " waits at line " + std::to_string(cluster_.launch.program->line(elsewhere)) + " instead";
      });
      group.is_forced = true;
      group.is_blocked = false;
      return true;
    }
  }
  return false;
}

// What a waiting lane waits for, if its instruction can tell. A lane that has just polled is past the
// instruction, with the operands that it polled with.
std::string Executor::awaited(Warp& warp, const Warp::Group& group, Pc pc, int lane) const {
  const Op& op = steps_[pc].op;
  const bool is_there = group.pc == pc || group.pc == pc + 1;
  if (op.awaited == nullptr || !is_there) return {};
  warp.pc_ = pc;
  warp.frame_ = group.frame;
  const std::string what = op.awaited(warp, op, lane);
  return what.empty() ? what : ": " + what;
}

void Executor::report_deadlock() {
  for (const Runner& runner : runners_) {
    Warp& warp = *runner.warp;
    for (const Warp::Group& group : warp.groups_) {
      // At a barrier of the loop in which it spins.
      const bool is_at_barrier =
          spins_at_barriers_ && runner.idle_rounds < enough_idle_rounds && warp.groups_.size() == 1;
      const bool is_polling = (!group.is_blocked || is_at_barrier) && runner.poll_pc != no_pc;
      const Pc pc = is_polling ? runner.poll_pc : group.pc;
      const int waiting = count_lanes(group.lanes);
      for_each_lane(group.lanes, [&](int lane) {
        cluster_.report(FindingKind::deadlock, {pc, warp.thread(lane)}, 0, [&] {
          return cluster_.describe(warp.thread(lane)) + ", with " + std::to_string(waiting - 1) +
                 " other lanes of its warp, " +
                 (is_polling ? "polls memory here that no thread will change"
                             : "waits here for something that no thread will do") +
                 awaited(warp, group, pc, lane) + "; " + std::to_string(cluster_.live_threads) +
                 " threads of its cluster have not ended";
        });
      });
    }
  }
  cluster_.abort();
}

}  // namespace tenon::emulator
