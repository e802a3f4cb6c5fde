// SPDX-License-Identifier: Apache-2.0
#include "sched/simulation.hpp"

#include <algorithm>
#include <stdexcept>

#include "takt/sched/ready_queue.hpp"

namespace takt::sched {
namespace {

class Simulation {
 public:
  Simulation(const CompiledScenario& scenario, TimePoint end, const SimulationOptions& options)
      : scenario_(scenario),
        policy_(scenario.policy()),
        options_(options),
        end_(end),
        ready_(policy_, 1000),
        ceiling_(scenario.ceilings(), 100) {
    for (std::size_t i = 0; i < scenario.parameters().size(); ++i) {
      const auto task = static_cast<TaskIndex>(i);
      add_next(task, 0, TimePoint{scenario.parameters(task).offset});
    }
  }

  Schedule run() {
    while (!next_.empty() || !ready_.empty() || !stack_.empty()) {
      release();
      start();
      advance();
    }
    return std::move(schedule_);
  }

 private:
  struct Started {
    Job job;
    TimePoint start;
    nanoseconds left;
  };

  void add_next(TaskIndex task, std::uint64_t index, TimePoint release) {
    if (release < end_) {
      next_.push_back(scenario_.job(task, index, release));
    }
  }

  void release() {
    for (std::size_t i = 0; i < next_.size();) {
      if (next_[i].release > now_) {
        ++i;
        continue;
      }
      const Job job = next_[i];
      next_.erase(next_.begin() + static_cast<std::ptrdiff_t>(i));
      if (!ready_.push(job)) {
        throw std::length_error("ready queue");
      }
      ++schedule_.released;
      add_next(job.task, job.index + 1, job.release + job.period);
    }
  }

  void start() {
    wake_ = TimePoint::max();
    if (policy_.preemptive()) {
      while (!ready_.empty() && preempts(ready_.top())) {
        push(ready_.pop());
      }
    } else if (stack_.empty() && !ready_.empty()) {
      const Decision decision = policy_.decide(ready_.jobs(), next_, now_);
      if (decision.job == Decision::none) {
        wake_ = decision.idle_until;
      } else {
        const Job job = ready_.jobs()[decision.job];
        ready_.remove(job.task, job.index);
        push(job);
      }
    }
  }

  [[nodiscard]] bool preempts(const Job& job) const {
    return stack_.empty() || (policy_.before(job, stack_.back().job) &&
                              (!options_.use_ceilings || ceiling_.may_start(job)));
  }

  void push(const Job& job) {
    if (!ceiling_.push(job)) {
      throw std::length_error("stack");
    }
    stack_.push_back({.job = job, .start = now_, .left = job.expected_execution});
  }

  void advance() {
    TimePoint until = wake_;
    for (const Job& job : next_) {
      until = std::min(until, job.release);
    }
    if (stack_.empty()) {
      now_ = ready_.empty() && next_.empty() ? now_ : until;
      return;
    }
    Started& running = stack_.back();
    until = std::min(until, now_ + running.left);
    schedule_.slices.push_back({.job = running.job, .from = now_, .to = until});
    running.left -= until - now_;
    now_ = until;
    if (running.left.count() == 0) {
      schedule_.finished.push_back({.job = running.job, .start = running.start, .end = now_});
      stack_.pop_back();
      ceiling_.pop();
    }
  }

  const CompiledScenario& scenario_;
  const Policy& policy_;
  SimulationOptions options_;
  TimePoint end_;
  TimePoint now_;
  TimePoint wake_;
  std::vector<Job> next_;
  ReadyQueue ready_;
  std::vector<Started> stack_;
  SystemCeiling ceiling_;
  Schedule schedule_;
};

}  // namespace

bool Schedule::meets_deadlines() const {
  return std::all_of(finished.begin(), finished.end(),
                     [](const Finished& job) { return job.in_time(); });
}

std::vector<std::pair<TaskIndex, std::pair<nanoseconds, nanoseconds>>> Schedule::summary() const {
  std::vector<std::pair<TaskIndex, std::pair<nanoseconds, nanoseconds>>> result;
  result.reserve(finished.size());
  for (const Finished& job : finished) {
    result.emplace_back(job.job.task,
                        std::pair{job.start.time_since_epoch(), job.end.time_since_epoch()});
  }
  return result;
}

Schedule simulate(const CompiledScenario& scenario, TimePoint end,
                  const SimulationOptions& options) {
  return Simulation{scenario, end, options}.run();
}

}  // namespace takt::sched
