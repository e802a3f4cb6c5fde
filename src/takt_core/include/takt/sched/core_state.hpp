// SPDX-License-Identifier: Apache-2.0
//
// The state of one core, and every decision about it: which releases have become jobs, which job
// runs next, what may interrupt it, when to look again. No clock and no thread: the executor's
// threads drive it in real time and the simulator in virtual time, so both decide alike.
//
// A task waits for its release (in the calendar), is pending (its job is in the ready queue), or
// has started. A release becomes a job when it is noticed, which is whenever somebody looks; its
// job keeps the parameters of that moment. Started jobs lie above each other, the best on top: a
// pending job starts if it comes before the one that runs and passes the stack resource policy
// (srp.hpp), and jobs that neither comes before the other run one after the other. A started job
// may wait (for a device): the others go on as if it were not there, and it continues at its place.
// A job whose data a reader needs soon (age_requests.hpp) is boosted to the reader's priority: it
// moves up, in the queue or among the started ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "takt/sched/calendar.hpp"
#include "takt/sched/compiled_application.hpp"
#include "takt/sched/ready_queue.hpp"
#include "takt/sched/releases.hpp"
#include "takt/sched/srp.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

// One task as its core knows it. Executor and simulator derive from it what they add.
struct CoreTask {
  enum class Phase : std::uint8_t { absent, idle, pending, started };

  TaskIndex index = 0;
  TaskKind kind = TaskKind::timer;
  Phase phase = Phase::absent;
  bool leaves = false;                   // has started, and is not among the tasks any more
  bool boosted = false;                  // its job has the priority of a reader that needs it
  TimePoint sampled = TimePoint::min();  // the release of the timer's last job that has ended
  std::uint32_t place = 0;               // in the roster, while it is not absent
  std::uint32_t group = 0;               // number of its exclusive group; 0: none
  TimerReleases timer;
  MessageReleases messages;
  const Target* under = nullptr;  // the parameters of its job
  // By how much a release is noticed late; null: not at all.
  nanoseconds (*lateness)(const CoreTask&, std::uint64_t index) noexcept = nullptr;

  [[nodiscard]] std::optional<Release> next_release() const noexcept {
    return kind == TaskKind::timer ? timer.next() : messages.next();
  }
};

// Whoever drives a core is told what its decisions lead to.
class TAKT_CORE_PUBLIC CoreListener {
 public:
  CoreListener() = default;
  CoreListener(const CoreListener&) = delete;
  CoreListener& operator=(const CoreListener&) = delete;
  CoreListener(CoreListener&&) = delete;
  CoreListener& operator=(CoreListener&&) = delete;

  // A release has become a job. `regular`: the release in whose place it comes early; else null.
  virtual void released(CoreTask& task, const Job& job, const Release* regular) noexcept = 0;
  virtual void skipped(CoreTask& task, const Skipped& skipped) noexcept = 0;
  // The job of a task that is not there any more was released, and will not start.
  virtual void dropped(CoreTask& task, const Job& job) noexcept = 0;
  // The job of a task, pending or started, has got the priority of a reader that needs it. `above`:
  // how many started jobs are above it still.
  virtual void boosted(CoreTask& task, const Job& job, std::size_t above) noexcept = 0;
  // A reader's next job needs data: the core of `source` shall look at it, see look().
  virtual void wanted(TaskIndex source) noexcept = 0;

 protected:
  ~CoreListener() = default;
};

class TAKT_CORE_PUBLIC CoreState {
 public:
  struct Started {
    Job job;
    CoreTask* task = nullptr;
    Level level = no_ceiling;    // no_ceiling: of another scenario, not to be compared
    Level ceiling = no_ceiling;  // of its group
    bool waits = false;
  };

  // `fixed`: all scenarios have fixed priorities and are preemptive, so levels are priorities in
  // all of them. At most `tasks` tasks. `policy` is that of any scenario. Allocates; nothing else
  // does.
  CoreState(CoreListener& listener, const Policy& policy, bool fixed, std::size_t tasks);

  // Memory for so many tasks. Allocates.
  class TAKT_CORE_PUBLIC Room;
  [[nodiscard]] std::size_t capacity() const noexcept { return members_.capacity(); }
  // Goes on in the larger room, and leaves its former one behind. Allocates nothing.
  void move_to(Room& room) noexcept;

  // Follows a target: another scenario, or other tasks. `core` is the number of this one's roster.
  // `tasks`: by index. Jobs of tasks that are not there any more are dropped unless they have
  // started. Tasks that are new are released from `time` on.
  void follow(const Target& target, std::size_t core, std::span<CoreTask* const> tasks,
              TimePoint time) noexcept;
  [[nodiscard]] const Target* target() const noexcept { return target_; }

  // At most so many jobs may have started at once.
  void set_depth(std::size_t depth) noexcept { depth_ = depth; }

  // A message has arrived for the task. False when there is no room for it.
  bool arrive(CoreTask& task, TimePoint time, std::int64_t value) noexcept;
  // Its next release may be another one: its timer was set, its data is wanted.
  void look(CoreTask& task) noexcept;

  // Makes jobs of all releases that have come.
  void release_due(TimePoint now) noexcept {
    while (calendar_.first_time() <= now) {
      release(*members_[calendar_.first()], now);
    }
  }

  // The job that is to be started now, if any; null otherwise, and `idle_until` is when to ask
  // again, if the policy leaves the core idle until then. Valid until the next change.
  const Job* choose(TimePoint now, TimePoint& idle_until) noexcept;
  // Starts the job that choose() gave. Valid until the next start or end.
  const Started& start(const Job& chosen) noexcept;
  // Its job has ended: decides about the releases that came meanwhile, then takes it away.
  void settle(CoreTask& task, TimePoint ended) noexcept;
  void end(CoreTask& task) noexcept;
  // Its job waits from now on; goes on.
  void wait(CoreTask& task) noexcept { started_entry(task).waits = true; }
  void resume(CoreTask& task) noexcept { started_entry(task).waits = false; }

  // The started job that has the core; null: none.
  [[nodiscard]] const Started* running() const noexcept {
    for (std::size_t i = started_.size(); i > 0; --i) {
      if (!started_[i - 1].waits) {
        return &started_[i - 1];
      }
    }
    return nullptr;
  }
  // From below to the top.
  [[nodiscard]] std::span<const Started> started() const noexcept { return started_; }
  [[nodiscard]] bool has_pending() const noexcept { return !ready_.empty(); }

  // What comes of tasks up to this level does not start before what runs has ended; or before this
  // job has, when it is started now.
  [[nodiscard]] Level threshold() const noexcept;
  [[nodiscard]] Level threshold_above(const Job& chosen) const noexcept;
  // How many tasks, from the first place on, are above that.
  [[nodiscard]] std::size_t count_above(Level level) const noexcept {
    return level == no_ceiling ? members_.size() : roster_->count_above(level);
  }
  // The next release that could start before what runs has ended.
  [[nodiscard]] TimePoint next_look() const noexcept {
    return started_.empty() ? calendar_.first_time()
                            : calendar_.first_time_below(count_above(threshold()));
  }
  [[nodiscard]] const Calendar& calendar() const noexcept { return calendar_; }
  [[nodiscard]] std::span<CoreTask* const> members() const noexcept { return members_; }
  [[nodiscard]] const Roster& roster() const noexcept { return *roster_; }

  // The best first.
  [[nodiscard]] auto pending() const noexcept { return ready_.jobs(); }

 private:
  void release(CoreTask& task, TimePoint now) noexcept;
  void reschedule(CoreTask& task) noexcept;
  void await_request(CoreTask& task) noexcept;
  void follow_parameters(CoreTask& task, TimePoint time) noexcept;
  void drop(CoreTask& task) noexcept;
  void boost(CoreTask& task) noexcept;
  void boost_started(CoreTask& task, int priority) noexcept;
  void rate_started(bool comparable) noexcept;
  void tell(CoreTask& task, const Skipped& skipped) noexcept {
    if (skipped.count != 0) {
      listener_->skipped(task, skipped);
    }
  }
  [[nodiscard]] Started entry_of(const Job& job) const noexcept;
  [[nodiscard]] const Job* first_on_idle_core(TimePoint now, TimePoint& idle_until) noexcept;
  [[nodiscard]] bool may_start(const Job& job) const noexcept;
  [[nodiscard]] Level level_of(const Job& job) const noexcept;
  [[nodiscard]] Level system_ceiling() const noexcept;
  [[nodiscard]] Started& started_entry(const CoreTask& task) noexcept;

  CoreListener* listener_;
  bool fixed_;
  std::size_t depth_;
  const Target* target_ = nullptr;
  const Roster* roster_ = nullptr;
  std::span<CoreTask* const> tasks_;
  std::vector<CoreTask*> members_;  // by place
  Calendar calendar_;               // by place
  ReadyQueue ready_;
  std::vector<Started> started_;
  std::vector<Job> pending_jobs_;  // room for what Policy::decide() wants to know
  std::vector<Job> next_jobs_;
};

class CoreState::Room {
 public:
  Room(const Policy& policy, std::size_t tasks);

 private:
  friend class CoreState;

  std::vector<CoreTask*> members_;
  Calendar calendar_;
  ReadyQueue ready_;
  std::vector<Started> started_;
  std::vector<Job> pending_jobs_;
  std::vector<Job> next_jobs_;
};

}  // namespace takt::sched
