// SPDX-License-Identifier: Apache-2.0
/// @file
/// When the jobs of one task are released, and what happens to releases that come too early. The
/// classes use no thread and no clock: times are arguments and results.
///
/// A task is in exactly one state: its next job waits for its release, is pending, or has started.
/// Releases that come while a job is pending or has started are decided when it ends, because they
/// cannot lead to anything before. Hence a release costs nothing while it could not be executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "takt/os/saturating.hpp"
#include "takt/sched/task.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

using os::TimePoint;

/// One release of a task.
struct Release {
  std::uint64_t index = 0;  ///< Counts the releases of the task from 0.
  TimePoint time;           ///< When it is released.
  std::int64_t value = 0;   ///< Message tasks: the value that was announced with the message.

  bool operator==(const Release&) const = default;
};

/// Dropped releases with consecutive indices.
struct Skipped {
  std::uint64_t count = 0;  ///< How many.
  Release first = {};       ///< The first of them; meaningless if count is 0.
};

/// The releases of a timer: start + offset + k * period, without end and without drift. Not
/// thread-safe; allocates nothing.
class TAKT_CORE_PUBLIC TimerReleases {
 public:
  /// Starts, or continues under other parameters from `time` on.
  ///
  /// The first release is at time + offset. After a change the next release is one new period after
  /// the last one, but not before `time`. A change of neither period nor activity has no effect. An
  /// inactive timer has no releases, and a remembered one is dropped. A timer that becomes active
  /// starts anew, or continues on the grid that release_at() has set.
  /// @return releases that this drops.
  Skipped follow(const TaskParameters& parameters, TimePoint time) noexcept;

  /// Sets the next release to `time`, with later ones at distances of a period; also after
  /// disarm(). If `time` has passed at `now`, the next release is at `now` and the later ones keep
  /// their grid, because nobody can be late for a release that was not announced.
  void release_at(TimePoint time, TimePoint now = TimePoint::min()) noexcept;

  /// No releases until release_at().
  /// @return releases that this drops.
  Skipped disarm() noexcept;

  /// The next release, in the past if it is due; nothing if there is none.
  [[nodiscard]] std::optional<Release> next() const noexcept {
    if (remembered_) {
      return remembered_;
    }
    if (!active_ || !armed_) {
      return {};
    }
    return Release{.index = next_, .time = time_of(next_)};
  }

  /// The first release after `time`.
  [[nodiscard]] std::optional<Release> next_after(TimePoint time) const noexcept;

  /// The next release becomes a job.
  void take() noexcept {
    if (remembered_) {
      taken_ = remembered_;
      remembered_.reset();
    } else {
      taken_ = Release{.index = next_, .time = time_of(next_)};
      ++next_;
    }
  }

  /// The last release that became a job.
  [[nodiscard]] const std::optional<Release>& taken() const noexcept { return taken_; }

  /// The job of the last take() has ended: applies the overrun policy to the releases before
  /// `ended`.
  /// @return dropped releases.
  Skipped end_of_job(TimePoint ended) noexcept;

  /// Brings the next release, remembered or not, forward to `time`, which must be before its
  /// regular time; later ones follow from there.
  void advance_to(TimePoint time) noexcept;

 private:
  [[nodiscard]] TimePoint time_of(std::uint64_t index) const noexcept {
    const auto steps = static_cast<std::int64_t>(index - anchor_.index);
    return os::add_sat(anchor_.time, os::mul_sat(period_, steps));
  }
  Skipped forget() noexcept;

  bool active_ = false;
  bool armed_ = true;
  bool set_ = false;     // release_at() or disarm() controls the grid
  bool rested_ = false;  // it has been inactive since it was released last
  std::chrono::nanoseconds period_{0};
  Overrun overrun_ = Overrun::skip;
  Release anchor_;                     // a point of the grid of releases
  std::uint64_t next_ = 0;             // the next release that is not decided
  std::optional<Release> remembered_;  // queue_one: released, but not taken yet
  std::optional<Release> taken_;       // the last job
};

/// Releases by messages in the order of their arrival, a bounded number of which waits. Not
/// thread-safe.
class TAKT_CORE_PUBLIC MessageReleases {
 public:
  MessageReleases() = default;

  /// Allocates room for exactly `capacity` arrivals.
  explicit MessageReleases(std::size_t capacity) : arrivals_(capacity) {}

  /// A message has arrived.
  /// @return false if there is no room for it.
  bool arrive(TimePoint time, std::int64_t value = 0) noexcept;

  /// A message has arrived and is released at once, if none waits before it.
  /// @return the index of the release; nothing, without any effect: call arrive().
  [[nodiscard]] std::optional<std::uint64_t> pass() noexcept {
    const bool is_first = active_ && !remembered_ && size_ == 0 && !arrivals_.empty();
    return is_first ? std::optional{next_++} : std::nullopt;
  }

  /// Continues under other parameters.
  /// @return arrivals that are dropped because the task is inactive.
  Skipped follow(const TaskParameters& parameters) noexcept;

  /// The oldest waiting arrival; nothing if there is none or the task is inactive.
  [[nodiscard]] std::optional<Release> next() const noexcept;

  /// The next release becomes a job.
  void take() noexcept;

  /// The job has ended: applies the overrun policy to the arrivals before `ended`.
  /// @return dropped arrivals.
  Skipped end_of_job(TimePoint ended) noexcept;

  /// Drops all arrivals if the task is inactive, because no job would take them.
  Skipped drop_if_inactive() noexcept;

  /// Arrivals that have not become a job yet.
  [[nodiscard]] std::size_t waiting() const noexcept { return size_ + (remembered_ ? 1 : 0); }

 private:
  struct Arrival {
    TimePoint time;
    std::int64_t value = 0;
  };

  [[nodiscard]] const Arrival& front() const noexcept { return arrivals_[first_]; }
  void pop() noexcept;
  Skipped drop_before(TimePoint time) noexcept;

  bool active_ = false;
  Overrun overrun_ = Overrun::skip;
  std::vector<Arrival> arrivals_;  // a ring
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::uint64_t next_ = 0;
  std::optional<Release> remembered_;
};

}  // namespace takt::sched
