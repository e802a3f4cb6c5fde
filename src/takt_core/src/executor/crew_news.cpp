// SPDX-License-Identifier: Apache-2.0
//
// What reaches a crew from outside (notes, another target), and what its decisions lead to
// (counters, trace, notes to other crews).
#include <algorithm>
#include <iterator>

#include "crew.hpp"

namespace takt::executor {
namespace {

using sched::CoreTask;
using sched::Level;
using trace::EventType;

std::int64_t count_of(TimePoint time) noexcept {
  return time.time_since_epoch().count();
}

TaskState& state_of(CoreTask& task) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast): there are no others here
  return static_cast<TaskState&>(task);
}

}  // namespace

void Crew::post(Note& note, Level key) noexcept {
  inbox_.post(note);
  // Both are written before the writer looks for news, and this note is posted already: if the
  // values are about to change, their writer sees it.
  Worker* const standby = standby_.load();
  if (standby != nullptr && key > above_.load()) {
    standby->event.notify();
  }
}

void Crew::wake_to_follow() noexcept {
  Worker* const standby = standby_.load();
  if (Worker* const follower = standby != nullptr ? standby : raise_follower()) {
    follower->event.notify();
  }
}

// Nobody watches a job that nobody here can come before; under the other target somebody may. Who
// is about to start such a job has the mutex, and looks for news after it has told that nobody
// watches.
Crew::Worker* Crew::raise_follower() noexcept {
  const std::lock_guard lock{mutex_};
  const Target* const target = state_->target();
  if (target == nullptr || target == shared_.target() || state_->started().empty()) {
    return nullptr;
  }
  Worker* follower = nullptr;
  for (const auto& number : by_number_) {
    Worker* const worker = number.load(std::memory_order_relaxed);
    if (worker == nullptr) {
      break;
    }
    if (worker->asleep && (follower == nullptr || worker->until > follower->until)) {
      follower = worker;
    }
  }
  if (follower != nullptr) {
    set_priority(*follower, std::max(top_, running_priority() + 1));
    follower->until = TimePoint::min();
    watch_.of = nullptr;
  }
  return follower;
}

void Crew::wake_standby() noexcept {
  if (Worker* const standby = standby_.load()) {
    standby->event.notify();
  }
}

void Crew::wake_to_stop() noexcept {
  for (const auto& number : by_number_) {
    if (Worker* const worker = number.load()) {
      worker->event.notify();
    }
  }
}

bool Crew::follows(std::uint64_t version) noexcept {
  const std::lock_guard lock{mutex_};
  const Target* const target = state_->target();
  return target == nullptr || target->version >= version || has_ended();
}

bool Crew::uses(const CompiledApplication& compiled) noexcept {
  const std::lock_guard lock{mutex_};
  const auto of_plan = [&](const Target* target) {
    return target != nullptr && target->version == compiled.version;
  };
  const auto under = [&](sched::TaskIndex index) { return of_plan(task(index).under); };
  return of_plan(state_->target()) ||
         std::ranges::any_of(state_->started(), under,
                             [](const auto& started) { return started.job.task; }) ||
         std::ranges::any_of(state_->pending(), under, &Job::task);
}

bool Crew::has_left(const TaskState& state, std::uint64_t version) noexcept {
  const std::lock_guard lock{mutex_};
  const Target* const target = state_->target();
  return state.reporters == 0 &&
         (has_ended() || target == nullptr ||
          (target->version >= version && state.phase == CoreTask::Phase::absent));
}

void Crew::catch_up() noexcept {
  if (state_->target() == nullptr) {
    return;  // begin() sets the first one
  }
  if (const Target* const target = shared_.target(); target != state_->target()) {
    follow(*target, os::now());
  }
  Note* next = inbox_.empty() ? nullptr : inbox_.take_all();
  while (next != nullptr) {
    Note& note = *next;
    next = note.next;
    take_up(note);
    if (me_->spare == nullptr) {
      me_->spare = &note;
    } else {
      shared_.notes.give_back(note);
    }
  }
  if (look_at_all_.load(std::memory_order_relaxed) && look_at_all_.exchange(false)) {
    for (CoreTask* const member : state_->members()) {
      state_->look(*member);
    }
  }
}

void Crew::take_up(Note& note) noexcept {
  TaskState& state = *note.task;
  if (note.generation != state.generation.load(std::memory_order_relaxed)) {
    if (note.kind == Note::Kind::arrival) {  // for a task that has gone
      state.waiting.fetch_sub(note.count, std::memory_order_relaxed);
    }
    return;
  }
  switch (note.kind) {
    case Note::Kind::arrival:
      for (std::uint32_t i = 0; i < note.count; ++i) {
        if (!state_->arrive_now(state, std::max(note.time, begun_), note.value)) {
          state.waiting.fetch_sub(1, std::memory_order_relaxed);
          state.counters.lost_arrivals.fetch_add(1, std::memory_order_relaxed);
        }
      }
      return;
    case Note::Kind::release_at:
      // While a job is there, what has passed is an overrun.
      state.timer.release_at(note.time,
                             state.phase == CoreTask::Phase::idle
                                 ? std::max(TimePoint{std::chrono::nanoseconds{note.value}}, begun_)
                                 : TimePoint::min());
      break;
    case Note::Kind::disarm:
      if (const sched::Skipped skip = state.timer.disarm(); skip.count != 0) {
        skipped(state, skip);
      }
      break;
    case Note::Kind::look:
      break;
  }
  state_->look(state);
}

void Crew::follow(const Target& target, TimePoint time) noexcept {
  const bool same_scenario = state_->target() != nullptr && state_->target()->id == target.id;
  state_->follow(target, number_, target.tasks, time);
  shortest_period_ = std::chrono::nanoseconds::max();
  for (CoreTask* const member : state_->members()) {
    TaskState& state = state_of(*member);
    state.wake_key.store(state_->roster().levels[state.place]);
    const sched::TaskParameters& parameters = target.scenario->parameters(state.index);
    if (state.kind == sched::TaskKind::timer && parameters.active) {
      shortest_period_ = std::min(shortest_period_, parameters.period);
    }
  }
  const auto& levels = state_->roster().levels;
  preempts_ = target.scenario->policy().preemptive() && !levels.empty() &&
              (levels.front() != levels.back() || !target.scenario->ceilings().has_levels());
  if (!same_scenario) {
    recorder_->record(EventType::scenario, time, trace::no_task, 0, target.id);
  }
  shared_.progress();
}

void Crew::released(CoreTask& core_task, const Job& job, const sched::Release* regular) noexcept {
  TaskState& state = state_of(core_task);
  if (regular != nullptr) {
    state.counters.early_releases.add(1);
    recorder_->record(EventType::early_release, job.release, state.trace_id, job.index,
                      count_of(regular->time));
  }
  if (state.kind == sched::TaskKind::message) {
    state.waiting.fetch_sub(1, std::memory_order_relaxed);
  }
  state.counters.releases.add(1);
  // Its job will look at it soon: of releases that coincide, while those before it run.
  if (const JobSource* const source = state.binding.source.get()) {
    constexpr std::ptrdiff_t line = 64;
    const auto* const first = reinterpret_cast<const char*>(source);
    __builtin_prefetch(first);
    __builtin_prefetch(std::next(first, line));
  }
  recorder_->record(EventType::release, job.release, state.trace_id, job.index,
                    job.deadline == TimePoint::max() ? trace::no_deadline : count_of(job.deadline));
}

void Crew::skipped(CoreTask& core_task, const sched::Skipped& skip) noexcept {
  TaskState& state = state_of(core_task);
  skipped_ = skip;
  if (state.kind == sched::TaskKind::message) {
    state.waiting.fetch_sub(static_cast<std::uint32_t>(skip.count), std::memory_order_relaxed);
  }
  state.counters.releases.add(skip.count);
  state.counters.skipped.add(skip.count);
  recorder_->record(EventType::skip, skip.first.time, state.trace_id, skip.first.index,
                    static_cast<std::int64_t>(skip.count));
}

void Crew::dropped(CoreTask& core_task, const Job& job) noexcept {
  TaskState& state = state_of(core_task);
  state.counters.skipped.add(1);
  recorder_->record(EventType::skip, job.release, state.trace_id, job.index, 1);
}

// The kernel lets the thread that runs it come before the others from now on.
void Crew::boosted(CoreTask& core_task, const Job& job, std::size_t above) noexcept {
  watch_.of = nullptr;  // what runs may have another priority
  TaskState& state = state_of(core_task);
  recorder_->record(EventType::boost, os::now(), state.trace_id, job.index, job.priority,
                    trace::no_topic,
                    static_cast<std::uint8_t>(std::min<std::size_t>(above, UINT8_MAX)));
  if (core_task.phase != CoreTask::Phase::started) {
    return;
  }
  if (fixed_) {
    const Level ceiling = state_->target()->scenario->ceilings().ceiling(job.task);
    state.run_priority =
        std::max(job.priority, static_cast<int>(std::clamp<Level>(ceiling, 0, os::max_priority)));
  } else if (above == 0) {
    int highest = 0;
    for (const auto& started : state_->started()) {
      highest = std::max(highest, int{state_of(*started.task).run_priority});
    }
    state.run_priority = std::min(highest + 1, os::max_priority);
  }
  for (const auto& number : by_number_) {
    Worker* const worker = number.load(std::memory_order_relaxed);
    if (worker == nullptr) {
      break;
    }
    if (worker->task == &state) {
      boost(*worker, state.run_priority);
    }
  }
}

void Crew::wanted(sched::TaskIndex source) noexcept {
  TaskState& state = task(source);
  Crew* const crew = state.crew.load();
  if (crew == nullptr) {
    return;  // its first look is still to come
  }
  Note* const note = take_note(shared_);
  if (note == nullptr) {
    crew->look_at_all_.store(true);
    crew->wake_standby();
    return;
  }
  note->kind = Note::Kind::look;
  note->task = &state;
  note->generation = state.generation.load(std::memory_order_relaxed);
  crew->post(*note, sched::infinite_ceiling);
}

}  // namespace takt::executor
