// SPDX-License-Identifier: Apache-2.0
//
// When the jobs of one task are released, and what happens to releases that come too soon. No
// thread and no clock: times go in and come out.
//
// A task is in one place only: its next job waits for its release, is pending, or has started.
// Releases that come while a job is pending or has started are decided when it ends, because
// nothing can become of them before. Hence no release costs anything while it could not be
// executed.
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

struct Release {
  std::uint64_t index = 0;
  TimePoint time;
  std::int64_t value = 0;  // of messages: what whoever announced it gave

  bool operator==(const Release&) const = default;
};

// Releases that were dropped, which follow each other in index.
struct Skipped {
  std::uint64_t count = 0;
  Release first = {};  // meaningless when count is 0
};

// Releases of a timer: start + offset + k * period, for ever, without drift.
class TAKT_CORE_PUBLIC TimerReleases {
 public:
  // Starts, or goes on under other parameters from `time` on. The first release is at time +
  // offset. After a change the next release is a new period behind the last one, but not before
  // `time`; a change of neither period nor activity changes nothing, and an inactive timer has no
  // releases: a release that was remembered for it is dropped. One that becomes active starts anew;
  // where its grid was set by release_at(), it goes on with that instead.
  Skipped follow(const TaskParameters& parameters, TimePoint time) noexcept;

  // The next release comes at `time`, and those after it a period each behind it; also where there
  // were none (disarm()). Where that has passed at `now`, the next one comes now, and those after
  // it where they would: nobody can be late for what he was not told of.
  void release_at(TimePoint time, TimePoint now = TimePoint::min()) noexcept;

  // No releases until release_at().
  Skipped disarm() noexcept;

  // The next release, in the past when its time has come; nothing when there is none.
  [[nodiscard]] std::optional<Release> next() const noexcept {
    if (remembered_) {
      return remembered_;
    }
    if (!active_ || !armed_) {
      return {};
    }
    return Release{.index = next_, .time = time_of(next_)};
  }

  // The first release after `time`.
  [[nodiscard]] std::optional<Release> next_after(TimePoint time) const noexcept;

  // The next release has become a job.
  void take() noexcept {
    if (remembered_) {
      taken_ = remembered_;
      remembered_.reset();
    } else {
      taken_ = Release{.index = next_, .time = time_of(next_)};
      ++next_;
    }
  }

  // The last one that has.
  [[nodiscard]] const std::optional<Release>& taken() const noexcept { return taken_; }

  // The job that take() made has ended: applies the overrun policy to the releases before `ended`.
  Skipped end_of_job(TimePoint ended) noexcept;

  // The next release comes at `time`, which is before its regular time, and those after it follow
  // from there.
  void advance_to(TimePoint time) noexcept;

 private:
  [[nodiscard]] TimePoint time_of(std::uint64_t index) const noexcept {
    const auto steps = static_cast<std::int64_t>(index - anchor_.index);
    return os::add_sat(anchor_.time, os::mul_sat(period_, steps));
  }
  Skipped forget() noexcept;

  bool active_ = false;
  bool armed_ = true;
  bool set_ = false;     // the grid is somebody else's: release_at(), disarm()
  bool rested_ = false;  // it has been inactive since it was released last
  std::chrono::nanoseconds period_{0};
  Overrun overrun_ = Overrun::skip;
  Release anchor_;                     // a point of the grid of releases
  std::uint64_t next_ = 0;             // the next release that is not decided
  std::optional<Release> remembered_;  // queue_one: released, but not taken yet
  std::optional<Release> taken_;       // the last job
};

// Releases by messages, in the order of their arrival, of which a bounded number waits.
class TAKT_CORE_PUBLIC MessageReleases {
 public:
  MessageReleases() = default;
  // Room for exactly `capacity` arrivals. Allocates.
  explicit MessageReleases(std::size_t capacity) : arrivals_(capacity) {}

  // False when there is no room.
  bool arrive(TimePoint time, std::int64_t value = 0) noexcept;

  // As above; an inactive task has no use for its arrivals.
  Skipped follow(const TaskParameters& parameters) noexcept;
  [[nodiscard]] std::optional<Release> next() const noexcept;
  void take() noexcept;
  Skipped end_of_job(TimePoint ended) noexcept;

  // Drops what has arrived, where nobody will take it.
  Skipped drop_if_inactive() noexcept;

  // How many have arrived and not been taken.
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
