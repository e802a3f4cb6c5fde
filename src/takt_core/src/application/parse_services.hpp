// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/application/application.hpp"

namespace takt::application {

// Gives each service a queue that holds the requests of all clients. Throws sched::ScheduleError
// for a call that is never answered: no server, or one that cannot run while its client waits; and
// for a chain through calls that no data takes.
void add_services(Application& application);

}  // namespace takt::application
