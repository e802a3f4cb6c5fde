// SPDX-License-Identifier: Apache-2.0
//
// While it lives, all threads of this process, those of the middleware too, have the priority and
// the cores of a node, as with chrt and taskset. Some stay as they are: the one that writes the
// trace, and those by which Fast DDS sends what nobody waits for (the state of the graph, never the
// messages of these applications). They try again at once when a receiver's queue is full; at the
// priority of the node, on its core, they would keep that receiver from ever emptying it.
// Only for the time of the execution: at real-time priorities on one core, many processes that look
// for each other, or take leave of each other, keep each other from answering.
#pragma once

#include <sched.h>

#include <vector>

namespace takt::baseline {

class RealTimeProcess {
 public:
  // `priority`: SCHED_FIFO 1..98; no `cpus`: those of the calling thread. What is refused stays as
  // it was.
  RealTimeProcess(int priority, const std::vector<int>& cpus) noexcept;
  ~RealTimeProcess();
  RealTimeProcess(const RealTimeProcess&) = delete;
  RealTimeProcess& operator=(const RealTimeProcess&) = delete;
  RealTimeProcess(RealTimeProcess&&) = delete;
  RealTimeProcess& operator=(RealTimeProcess&&) = delete;

  // Whether all threads got the priority and the cores.
  [[nodiscard]] bool granted() const noexcept { return granted_; }

 private:
  cpu_set_t before_{};
  bool granted_{false};
};

// Gives the threads of the middleware in this process a priority and cores: all threads but the
// calling one, those of Takt, and those that RealTimeProcess leaves as they are. `priority`:
// SCHED_FIFO 1..98; no `cpus`: whichever they may use. What is refused stays as it was.
void raise_middleware(int priority, const std::vector<int>& cpus = {}) noexcept;

}  // namespace takt::baseline
