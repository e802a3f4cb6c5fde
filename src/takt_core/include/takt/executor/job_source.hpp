// SPDX-License-Identifier: Apache-2.0
//
// The seam to client libraries: a source of jobs as a front end knows it. A timer, a subscription,
// a service or anything else that has work now and then implements it, and the executor knows
// nothing else of the middleware.
//
//   executor.add(source->describe(), {.source = source});
//
// The executor calls arm() at the start, or right before a task that is added later takes effect,
// run() for each job, and disarm() when the task has been taken out (and at the stop). Between the
// two the source calls its ReleaseHandle, from any thread.
//
// The executor holds no lock and keeps nobody waiting while it calls what others wrote: arm() and
// disarm(), handlers, Options::on_shortfalls, the destructors of callbacks. All of them may ask the
// executor and change its tasks; only stop() waits for a start() that goes on, so what start()
// calls must not call it. A policy is no such function: it decides while a core's lock is held, so
// it looks at nothing but its arguments (sched/policy.hpp).
#pragma once

#include <cstdint>
#include <optional>

#include "takt/os/clock.hpp"
#include "takt/sched/job.hpp"
#include "takt/visibility.hpp"

namespace takt::executor {

class ReleaseHandle;

// What one job did with data.
struct Outcome {
  static constexpr std::uint64_t all_writes = ~std::uint64_t{0};

  // When the data that it worked on was sampled. Nothing: at the release of the job, for timers;
  // with the newest data of the topic, for messages.
  std::optional<os::TimePoint> sampled = {};
  // Bit i: something was published on the task's i-th topic of those that it writes.
  std::uint64_t published = all_writes;
};

class TAKT_CORE_PUBLIC JobSource {
 public:
  JobSource() = default;
  JobSource(const JobSource&) = delete;
  JobSource& operator=(const JobSource&) = delete;
  JobSource(JobSource&&) = delete;
  JobSource& operator=(JobSource&&) = delete;
  virtual ~JobSource();

  // What it is: name, timer or message, period, topic. The user's options are added to this.
  [[nodiscard]] virtual sched::Task describe() const = 0;

  // Runs one job, on a thread of the executor, at its priority. What it throws ends the process, or
  // leaves spin() (Options::exceptions).
  virtual Outcome run(const sched::Job& job) = 0;

  // Tells `release` of what arrives from now on, and at once of what waits already. Set-up: may
  // allocate and throw; then the task is not added. Executor::find() knows the task already.
  virtual void arm(const ReleaseHandle& release) = 0;

  // When it returns, nobody calls the handle any more.
  virtual void disarm() noexcept = 0;
};

}  // namespace takt::executor
