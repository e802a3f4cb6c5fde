// SPDX-License-Identifier: Apache-2.0
//
// What the executor below runs: a timer's callback, or the delivery of a subscription's messages.
#include <takt/rcl/publication_scope.hpp>
#include <takt/rcl/sample_time.hpp>
#include <utility>

#include "executor_tasks.hpp"
#include "rcl_error.hpp"

namespace takt {

SchedulingExecutor::TaskSource::TaskSource(Tasks& tasks, sched::Task description,
                                           const TaskOptions& options,
                                           std::shared_ptr<Timer> released_by,
                                           std::shared_ptr<SubscriptionBase> fed_by)
    : task{std::move(description)},
      timer{std::move(released_by)},
      subscription{std::move(fed_by)},
      tasks_{tasks},
      writes_{options.writes} {
  for (const ReadFrom& read : options.reads) {
    reads.push_back(read.subscription);
  }
}

executor::Outcome SchedulingExecutor::TaskSource::run(const Job& job) {
  const detail::PublicationScope published{writes_};
  if (timer != nullptr) {
    const detail::SampleTimeScope scope{job.release};
    timer->run(job);
    return {.sampled = job.release, .published = published.published()};
  }
  const bool each = task.parameters.overrun == Overrun::catch_up;
  const executor::Delivered delivered =
      each ? subscription->deliver_oldest() : subscription->deliver_newest();
  return {.sampled = delivered.sampled, .published = published.published()};
}

void SchedulingExecutor::TaskSource::arm(const executor::ReleaseHandle& release) {
  if (subscription == nullptr) {
    return;
  }
  subscription->claim(
      &tasks_, [release](std::size_t count) { release.notify(static_cast<std::uint32_t>(count)); });
}

void SchedulingExecutor::TaskSource::disarm() noexcept {
  if (subscription == nullptr) {
    return;
  }
  try {
    subscription->claim(&tasks_, nullptr);  // what comes is remembered for whoever listens next
  } catch (const RclError& error) {
    detail::log_failure(error.code(), "cannot let go of a subscription");
  }
}

}  // namespace takt
