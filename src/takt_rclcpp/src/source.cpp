// SPDX-License-Identifier: Apache-2.0
#include "source.hpp"

#include "core_names.hpp"
#include "message_sources.hpp"
#include "publications.hpp"
#include "takt/os/clock.hpp"
#include "takt/os/thread_id.hpp"

namespace takt_rclcpp {

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

template <class Act>
void Source::run_part(Running& running, bool in_group, Act act) noexcept {
  running.thread.store(static_cast<int>(os::own_thread_id()), std::memory_order_relaxed);
  // One writer; the reader compares looks that lie apart: no fence is needed.
  const std::uint64_t begun = running.count.load(std::memory_order_relaxed) + 1;
  running.count.store(begun, std::memory_order_release);
  {
    const auto lock = in_group ? group_->enter() : std::unique_lock<executor::PriorityMutex>{};
    const RecordsPublications records{bell_->publications()};
    try {
      if (!bell_->failed()) {
        act();
      }
    } catch (...) {
      bell_->fail(std::current_exception());
    }
  }
  running.count.store(begun + 1, std::memory_order_release);
}

void Source::arm(const executor::ReleaseHandle& release, std::size_t lane) {
  const std::lock_guard lock{arming_};
  handles_[lane] = release;
  if (is_let_go_.load() || ++armed_ < lanes()) {
    return;
  }
  listens_.store(true);  // its first job may come at once
  try {
    listen(Releases{handles_});
  } catch (...) {
    silence();
    listens_.store(false);
    throw;
  }
  hush_where_let_go();
}

void Source::disarm() noexcept {
  const std::lock_guard lock{arming_};
  armed_ = 0;
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

// With all that it calls of this library: each job passes through it.
[[gnu::flatten]] executor::Outcome Source::run(const sched::Job& job) {
  return run(job, running_);
}

executor::Outcome Source::run(const sched::Job& job, Running& running) {
  if (listens_.load(std::memory_order_relaxed)) {
    run_part(running, true, [&] { work(job); });
  }
  return {.published = 0};
}

executor::Delivered Source::deliver(MessageSource& from) noexcept {
  executor::Delivered delivered;
  run_part(running_, &from.group() == group_.get(), [&] {
    from.drain(delivered);
    // What was delivered before is used again.
    if (delivered.count == 0 && delivered.message && bell_->publications() != nullptr) {
      bell_->publications()->use(*delivered.message);
    }
  });
  return delivered;
}

sched::Task Lane::describe() const {
  sched::Task task = source_->describe();
  task.name += "#" + std::to_string(number_ + 1);
  return task;
}

}  // namespace takt_rclcpp
