// SPDX-License-Identifier: Apache-2.0
//
// How a front end releases a task: it announces messages, and sets timers.
#pragma once

#include <cstdint>

#include "takt/os/clock.hpp"
#include "takt/visibility.hpp"

namespace takt::executor {

struct Shared;
struct TaskState;

// From any thread, callback and at any time, without locks. Valid as long as the executor lives;
// does nothing once the task has gone. Copies are equal.
class TAKT_CORE_PUBLIC ReleaseHandle {
 public:
  ReleaseHandle() noexcept = default;

  // Message tasks: `count` messages have arrived, now; each job gets `value` (Job::value). False
  // when so many wait already that not all of them are kept (the rest is lost, and counted), and
  // when there is no such task any more.
  // NOLINTNEXTLINE(modernize-use-nodiscard): the loss is counted, nobody has to look at it
  bool notify(std::uint32_t count = 1, std::int64_t value = 0) const noexcept;

  // Counts messages that came and were lost before anybody announced them (lost_arrivals).
  void lost(std::uint32_t count) const noexcept;

  // Releases that the overrun policy or a scenario dropped since the task was added: no job of
  // theirs begins. 0 when there is no such task any more.
  [[nodiscard]] std::uint64_t dropped() const noexcept;

  // Timers: the next release is at `time`, and those after it follow a period behind each other.
  // Where `time` has passed, the next one is now, and those after it where they would be.
  // A job that is pending or has started is not touched; a release that comes before its end is an
  // overrun. False when there is no such task any more, or a thousand such calls are still waiting
  // to be taken up: try again.
  [[nodiscard]] bool release_at(os::TimePoint time) const noexcept;
  // Timers: no release until release_at(). False as above.
  [[nodiscard]] bool disarm() const noexcept;

 private:
  friend class Executor;
  ReleaseHandle(Shared& shared, TaskState& task, std::uint32_t generation) noexcept
      : shared_(&shared), task_(&task), generation_(generation) {}

  Shared* shared_ = nullptr;
  TaskState* task_ = nullptr;
  std::uint32_t generation_ = 0;
};

}  // namespace takt::executor
