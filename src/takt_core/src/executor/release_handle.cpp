// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/release_handle.hpp"

#include <algorithm>

#include "crew.hpp"
#include "shared.hpp"

namespace takt::executor {
namespace {

// Before the start they wait for a crew; whoever sees that there is one now takes them there.
void post(Shared& shared, const TaskState& task, Note& note, sched::Level key) noexcept {
  if (Crew* const crew = task.crew.load()) {
    crew->post(note, key);
    return;
  }
  shared.early.post(note);
  if (task.crew.load() != nullptr) {
    shared.repost_early();
  }
}

bool post_timer(Shared* shared, TaskState* task, std::uint32_t generation, Note::Kind kind,
                os::TimePoint time) noexcept {
  if (task == nullptr || task->generation.load() != generation) {
    return false;
  }
  Note* const note = Crew::take_note(*shared);
  if (note == nullptr) {
    return false;
  }
  note->task = task;
  note->generation = generation;
  note->kind = kind;
  note->time = time;
  note->value = os::now().time_since_epoch().count();
  post(*shared, *task, *note, sched::infinite_ceiling);
  return true;
}

}  // namespace

void Shared::repost_early() noexcept {
  for (Note* next = early.take_all(); next != nullptr;) {
    Note& note = *next;
    next = note.next;
    post(*this, *note.task, note, sched::infinite_ceiling);
  }
}

bool ReleaseHandle::notify(std::uint32_t count, std::int64_t value) const noexcept {
  if (task_ == nullptr || task_->generation.load() != generation_) {
    return false;
  }
  // Room is taken first and given back where there is less: whoever is stopped in between keeps
  // some of it, and hides no arrival of anybody.
  const std::uint32_t before = task_->waiting.fetch_add(count);
  const std::uint32_t room = task_->queue.load();
  const std::uint32_t kept = before >= room ? 0 : std::min(count, room - before);
  Note* const note = kept == 0 ? nullptr : Crew::take_note(*shared_);
  const std::uint32_t lost = note == nullptr ? count : count - kept;
  if (lost != 0) {
    task_->waiting.fetch_sub(lost);
    task_->counters.lost_arrivals.fetch_add(lost, std::memory_order_relaxed);
  }
  if (note == nullptr) {
    return false;
  }
  note->task = task_;
  note->generation = generation_;
  note->kind = Note::Kind::arrival;
  note->count = kept;
  note->time = os::now();
  note->value = value;
  post(*shared_, *task_, *note, task_->wake_key.load());
  return lost == 0;
}

void ReleaseHandle::lost(std::uint32_t count) const noexcept {
  if (task_ != nullptr && task_->generation.load() == generation_) {
    task_->counters.lost_arrivals.fetch_add(count, std::memory_order_relaxed);
  }
}

std::uint64_t ReleaseHandle::dropped() const noexcept {
  return task_ == nullptr || task_->generation.load() != generation_
             ? 0
             : task_->counters.skipped.get();
}

bool ReleaseHandle::release_at(os::TimePoint time) const noexcept {
  return post_timer(shared_, task_, generation_, Note::Kind::release_at, time);
}

bool ReleaseHandle::disarm() const noexcept {
  return post_timer(shared_, task_, generation_, Note::Kind::disarm, {});
}

}  // namespace takt::executor
