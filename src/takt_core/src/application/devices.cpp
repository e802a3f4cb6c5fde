// SPDX-License-Identifier: Apache-2.0
#include "devices.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "../sched/text.hpp"
#include "takt/sched/error.hpp"

namespace takt::application {
namespace {

// The longest request of one job.
nanoseconds longest_request(const Callback& callback, const std::string& device) {
  nanoseconds longest{0};
  for (const Segment& segment : callback.segments) {
    longest = segment.device == device ? std::max(longest, segment.occupies) : longest;
  }
  return longest;
}

void check_host(const Application& application, const std::string& device) {
  const Callback* first = nullptr;
  for (const Callback& callback : application.callbacks) {
    if (application.processes.empty() || longest_request(callback, device).count() == 0) {
      continue;
    }
    first = first == nullptr ? &callback : first;
    const std::string& host = application.processes[first->process].host;
    const std::string& other = application.processes[callback.process].host;
    if (host != other) {
      throw sched::ScheduleError("device " + sched::name_text(device),
                                 sched::name_text(first->task.name) + " uses it on host " +
                                     sched::name_text(host) + ", and " +
                                     sched::name_text(callback.task.name) + " on host " +
                                     sched::name_text(other),
                                 "give the devices of each host names of their own");
    }
  }
}

}  // namespace

std::vector<std::string> devices_of(const Application& application) {
  std::vector<std::string> devices;
  for (const Callback& callback : application.callbacks) {
    for (const Segment& segment : callback.segments) {
      if (!segment.device.empty() && std::ranges::find(devices, segment.device) == devices.end()) {
        devices.push_back(segment.device);
      }
    }
  }
  return devices;
}

// Jobs of a callback follow each other and wait for one thing at a time: at most one request of
// each other callback is before a request, and none that comes later.
void add_devices(Application& application) {
  for (const std::string& device : devices_of(application)) {
    check_host(application, device);
    nanoseconds all{0};
    for (const Callback& callback : application.callbacks) {
      all += longest_request(callback, device);
    }
    for (Callback& callback : application.callbacks) {
      const nanoseconds others = all - longest_request(callback, device);
      for (Segment& segment : callback.segments) {
        if (segment.device == device) {
          segment.longest = segment.occupies + others;
          callback.suspension += others;
        }
      }
    }
  }
}

}  // namespace takt::application
