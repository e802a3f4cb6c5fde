// SPDX-License-Identifier: Apache-2.0
//
// baseline1: what Takt is compared with. Each node in a process of its own, at a SCHED_FIFO
// priority of its own, with its own baseline0 inside: the kernel prefers nodes, but not callbacks
// of a node, and every message goes through the middleware. All threads of a process have its
// priority, those of the middleware too, as with chrt.
#pragma once

#include <functional>
#include <string>
#include <takt/os/stop.hpp>
#include <vector>

namespace takt::baseline {

struct NodeProcess {
  std::string name;
  int priority{0};          // SCHED_FIFO 1..98; 0: SCHED_OTHER
  std::vector<int> cpus{};  // empty: as the caller
  // Creates context and node and spins until `stop` is requested; the return value is the exit
  // code. An exception that leaves it is reported, with exit code 1.
  std::function<int(os::StopFlag& stop)> run{};
};

struct EndedProcess {
  std::string name;
  int exit_code{0};  // 128 + signal where a signal ended it
};

// Forks one process for each, and returns when all have ended, in the order given. A request on
// `stop` asks those that still run to end (SIGTERM). A real-time priority that cannot be had is
// reported on standard error, and the process runs without. Must be called while this process has
// no context: the middleware does not survive a fork. Throws std::system_error when there can be no
// process; those that were started are ended then.
std::vector<EndedProcess> run_node_processes(const std::vector<NodeProcess>& processes,
                                             const os::StopFlag& stop);

}  // namespace takt::baseline
