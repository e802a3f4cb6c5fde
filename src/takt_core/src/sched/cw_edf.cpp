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
    if (makes_late(job, time, next, [this, &job](const Job& other) {
          return other.task != job.task && before(other, job);
        })) {
      return wait_for_better(*this, job, next);
    }
    return {.job = first, .idle_until = {}};
  }

  void prepare(std::vector<Task>& tasks) const override {
    EarliestDeadlineFirst::prepare(tasks);
    refuse_deadlines_above_periods(tasks, name());
    require_execution_times(tasks, name());
  }
};

}  // namespace

PolicyPtr cw_edf() {
  return std::make_shared<CriticalWindowEdf>();
}

}  // namespace takt::sched
