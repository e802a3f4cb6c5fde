// SPDX-License-Identifier: Apache-2.0
//
// The part of a crew that is done before the first release, and when its tasks change: threads, and
// what the kernel is asked for.
#include <sched.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "crew.hpp"
#include "takt/executor/kernel_deadline.hpp"
#include "takt/os/child_cpus.hpp"

namespace takt::executor {
namespace {

// Tasks for which a core has room at first: more than jobs may have started on it at once.
constexpr std::size_t first_room = 128;

constexpr std::chrono::milliseconds join_patience{300};

std::chrono::nanoseconds cpu_time_of(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace

Crew::Crew(Shared& shared, std::size_t number, int cpu, bool fixed, const sched::Policy& policy,
           TaskState* own_crew)
    : shared_(shared),
      number_(number),
      cpu_(cpu),
      fixed_(fixed),
      policy_(policy),
      own_crew_(own_crew),
      state_(new_state()),
      recorder_(&no_recorder_) {
  workers_.reserve(most_workers);
}

std::unique_ptr<sched::CoreState> Crew::new_state() {
  sched::CoreListener& listener = *this;
  return std::make_unique<sched::CoreState>(listener, policy_, fixed_,
                                            own_crew_ != nullptr ? 1 : first_room);
}

Crew::~Crew() {
  join();
}

void Crew::prepare(const CompiledApplication& compiled) {
  std::size_t depth = 1;
  int top = os::min_priority;
  for (const auto& target : compiled.targets) {
    const sched::CompiledScenario& scenario = *target->scenario;
    const auto& tasks = target->rosters[number_].tasks;
    if (fixed_) {
      for (const sched::TaskIndex index : tasks) {
        top = std::max(top, highest_priority_of(scenario.parameters(index)));
      }
    }
    if (scenario.policy().preemptive()) {
      depth = std::max(depth, compiled.strategy.depth({.tasks = tasks}));
    }
  }
  const auto& handlers = shared_.handlers;
  const bool kernel_deadline = own_crew_ != nullptr && own_crew_->binding.kernel_deadline;
  const bool alarms = (handlers.deadline_miss || handlers.budget_overrun) && !kernel_deadline;
  const std::size_t room =
      fixed_ ? most_workers
             : static_cast<std::size_t>(os::max_priority - shared_.options.base_priority) + 1;
  // One more than can have started watches, and hears of what arrives.
  const std::size_t wanted = std::min((depth > 1 || alarms ? depth + 1 : depth), room);
  // Its threads go on meanwhile: they move over when the memory is there.
  std::optional<sched::CoreState::Room> larger;
  const std::size_t members = compiled.targets.front()->rosters[number_].tasks.size();
  if (members > state_->capacity()) {  // which only this thread changes
    larger.emplace(policy_, std::bit_ceil(members));
  }
  {
    const std::lock_guard lock{mutex_};
    top_ = top;
    state_->set_depth(room);
    if (larger) {
      state_->move_to(*larger);
    }
  }
  for (const auto& worker : workers_) {
    if (!worker->thread) {  // of a former start
      enlist(*worker);
    }
  }
  while (workers_.size() < wanted) {
    auto worker = std::make_unique<Worker>();
    worker->number = workers_.size();
    enlist(*worker);
    workers_.push_back(std::move(worker));
  }
}

// Gives the worker a thread.
void Crew::enlist(Worker& worker) {
  if (shared_.tracer) {
    worker.recorder = shared_.tracer->add_thread();
  }
  const bool resident_stack = own_crew_ == nullptr || own_crew_->binding.resident_stack;
  os::ThreadSettings settings{
      .stack = shared_.options.stack,
      .prefaulted_stack = resident_stack ? shared_.options.prefaulted_stack : 0};
  if (own_crew_ != nullptr && own_crew_->binding.kernel_deadline) {
    settings.name = "takt.d" + std::to_string(own_crew_->index);
  } else {
    settings.name =
        (own_crew_ != nullptr ? "takt.w" + std::to_string(own_crew_->index) : "takt.f") +
        (own_crew_ != nullptr ? "" : std::to_string(worker.number));
    settings.cpus = {cpu_};
    if (shared_.options.real_time) {
      settings.policy = os::SchedulingPolicy::fifo;
      settings.priority = fixed_ ? top_ : shared_.options.base_priority;
      settings.reset_on_fork = true;  // a callback that starts a thread means no urgency
    }
  }
  worker.asleep = false;
  worker.ended.try_wait();  // of a former start
  worker.cpu_observed = std::chrono::nanoseconds{-1};
  worker.thread = std::make_unique<os::Thread>(settings, [this, me = &worker] {
    os::ChildCpus::confine_this_thread();
    me->enlisted.wait();
    here_ = this;
    me_ = me;
    run(*me);
    me->ended.notify();
  });
  // Not by the thread itself, which may have to wait for a job that keeps the core.
  const pid_t tid = worker.thread->tid();
  sched_param parameters{};
  sched_getparam(tid, &parameters);
  {
    const std::lock_guard lock{mutex_};
    worker.real_time = os::policy_of(tid) == os::SchedulingPolicy::fifo;
    worker.priority = parameters.sched_priority;
    worker.tid = tid;
    worker.cpu_clock = worker.thread->cpu_clock();
    worker.cpu_clock_known = true;
    by_number_[worker.number].store(&worker);
  }
  worker.enlisted.notify();
  shared_.add(worker.thread->not_granted());
}

void Crew::begin(const Target& target, TimePoint origin) {
  {
    const std::lock_guard lock{mutex_};
    // One that was dismissed follows nothing: nobody there would follow what comes next.
    const bool is_there =
        std::ranges::any_of(workers_, [](const auto& worker) { return worker->thread != nullptr; });
    if (state_->target() != nullptr || number_ >= target.rosters.size() || !is_there) {
      return;
    }
    recorder_ = &no_recorder_;  // rings belong to threads; the first scenario is an attribute
    begun_ = os::now();
    follow(target, origin);
  }
  wake_to_follow();
}

void Crew::join() {
  for (const auto& worker : workers_) {
    if (worker->thread && worker->thread->joinable()) {
      while (!worker->ended.wait_until(os::now() + join_patience)) {
        free_from_core();
      }
      worker->thread->join();
    }
  }
  const std::lock_guard lock{mutex_};
  for (const auto& worker : workers_) {
    worker->thread.reset();
    worker->recorder = {};
    worker->cpu_clock_known = false;
    worker->counted = {};  // of the thread that has ended
    worker->task = nullptr;
    if (Note* const spare = std::exchange(worker->spare, nullptr)) {
      shared_.notes.give_back(*spare);
    }
  }
  for (Note* next = inbox_.take_all(); next != nullptr;) {
    Note& note = *std::exchange(next, next->next);
    if (note.kind == Note::Kind::arrival) {
      note.task->waiting.fetch_sub(note.count, std::memory_order_relaxed);
    }
    shared_.notes.give_back(note);
  }
  standby_.store(nullptr);
  above_.store(sched::no_ceiling);
  asked_kernel_for_ = nullptr;
  recorder_ = &no_recorder_;
  state_ = new_state();
}

// Somebody else's real-time thread may have the core for ever. No order is to be kept any more
// apart from that of the jobs that have started: only the one that has the core gets on.
void Crew::free_from_core() noexcept {
  cpu_set_t anywhere;
  if (sched_getaffinity(0, sizeof anywhere, &anywhere) != 0) {
    return;
  }
  // Whoever has it may be one of those that do not get on, and runs no job then.
  const std::unique_lock lock{mutex_, std::try_to_lock};
  const auto waits_for_another_job = [&](const Worker& worker) {
    const auto* const running = state_->running();
    return worker.task != nullptr && running != nullptr && running->job.task != worker.task->index;
  };
  for (const auto& worker : workers_) {
    if (!worker->cpu_clock_known || (lock.owns_lock() && waits_for_another_job(*worker))) {
      continue;
    }
    const auto used = cpu_time_of(worker->cpu_clock);
    if (std::exchange(worker->cpu_observed, used) == used) {
      sched_setaffinity(worker->tid, sizeof anywhere, &anywhere);
    }
  }
}

void Crew::dismiss() {
  dismissed_.store(true);
  wake_to_stop();
  join();
  dismissed_.store(false);
}

std::chrono::nanoseconds Crew::cpu_time() noexcept {
  const std::lock_guard lock{mutex_};
  std::chrono::nanoseconds sum{0};
  for (const auto& number : by_number_) {
    const Worker* const worker = number.load(std::memory_order_relaxed);
    if (worker == nullptr) {
      break;
    }
    timespec time{};
    if (worker->cpu_clock_known && clock_gettime(worker->cpu_clock, &time) == 0) {
      sum += std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
    }
  }
  return sum;
}

// Not in the loop of a job: only after the start and after a switch.
void Crew::ask_kernel() noexcept {
  asked_kernel_for_ = state_->target();
  // A task that has been removed is no member: what was bound to it may just be destroyed.
  if (asked_kernel_for_ == nullptr || state_->members().empty() ||
      !own_crew_->binding.kernel_deadline) {
    return;
  }
  const sched::TaskParameters& parameters =
      asked_kernel_for_->scenario->parameters(own_crew_->index);
  const auto runtime =
      parameters.budget.count() > 0 ? parameters.budget : parameters.expected_execution;
  const auto refused_setting = reserve({.runtime = runtime,
                                        .deadline = sched::relative_deadline(parameters),
                                        .period = parameters.period},
                                       "task '" + own_crew_->name + "'");
  if (refused_setting) {
    shared_.add({*refused_setting});
    shared_.keeper.notify();  // it tells the user
  }
}

}  // namespace takt::executor
