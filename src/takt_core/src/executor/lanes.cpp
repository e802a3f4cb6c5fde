// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/lanes.hpp"

#include <sched.h>

#include <algorithm>

#include "takt/executor/run_job.hpp"

namespace takt::executor {
namespace {

// The worker that the calling thread is; null outside of lanes.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of its thread alone
thread_local const void* current_worker = nullptr;

constexpr int nothing = 0;  // below all priorities

}  // namespace

Lanes::Lanes(Shared& shared, int cpu) : Partition(shared), cpu_(cpu) {
  lanes_.reserve(os::max_priority);
  workers_.reserve(os::max_priority);
  watches_.reserve(os::max_priority);
  started_.reserve(os::max_priority);
}

Lanes::Lanes(Shared& shared, TaskIndex kernel_deadline) : Lanes(shared, -1) {
  kernel_deadline_ = kernel_deadline;
}

Lanes::~Lanes() {
  Lanes::join();
}

Lanes::Lane* Lanes::lane_of(const TaskState& task) noexcept {
  if (kernel_deadline_) {
    return lanes_.data();
  }
  const std::size_t at = at_[static_cast<std::size_t>(task.lane)];
  return at == 0 ? nullptr : &lanes_[at - 1];
}

// Whoever calls this looks, before it sleeps or starts a job, whether somebody is up in time.
void Lanes::place(TaskState& task, TimePoint time) noexcept {
  Lane& lane = *lane_of(task);
  lane.calendar->set(task.index, time);
  lane.next = lane.calendar->first_time();
}

void Lanes::displace(TaskState& task) noexcept {
  if (Lane* const lane = lane_of(task)) {
    lane->calendar->remove(task.index);
    lane->next = lane->calendar->next_time();
  }
}

void Lanes::retarget() noexcept {
  shortest_period_ = std::chrono::nanoseconds::max();
  for (TaskIndex i = 0; i < target_->scenario->parameters().size(); ++i) {
    const sched::TaskParameters& parameters = target_->scenario->parameters(i);
    if (task(i).partition == this && task(i).kind == sched::TaskKind::timer && parameters.active) {
      shortest_period_ = std::min(shortest_period_, parameters.period);
    }
  }
  // A group that is held keeps out those that belong to it now.
  for (Started& started : started_) {
    started.priority = std::max(started.priority, ceiling(started.task));
  }
}

void Lanes::wake_for(const TaskState& task) noexcept {
  // Both are written before the writer looks for announcements, and this one is announced already:
  // if the values are about to change, their writer sees it.
  Worker* const standby = standby_.load();
  if (standby != nullptr && standby != current_worker && task.wake_key.load() > above_.load()) {
    standby->event.notify_thread();
  }
}

void Lanes::wake_to_follow() noexcept {
  if (Worker* const standby = standby_.load()) {
    standby->event.notify_thread();
  }
}

void Lanes::wake_to_stop() noexcept {
  for (const auto& worker : by_number_) {
    if (Worker* const found = worker.load()) {
      found->event.notify_thread();
    }
  }
}

void Lanes::join() {
  for (const auto& worker : workers_) {
    if (worker->thread->joinable()) {
      worker->thread->join();
    }
  }
}

void Lanes::run(Worker& me, const Target* asked) noexcept {
  current_worker = &me;
  std::unique_lock lock{mutex_};
  TimePoint now = os::now();
  while (!stopping()) {
    catch_up(me.recorder);
    if (kernel_deadline_ && target_ != nullptr && target_ != asked) {
      asked = target_;
      ask_kernel(*target_);
    }
    if (Lane* const lane = due(now)) {
      run_first(me, *lane, lock, now);
    } else {
      sleep(me, lock, now);
    }
  }
}

Lanes::Lane* Lanes::due(TimePoint now) noexcept {
  const int above = threshold();
  for (Lane& lane : lanes_) {
    if (lane.priority <= above) {
      break;
    }
    if (lane.next <= now) {
      return &lane;
    }
  }
  return nullptr;
}

void Lanes::run_first(Worker& me, Lane& lane, std::unique_lock<PriorityMutex>& lock,
                      TimePoint& now) noexcept {
  TaskState& state = task(lane.calendar->first());
  const int priority = std::max(lane.priority, ceiling(state.index));
  // There are as many workers as lanes, and jobs that preempt each other are of different ones.
  Worker* const watcher = priority < lanes_.front().priority ? &watcher_besides(me) : nullptr;
  publish(watcher, priority);
  if (news()) {
    return;  // somebody may have looked before; decide again
  }
  const auto job = release(state, now, me.recorder);
  if (!job) {
    return;
  }
  bool late = false;
  if (watcher != nullptr) {
    Watch& watch = watches_[watcher->number];
    late = watch.until > next_above(priority);
    watch.until = late ? TimePoint::min() : watch.until;
  }
  watches_[me.number].busy = true;
  started_.push_back({.worker = me.number, .task = state.index, .priority = priority});
  const Target& target = *state.under;
  lock.unlock();
  if (late) {
    watcher->event.notify_thread();
  }
  take_priority(me, priority);
  now = run_job(shared_, state, *job, target, me.recorder);
  lock.lock();
  finish(lock, state, now, me.recorder);  // its handlers belong to the job
  std::erase_if(started_, [&](const Started& started) { return started.worker == me.number; });
  watches_[me.number].busy = false;
}

void Lanes::sleep(Worker& me, std::unique_lock<PriorityMutex>& lock, TimePoint& now) noexcept {
  take_priority(me, top_);
  publish(&me, threshold());
  if (news()) {
    return;
  }
  const TimePoint until = wake_time(me);
  watches_[me.number].until = until;
  lock.unlock();
  me.event.wait_until(until);
  lock.lock();
  watches_[me.number].until = TimePoint::min();
  now = os::now();
}

void Lanes::take_priority(Worker& me, int priority) noexcept {
  if (me.real_time && me.priority != priority) {
    const sched_param parameters{.sched_priority = priority};
    sched_setparam(0, &parameters);
    me.priority = priority;
  }
}

void Lanes::publish(Worker* standby, int above) noexcept {
  // What has not changed has been looked at: sequentially consistent stores are not free.
  if (above_.load(std::memory_order_relaxed) != above) {
    above_.store(above);
  }
  if (standby_.load(std::memory_order_relaxed) != standby) {
    standby_.store(standby);
  }
}

// Of the task's group; nothing without one.
int Lanes::ceiling(TaskIndex task) const noexcept {
  const sched::Level level = target_->scenario->ceilings().ceiling(task);
  return static_cast<int>(std::clamp<sched::Level>(level, nothing, os::max_priority));
}

// What does not come above this has to wait for a job that has started.
int Lanes::threshold() const noexcept {
  int highest = nothing;
  for (const Started& started : started_) {
    highest = std::max(highest, started.priority);
  }
  return highest;
}

TimePoint Lanes::next_above(int priority) const noexcept {
  TimePoint next = TimePoint::max();
  for (const Lane& lane : lanes_) {
    if (lane.priority <= priority) {
      break;
    }
    next = std::min(next, lane.next);
  }
  return next;
}

// The next release; or the one after it, if another worker is up for that one: then it will find
// the watch in place when it starts a job. Later releases are nobody's concern yet.
TimePoint Lanes::wake_time(const Worker& me) const noexcept {
  const int above = threshold();
  const auto watched = [&](TimePoint time) {
    std::ptrdiff_t count = 0;
    for (std::size_t i = 0; i < watches_.size(); ++i) {
      count += i != me.number && !watches_[i].busy && watches_[i].until <= time ? 1 : 0;
    }
    return count;
  };
  const TimePoint first = next_above(above);
  if (first == TimePoint::max() || watched(first) == 0) {
    return first;
  }
  // Not before this, because what is released then is released again a period later.
  TimePoint second =
      shortest_period_ < TimePoint::max() - first ? first + shortest_period_ : TimePoint::max();
  for (const Lane& lane : lanes_) {
    if (lane.priority <= above) {
      break;
    }
    second =
        std::min(second, lane.next > first ? lane.next : lane.calendar->next_time_after(first));
  }
  return watched(second) < 2 ? second : TimePoint::max();
}

// A worker without a job that is up as soon as any. There must be one.
Lanes::Worker& Lanes::watcher_besides(const Worker& me) const noexcept {
  std::size_t best = me.number;
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    if (i != me.number && !watches_[i].busy &&
        (best == me.number || watches_[i].until < watches_[best].until)) {
      best = i;
    }
  }
  return *by_number_[best].load();
}

}  // namespace takt::executor
