// SPDX-License-Identifier: Apache-2.0
#include "source.hpp"

#include <unistd.h>

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

executor::Outcome Source::run(const sched::Job& job) {
  thread_local const int thread = ::gettid();
  std::unique_lock lock{group_->mutex, std::defer_lock};
  if (group_->exclusive) {
    lock.lock();
  }
  if (bell_->failed()) {
    return {};
  }
  running_.thread.store(thread, std::memory_order_relaxed);
  running_.since_ns.store(os::now().time_since_epoch().count(), std::memory_order_relaxed);
  try {
    work(job);
  } catch (...) {
    running_.since_ns.store(0, std::memory_order_relaxed);
    bell_->fail(std::current_exception());
    return {};
  }
  running_.since_ns.store(0, std::memory_order_relaxed);
  return {.published = 0};
}

}  // namespace takt::rclcpp
