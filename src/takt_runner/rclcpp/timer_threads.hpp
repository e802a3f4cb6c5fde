// SPDX-License-Identifier: Apache-2.0
//
// The threads in which EventsExecutor and EventsCBGExecutor wait for timers. EventsExecutor starts
// one in spin(), with the priority of the thread that spins: on its core it would wait until the
// queue is empty. EventsCBGExecutor starts its own in the constructor, with the priority of whoever
// makes it.
#pragma once

#include <sys/types.h>

#include <string_view>
#include <takt/os/thread.hpp>
#include <vector>

namespace takt::runner {

class TimerThreads {
 public:
  // `executor`: as make_executor() names it. Right before it is made, or before it spins.
  explicit TimerThreads(std::string_view executor);

  // Raises (SCHED_FIFO) what its constructor has started meanwhile. Without the right to it
  // nothing changes.
  void raise_existing(int priority) const noexcept;

  // The same of what spin() starts, in this thread; waits for it, for a second at most.
  void raise_spinning(pid_t spinning, int priority) const noexcept;

 private:
  // How many threads that are there since the beginning it has raised.
  [[nodiscard]] int raise(pid_t spinning, int priority) const noexcept;

  std::string_view executor_;
  std::vector<pid_t> known_;
};

}  // namespace takt::runner
