// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/lanes.hpp"

#include <sched.h>

#include <algorithm>
#include <mutex>
#include <ranges>

#include "takt/executor/kernel_deadline.hpp"
#include "takt/executor/run_job.hpp"

namespace takt::executor {
namespace {

// The lane that the calling thread is; null outside of lanes.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of its thread alone
thread_local const void* current_lane = nullptr;

}  // namespace

Lanes::Lanes(Shared& shared, int cpu) : Partition(shared), cpu_(cpu) {}

Lanes::Lanes(Shared& shared, TaskIndex kernel_deadline)
    : Partition(shared), kernel_deadline_(kernel_deadline) {}

Lanes::~Lanes() {
  Lanes::join();
}

void Lanes::prepare(const Plan& plan) {
  if (kernel_deadline_) {
    if (lanes_.empty()) {
      add_lane(0, plan.targets[shared_.scenario].get());
    }
    return;
  }
  for (const sched::CompiledScenario& scenario : plan.strategy.scenarios()) {
    for (TaskIndex i = 0; i < scenario.parameters().size(); ++i) {
      const int priority = scenario.parameters(i).priority;
      if (task(i).partition == this && lane_of(priority) == nullptr) {
        add_lane(priority, nullptr);
      }
    }
  }
}

void Lanes::add_lane(int priority, const Target* target) {
  auto lane = std::make_unique<Lane>(shared_.options.max_tasks, priority);
  if (shared_.tracer) {
    lane->recorder = shared_.tracer->add_thread();
  }
  os::ThreadSettings settings{.stack = shared_.options.stack};
  if (kernel_deadline_) {
    settings.name = "takt.d" + std::to_string(*kernel_deadline_);
  } else {
    settings.name = "takt.p" + std::to_string(priority);
    settings.cpus = {cpu_};
    if (shared_.options.real_time) {
      settings.policy = os::SchedulingPolicy::fifo;
      settings.priority = priority;
    }
  }
  lane->thread = std::make_unique<os::Thread>(settings, [this, target, lane = lane.get()] {
    enter_thread();
    if (kernel_deadline_) {
      ask_kernel(*target);
    }
    lane->real_time = os::current_thread().policy == os::SchedulingPolicy::fifo;
    lane->ready.notify();
    run(*lane, target);
  });
  lane->ready.wait();
  shared_.add(lane->thread->shortfalls());
  const std::lock_guard lock{mutex_};
  by_priority_[static_cast<std::size_t>(priority)].store(lane.get(), std::memory_order_release);
  lanes_.push_back(std::move(lane));
}

void Lanes::place(TaskState& task, TimePoint time) noexcept {
  Lane& lane = *lane_of(task.lane);
  lane.calendar.set(task.index, time);
  if (time < lane.asleep_until) {
    lane.asleep_until = TimePoint::min();
    lane.event.notify_thread();
  }
}

void Lanes::displace(TaskState& task) noexcept {
  if (Lane* lane = lane_of(task.lane)) {
    lane->calendar.remove(task.index);
  }
}

void Lanes::wake_for(const TaskState& task) noexcept {
  Lane* const lane = lane_of(task.wake_key.load());
  // A lane that releases its own tasks is awake, and looks at the news before it sleeps.
  if (lane != nullptr && lane != current_lane) {
    lane->event.notify_thread();
  }
}

void Lanes::wake_to_follow() noexcept {
  // The highest lane takes the change to all of them, whatever the others do.
  for (const auto& lane : std::views::reverse(by_priority_)) {
    if (Lane* const found = lane.load(std::memory_order_acquire)) {
      found->event.notify_thread();
      return;
    }
  }
}

void Lanes::wake_to_stop() noexcept {
  for (const auto& lane : by_priority_) {
    if (Lane* const found = lane.load(std::memory_order_acquire)) {
      found->event.notify_thread();
    }
  }
}

void Lanes::join() {
  for (const auto& lane : lanes_) {
    if (lane->thread->joinable()) {
      lane->thread->join();
    }
  }
}

void Lanes::run(Lane& lane, const Target* asked) noexcept {
  current_lane = &lane;
  std::unique_lock lock{mutex_};
  TimePoint now = os::now();
  while (!stopping()) {
    catch_up(lane.recorder);
    if (kernel_deadline_ && target_ != nullptr && target_ != asked) {
      asked = target_;
      ask_kernel(*target_);
    }
    const TimePoint until = lane.calendar.next_time();
    if (until <= now) {
      TaskState& state = task(lane.calendar.first());
      if (const auto job = release(state, now, lane.recorder)) {
        const Target& target = *target_;
        lock.unlock();
        now = run_exclusively(lane, state, *job, target);
        lock.lock();
        finish(lock, state, now, lane.recorder);
      }
      continue;
    }
    now = os::now();
    if (until <= now || news()) {
      continue;
    }
    lane.asleep_until = until;
    lock.unlock();
    lane.event.wait_until(until);
    lock.lock();
    lane.asleep_until = TimePoint::min();
    now = os::now();
  }
}

TimePoint Lanes::run_exclusively(Lane& lane, TaskState& task, const Job& job,
                                 const Target& target) noexcept {
  if (task.group_mutex == nullptr) {
    return run_job(shared_, task, job, target, lane.recorder);
  }
  const auto ceiling = target.scenario->ceilings().ceiling(task.index);
  const bool rise = lane.real_time && ceiling > lane.priority && ceiling <= os::max_priority;
  if (rise) {
    const sched_param parameters{.sched_priority = static_cast<int>(ceiling)};
    sched_setparam(0, &parameters);
  }
  TimePoint ended;
  {
    const std::lock_guard lock{*task.group_mutex};
    ended = run_job(shared_, task, job, target, lane.recorder);
  }
  if (rise) {
    const sched_param parameters{.sched_priority = lane.priority};
    sched_setparam(0, &parameters);
  }
  return ended;
}

// Not in the loop of a job: only after the start and after a switch.
void Lanes::ask_kernel(const Target& target) {
  const sched::TaskParameters& parameters = target.scenario->parameters(*kernel_deadline_);
  const auto runtime =
      parameters.budget.count() > 0 ? parameters.budget : parameters.expected_execution;
  const auto shortfall = reserve({.runtime = runtime,
                                  .deadline = sched::relative_deadline(parameters),
                                  .period = parameters.period},
                                 "task '" + task(*kernel_deadline_).name + "'");
  if (shortfall) {
    shared_.add({*shortfall});
  }
}

}  // namespace takt::executor
