// SPDX-License-Identifier: Apache-2.0
//
// Critical-window EDF: M. Nasri, G. Fohler, "Non-work-conserving non-preemptive scheduling:
// motivations, challenges, and potential solutions", ECRTS 2016.
//
// The paper looks at the next job of every other task, pending or not. A job that is pending, or
// whose deadline is not before that of the job to start, can be left out: were it late because of
// that job, all the work up to its deadline would not fit whatever ran first, and idling could not
// save it. So the schedule is the paper's as long as the deadlines can be met at all.
#include "edf.hpp"
#include "idle_insertion.hpp"
#include "preparation.hpp"
#include "takt/sched/policies.hpp"

namespace takt::sched {
namespace {

class CriticalWindowEdf final : public EarliestDeadlineFirst {
 public:
  CriticalWindowEdf() noexcept : EarliestDeadlineFirst("cw-edf", false) {}

  [[nodiscard]] bool work_conserving() const noexcept override { return false; }

  [[nodiscard]] Decision decide(std::span<const Job> pending, std::span<const Job> next,
                                TimePoint time) const noexcept override {
    const std::size_t first = first_job(*this, pending);
    const Job& job = pending[first];
    if (makes_late(job, time, next, Earlier{job})) {
      return wait_for_better(*this, job, next);
    }
    return {.job = first, .idle_until = {}};
  }

  [[nodiscard]] TimePoint latest_start(const Job& job,
                                       std::span<const Job> next) const noexcept override {
    return latest_start_before(job, next, Earlier{job});
  }

  void prepare(std::vector<Task>& tasks) const override {
    EarliestDeadlineFirst::prepare(tasks);
    refuse_deadlines_above_periods(tasks, name());
    require_execution_times(tasks, name());
  }

 private:
  // Other tasks' jobs with earlier deadlines.
  struct Earlier {
    bool operator()(const Job& other) const noexcept {
      return other.task != job.task && other.deadline < job.deadline;
    }

    const Job& job;
  };
};

}  // namespace

PolicyPtr cw_edf() {
  return std::make_shared<CriticalWindowEdf>();
}

}  // namespace takt::sched
