// SPDX-License-Identifier: Apache-2.0
/// @file
/// The state of one core, and every decision about it: which releases have become jobs, which job
/// runs next, which job may preempt it, and when to decide again. The state uses no clock and no
/// thread: the executor's threads drive it in real time and the simulator in virtual time, so both
/// decide alike.
///
/// A task waits for its release (in the calendar), is pending (its job is in the ready queue), or
/// has started. A release becomes a job when it is noticed, at the next decision; the job keeps the
/// parameters of that moment. Started jobs form a stack with the most urgent job on top: a pending
/// job starts if it comes before the running one and passes the stack resource policy (srp.hpp);
/// jobs that are equal in the policy's order run one after the other. A started job may wait for a
/// device: the others continue as if it did not exist, and it resumes behind those that are equal.
/// A started job may take locks: if the most urgent one needs a lock that another one holds, that
/// one runs in its place until it leaves the lock (priority inheritance), or nobody of the lock's
/// ceiling starts meanwhile (locks, below). A job whose data a reader needs soon (age_requests.hpp)
/// is boosted to the reader's priority and moves up, in the queue or in the stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "takt/sched/calendar.hpp"
#include "takt/sched/compiled_application.hpp"
#include "takt/sched/group_turns.hpp"
#include "takt/sched/ready_queue.hpp"
#include "takt/sched/releases.hpp"
#include "takt/sched/srp.hpp"
#include "takt/sched/wait_result.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

/// One task as its core sees it. Executor and simulator derive from it and add their own state.
struct CoreTask {
  /// Where the task is.
  enum class Phase : std::uint8_t {
    absent,   ///< not among the tasks of the core
    idle,     ///< waits for its next release
    pending,  ///< its job is in the ready queue
    started,  ///< its job has started
  };

  TaskIndex index = 0;              ///< Index in the task set.
  TaskKind kind = TaskKind::timer;  ///< Timer or message.
  Phase phase = Phase::absent;      ///< Where the task is.
  bool leaves = false;              ///< Its job has started, but the task was removed.
  bool boosted = false;             ///< Its job has the priority of a reader that needs its data.
  TimePoint sampled = TimePoint::min();  ///< Release of the timer's last job that has ended.
  std::uint32_t place = 0;               ///< Place in the roster; undefined while absent.
  std::uint32_t group = 0;               ///< Number of its exclusive group; 0: none.
  TimerReleases timer;                   ///< Releases of a timer.
  MessageReleases messages;              ///< Releases of a message task.
  const Target* under = nullptr;         ///< The scenario whose parameters its job has.
  /// Of a reentrant task (share_among()): the first of its runners, each of which has the task's
  /// index and a started job, or none; of a runner the next one; null: none.
  CoreTask* runner = nullptr;

  /// How late release number `index` is noticed; null: at once.
  nanoseconds (*lateness)(const CoreTask&, std::uint64_t index) noexcept = nullptr;

  /// The next release, of either kind; nothing if there is none.
  [[nodiscard]] std::optional<Release> next_release() const noexcept {
    return kind == TaskKind::timer ? timer.next() : messages.next();
  }
};

/// Receives the consequences of a core's decisions. Called from within CoreState; must not call it.
class TAKT_CORE_PUBLIC CoreListener {
 public:
  CoreListener() = default;
  CoreListener(const CoreListener&) = delete;
  CoreListener& operator=(const CoreListener&) = delete;
  CoreListener(CoreListener&&) = delete;
  CoreListener& operator=(CoreListener&&) = delete;
  /// Defined in the library, so that the type is one and the same in every library that uses it.
  virtual ~CoreListener();

  /// A release has become a job. `regular`: the regular release that it replaces early; else null.
  virtual void released(CoreTask& task, const Job& job, const Release* regular) noexcept = 0;

  /// The overrun policy has dropped releases.
  virtual void skipped(CoreTask& task, const Skipped& skipped) noexcept = 0;

  /// A pending job is dropped because its task was removed.
  virtual void dropped(CoreTask& task, const Job& job) noexcept = 0;

  /// A pending or started job has received the priority of a reader that needs its data. `above`:
  /// how many started jobs are still above it.
  virtual void boosted(CoreTask& task, const Job& job, std::size_t above) noexcept = 0;

  /// A reader's next job needs data: the core of `source` must call look().
  virtual void wanted(TaskIndex source) noexcept = 0;
};

/// The scheduler of one core. Not thread-safe; only construction and Room allocate, nothing throws.
class TAKT_CORE_PUBLIC CoreState {
 public:
  /// A job that has started.
  struct Started {
    /// Of a job that starts.
    Started(const Job& chosen, CoreTask& its_task, Level its_level, Level its_ceiling) noexcept
        : job{chosen}, task{&its_task}, level{its_level}, ceiling{its_ceiling} {}

    Job job;                   ///< The job, with the parameters of its release.
    CoreTask* task = nullptr;  ///< Its task.
    /// Preemption level; no_ceiling: of another scenario, not comparable.
    Level level = no_ceiling;
    Level ceiling = no_ceiling;    ///< Ceiling of its exclusive group.
    bool waits = false;            ///< Waits for a device, without using the core.
    std::size_t wanted = no_lock;  ///< The lock that it needs to continue; no_lock: none.
  };

  /// No lock.
  static constexpr std::size_t no_lock = static_cast<std::size_t>(-1);

  /// Allocates all memory.
  /// @param listener must outlive this object.
  /// @param policy the policy of any scenario.
  /// @param fixed all scenarios have preemptive fixed priorities, so levels are priorities in all
  /// of them.
  /// @param tasks the largest number of tasks.
  CoreState(CoreListener& listener, const Policy& policy, bool fixed, std::size_t tasks);

  /// Memory for a larger number of tasks, allocated by another thread.
  class TAKT_CORE_PUBLIC Room;

  /// The largest number of tasks.
  [[nodiscard]] std::size_t capacity() const noexcept { return members_.capacity(); }

  /// Moves into the larger room and leaves the former memory in it. Allocates nothing.
  void move_to(Room& room) noexcept;

  /// Follows a target: another scenario, or other tasks. Pending jobs of removed tasks are dropped;
  /// started ones run to their end.
  /// @param target the scenario to follow.
  /// @param core the number of this core's roster.
  /// @param tasks by index.
  /// @param time new tasks are released from this time on.
  void follow(const Target& target, std::size_t core, std::span<CoreTask* const> tasks,
              TimePoint time) noexcept;

  /// The scenario that is followed; null before follow().
  [[nodiscard]] const Target* target() const noexcept { return target_; }

  /// Limits the number of jobs that may be started at the same time.
  void set_depth(std::size_t depth) noexcept { depth_ = depth; }

  /// Announces a message for the task.
  /// @return false if its queue is full.
  bool arrive(CoreTask& task, TimePoint time, std::int64_t value) noexcept;

  /// As arrive() of a message that arrived by now, before release_due(): makes its job at once
  /// where that does the same, without a place in the calendar.
  /// @return false if its queue is full.
  bool arrive_now(CoreTask& task, TimePoint time, std::int64_t value) noexcept;

  /// Recomputes the task's next release, after its timer was set or its data was requested.
  void look(CoreTask& task) noexcept;

  /// Collects jobs in rounds, as the wait set of rclcpp does: collect_due() makes jobs only when
  /// none is pending or started. A timer drops the releases that have passed when its job starts,
  /// not when it ends.
  void collect_in_rounds() noexcept { in_rounds_ = true; }

  /// Lets so many threads, each with a core of its own, take jobs from one wait set, as rclcpp's
  /// MultiThreadedExecutor does. No two jobs of a group are started at the same time; of a task
  /// with runners, at least one for each thread, as many as there are threads. Allocates.
  /// @param groups by task, the number of its group.
  /// @param in_turn they take groups in turn, as EventsCBGExecutor does (group_turns.hpp).
  void share_among(std::size_t threads, std::vector<std::uint32_t> groups, bool in_turn = false);

  /// Turns all releases up to `now` into jobs; in rounds, if all jobs of the last round have ended;
  /// with several threads, if one of them is free.
  void collect_due(TimePoint now) noexcept {
    const bool round_ended = ready_.empty() && started_.empty();
    if (result_ ? started_.size() < depth_ : !in_rounds_ || round_ended) {
      release_due(now);
    }
  }

  /// Turns all releases up to `now` into jobs.
  void release_due(TimePoint now) noexcept {
    while (calendar_.first_time() <= now) {
      release(*members_[calendar_.first()], now);
    }
  }

  /// Chooses the job to start now.
  /// @param now the present time.
  /// @param idle_until set if the result is null and the policy leaves the core idle: when to ask
  /// again.
  /// @return the job, valid until the next change; null if none is to start.
  const Job* choose(TimePoint now, TimePoint& idle_until) noexcept;

  /// Starts the job that choose() returned. The result is valid until the next start or end.
  const Started& start(const Job& chosen) noexcept;

  /// In rounds, the first step when a job has started: applies the overrun policy. A reentrant task
  /// has its next release from then on. `task`: as Started::task.
  void settle_start(CoreTask& task, TimePoint started) noexcept;

  /// First step when a job has ended: applies the overrun policy to the releases that came
  /// meanwhile, unless settle_start() did.
  void settle(CoreTask& task, TimePoint ended) noexcept;

  /// Second step: removes the job from the started ones.
  void end(CoreTask& task) noexcept;

  /// The started job of the task begins to wait for a device.
  void wait(CoreTask& task) noexcept { started_entry(task).waits = true; }

  /// The started job of the task continues, after those of its own priority that could go on
  /// meanwhile: as a thread that wakes under SCHED_FIFO.
  void resume(CoreTask& task) noexcept;

  /// The started job of the task raises its ceiling: until lower(), no job up to it starts.
  /// @return its ceiling before.
  Level raise(CoreTask& task, Level ceiling) noexcept;

  /// It has the ceiling again that raise() returned.
  /// @return whether that is another one: then a pending job may start now.
  bool lower(CoreTask& task, Level before) noexcept;

  /// The started job of the task comes before all others of its core from now on, but for those of
  /// which this was said with a lower number; no job starts meanwhile.
  void put_first(CoreTask& task, std::uint64_t number) noexcept;

  /// It is at its place again. It has no other ceiling.
  void put_back(CoreTask& task) noexcept;

  /// Declares locks that jobs may take. Allocates.
  /// @param ceilings of each lock: jobs up to this level do not start while it is held (immediate
  /// priority ceiling; all who take it are on this core); no_ceiling: priority inheritance alone.
  void declare_locks(std::span<const Level> ceilings);

  /// The ceilings of these locks from now on, in another scenario. Whoever holds one keeps the
  /// ceiling that it had when it was taken.
  void set_lock_ceilings(std::span<const Level> ceilings) noexcept;

  /// The running job needs the lock.
  /// @return whether it holds the lock now. If not, another job has the core until the lock is
  /// free; call again when this one is the running job once more.
  bool take(CoreTask& task, std::size_t lock) noexcept;

  /// The task whose job holds the lock; null: none does.
  [[nodiscard]] const CoreTask* holder(std::size_t lock) const noexcept {
    return locks_[lock].holder;
  }

  /// The running job leaves the lock, the last that it took and still holds.
  void leave(std::size_t lock) noexcept;

  /// The started job that has the core; null if there is none.
  [[nodiscard]] const Started* running() const noexcept {
    const Started* const first = most_urgent();
    return locks_.empty() || first == nullptr ? first : in_place_of(*first);
  }

  /// The started job that comes before all others and does not wait for a device. It has the core,
  /// or one has it whose lock it needs, with its urgency.
  [[nodiscard]] const Started* most_urgent() const noexcept {
    for (std::size_t i = started_.size(); i > 0; --i) {
      if (!started_[i - 1].waits) {
        return &started_[i - 1];
      }
    }
    return nullptr;
  }

  /// All started jobs, the most urgent last.
  [[nodiscard]] std::span<const Started> started() const noexcept { return started_; }

  /// Whether any released job has not started.
  [[nodiscard]] bool has_pending() const noexcept { return !ready_.empty(); }

  /// The highest level of tasks whose jobs cannot start before the running job has ended.
  [[nodiscard]] Level threshold() const noexcept;

  /// The same, as it will be after the start of `chosen`.
  [[nodiscard]] Level threshold_above(const Job& chosen) const noexcept;

  /// How many tasks, from the first place on, have a higher level than this threshold.
  [[nodiscard]] std::size_t count_above(Level level) const noexcept {
    return level == no_ceiling ? members_.size() : roster_->count_above(level);
  }

  /// The next release that could start before the running job has ended.
  [[nodiscard]] TimePoint next_look() const noexcept {
    if (result_) {
      return started_.size() < depth_ ? calendar_.first_time() : TimePoint::max();
    }
    return started_.empty() ? calendar_.first_time()
                            : calendar_.first_time_below(count_above(threshold()));
  }

  /// The next releases, by place.
  [[nodiscard]] const Calendar& calendar() const noexcept { return calendar_; }

  /// The tasks of this core, by place.
  [[nodiscard]] std::span<CoreTask* const> members() const noexcept { return members_; }

  /// The order of the tasks in the present scenario.
  [[nodiscard]] const Roster& roster() const noexcept { return *roster_; }

  /// The pending jobs, the most urgent first.
  [[nodiscard]] auto pending() const noexcept { return ready_.jobs(); }

 private:
  void release(CoreTask& task, TimePoint now) noexcept;
  const Job& make_pending(CoreTask& task, const Job& job) noexcept;
  void reschedule(CoreTask& task) noexcept;
  void await_request(CoreTask& task) noexcept;
  void follow_parameters(CoreTask& task, TimePoint time) noexcept;
  void drop(CoreTask& task) noexcept;
  void boost(CoreTask& task) noexcept;
  void boost_started(CoreTask& task, int priority) noexcept;
  void rate_started(bool comparable) noexcept;
  void report(CoreTask& task, const Skipped& skipped) noexcept {
    if (skipped.count != 0) {
      listener_->skipped(task, skipped);
    }
  }
  void find_ready(TimePoint now) noexcept;
  void look_until(TimePoint end) noexcept;
  [[gnu::noinline, nodiscard]] const Job* take_for_thread(TimePoint now) noexcept;
  [[nodiscard]] const Job* take_from_result() noexcept;
  [[nodiscard]] const Job* take_from_result(TaskKind kind) noexcept;
  [[nodiscard]] bool runs(std::uint32_t group) const noexcept;
  [[nodiscard]] static CoreTask& free_runner(CoreTask& task) noexcept;
  [[gnu::noinline, nodiscard]] const Job* ask_policy(TimePoint now, TimePoint& idle_until) noexcept;
  [[nodiscard]] bool may_start(const Job& job) const noexcept;
  [[nodiscard]] Level level_of(const Job& job) const noexcept;
  [[nodiscard]] Level system_ceiling() const noexcept;
  [[nodiscard]] Started& started_entry(const CoreTask& task) noexcept;
  [[nodiscard]] const Started* in_place_of(const Started& first) const noexcept;

  void apply_overrun(CoreTask& task, TimePoint time) noexcept;

  struct LockState {
    Level ceiling = no_ceiling;
    CoreTask* holder = nullptr;
    Level before = no_ceiling;  // the holder's ceiling without this lock
  };

  CoreListener* listener_;
  bool fixed_;
  bool in_rounds_ = false;
  bool preemptive_ = true;  // this and the next one: as the policy says, without a virtual call
  bool work_conserving_ = true;
  std::optional<WaitResult> result_;     // of the last wait; nothing: there is one thread
  std::optional<GroupTurns> turns_;      // in the place of the result
  TimePoint looked_ = TimePoint::min();  // until then a free thread has looked for something
  std::size_t depth_;
  const Target* target_ = nullptr;
  const Roster* roster_ = nullptr;
  std::span<CoreTask* const> tasks_;
  std::vector<CoreTask*> members_;  // by place
  Calendar calendar_;               // by place
  ReadyQueue ready_;
  std::vector<Started> started_;
  std::vector<LockState> locks_;
  std::vector<Job> pending_jobs_;  // room for what Policy::decide() wants to know
  std::vector<Job> next_jobs_;
};

/// Memory for CoreState::move_to().
class CoreState::Room {
 public:
  /// Allocates memory for so many tasks. `policy` is that of any scenario.
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
