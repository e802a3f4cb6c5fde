// SPDX-License-Identifier: Apache-2.0
#include "source.hpp"

#include <unistd.h>

#include "message_sources.hpp"
#include "publications.hpp"
#include "takt/os/clock.hpp"

namespace takt::rclcpp {

void Bell::fail(std::exception_ptr error) noexcept {
  {
    const std::lock_guard lock{mutex_};
    if (!error_) {
      error_ = std::move(error);
    }
  }
  failed_.store(true);
  ring();
}

std::exception_ptr Bell::take_error() noexcept {
  const std::lock_guard lock{mutex_};
  failed_.store(false);
  return std::exchange(error_, nullptr);
}

void Group::share(const std::vector<std::shared_ptr<const Running>>& members) {
  const std::lock_guard lock{mutex_};
  if (shared_.exchange(true)) {
    return;
  }
  for (const auto& member : members) {
    // Who begins after this sees that it has to lock.
    const std::uint64_t count = member->count.load();
    if (count % 2 != 0) {
      veterans_.push_back({.running = member, .count = count});
    }
  }
}

std::unique_lock<executor::PriorityMutex> Group::enter(const Running& self) {
  if (!exclusive || !shared_.load()) {
    return {};
  }
  std::unique_lock lock{mutex_};
  if (veterans_.empty()) {
    return lock;
  }
  const auto has_ended = [&self](const Veteran& veteran) {
    const auto running = veteran.running.lock();
    return !running || running.get() == &self || running->count.load() != veteran.count;
  };
  awaits_veterans_.store(true);
  // Nobody else waits for them: that takes the mutex.
  while (std::erase_if(veterans_, has_ended), !veterans_.empty()) {
    veteran_ended_.wait();
  }
  awaits_veterans_.store(false);
  return lock;
}

void Group::left() noexcept {
  if (awaits_veterans_.load()) {
    veteran_ended_.notify();
  }
}

template <class Act>
void Source::run_part(bool in_group, Act act) noexcept {
  thread_local const int thread = ::gettid();
  running_.thread.store(thread, std::memory_order_relaxed);
  const std::uint64_t begun = running_.count.fetch_add(1) + 1;
  {
    const auto lock =
        in_group ? group_->enter(running_) : std::unique_lock<executor::PriorityMutex>{};
    const RecordsPublications records{bell_->publications()};
    try {
      if (!bell_->failed()) {
        act();
      }
    } catch (...) {
      bell_->fail(std::current_exception());
    }
  }
  // In this order: who waits for its end says so first, and looks second.
  running_.count.store(begun + 1);  // nobody else writes it
  group_->left();
}

void Source::arm(const executor::ReleaseHandle& release) {
  const std::lock_guard lock{arming_};
  if (is_let_go_.load()) {
    return;
  }
  listens_.store(true);  // its first job may come at once
  try {
    listen(release);
  } catch (...) {
    silence();
    listens_.store(false);
    throw;
  }
  hush_where_let_go();
}

void Source::disarm() noexcept {
  const std::lock_guard lock{arming_};
  if (listens_.exchange(false)) {
    silence();
  }
}

void Source::let_go() noexcept {
  const std::lock_guard lock{arming_};
  is_let_go_.store(true);
  if (listens_.exchange(false)) {
    silence();
  }
}

void Source::look_again() {
  const std::lock_guard lock{arming_};
  if (listens_.load()) {
    listen_again();
    hush_where_let_go();
  }
}

void Source::hush_where_let_go() noexcept {
  if (is_let_go_.load()) {
    silence();
  }
}

executor::Outcome Source::run(const sched::Job& job) {
  if (listens_.load(std::memory_order_relaxed)) {
    run_part(true, [&] { work(job); });
  }
  return {.published = 0};
}

executor::Delivered Source::deliver(MessageSource& from) noexcept {
  executor::Delivered delivered;
  run_part(&from.group() == group_.get(), [&] { from.drain(delivered); });
  return delivered;
}

}  // namespace takt::rclcpp
