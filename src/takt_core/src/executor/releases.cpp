// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/releases.hpp"

#include <algorithm>
#include <utility>

namespace takt::executor {

using sched::Overrun;

namespace {

Skipped forget(std::optional<Release>& remembered) noexcept {
  const auto forgotten = std::exchange(remembered, std::nullopt);
  return forgotten ? Skipped{.count = 1, .first = *forgotten} : Skipped{};
}

}  // namespace

Skipped TimerReleases::follow(const TaskParameters& parameters, TimePoint time) noexcept {
  overrun_ = parameters.overrun;
  const bool was_active = active_;
  active_ = parameters.active;
  if (!active_) {
    return forget(remembered_);
  }
  if (was_active && parameters.period == period_) {
    return {};
  }
  period_ = parameters.period;
  TimePoint first = time + parameters.offset;
  if (was_active) {
    first = taken_ ? std::max(taken_->time + period_, time) : std::max(time_of(next_), time);
  }
  anchor_ = {.index = next_, .time = first};
  return {};
}

TimePoint TimerReleases::time_of(std::uint64_t index) const noexcept {
  return anchor_.time + static_cast<std::int64_t>(index - anchor_.index) * period_;
}

std::optional<Release> TimerReleases::next() const noexcept {
  if (remembered_) {
    return remembered_;
  }
  if (!active_) {
    return {};
  }
  return Release{.index = next_, .time = time_of(next_)};
}

std::optional<Release> TimerReleases::next_after(TimePoint time) const noexcept {
  if (!active_) {
    return {};
  }
  Release release{.index = next_, .time = time_of(next_)};
  if (release.time <= time) {
    const auto steps = (time - release.time) / period_ + 1;
    release.index += static_cast<std::uint64_t>(steps);
    release.time += steps * period_;
  }
  return release;
}

void TimerReleases::take() noexcept {
  taken_ = next();
  if (remembered_) {
    remembered_.reset();
  } else {
    ++next_;
  }
}

Skipped TimerReleases::end_of_job(TimePoint ended) noexcept {
  if (!active_ || overrun_ == Overrun::catch_up) {
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
  const auto count =
      static_cast<std::uint64_t>((ended - first.time - std::chrono::nanoseconds{1}) / period_) + 1;
  next_ += count;
  return {.count = count, .first = first};
}

void TimerReleases::advance_to(TimePoint time) noexcept {
  anchor_ = {.index = next_, .time = time};
}

Skipped MessageReleases::follow(const TaskParameters& parameters) noexcept {
  overrun_ = parameters.overrun;
  active_ = parameters.active;
  return active_ ? Skipped{} : forget(remembered_);
}

std::optional<Release> MessageReleases::next() noexcept {
  if (remembered_) {
    return remembered_;
  }
  if (!active_) {
    return {};
  }
  const auto time = arrivals_.front();
  return time ? std::optional{Release{.index = next_, .time = *time}} : std::nullopt;
}

void MessageReleases::take() noexcept {
  if (remembered_) {
    remembered_.reset();
    return;
  }
  arrivals_.pop();
  ++next_;
}

Skipped MessageReleases::end_of_job(TimePoint ended) noexcept {
  if (overrun_ == Overrun::catch_up) {
    return {};
  }
  const auto first = next();
  if (overrun_ == Overrun::queue_one && !remembered_ && first && first->time < ended) {
    remembered_ = first;
    arrivals_.pop();
    ++next_;
  }
  return drop_before(ended);
}

Skipped MessageReleases::drop_if_inactive() noexcept {
  return active_ ? Skipped{} : drop_before(TimePoint::max());
}

Skipped MessageReleases::drop_before(TimePoint time) noexcept {
  Skipped skipped{.first = {.index = next_, .time = {}}};
  // Bounded, even if messages keep coming.
  while (skipped.count < arrivals_.capacity()) {
    const auto arrived = arrivals_.front();
    if (!arrived || *arrived >= time) {
      break;
    }
    if (skipped.count == 0) {
      skipped.first.time = *arrived;
    }
    arrivals_.pop();
    ++next_;
    ++skipped.count;
  }
  return skipped;
}

}  // namespace takt::executor
