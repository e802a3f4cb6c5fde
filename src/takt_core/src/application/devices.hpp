// SPDX-License-Identifier: Apache-2.0
//
// Devices that jobs wait for and occupy, such as a GPU or a bus.
#pragma once

#include "takt/application/application.hpp"

namespace takt::application {

// Lets each wait for a device contain the requests that may be before it (docs/reference/
// analysis.md, eq. 36). Throws sched::ScheduleError for a device of two hosts.
void add_devices(Application& application);

// The names of all devices, in the order of their first use.
[[nodiscard]] std::vector<std::string> devices_of(const Application& application);

}  // namespace takt::application
