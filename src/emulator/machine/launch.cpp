// The clusters of a launch on host threads. A cluster runs until it ends or cannot go on by itself. Then it
// waits here, and goes on when another cluster has changed memory that it may be polling.
#include "emulator/machine/launch.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "emulator/machine/executor.hpp"
#include "emulator/machine/finding_groups.hpp"

namespace tenon::emulator {
namespace {

// Bytes that waiting clusters may hold. When they hold more, no cluster starts before some of them end.
constexpr std::uint64_t largest_waiting = 512 << 20;
constexpr std::size_t fewest_waiting = 132;

struct Job {
  Job(const Launch& launch, std::uint64_t number, PcCounters& counters, LaunchBudget& budget)
      : counters(counters), cluster(launch, number, counters), executor(cluster, budget) {}
  PcCounters& counters;
  Cluster cluster;
  Executor executor;
  bool is_stalled = false;
  std::uint64_t changes = 0;  // of all other clusters when this one began to run
};

class Grid {
 public:
  explicit Grid(const Launch& launch)
      : launch_(launch),
        clusters_(launch.grid.count() / launch.cluster.count()),
        budget_(launch.launch_instruction_limit) {
    const std::uint64_t of_cta =
        std::uint64_t{launch.shared_size} * 10 +  // with flags and shadow
        launch.block.count() * 8 * static_cast<std::uint64_t>(launch.program->functions[0]->slots);
    most_waiting_ = std::max<std::uint64_t>(
        fewest_waiting, largest_waiting / std::max<std::uint64_t>(1, of_cta * launch.cluster.count()));
    if (launch.grid_workspace != 0) most_waiting_ = clusters_;
  }

  LaunchReport run() {
    const auto threads = static_cast<std::uint64_t>(std::max(1, launch_.threads));
    std::vector<std::thread> others;
    for (std::uint64_t i = 1; i < std::min(threads, clusters_); ++i) others.emplace_back([this] { work(); });
    work();
    for (std::thread& other : others) other.join();
    if (failure_) std::rethrow_exception(failure_);
    return report();
  }

 private:
  using JobPointer = std::unique_ptr<Job>;

  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    try {
      while (JobPointer job = next(lock)) {
        ++running_;
        job->changes = changes_of_others(*job);  // it may miss changes that happen while it runs
        lock.unlock();
        const Executor::Outcome outcome = run(*job);
        lock.lock();
        --running_;
        if (outcome == Executor::Outcome::over_budget) {
          end_over_budget(*job);
        } else if (outcome == Executor::Outcome::finished) {
          finish(*job);
          ++ended_;
        } else {
          job->is_stalled = outcome == Executor::Outcome::stalled;
          waiting_.push_back(std::move(job));
        }
        condition_.notify_all();
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      failure_ = std::current_exception();
      condition_.notify_all();
    }
  }

  // No other cluster can help a cluster whose warps only wait for each other.
  static Executor::Outcome run(Job& job) {
    for (;;) {
      const Executor::Outcome outcome = job.executor.run();
      if (outcome != Executor::Outcome::stalled || job.executor.polls()) return outcome;
      if (!job.executor.force_divergence()) {
        job.executor.report_deadlock();
        return Executor::Outcome::finished;
      }
    }
  }

  // The cluster to run next; null when all have ended. Waits while running clusters may still change memory.
  JobPointer next(std::unique_lock<std::mutex>& lock) {
    for (;;) {
      if (failure_) return nullptr;
      if (is_over_budget_) {
        for (const JobPointer& job : waiting_) finish(*job);
        waiting_.clear();
        return nullptr;
      }
      if (started_ < clusters_ && waiting_.size() < most_waiting_) return start();
      const auto ready = std::find_if(waiting_.begin(), waiting_.end(), [&](const JobPointer& job) {
        return !job->is_stalled || changes_of_others(*job) != job->changes;
      });
      if (ready != waiting_.end()) {
        JobPointer job = std::move(*ready);
        waiting_.erase(ready);
        job->executor.recheck();
        return job;
      }
      if (running_ > 0) {
        condition_.wait_for(lock, std::chrono::microseconds(200));
        continue;
      }
      if (waiting_.empty()) return nullptr;
      // Every waiting cluster polls memory that no cluster changes any more. The first has waited longest: it
      // ends the stall.
      JobPointer job = std::move(waiting_.front());
      waiting_.pop_front();
      if (job->executor.skip_time() || job->executor.force_divergence()) return job;
      job->executor.report_deadlock();
      finish(*job);
    }
  }

  JobPointer start() {
    if (free_counters_.empty()) {
      counters_.push_back(std::make_unique<PcCounters>(launch_.program->steps.size()));
      free_counters_.push_back(counters_.back().get());
    }
    PcCounters& counters = *free_counters_.back();
    free_counters_.pop_back();
    auto job = std::make_unique<Job>(launch_, started_++, counters, budget_);
    live_.push_back(job.get());
    return job;
  }

  std::uint64_t changes_of_others(const Job& one) const {
    std::uint64_t sum = finished_changes_;
    for (const Job* job : live_)
      if (job != &one) sum += job->cluster.data_changes();
    return sum;
  }

  // The first cluster to exceed the limit reports it for the launch. No other cluster runs any more.
  void end_over_budget(Job& job) {
    if (!std::exchange(is_over_budget_, true)) {
      job.cluster.report(FindingKind::limit, job.executor.refused(), 0, [&] {
        const std::uint64_t limit = launch_.launch_instruction_limit;
        return job.cluster.describe(job.executor.refused().thread) +
               " may not go on: the warps of the launch have executed " + std::to_string(limit) +
               (limit == 1 ? " instruction" : " instructions") + ", its limit; " + std::to_string(ended_) +
               " of its " + std::to_string(clusters_) +
               (launch_.cluster.count() > 1 ? " clusters" : " blocks") + " have ended";
      });
    }
    finish(job);
  }

  void finish(Job& job) {
    std::uint64_t order = 0;
    for (const Findings::Entry& entry : job.cluster.findings.entries()) {
      LineFinding found;
      found.cluster = job.cluster.number;
      found.order = order++;
      found.kind = entry.kind;
      found.line.ptx_line = launch_.program->line(entry.pc);
      found.line.source = launch_.program->source(entry.pc);
      found.line.count = entry.count;
      found.line.first = {job.cluster.cta_of(entry.thread).index, job.cluster.thread_index(entry.thread),
                          entry.address};
      found.line.message = entry.message;
      if (entry.other != no_pc) {
        found.other_line = launch_.program->line(entry.other);
        found.other_source = launch_.program->source(entry.other);
      }
      const auto key = std::make_pair(found.line.ptx_line, static_cast<int>(entry.kind));
      const auto [known, is_new] = found_.emplace(key, found);
      if (is_new) continue;
      const std::uint64_t count = known->second.line.count + found.line.count;
      if (found.cluster < known->second.cluster) known->second = found;
      known->second.line.count = count;
    }
    keep_printed(job.cluster);
    finished_changes_ += job.cluster.data_changes() + 1;
    live_.erase(std::find(live_.begin(), live_.end(), &job));
    free_counters_.push_back(&job.counters);
  }

  // Clusters need not end in the order of their numbers: keeps the texts of the first ones, up to 1 MiB.
  void keep_printed(const Cluster& cluster) {
    const std::string& text = cluster.printed.text;
    lost_ += cluster.printed.lost;
    if (text.empty()) return;
    printed_.emplace(cluster.number, text);
    printed_bytes_ += text.size();
    for (auto last = std::prev(printed_.end()); printed_bytes_ - last->second.size() >= Printed::most_bytes;
         last = std::prev(printed_.end())) {
      printed_bytes_ -= last->second.size();
      lost_ += last->second.size();
      printed_.erase(last);
    }
  }

  LaunchReport report() {
    LaunchReport report;
    for (const auto& entry : printed_) report.printed.add(entry.second);
    report.printed.lost += lost_;
    std::vector<LineFinding> found;
    for (const auto& entry : found_) found.push_back(entry.second);
    report.findings = grouped(launch_.program->entry->name, found);
    PcCounters sum(launch_.program->steps.size());
    for (const auto& counters : counters_) sum += *counters;
    report.counters = summarize(*launch_.program, sum);
    return report;
  }

  const Launch& launch_;
  const std::uint64_t clusters_;
  std::uint64_t most_waiting_ = 0;
  LaunchBudget budget_;
  std::mutex mutex_;  // of all below
  std::condition_variable condition_;
  std::uint64_t started_ = 0, ended_ = 0, finished_changes_ = 0;
  bool is_over_budget_ = false;
  int running_ = 0;
  std::deque<JobPointer> waiting_;
  std::vector<const Job*> live_;
  std::vector<std::unique_ptr<PcCounters>> counters_;
  std::vector<PcCounters*> free_counters_;
  std::map<std::pair<int, int>, LineFinding> found_;  // by line and kind
  std::map<std::uint64_t, std::string> printed_;      // by the number of the cluster
  std::uint64_t printed_bytes_ = 0, lost_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

LaunchReport run(const Launch& launch) {
  return Grid(launch).run();
}

}  // namespace tenon::emulator
