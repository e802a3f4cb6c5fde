// SPDX-License-Identifier: Apache-2.0
/// @file
/// A policy decides which pending job runs. It is a pure function of the pending jobs, the next
/// releases and the time: it keeps no state and reads no clock, so the same object decides in the
/// simulator (virtual time) and in the executor (real time).
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

/// A preemption level (Baker 1991): a job can only preempt jobs of a strictly lower level. The unit
/// depends on the policy; levels of different policies are not comparable.
using Level = std::int64_t;

/// A decision: run one of the pending jobs, or leave the core idle until a time.
struct Decision {
  /// No job: leave the core idle.
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t job = none;  ///< Index into the pending jobs, or none.
  TimePoint idle_until;    ///< Only with none: when to decide again at the latest.
};

/// What Policy::before() compares, if it is a single number of a job.
enum class Order : std::uint8_t {
  priority,  ///< a.priority > b.priority
  deadline,  ///< a.deadline < b.deadline
  other,     ///< something else: call before()
};

/// The interface of all policies. Implementations are immutable and thread-safe; what is noexcept
/// must neither block nor allocate, because it runs while a core's lock is held.
class TAKT_CORE_PUBLIC Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  Policy(Policy&&) = delete;
  Policy& operator=(Policy&&) = delete;
  virtual ~Policy() = default;

  /// As in app.yaml, reports and traces: "fp", "edf", "np-fp", …
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  /// Whether a job that comes before the running one interrupts it.
  [[nodiscard]] virtual bool preemptive() const noexcept = 0;

  /// Whether the order of two jobs is the order of their tasks' priorities. Then the kernel can
  /// keep it: each job runs at its own priority. Otherwise a stack of threads keeps it.
  [[nodiscard]] virtual bool fixed_priority() const noexcept = 0;

  /// Whether decide() always returns the first job by before(), so that it need not be called. Must
  /// be false if decide() is overridden.
  [[nodiscard]] virtual bool work_conserving() const noexcept { return true; }

  /// Whether `a` runs before `b`. Must be a strict weak ordering over all jobs. Jobs that are equal
  /// in it run in the order of their releases, then of their tasks.
  [[nodiscard]] virtual bool before(const Job& a, const Job& b) const noexcept = 0;

  /// Lets a queue compare jobs without a virtual call. Must agree with before().
  [[nodiscard]] virtual Order order() const noexcept { return Order::other; }

  /// Decides which job runs next on an idle core. The default takes the first by before(), which is
  /// work-conserving; other policies override it.
  /// @param pending released jobs that have not started, in any order; not empty.
  /// @param next the next job, released after `time`, of each active timer task. Releases of
  /// message tasks cannot be foreseen.
  /// @param time the present time.
  [[nodiscard]] virtual Decision decide(std::span<const Job> pending, std::span<const Job> next,
                                        TimePoint time) const noexcept;

  /// The last time at which decide() starts `job`, if it is the first of the pending jobs;
  /// afterwards the core waits for one of `next`. The default is TimePoint::max(): at any time.
  /// Must agree with decide(), except for deadlines that cannot be met any more whatever runs.
  [[nodiscard]] virtual TimePoint latest_start(const Job& job,
                                               std::span<const Job> next) const noexcept;

  /// The preemption level of a task with these parameters. Nothing: levels are not known before the
  /// release, so any task may preempt any other. The default is the priority if fixed_priority(),
  /// else nothing.
  [[nodiscard]] virtual std::optional<Level> preemption_level(
      const TaskParameters& parameters) const noexcept;

  /// Assigns parameters (rate- or deadline-monotonic priorities) and checks what the policy needs.
  /// Message tasks without a priority take the highest one among the other tasks that read their
  /// topic (Task::trigger). The default then requires a priority of 1..98 from each task.
  /// @throws ScheduleError with the task's name, what is wrong, and what to do.
  virtual void prepare(std::vector<Task>& tasks) const;
};

/// The order of two jobs that are equal in their policy's order: by release, then task, then index.
inline bool released_before(const Job& a, const Job& b) noexcept {
  if (a.release != b.release) {
    return a.release < b.release;
  }
  return a.task != b.task ? a.task < b.task : a.index < b.index;
}

/// The policy's order with ties resolved: a total order over distinct jobs.
inline bool runs_before(const Policy& policy, const Job& a, const Job& b) noexcept {
  if (policy.before(a, b)) {
    return true;
  }
  if (policy.before(b, a)) {
    return false;
  }
  return released_before(a, b);
}

/// The same, without a virtual call for policies with a known order.
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

/// The index of the job that runs before all others; `jobs` must not be empty. O(n).
inline std::size_t first_job(const Policy& policy, std::span<const Job> jobs) noexcept {
  std::size_t first = 0;
  for (std::size_t i = 1; i < jobs.size(); ++i) {
    if (runs_before(policy, jobs[i], jobs[first])) {
      first = i;
    }
  }
  return first;
}

/// Policies are shared between scenarios, executors and simulators.
using PolicyPtr = std::shared_ptr<const Policy>;

}  // namespace takt::sched
