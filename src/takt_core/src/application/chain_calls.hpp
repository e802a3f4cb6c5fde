// SPDX-License-Identifier: Apache-2.0
//
// Chains that lead to a server by a call, and back by its response.
#pragma once

#include "takt/application/application.hpp"

namespace takt::application {

// Leaves out of each chain the servers from which it comes back: the job that has called them goes
// on, so what it publishes is as old as its own release. Throws sched::ScheduleError for a chain
// that leads through calls in a way that no job takes.
void follow_calls(Application& application);

// Whether data goes from `client` to `server` by a call: it calls it, and publishes nothing that it
// reads.
[[nodiscard]] bool calls(const Callback& client, const Callback& server);

}  // namespace takt::application
