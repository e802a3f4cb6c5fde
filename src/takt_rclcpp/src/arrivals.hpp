// SPDX-License-Identifier: Apache-2.0
//
// What has arrived for one callback and has not been worked on: the middleware announces it, jobs
// take it. Nothing announced is lost, however little the executor below remembers, and whether or
// not it spins: what is left when it stops is announced again at the next start.
//
// Each arrival has a value: which of a waitable's entities is ready.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "takt/executor/mutex.hpp"
#include "takt/executor/release_handle.hpp"

namespace takt::rclcpp {

class Arrivals {
 public:
  // `limit`: arrivals above it are forgotten, because the middleware has forgotten them, too.
  // `queue`: releases that the executor below remembers, at least 1.
  Arrivals(std::size_t limit, std::size_t queue) : limit_{limit}, queue_{queue} {}

  // From here on the executor is told, of what waits already, too.
  void open(const executor::ReleaseHandle& release) {
    const std::lock_guard lock{mutex_};
    release_ = release;
    announced_ = 0;
    announce_next(queue_);
  }

  void close() noexcept {
    const std::lock_guard lock{mutex_};
    release_ = {};
    announced_ = 0;
  }

  // From any thread, as the middleware calls. Allocates only where values differ.
  void arrive(std::size_t count, std::int64_t value) {
    const std::lock_guard lock{mutex_};
    count = std::min(count, limit_ - std::min(waiting_, limit_));
    if (count == 0) {
      return;
    }
    waiting_ += count;
    if (!runs_.empty() && runs_.back().value == value) {
      runs_.back().count += count;
    } else {
      runs_.push_back({.value = value, .count = count});
    }
    announce_next(count);
  }

  // A job begins: what it works on; nothing: somebody else has been there.
  std::optional<std::int64_t> take_for_job() noexcept {
    const std::lock_guard lock{mutex_};
    announced_ -= std::min<std::size_t>(announced_, 1);
    const auto taken = take_first();
    announce_next(1);
    return taken;
  }

  // Without a job: for whoever reads. Jobs that were announced for it find nothing.
  std::optional<std::int64_t> take() noexcept {
    const std::lock_guard lock{mutex_};
    return take_first();
  }

 private:
  struct Run {
    std::int64_t value;
    std::size_t count;
  };

  std::optional<std::int64_t> take_first() noexcept {
    if (runs_.empty()) {
      return {};
    }
    Run& first = runs_.front();
    const std::int64_t value = first.value;
    --waiting_;
    if (--first.count == 0) {
      runs_.pop_front();
    }
    return value;
  }

  // As many as wait and are not announced, up to `most` and what the executor remembers.
  void announce_next(std::size_t most) noexcept {
    if (waiting_ <= announced_) {
      return;
    }
    const std::size_t room = queue_ - std::min(announced_, queue_);
    const std::size_t count = std::min({most, waiting_ - announced_, room});
    if (count != 0 && release_.notify(static_cast<std::uint32_t>(count))) {
      announced_ += count;
    }
  }

  const std::size_t limit_;
  const std::size_t queue_;
  executor::PriorityMutex mutex_;
  executor::ReleaseHandle release_;
  std::deque<Run> runs_;
  std::size_t waiting_ = 0;    // all in runs_
  std::size_t announced_ = 0;  // jobs of the executor that have not begun
};

}  // namespace takt::rclcpp
