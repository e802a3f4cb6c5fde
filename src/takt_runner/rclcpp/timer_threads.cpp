// SPDX-License-Identifier: Apache-2.0
#include "timer_threads.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <takt/os/clock.hpp>

namespace takt::runner {
namespace {

constexpr int most_looks = 1000;  // one a millisecond

}  // namespace

TimerThreads::TimerThreads(std::string_view executor) : executor_{executor} {
  for (const os::ThreadStatus& thread : os::process_threads()) {
    known_.push_back(thread.tid);
  }
}

void TimerThreads::raise_existing(int priority) const noexcept {
  if (executor_ == "events_cbg") {
    static_cast<void>(raise(gettid(), priority));
  }
}

void TimerThreads::raise_spinning(pid_t spinning, int priority) const noexcept {
  if (executor_ != "events") {
    return;
  }
  for (int looks = 0; looks < most_looks && raise(spinning, priority) == 0; ++looks) {
    os::sleep_until(os::now() + std::chrono::milliseconds{1});
  }
}

int TimerThreads::raise(pid_t spinning, int priority) const noexcept {
  const sched_param parameters{.sched_priority = priority};
  int raised = 0;
  for (const os::ThreadStatus& thread : os::process_threads()) {
    if (thread.tid != spinning && std::ranges::find(known_, thread.tid) == known_.end()) {
      sched_setscheduler(thread.tid, SCHED_FIFO, &parameters);
      ++raised;
    }
  }
  return raised;
}

}  // namespace takt::runner
