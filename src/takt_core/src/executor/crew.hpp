// SPDX-License-Identifier: Apache-2.0
//
// The threads of one core. The core's state (sched/core_state.hpp) decides which job runs next; the
// crew carries it out. Any of its threads runs any job: it first gives itself the priority at which
// the job must run. So simultaneous releases cost one wake-up, however many priorities they have
// (leader/followers: Schmidt et al. 2000), and the kernel still preempts; there is no dispatching
// thread.
//
// Fixed priorities: a job runs at its own priority, or at the ceiling of its group. Other policies:
// at a priority above that of the job that it preempts, so the kernel resumes that one by itself.
//
// While a job runs, another thread watches: it sleeps until the next release that may preempt that
// job, at a priority above the job. A thread that sleeps for a less urgent release sleeps below the
// job, so that no running job is disturbed for a release that must wait anyway. Changing the
// priority of a sleeping thread does not wake it.
//
// The watch rarely needs a wake-up of its own: a thread that goes to sleep while another one is
// already up for the next release sleeps until the release after it, and watches from then on.
// Releases that follow the next release at once and must wait for it do not count: the thread that
// is up finds them.
//
// A task that waits in its callback, or that the kernel schedules (SCHED_DEADLINE), has a crew of
// its own: the kernel decides its place among the other threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run_job.hpp"
#include "shared.hpp"
#include "takt/executor/mutex.hpp"
#include "takt/os/event.hpp"
#include "takt/os/thread.hpp"
#include "takt/sched/core_state.hpp"
#include "takt/trace/recorder.hpp"

namespace takt::executor {

using os::TimePoint;
using sched::CompiledApplication;
using sched::Job;

struct Overdue;

class Crew final : private sched::CoreListener {
 public:
  // `number`: of its rosters in all compiled applications. `fixed`: as for CoreState. `own_crew`:
  // the only task of this crew; null: the crew runs the tasks of a core.
  Crew(Shared& shared, std::size_t number, int cpu, bool fixed, const sched::Policy& policy,
       TaskState* own_crew);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  Crew(Crew&&) = delete;
  Crew& operator=(Crew&&) = delete;

  // Starts the threads that this compiled application needs and that do not exist yet. Throws
  // std::system_error.
  void prepare(const CompiledApplication& compiled);
  // Releases the tasks of this target from `origin` on; no effect after the first call. What is
  // posted before waits.
  void begin(const Target& target, TimePoint origin);
  // Moves a crew of one task to the core of that task; only while it has no thread.
  void bind_to(int cpu) noexcept { cpu_ = cpu; }
  // Waits for the threads, which shared.stopping has ended, and forgets their state, so that the
  // crew can be started again. A thread that more urgent threads keep from its core ends on another
  // one.
  void join();

  // Posts a note for a task of this crew. From any thread, lock-free. `key`: a thread must be woken
  // for this preemption level or a higher one.
  void post(Note& note, sched::Level key) noexcept;
  // A note for `shared`: what the calling thread has kept, or one that is free. Null: none is.
  [[nodiscard]] static Note* take_note(Shared& shared) noexcept {
    const bool has_kept = me_ != nullptr && me_->spare != nullptr && here_->belongs_to(shared);
    return has_kept ? std::exchange(me_->spare, nullptr) : shared.notes.take();
  }
  // There is another target. From any thread that holds no crew's lock. Threads of this crew need
  // not call it: they check after the job that they run.
  void wake_to_follow() noexcept;
  // The executor stops. From any thread, lock-free.
  void wake_to_stop() noexcept;

  // Ends the threads of this crew only; otherwise as join().
  void dismiss();

  // In crew_locks.cpp. The job of the calling thread raises its ceiling to that of the lock, or
  // keeps its core (null); outside of jobs nothing happens. Returns its ceiling before, for
  // lower_ceiling(), which wakes whoever may start then.
  static sched::Level raise_ceiling(const std::string* lock) noexcept;
  static void lower_ceiling(sched::Level before) noexcept;

  // Whether it follows that version or a later one, or none any more.
  bool follows(std::uint64_t version) noexcept;
  // Whether one of its decisions or jobs refers to the compiled application.
  bool uses(const CompiledApplication& compiled) noexcept;
  // Whether the task, which that version has removed, has no job here any more, and no handler runs
  // for it.
  bool has_left(const TaskState& state, std::uint64_t version) noexcept;

  // The CPU time of its threads so far.
  [[nodiscard]] std::chrono::nanoseconds cpu_time() noexcept;
  [[nodiscard]] int cpu() const noexcept { return cpu_; }

  // The crew of the calling thread; null outside of crews.
  static const Crew* current() noexcept { return here_; }
  [[nodiscard]] bool belongs_to(const Shared& shared) const noexcept { return &shared_ == &shared; }

 private:
  // When the kernel was asked about a thread, and how long that had run, or had been runnable, by
  // then.
  struct Counted {
    TimePoint at{};
    std::chrono::nanoseconds busy{0};
    std::chrono::nanoseconds awake_since{0};  // in jobs and right before them
  };
  struct Worker {
    std::size_t number = 0;
    bool real_time = false;  // may be given priorities
    pid_t tid = 0;
    clockid_t cpu_clock = 0;
    bool cpu_clock_known = false;
    os::ThreadEvent enlisted;  // the thread may begin
    os::ThreadEvent ended;     // it has nothing more to do
    os::ThreadEvent event;
    trace::Recorder recorder;
    std::unique_ptr<os::Thread> thread;
    Counted counted;  // its own
    // A thread changes its own priority only while it is not asleep; others change it only while it
    // is asleep, except that they boost the job that it runs.
    RelaxedInt priority;
    // Of the thread: nothing but a decision has passed since it read the clock.
    bool now_is_fresh = false;
    Note* spare = nullptr;  // which it took up last: for what it announces next
    // Guarded by the mutex.
    bool asleep = false;
    TimePoint until = TimePoint::max();         // asleep: when it wakes up by itself
    TaskState* task = nullptr;                  // the task whose job it runs
    std::chrono::nanoseconds cpu_observed{-1};  // while it is waited for

    Progress progress;  // of that job
  };

  // What a sleeping thread must be up for.
  struct Need {
    TimePoint time = TimePoint::max();
    int above = 0;  // at a higher priority than this

    bool operator==(const Need&) const = default;
  };
  // The need that was met last; valid until a thread goes to sleep or wakes up.
  struct Watch {
    const Worker* of = nullptr;  // its job is watched; null: the watch must be arranged again
    Need need;
    Worker* standby = nullptr;
  };

  // A job that has slept.
  struct Sleep {
    sched::TaskIndex task = 0;
    TimePoint from{};
    TimePoint to{};
    std::chrono::nanoseconds length{0};
  };

  void released(sched::CoreTask& task, const Job& job,
                const sched::Release* regular) noexcept override;
  void skipped(sched::CoreTask& task, const sched::Skipped& skipped) noexcept override;
  void dropped(sched::CoreTask& task, const Job& job) noexcept override;
  void boosted(sched::CoreTask& task, const Job& job, std::size_t above) noexcept override;
  void wanted(sched::TaskIndex source) noexcept override;

  [[nodiscard]] std::unique_ptr<sched::CoreState> new_state();
  void enlist(Worker& worker);
  void free_from_core() noexcept;
  void run(Worker& me) noexcept;
  // Processes everything that has happened since the last decision.
  void catch_up() noexcept;
  void take_up(Note& note) noexcept;
  [[gnu::noinline, gnu::cold]] void follow(const Target& target, TimePoint time) noexcept;
  [[gnu::noinline, gnu::cold]] void ask_kernel() noexcept;
  [[nodiscard]] bool news() const noexcept {
    return state_->target() != nullptr &&
           (!inbox_.empty() || look_at_all_.load() || shared_.target() != state_->target());
  }

  // Starts the job on the calling thread, and returns when it has ended. Does nothing if there is
  // news: then the job must be chosen again.
  void run_first(Worker& me, const Job& chosen, std::unique_lock<PriorityMutex>& lock,
                 TimePoint& now) noexcept;
  void finish(Worker& me, TaskState& state, const Job& job, const Ended& end,
              std::unique_lock<PriorityMutex>& lock) noexcept;
  // What its overrun policy drops, and what is told at the end of its job. `overdue`: null for
  // none.
  void settle(Worker& me, TaskState& state, TimePoint ended, const Overdue* overdue,
              std::unique_lock<PriorityMutex>& lock) noexcept;
  [[nodiscard]] sched::Level ceiling_of(const std::string& lock) const noexcept;
  sched::Level raise_ceiling(const Worker& me, const std::string* lock) noexcept;
  void lower_ceiling(Worker& me, sched::Level before) noexcept;
  [[gnu::noinline]] void sleep(Worker& me, TimePoint idle_until,
                               std::unique_lock<PriorityMutex>& lock, TimePoint& now) noexcept;
  static TimePoint read_clock(Worker& me) noexcept;

  // The thread that must follow another target above the running job, if no thread watches that
  // job; null: none must be woken, or none can be.
  [[nodiscard]] Worker* raise_follower() noexcept;
  void wake_standby() noexcept;

  // Ensures that a thread is up for the need; returns the thread to wake for that, if any.
  [[gnu::noinline, nodiscard]] Worker* see_to(const Need& need, const Worker& me) noexcept;
  template <class Visit>
  void each_sleeper(const Worker& me, Visit visit) const noexcept;
  [[nodiscard]] Worker* has_sleeper(const Worker& me) const noexcept;
  [[nodiscard]] std::size_t watching(const Need& need, const Worker& me) const noexcept;
  [[nodiscard]] TimePoint time_after(TimePoint first, sched::Level threshold) const noexcept;
  void publish(Worker* standby, sched::Level above) noexcept;

  [[nodiscard]] int running_priority() const noexcept;
  [[nodiscard]] int priority_for(const Worker& me, const Job& job) const noexcept;
  [[nodiscard]] int sleeping_priority(const Worker& me, TimePoint until,
                                      sched::Level threshold) const noexcept;
  static void set_priority(Worker& worker, int priority) noexcept;
  [[nodiscard]] static bool has_priority(const Worker& me, int priority) noexcept {
    return !me.real_time || me.priority == priority;
  }
  static void take_priority(Worker& me, int priority) noexcept {
    if (!has_priority(me, priority)) {
      boost(me, priority);
    }
  }
  [[gnu::noinline]] static void boost(Worker& worker, int priority) noexcept;

  // The next time at which a running job must be checked for its deadline or budget.
  [[nodiscard]] TimePoint next_alarm() const noexcept;
  void set_alarm(TaskState& state, const Job& job, TimePoint now) noexcept;
  // Reports jobs that have not ended when they should have. `recorder`: of the calling thread.
  [[gnu::noinline, gnu::cold]] void notify_overdue(Worker& me, TimePoint now,
                                                   std::unique_lock<PriorityMutex>& lock) noexcept;
  void notify_overdue(Worker& worker, trace::Recorder& recorder, TimePoint now,
                      std::unique_lock<PriorityMutex>& lock) noexcept;

  // In crew_sleeps.cpp. By the thread that ran the job, without the mutex. Not above zero: no sleep
  // is known.
  [[nodiscard]] std::chrono::nanoseconds sleep_of_job(Worker& me, TimePoint started,
                                                      TimePoint ended) const noexcept;
  [[gnu::noinline, nodiscard]] static std::chrono::nanoseconds count_sleep(
      Worker& me, TimePoint started, TimePoint ended) noexcept;
  // Remembers the sleep, and reports a job that missed its deadline because of the sleep of another
  // one.
  void look_for_hold_up(Worker& me, const Job& job, TimePoint started, TimePoint ended,
                        std::chrono::nanoseconds slept,
                        std::unique_lock<PriorityMutex>& lock) noexcept;
  [[gnu::noinline]] void report_hold_up(Worker& me, const Job& job, TimePoint started,
                                        TimePoint ended, std::chrono::nanoseconds slept,
                                        std::unique_lock<PriorityMutex>& lock) noexcept;

  [[nodiscard]] TaskState& task(sched::TaskIndex index) const noexcept {
    return *shared_.tasks[index];
  }
  [[nodiscard]] bool stopping() const noexcept {
    return shared_.stopping.load() || dismissed_.load();
  }
  [[nodiscard]] bool has_ended() const noexcept { return stopping() && state_->started().empty(); }

  // Of the calling thread; null outside of crews.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of its thread alone
  [[gnu::tls_model("initial-exec")]] static constinit thread_local Crew* here_;
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of its thread alone
  [[gnu::tls_model("initial-exec")]] static constinit thread_local Worker* me_;

  static constexpr std::size_t most_workers = os::max_priority + 1;

  Shared& shared_;
  const std::size_t number_;
  std::atomic<int> cpu_;
  const bool fixed_;
  const sched::Policy& policy_;
  TaskState* const own_crew_;

  PriorityMutex mutex_;
  // Guarded by the mutex.
  std::unique_ptr<sched::CoreState> state_;
  std::vector<std::unique_ptr<Worker>> workers_;  // changed by the thread that prepares
  trace::Recorder* recorder_;                     // of the thread that decides
  trace::Recorder no_recorder_;
  Watch watch_;
  Sleep last_sleep_;
  sched::Skipped skipped_;                       // by the job that has just ended
  int top_ = os::min_priority;                   // fixed: the highest priority in use
  bool preempts_ = false;                        // some task may preempt another one
  std::chrono::nanoseconds shortest_period_{0};  // of the timers here, in this scenario
  const Target* asked_kernel_for_ = nullptr;
  TimePoint begun_{};  // when it began to release: what was asked for before counts from then

  std::atomic<bool> dismissed_{false};
  Inbox inbox_;
  std::atomic<bool> look_at_all_{false};  // no note was available: check every task
  // The threads to wake; read by any thread.
  std::array<std::atomic<Worker*>, most_workers> by_number_{};
  std::atomic<Worker*> standby_{nullptr};  // null: no release can preempt the running job
  std::atomic<sched::Level> above_{sched::no_ceiling};  // up to this level no thread must be woken
};

}  // namespace takt::executor
