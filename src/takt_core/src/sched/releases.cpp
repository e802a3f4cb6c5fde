// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/releases.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace takt::sched {
namespace {

using std::chrono::nanoseconds;

// How many steps lead from one time to a later one, and what remains. Two times may be further
// apart than a signed number of nanoseconds can say.
struct Steps {
  std::uint64_t whole = 0;
  nanoseconds rest{0};
};

Steps steps_between(TimePoint from, TimePoint to, nanoseconds step) noexcept {
  const auto count = [](TimePoint time) {
    return static_cast<std::uint64_t>(time.time_since_epoch().count());
  };
  const std::uint64_t distance = count(to) - count(from);
  const auto each = static_cast<std::uint64_t>(step.count());
  return {.whole = distance / each,
          .rest = nanoseconds{static_cast<std::int64_t>(distance % each)}};
}

// The first point after `time` of a grid that has one at `point`, which is not later.
TimePoint next_on_grid(TimePoint point, nanoseconds period, TimePoint time) noexcept {
  return os::add_sat(time, period - steps_between(point, time, period).rest);
}

}  // namespace

Skipped TimerReleases::follow(const TaskParameters& parameters, TimePoint time) noexcept {
  overrun_ = parameters.overrun;
  const bool was_active = active_;
  active_ = parameters.active;
  if (!active_) {
    rested_ = true;
    return forget();
  }
  if (was_active && parameters.period == period_) {
    return {};
  }
  period_ = parameters.period;
  const bool rested = std::exchange(rested_, false);
  if (was_active) {
    const TimePoint first = taken_ ? std::max(os::add_sat(taken_->time, period_), time)
                                   : std::max(time_of(next_), time);
    anchor_ = {.index = next_, .time = first};
  } else if (!set_) {
    anchor_ = {.index = next_, .time = os::add_sat(time, parameters.offset)};
  } else if (rested && time_of(next_) < time) {
    // What has passed of its grid meanwhile was no release, and is none that was skipped.
    anchor_ = {.index = next_,
               .time = next_on_grid(time_of(next_), period_, time - nanoseconds{1})};
  }
  return {};
}

void TimerReleases::release_at(TimePoint time, TimePoint now) noexcept {
  armed_ = true;
  set_ = true;
  anchor_ = {.index = next_, .time = time};
  if (!active_ || time >= now || remembered_) {
    return;
  }
  remembered_ = {.index = next_, .time = now};
  ++next_;
  anchor_ = {.index = next_, .time = next_on_grid(anchor_.time, period_, now)};
}

Skipped TimerReleases::disarm() noexcept {
  armed_ = false;
  set_ = true;  // the start must not arm it
  return forget();
}

// A release that was remembered, and that nobody may take any more.
Skipped TimerReleases::forget() noexcept {
  if (!remembered_) {
    return {};
  }
  const Skipped skipped{.count = 1, .first = *remembered_};
  remembered_.reset();
  return skipped;
}

std::optional<Release> TimerReleases::next_after(TimePoint time) const noexcept {
  if (!active_ || !armed_) {
    return {};
  }
  Release release{.index = next_, .time = time_of(next_)};
  if (release.time <= time) {
    release.index += steps_between(release.time, time, period_).whole + 1;
    release.time = next_on_grid(release.time, period_, time);
  }
  return release;
}

Skipped TimerReleases::end_of_job(TimePoint ended) noexcept {
  if (!active_ || !armed_ || overrun_ == Overrun::catch_up) {
    return {};
  }
  Release first{.index = next_, .time = time_of(next_)};
  if (overrun_ == Overrun::queue_one && !remembered_ && first.time < ended) {
    remembered_ = first;
    ++next_;
    first = {.index = next_, .time = time_of(next_)};
  }
  if (first.time >= ended) {
    return {};
  }
  const TimePoint last = ended - nanoseconds{1};
  const std::uint64_t count = steps_between(first.time, last, period_).whole + 1;
  next_ += count;
  anchor_ = {.index = next_, .time = next_on_grid(first.time, period_, last)};
  return {.count = count, .first = first};
}

void TimerReleases::advance_to(TimePoint time) noexcept {
  if (remembered_) {
    remembered_->time = time;
    anchor_ = {.index = next_, .time = os::add_sat(time, period_)};
    return;
  }
  anchor_ = {.index = next_, .time = time};
}

bool MessageReleases::arrive(TimePoint time, std::int64_t value) noexcept {
  if (size_ == arrivals_.size()) {
    return false;
  }
  const std::size_t end = first_ + size_;
  arrivals_[end < arrivals_.size() ? end : end - arrivals_.size()] = {.time = time, .value = value};
  ++size_;
  return true;
}

Skipped MessageReleases::follow(const TaskParameters& parameters) noexcept {
  overrun_ = parameters.overrun;
  active_ = parameters.active;
  return drop_if_inactive();
}

std::optional<Release> MessageReleases::next() const noexcept {
  if (!active_) {
    return {};
  }
  if (remembered_) {
    return remembered_;
  }
  if (size_ == 0) {
    return {};
  }
  return Release{.index = next_, .time = front().time, .value = front().value};
}

void MessageReleases::pop() noexcept {
  first_ = first_ + 1 < arrivals_.size() ? first_ + 1 : 0;
  --size_;
  ++next_;
}

void MessageReleases::take() noexcept {
  if (remembered_) {
    remembered_.reset();
    return;
  }
  pop();
}

Skipped MessageReleases::end_of_job(TimePoint ended) noexcept {
  if (!active_ || overrun_ == Overrun::catch_up) {
    return drop_if_inactive();
  }
  if (overrun_ == Overrun::queue_one && !remembered_ && size_ > 0 && front().time < ended) {
    remembered_ = next();
    pop();
  }
  return drop_before(ended);
}

Skipped MessageReleases::drop_if_inactive() noexcept {
  if (active_) {
    return {};
  }
  Skipped skipped = drop_before(TimePoint::max());
  if (remembered_) {
    skipped = {.count = skipped.count + 1, .first = *remembered_};
    remembered_.reset();
  }
  return skipped;
}

Skipped MessageReleases::drop_before(TimePoint time) noexcept {
  Skipped skipped;
  while (size_ > 0 && front().time < time) {
    if (skipped.count == 0) {
      skipped.first = {.index = next_, .time = front().time, .value = front().value};
    }
    pop();
    ++skipped.count;
  }
  return skipped;
}

}  // namespace takt::sched
