// SPDX-License-Identifier: Apache-2.0
//
// How the kernel schedules the threads that run the callbacks of a robot's process: by a priority
// (SCHED_FIFO), a reservation (SCHED_DEADLINE) or a nice value (SCHED_OTHER).
#pragma once

#include <sys/types.h>

#include <string>
#include <takt/application/application.hpp>
#include <takt/os/not_granted.hpp>
#include <takt/os/thread.hpp>
#include <utility>
#include <vector>

#include "settings.hpp"

namespace takt::runner {

// The cores of its executor.
std::vector<int> cpus_of(const application::Process& process);

// With which such a thread begins.
os::ThreadSettings settings_of(const application::Process& process);

// Asks the kernel for what settings have no place for, for that thread. Returns what it refused;
// the thread goes on without. A reservation binds to no core where the kernel does not allow it.
os::SettingsNotGranted schedule(const application::Process& process, pid_t thread);

// What such a thread would not be granted.
os::SettingsNotGranted not_granted_to(const application::Process& process);

// As a trace tells it.
void add_not_granted(std::vector<std::pair<std::string, std::string>>& attributes,
                     const os::SettingsNotGranted& refused);

// schedule() for a thread of an execution whose trace tells `refused`, and the quota of the
// process. Throws std::runtime_error where it is refused something else: nothing would tell that.
void schedule_as_reported(const Settings& settings, const application::Process& process,
                          pid_t thread, const os::SettingsNotGranted& refused);

// The thread of Takt's executor that runs all jobs, where no job preempts another one. Throws
// std::runtime_error where there is none.
pid_t thread_of_takt();

// Throws sched::ScheduleError for a process with a quota and without a control group.
void refuse_quotas(const Settings& settings, const application::Application& robot);

}  // namespace takt::runner
