// SPDX-License-Identifier: Apache-2.0
#include "executor_timer.hpp"

#include <exception>

namespace takt::probe {

ExecutorTimer::ExecutorTimer(const Options& options, os::StopFlag& stop)
    : options_{options}, stop_{stop} {
  stop_.attach(event_);
}

ExecutorTimer::~ExecutorTimer() {
  stop();
  stop_.detach(event_);
}

std::optional<os::TimePoint> ExecutorTimer::start(std::chrono::nanoseconds interval) noexcept {
  try {
    executor_ = std::make_unique<executor::Executor>(
        executor::Options{.cpus = options_.cpus,
                          .real_time = options_.real_time(),
                          .lock_memory = options_.real_time(),
                          // The result document says what was granted.
                          .on_not_granted = [](const os::SettingsNotGranted& /*settings*/) {}});
    executor_->add({.name = "probe.timer",
                    .parameters = {.period = interval,
                                   .offset = interval,
                                   .priority = options_.real_time() ? options_.priority : 1}},
                   {.callback = [this](const executor::Job& job) { called(job.index); }});
    executor_->start();
    return executor_->start_time();
  } catch (const std::exception& error) {
    failure_ = error.what();
    return {};
  }
}

void ExecutorTimer::called(std::uint64_t job) noexcept {
  const auto now = os::now();
  const auto index = written_.load(std::memory_order_relaxed);
  if (index - taken_.load(std::memory_order_acquire) < capacity) {
    calls_[index % capacity] = {job, now};
    written_.store(index + 1, std::memory_order_release);
  }
  event_.notify();
}

std::optional<Expiry> ExecutorTimer::wait(os::TimePoint deadline) noexcept {
  const auto index = taken_.load(std::memory_order_relaxed);
  while (written_.load(std::memory_order_acquire) == index) {
    if (stop_.requested() || !event_.wait_until(deadline)) {
      return {};
    }
  }
  const Call call = calls_[index % capacity];
  taken_.store(index + 1, std::memory_order_release);
  const Expiry expiry{.called = call.called, .passed_over = call.job - next_job_};
  next_job_ = call.job + 1;
  return expiry;
}

void ExecutorTimer::stop() noexcept {
  executor_.reset();
}

std::optional<os::NotGranted> ExecutorTimer::problem() const {
  if (failure_.empty()) {
    return {};
  }
  return os::NotGranted{.what = "Takt's executor could not start",
                        .why = failure_,
                        .fix = "choose another --period-ns, --priority or --cpu"};
}

}  // namespace takt::probe
