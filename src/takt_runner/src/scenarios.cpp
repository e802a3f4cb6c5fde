// SPDX-License-Identifier: Apache-2.0
#include "scenarios.hpp"

#include <takt/os/thread.hpp>

namespace takt::runner {

void follow(SchedulingExecutor& executor, const application::Application& application,
            os::TimePoint start, os::TimePoint end, const os::StopFlag& stop) {
  os::apply({.policy = os::SchedulingPolicy::fifo, .priority = os::max_priority});
  for (const application::Switch& change : application.switches) {
    if (start + change.at >= end || stop.wait_until(start + change.at)) {
      break;
    }
    static_cast<void>(executor.switch_to(change.scenario));  // the description was checked
  }
  static_cast<void>(stop.wait_until(end));
}

}  // namespace takt::runner
