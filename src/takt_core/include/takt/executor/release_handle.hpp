// SPDX-License-Identifier: Apache-2.0
/// @file
/// A handle with which a front end releases a task: it announces messages and sets timers.
#pragma once

#include <cstdint>

#include "takt/os/clock.hpp"
#include "takt/visibility.hpp"

namespace takt::executor {

struct Shared;
struct TaskState;

/// Releases one task. All functions are lock-free and may be called from any thread and callback,
/// at any time while the executor exists; after the task was removed they have no effect. Copies
/// refer to the same task.
class TAKT_CORE_PUBLIC ReleaseHandle {
 public:
  ReleaseHandle() noexcept = default;

  /// Message tasks: announces messages that have arrived now.
  /// @param count how many.
  /// @param value passed to each of their jobs as Job::value.
  /// @return false if the queue is too full for all of them (the excess is dropped and counted), or
  /// if the task was removed.
  // NOLINTNEXTLINE(modernize-use-nodiscard): the loss is counted anyway
  bool notify(std::uint32_t count = 1, std::int64_t value = 0) const noexcept;

  /// Counts messages that were lost before they could be announced (TaskStatistics::lost_arrivals).
  void lost(std::uint32_t count) const noexcept;

  /// Releases that the overrun policy or a scenario has dropped since the task was added: they lead
  /// to no job. 0 after the task was removed.
  [[nodiscard]] std::uint64_t dropped() const noexcept;

  /// Timers: sets the next release to `time`; later releases follow at distances of a period. If
  /// `time` has passed, the next release is now and the later ones keep their grid. Pending and
  /// started jobs are not affected; a release before the end of such a job is an overrun.
  /// @return false if the task was removed, or if a thousand calls are still waiting to be
  /// processed: try again.
  [[nodiscard]] bool release_at(os::TimePoint time) const noexcept;

  /// Timers: no release until release_at(). Returns false as release_at() does.
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
