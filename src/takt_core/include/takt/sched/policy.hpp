// SPDX-License-Identifier: Apache-2.0
//
// A policy decides which pending job runs. It is a pure function of the pending jobs, the next
// releases and the time: it keeps no state and asks no clock, so the same object decides in the
// simulator (virtual time) and in the executor (real time).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "takt/sched/job.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

// A preemption level (Baker 1991): a job can only ever preempt a job of a strictly lower level. The
// unit is the policy's own; levels of different policies cannot be compared.
using Level = std::int64_t;

// What a policy says: run one of the pending jobs, or leave the core idle until a time.
struct Decision {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t job = none;  // index into the pending jobs; none: idle
  TimePoint idle_until;    // only with none: when to ask again at the latest
};

// What before() compares, where that is a single number of a job.
enum class Order : std::uint8_t {
  priority,  // a.priority > b.priority
  deadline,  // a.deadline < b.deadline
  other,     // nobody knows but before()
};

class TAKT_CORE_PUBLIC Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  Policy(Policy&&) = delete;
  Policy& operator=(Policy&&) = delete;
  virtual ~Policy() = default;

  // As in app.yaml, reports and traces: "fp", "edf", "np-fp", …
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  // Whether a job that has started may be interrupted by one that comes before it.
  [[nodiscard]] virtual bool preemptive() const noexcept = 0;

  // Whether the order of two jobs is the order of their tasks' priorities; then the kernel alone
  // can keep it: each job runs at its own. Otherwise a stack of threads keeps it.
  [[nodiscard]] virtual bool fixed_priority() const noexcept = 0;

  // Whether decide() is the first by before(), so that nobody needs to call it. Who overrides
  // decide() returns false.
  [[nodiscard]] virtual bool work_conserving() const noexcept { return true; }

  // True when `a` runs before `b`. Must be a strict weak ordering over all jobs. Jobs that neither
  // comes before the other run in the order of their releases, then of their tasks.
  [[nodiscard]] virtual bool before(const Job& a, const Job& b) const noexcept = 0;

  // Lets a queue compare jobs without a call; before() must say the same.
  [[nodiscard]] virtual Order order() const noexcept { return Order::other; }

  // Which of the pending jobs (not empty, in any order, none of them started) runs next on an idle
  // core. `next` holds the next job, released after `time`, of each active timer task (the releases
  // of message tasks cannot be foreseen). The default is the first by before(): work-conserving.
  // Non-work-conserving policies override it.
  [[nodiscard]] virtual Decision decide(std::span<const Job> pending, std::span<const Job> next,
                                        TimePoint time) const noexcept;

  // The last time at which decide() starts `job`, were it the first of the pending ones, while
  // `next` is as above; after that the core waits for one of them. TimePoint::max(), the default:
  // at any time. Where decide() is overridden the two must agree, but for deadlines that cannot be
  // met any more whatever runs.
  [[nodiscard]] virtual TimePoint latest_start(const Job& job,
                                               std::span<const Job> next) const noexcept;

  // The level of a task with these parameters, or nothing when the policy has no level that is
  // known before a job is released; then any task may preempt any other one. The default is the
  // priority where fixed_priority(), nothing elsewhere.
  [[nodiscard]] virtual std::optional<Level> preemption_level(
      const TaskParameters& parameters) const noexcept;

  // Completes the tasks' parameters where the policy assigns them (rate- or deadline-monotonic) and
  // checks what the policy needs. Message tasks without a priority take the highest priority of the
  // tasks that read their topic. Throws ScheduleError with the task's name, what is wrong, and what
  // to do. The default requires a priority of 1..98 from each task then.
  virtual void prepare(std::vector<Task>& tasks) const;
};

// Of two jobs that neither comes before the other by their policy.
inline bool released_before(const Job& a, const Job& b) noexcept {
  if (a.release != b.release) {
    return a.release < b.release;
  }
  return a.task != b.task ? a.task < b.task : a.index < b.index;
}

// The policy's order with ties resolved: a total order over distinct jobs.
inline bool runs_before(const Policy& policy, const Job& a, const Job& b) noexcept {
  if (policy.before(a, b)) {
    return true;
  }
  if (policy.before(b, a)) {
    return false;
  }
  return released_before(a, b);
}

// The same without a call, for a policy of that order.
inline bool runs_before(Order order, const Policy& policy, const Job& a, const Job& b) noexcept {
  switch (order) {
    case Order::priority:
      return a.priority != b.priority ? a.priority > b.priority : released_before(a, b);
    case Order::deadline:
      return a.deadline != b.deadline ? a.deadline < b.deadline : released_before(a, b);
    case Order::other:
      break;
  }
  return runs_before(policy, a, b);
}

// The index of the job that runs before all others; `jobs` must not be empty.
inline std::size_t first_job(const Policy& policy, std::span<const Job> jobs) noexcept {
  std::size_t first = 0;
  for (std::size_t i = 1; i < jobs.size(); ++i) {
    if (runs_before(policy, jobs[i], jobs[first])) {
      first = i;
    }
  }
  return first;
}

using PolicyPtr = std::shared_ptr<const Policy>;

}  // namespace takt::sched
