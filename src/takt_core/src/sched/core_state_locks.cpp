// SPDX-License-Identifier: Apache-2.0
//
// Locks that started jobs take while they compute, and the place at which they go on after a wait.
#include <algorithm>
#include <utility>

#include "takt/sched/core_state.hpp"

namespace takt::sched {

void CoreState::declare_locks(std::span<const Level> ceilings) {
  locks_.clear();
  for (const Level ceiling : ceilings) {
    locks_.push_back({.ceiling = ceiling});
  }
}

void CoreState::set_lock_ceilings(std::span<const Level> ceilings) noexcept {
  for (std::size_t i = 0; i < ceilings.size(); ++i) {
    locks_[i].ceiling = ceilings[i];
  }
}

namespace {

Level rank(const CoreState::Started& started) noexcept {
  return std::max(started.level, started.ceiling);
}

}  // namespace

// Above those that it comes before with this ceiling: they wait, and resume below it. Jobs wait
// under fixed priorities only, where the started ones are in the order of their ranks.
Level CoreState::raise(CoreTask& task, Level ceiling) noexcept {
  const auto entry = std::ranges::find(started_, &task, &Started::task);
  const Level before = entry->ceiling;
  if (ceiling <= before) {
    return before;
  }
  entry->ceiling = ceiling;
  if (fixed_) {
    const auto place = std::find_if(entry + 1, started_.end(), [&](const Started& other) {
      return rank(other) > rank(*entry);
    });
    std::rotate(entry, entry + 1, place);
  }
  return before;
}

// Below those that have resumed meanwhile and come before it again.
bool CoreState::lower(CoreTask& task, Level before) noexcept {
  const auto entry = std::ranges::find(started_, &task, &Started::task);
  if (entry->ceiling == before) {
    return false;
  }
  entry->ceiling = before;
  if (fixed_) {
    const auto place = std::find_if(
        started_.begin(), entry, [&](const Started& other) { return rank(other) > rank(*entry); });
    std::rotate(place, entry, entry + 1);
  }
  return true;
}

// Started ones are in the order of their ranks where jobs wait, see raise().
void CoreState::resume(CoreTask& task) noexcept {
  const auto entry = std::ranges::find(started_, &task, &Started::task);
  entry->waits = false;
  if (fixed_) {
    const auto place = std::find_if(
        started_.begin(), entry, [&](const Started& other) { return rank(other) >= rank(*entry); });
    std::rotate(place, entry, entry + 1);
  }
}

void CoreState::put_first(CoreTask& task, std::uint64_t number) noexcept {
  raise(task, infinite_ceiling - static_cast<Level>(number));
}

void CoreState::put_back(CoreTask& task) noexcept {
  lower(task, no_ceiling);
}

bool CoreState::take(CoreTask& task, std::size_t lock) noexcept {
  Started& entry = started_entry(task);
  LockState& state = locks_[lock];
  if (state.holder != nullptr) {
    entry.wanted = lock;
    return false;
  }
  entry.wanted = no_lock;
  state.holder = &task;
  state.before = raise(task, state.ceiling);
  return true;
}

void CoreState::leave(std::size_t lock) noexcept {
  LockState& state = locks_[lock];
  lower(*state.holder, state.before);
  state.holder = nullptr;
}

// The job that has the core for `first`: that of the lock which it needs, and so on. Locks are
// taken in one order, so this ends.
const CoreState::Started* CoreState::in_place_of(const Started& first) const noexcept {
  const Started* job = &first;
  while (job->wanted != no_lock && locks_[job->wanted].holder != nullptr) {
    job = &*std::ranges::find(started_, locks_[job->wanted].holder, &Started::task);
  }
  return job;
}

}  // namespace takt::sched
