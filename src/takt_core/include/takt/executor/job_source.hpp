// SPDX-License-Identifier: Apache-2.0
/// @file
/// The interface to client libraries: a source of jobs. A timer, a subscription, a service or
/// anything else that has work from time to time implements it; the executor needs to know nothing
/// else about the middleware.
///
/// ```cpp
/// executor.add(source->describe(), {.source = source});
/// ```
///
/// The executor calls arm() at the start, or right before a task that is added later takes effect,
/// run() for each job, and disarm() after the task was removed and at the stop. Between arm() and
/// disarm() the source may call its ReleaseHandle from any thread.
///
/// The executor holds no lock and blocks nobody while it calls foreign code: arm() and disarm(),
/// handlers, Options::on_not_granted, destructors of callbacks. All of them may call the executor
/// and change its tasks, with one exception: stop() waits for a start() in progress, so functions
/// that start() calls must not call stop(). A policy is different: it decides while a core's lock
/// is held, so it may use nothing but its arguments (sched/policy.hpp).
#pragma once

#include <cstdint>
#include <optional>

#include "takt/os/clock.hpp"
#include "takt/sched/job.hpp"
#include "takt/visibility.hpp"

namespace takt::executor {

class ReleaseHandle;

/// What one job did with data.
struct Outcome {
  /// Every topic that the task writes.
  static constexpr std::uint64_t all_writes = ~std::uint64_t{0};

  /// When the data that the job used was sampled. Nothing: for timers, at the release of the job;
  /// for messages, with the newest data of the topic.
  std::optional<os::TimePoint> sampled = {};
  /// Bit i: the job published on the i-th topic of Task::writes.
  std::uint64_t published = all_writes;
};

/// A task as a front end implements it.
class TAKT_CORE_PUBLIC JobSource {
 public:
  JobSource() = default;
  JobSource(const JobSource&) = delete;
  JobSource& operator=(const JobSource&) = delete;
  JobSource(JobSource&&) = delete;
  JobSource& operator=(JobSource&&) = delete;

  /// The executor shares ownership of a source until its task has been removed.
  virtual ~JobSource();

  /// Name, kind (timer or message), period and topic. The user's options are applied on top.
  [[nodiscard]] virtual sched::Task describe() const = 0;

  /// Runs one job, on a thread of the executor and at the job's priority. An exception ends the
  /// process or leaves spin() (Options::exceptions).
  virtual Outcome run(const sched::Job& job) = 0;

  /// Starts to announce work through `release`, including work that is already waiting. Part of
  /// set-up: may allocate. Executor::find() knows the task already.
  /// @throws any exception to refuse: then the task is not added.
  virtual void arm(const ReleaseHandle& release) = 0;

  /// Stops to use the handle. After it returns, no thread may call the handle.
  virtual void disarm() noexcept = 0;
};

}  // namespace takt::executor
