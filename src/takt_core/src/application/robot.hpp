// SPDX-License-Identifier: Apache-2.0
//
// An application of several processes: a robot. Each process is an executor with one thread, or
// one for each of its cores, and a real-time priority; on each core the process of the highest
// priority that has something to run runs, and within it its executor decides.
#pragma once

#include <string>
#include <vector>

#include "takt/application/application.hpp"
#include "takt/sched/compiled.hpp"

namespace takt::application {

// Whether the callback writes this topic, or calls this service.
bool sends(const Callback& callback, const std::string& topic);

// The policy that decides about this callback.
const std::string& policy_of(const Application& application, const Callback& callback);

// Throws sched::ScheduleError for processes that cannot be kept apart.
void check_robot(const Application& application);

// Whether two processes have a core of a host in common.
bool share_core(const Process& left, const Process& right);

// The number of its core, or first core, among those of all hosts: those of the host that is named
// first, then those of the next one.
int core_number(const Application& application, const Process& process);
// The same of another core of its host.
int core_number(const Application& application, const Process& process, int cpu);

// What lies between two processes; null: hosts without a link between them.
const Handover* between(const Application& application, const Process& left, const Process& right);

// The link between the hosts of two processes; null: there is none, or they have one host.
const Link* find_link(const Application& application, const Process& left, const Process& right);

// What lies between this callback and the writers of its topic in other processes: the shortest and
// the longest time of all.
Handover handover_to(const Application& application, const Callback& reader);

// As the executors see it: with own subscriptions, with threads as processes, and with the handover
// of messages as the jitter of the callbacks that they release in other processes.
Application with_handover(const Application& application);

// Whether a message of this topic may come to the process from another one.
bool comes_from_elsewhere(const Application& application, const std::string& topic,
                          std::size_t process);

// All tasks on their cores. The order of jobs in it is that of no process.
sched::CompiledStrategy compile_robot(const Application& application);

// All tasks, by their indices; those of other processes are vacant, and stand on a second core.
sched::CompiledStrategy compile_process(const Application& application, std::size_t process);

// One process as an application, with the topics that come from elsewhere marked as external.
Application process_of(const Application& application, std::size_t process);

}  // namespace takt::application
