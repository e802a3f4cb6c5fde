// SPDX-License-Identifier: Apache-2.0
//
// Precautious-RM: M. Nasri, M. Kargahi, "Precautious-RM: a predictable non-preemptive scheduling
// algorithm for harmonic tasks", Real-Time Systems 50(4), 2014.
#include <algorithm>

#include "fixed_priority.hpp"
#include "idle_insertion.hpp"
#include "preparation.hpp"
#include "takt/sched/error.hpp"
#include "takt/sched/policies.hpp"

namespace takt::sched {
namespace {

class PrecautiousRm final : public FixedPriority {
 public:
  PrecautiousRm() noexcept : FixedPriority("p-rm", false) {}

  [[nodiscard]] bool work_conserving() const noexcept override { return false; }

  [[nodiscard]] Decision decide(std::span<const Job> pending, std::span<const Job> next,
                                TimePoint time) const noexcept override {
    const std::size_t first = first_job(*this, pending);
    const Job& job = pending[first];
    if (makes_late(job, time, next, AboveAll{job, next})) {
      return wait_for_better(*this, job, next);
    }
    return {.job = first, .idle_until = {}};
  }

  [[nodiscard]] TimePoint latest_start(const Job& job,
                                       std::span<const Job> next) const noexcept override {
    return latest_start_before(job, next, AboveAll{job, next});
  }

  void prepare(std::vector<Task>& tasks) const override {
    refuse_deadlines_above_periods(tasks, name());
    require_execution_times(tasks, name());
    assign_priorities(
        tasks, [](const TaskParameters& parameters) { return parameters.period; }, name());
    require_foreseeable_top(tasks);
  }

 private:
  // The jobs of the highest priority there is, if it is above that of the job to start.
  struct AboveAll {
    AboveAll(const Job& job, std::span<const Job> next) noexcept : least(job.priority + 1) {
      for (const Job& other : next) {
        least = std::max(least, other.priority);
      }
    }
    bool operator()(const Job& other) const noexcept { return other.priority >= least; }

    int least;
  };

  // Only the releases of timers are known in advance, and the policy looks ahead to no other task.
  static void require_foreseeable_top(const std::vector<Task>& tasks) {
    const auto higher = [](const Task& a, const Task& b) {
      if (a.vacant != b.vacant) {
        return b.vacant;
      }
      return a.parameters.priority != b.parameters.priority
                 ? a.parameters.priority > b.parameters.priority
                 : a.kind == TaskKind::timer && b.kind != TaskKind::timer;
    };
    const auto top = std::ranges::min_element(tasks, higher);
    if (top != tasks.end() && top->kind != TaskKind::timer) {
      throw ScheduleError(
          "task '" + top->name + "'",
          "it has the shortest period, but policy 'p-rm' must know the next release "
          "of that task, and this one is released by messages",
          "give it a longer period, make it a timer, or use 'np-edf'");
    }
  }
};

}  // namespace

PolicyPtr precautious_rm() {
  return std::make_shared<PrecautiousRm>();
}

}  // namespace takt::sched
