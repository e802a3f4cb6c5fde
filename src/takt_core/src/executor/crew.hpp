// SPDX-License-Identifier: Apache-2.0
//
// The threads of one core. What runs next is decided by the core's state (sched/core_state.hpp);
// the crew carries it out. Any of its threads takes any job: it gives itself the priority at which
// the job has to run, and runs it. So releases that coincide cost one wake-up, however many
// priorities they have (a leader with followers: Schmidt et al. 2000), and still the kernel
// preempts; nobody dispatches.
//
// Fixed priorities: a job runs at its own, or at the ceiling of its group. Other policies: at a
// priority above that of the job that it preempts, so the kernel resumes that one by itself.
//
// While a job runs, another thread watches: it sleeps until the next release that may preempt that
// job, above the job's priority. A thread that sleeps for anything less sleeps below the job, so
// that nothing which runs is disturbed for a release that has to wait anyway. Changing the priority
// of a thread that sleeps does not wake it.
//
// The watch needs no wake-up of its own as a rule: a thread that goes to sleep while another one is
// up for the next release sleeps until the release after it, and watches from then on. What follows
// the next release at once and has to wait for it anyway does not count: whoever is up finds it.
//
// A task that waits in its callback, or that the kernel schedules (SCHED_DEADLINE), has a crew of
// its own: the kernel keeps its place among the others.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
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

class Crew final : private sched::CoreListener {
 public:
  // `number`: of its rosters in all compiled applications. `fixed`: as for CoreState. `alone`: the
  // one task that it is for, which has it to itself; null: those of a core.
  Crew(Shared& shared, std::size_t number, int cpu, bool fixed, const sched::Policy& policy,
       TaskState* alone);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  Crew(Crew&&) = delete;
  Crew& operator=(Crew&&) = delete;

  // Starts the threads that this compiled application needs and that are not there yet. Throws
  // std::system_error.
  void prepare(const CompiledApplication& compiled);
  // Releases tasks from `origin` on; nothing happens where it has begun.
  void begin(TimePoint origin);
  // A crew of one task goes where that task goes; while it has no thread.
  void bind_to(int cpu) noexcept { cpu_ = cpu; }
  // Waits for the threads, which shared.stopping has ended; what they knew is forgotten, so that
  // the crew can be started again. A thread that others keep from its core ends on another one.
  void join();

  // From any thread, without locks: something for a task of this crew. `key`: the preemption level
  // from which on somebody has to be woken.
  void post(Note& note, sched::Level key) noexcept;
  // From any thread that holds no crew's lock: there is another target. Threads of this crew need
  // not call it: they look after the job that they run.
  void wake_to_follow() noexcept;
  // From any thread, without locks: the executor stops.
  void wake_to_stop() noexcept;

  // Ends its threads, and only its own; as join().
  void dismiss();

  // Whether it follows that version or a later one, or nothing any more.
  bool follows(std::uint64_t version) noexcept;
  // Whether one of its decisions or jobs looks into the compiled application.
  bool uses(const CompiledApplication& compiled) noexcept;
  // Whether the task, which that version has removed, has no job here any more, and nobody is being
  // told of one.
  bool has_left(const TaskState& state, std::uint64_t version) noexcept;

  // The CPU time of its threads so far.
  [[nodiscard]] std::chrono::nanoseconds cpu_time() noexcept;
  [[nodiscard]] int cpu() const noexcept { return cpu_; }

  // That of the calling thread; null outside of crews.
  static const Crew* current() noexcept;
  [[nodiscard]] bool belongs_to(const Shared& shared) const noexcept { return &shared_ == &shared; }

 private:
  // When the kernel was asked about a thread, and for how long that had run by then, or could have.
  struct Counted {
    TimePoint at{};
    std::chrono::nanoseconds busy{0};
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
    // A thread changes its own priority only while it is not asleep, others change it only while it
    // is; but they boost the job that it runs.
    RelaxedInt priority;
    // Guarded by the mutex.
    bool asleep = false;
    TimePoint until = TimePoint::max();     // asleep: when it looks by itself
    TaskState* task = nullptr;              // whose job it runs
    std::chrono::nanoseconds cpu_seen{-1};  // while it is waited for

    Progress progress;  // of that job
  };

  // What whoever sleeps has to be up for.
  struct Need {
    TimePoint time = TimePoint::max();
    int above = 0;  // at a higher priority than this

    bool operator==(const Need&) const = default;
  };
  // That it was seen to, while nobody has gone to sleep or woken up since.
  struct Watch {
    const Worker* of = nullptr;  // whose job is watched; null: it is to be seen to again
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
  // What has happened since somebody looked last.
  void catch_up() noexcept;
  void take_up(Note& note) noexcept;
  void follow(const Target& target, TimePoint time) noexcept;
  void ask_kernel() noexcept;
  [[nodiscard]] bool news() const noexcept {
    return !inbox_.empty() || look_at_all_.load() ||
           (state_->target() != nullptr && shared_.target() != state_->target());
  }

  // Starts the job on the calling thread, which returns when it has ended. Nothing happens when
  // there are news: then it is to be chosen again.
  void run_first(Worker& me, const Job& chosen, std::unique_lock<PriorityMutex>& lock,
                 TimePoint& now) noexcept;
  void finish(Worker& me, TaskState& state, const Job& job, const Ended& end,
              std::unique_lock<PriorityMutex>& lock) noexcept;
  void sleep(Worker& me, TimePoint idle_until, std::unique_lock<PriorityMutex>& lock,
             TimePoint& now) noexcept;

  // The thread that shall follow another target over the job that runs, where nobody watches that
  // job; null: nobody need be woken, or can be.
  [[nodiscard]] Worker* raise_follower() noexcept;
  void wake_standby() noexcept;

  // See that somebody is up for it; returns whom to wake to that end, if anybody.
  [[nodiscard]] Worker* see_to(const Need& need, const Worker& me) noexcept;
  template <class Visit>
  void each_sleeper(const Worker& me, Visit visit) const noexcept;
  [[nodiscard]] Worker* somebody_asleep(const Worker& me) const noexcept;
  [[nodiscard]] std::size_t watching(const Need& need, const Worker& me) const noexcept;
  [[nodiscard]] TimePoint time_after(TimePoint first, sched::Level threshold) const noexcept;
  void publish(Worker* standby, sched::Level above) noexcept;

  [[nodiscard]] int running_priority() const noexcept;
  [[nodiscard]] int priority_for(const Worker& me, const Job& job) const noexcept;
  [[nodiscard]] int sleeping_priority(const Worker& me, TimePoint until,
                                      sched::Level threshold) const noexcept;
  static void set_priority(Worker& worker, int priority) noexcept;
  static void take_priority(Worker& me, int priority) noexcept;
  static void boost(Worker& worker, int priority) noexcept;

  // Jobs that have not ended when they should have.
  [[nodiscard]] TimePoint next_alarm() const noexcept;
  void set_alarm(TaskState& state, const Job& job, TimePoint now) noexcept;
  // `recorder`: of the calling thread.
  void tell_overdue(Worker& me, TimePoint now, std::unique_lock<PriorityMutex>& lock) noexcept;
  void tell_overdue(Worker& worker, trace::Recorder& recorder, TimePoint now,
                    std::unique_lock<PriorityMutex>& lock) noexcept;

  // In crew_sleeps.cpp. By the thread that ran the job, without the mutex; not above zero: no sleep
  // is known of.
  [[nodiscard]] std::chrono::nanoseconds sleep_of_job(Worker& me, TimePoint started,
                                                      TimePoint ended) const noexcept;
  // Remembers the sleep, and tells of a job that another one's has cost its deadline.
  void look_for_hold_up(Worker& me, const Job& job, TimePoint started, TimePoint ended,
                        std::chrono::nanoseconds slept,
                        std::unique_lock<PriorityMutex>& lock) noexcept;

  [[nodiscard]] TaskState& task(sched::TaskIndex index) const noexcept {
    return *shared_.tasks[index];
  }
  [[nodiscard]] bool stopping() const noexcept {
    return shared_.stopping.load() || dismissed_.load();
  }
  [[nodiscard]] bool has_ended() const noexcept { return stopping() && state_->started().empty(); }

  static constexpr std::size_t most_workers = os::max_priority + 1;

  Shared& shared_;
  const std::size_t number_;
  std::atomic<int> cpu_;
  const bool fixed_;
  const sched::Policy& policy_;
  TaskState* const alone_;

  PriorityMutex mutex_;
  // Guarded by the mutex.
  std::unique_ptr<sched::CoreState> state_;
  std::vector<std::unique_ptr<Worker>> workers_;  // changed by whoever prepares
  trace::Recorder* recorder_;                     // of the thread that decides
  trace::Recorder no_recorder_;
  Watch watch_;
  Sleep last_sleep_;
  sched::Skipped skipped_;                       // by the job that has just ended
  int top_ = os::min_priority;                   // fixed: the highest priority in use
  bool preempts_ = false;                        // some task may preempt another one
  std::chrono::nanoseconds shortest_period_{0};  // of the timers here, in this scenario
  const Target* asked_kernel_for_ = nullptr;

  std::atomic<bool> dismissed_{false};
  Inbox inbox_;
  std::atomic<bool> look_at_all_{false};  // there was no note to be had
  // Whom to wake; read by any thread.
  std::array<std::atomic<Worker*>, most_workers> by_number_{};
  std::atomic<Worker*> standby_{nullptr};               // null: nobody can come before what runs
  std::atomic<sched::Level> above_{sched::no_ceiling};  // up to this level nobody need be woken
};

}  // namespace takt::executor
