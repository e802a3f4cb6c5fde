// SPDX-License-Identifier: Apache-2.0
//
// When the jobs of one task are released, and what happens to releases that come too soon. No
// thread and no clock: times go in and come out.
//
// A task is in one place only: its next job waits for its release, is ready, or runs. Releases that
// come while a job is ready or runs are decided when it ends, because nothing can become of them
// before. Hence no release costs anything while it could not be executed.
#pragma once

#include <cstdint>
#include <optional>

#include "takt/executor/arrivals.hpp"
#include "takt/sched/task.hpp"

namespace takt::executor {

using os::TimePoint;
using sched::TaskParameters;

struct Release {
  std::uint64_t index = 0;
  TimePoint time;

  bool operator==(const Release&) const = default;
};

// Releases that were dropped, which follow each other in index.
struct Skipped {
  std::uint64_t count = 0;
  Release first = {};  // meaningless when count is 0
};

// Releases of a timer: start + offset + k * period, for ever, without drift.
class TimerReleases {
 public:
  // Starts, or goes on under other parameters from `time` on. The first release is at time +
  // offset. After a change the next release is a new period behind the last one, but not before
  // `time`; a change of neither period nor activity changes nothing. An inactive timer has no
  // releases: it forgets the one that it remembers.
  Skipped follow(const TaskParameters& parameters, TimePoint time) noexcept;

  // The next release, in the past when its time has come; nothing when there is none.
  [[nodiscard]] std::optional<Release> next() const noexcept;

  // The first release after `time`.
  [[nodiscard]] std::optional<Release> next_after(TimePoint time) const noexcept;

  // The next release has become a job.
  void take() noexcept;

  // The last one that has.
  [[nodiscard]] const std::optional<Release>& taken() const noexcept { return taken_; }

  // The job that take() made has ended: applies the overrun policy to the releases before `ended`.
  Skipped end_of_job(TimePoint ended) noexcept;

  // The next release comes at `time`, which is before its regular time, and those after it follow
  // from there.
  void advance_to(TimePoint time) noexcept;

 private:
  [[nodiscard]] TimePoint time_of(std::uint64_t index) const noexcept;

  bool active_ = false;
  std::chrono::nanoseconds period_{0};
  sched::Overrun overrun_ = sched::Overrun::skip;
  Release anchor_;                     // a point of the grid of releases
  std::uint64_t next_ = 0;             // the next release that is not decided
  std::optional<Release> remembered_;  // queue_one: released, but not taken yet
  std::optional<Release> taken_;       // the last job
};

// Releases by messages, in the order of their arrival.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): that of Arrivals
class MessageReleases {
 public:
  explicit MessageReleases(std::size_t capacity) : arrivals_(capacity) {}

  // From any thread. False when there is no room.
  bool arrive(TimePoint time) noexcept { return arrivals_.push(time); }

  // As above.
  Skipped follow(const TaskParameters& parameters) noexcept;
  std::optional<Release> next() noexcept;
  void take() noexcept;
  Skipped end_of_job(TimePoint ended) noexcept;

  // An inactive task has no use for its arrivals: drops those that are there.
  Skipped drop_if_inactive() noexcept;

 private:
  Skipped drop_before(TimePoint time) noexcept;

  bool active_ = false;
  sched::Overrun overrun_ = sched::Overrun::skip;
  Arrivals arrivals_;
  std::uint64_t next_ = 0;
  std::optional<Release> remembered_;
};

}  // namespace takt::executor
