// SPDX-License-Identifier: Apache-2.0
//
// What has arrived for one callback and has not been worked on: the middleware announces it, jobs
// take it. Nothing announced is lost, however little the executor below remembers, and whether or
// not it spins: what is left when it stops is announced again at the next start.
//
// Each arrival has a value: which of a waitable's entities is ready. Where all have the same,
// nothing is locked.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "core_names.hpp"
#include "releases.hpp"
#include "takt/executor/mutex.hpp"
#include "takt/os/clock.hpp"

namespace takt_rclcpp {

// Release: Releases, or one of a test.
template <class Release>
class BasicArrivals {
  static constexpr std::uint32_t most = 1U << 30U;

  struct Counts {
    std::uint32_t waiting = 0;
    std::uint32_t announced = 0;  // jobs of the executor that have not begun
  };
  // One word: as a struct, half of it would be written and all of it read, for which processors
  // wait.
  static constexpr unsigned half = 32U;
  static std::uint64_t packed(Counts counts) noexcept {
    return std::uint64_t{counts.announced} << half | counts.waiting;
  }
  static Counts unpacked(std::uint64_t word) noexcept {
    return {.waiting = static_cast<std::uint32_t>(word),
            .announced = static_cast<std::uint32_t>(word >> half)};
  }
  template <class Change>
  auto change(Change how) noexcept {
    std::uint64_t before = counts_.load();
    while (true) {
      Counts after = unpacked(before);
      if constexpr (std::is_void_v<decltype(how(after))>) {
        how(after);
        if (counts_.compare_exchange_weak(before, packed(after))) {
          return;
        }
      } else {
        const auto result = how(after);
        if (counts_.compare_exchange_weak(before, packed(after))) {
          return result;
        }
      }
    }
  }

 public:
  // `limit`: arrivals above it are forgotten, because the middleware has forgotten as many, and
  // counted as lost.
  // `queue`: releases that the executor below remembers, at least 1. `valued`: values differ.
  BasicArrivals(std::size_t limit, std::size_t queue, bool valued)
      : limit_{static_cast<std::uint32_t>(std::min<std::size_t>(limit, most))},
        queue_{static_cast<std::uint32_t>(std::clamp<std::size_t>(queue, 1, most))},
        valued_{valued} {
    if (valued) {
      runs_.emplace();
    }
  }

  // From here on the executor is told, of what waits already, too. Not while anything arrives: the
  // middleware calls afterwards.
  void open(const Release& release) noexcept {
    release_ = release;
    change([](Counts& counts) { counts.announced = 0; });
    dropped_.store(release_.dropped());
    is_open_.store(true);
    announce(0);
  }

  void close() noexcept { is_open_.store(false); }

  // From here on it is known when the newest one arrived: costs a reading of the clock each.
  void keep_times() noexcept { keeps_times_.store(true); }
  // Nothing: none has arrived since. Read before take(), it is never that of one which take() has
  // not found.
  [[nodiscard]] std::optional<os::TimePoint> newest() const noexcept {
    const os::TimePoint time = newest_.load();
    return time == os::TimePoint{} ? std::nullopt : std::optional{time};
  }

  // From any thread, as the middleware calls. Allocates only where values differ.
  [[gnu::flatten]] void arrive(std::size_t arrived, std::int64_t value) {
    const os::TimePoint now = keeps_times_.load() ? os::now() : os::TimePoint{};
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(arrived, most));
    if (valued_ && count != 0) {
      const std::lock_guard lock{mutex_};
      if (!runs_->empty() && runs_->back().value == value) {
        runs_->back().count += count;
      } else {
        runs_->push_back({.value = value, .count = count});
      }
    }
    announce(count, now);
  }

  // A job begins: what it works on; nothing: somebody else has been there. One step where nothing
  // else waits.
  std::optional<std::int64_t> take_for_job() noexcept {
    const Begun begun = change([](Counts& counts) {
      counts.announced -= std::min(counts.announced, 1U);
      const bool any = counts.waiting != 0;
      counts.waiting -= any ? 1 : 0;
      return Begun{.any = any, .more = counts.waiting != 0};
    });
    if (begun.more) {
      announce(0);
    }
    if (!begun.any) {
      return {};
    }
    return valued_ ? first_value() : 0;
  }

  // Without a job: for whoever reads. Jobs that were announced for it find nothing.
  std::optional<std::int64_t> take() noexcept {
    const bool any = change([](Counts& counts) {
      const bool there = counts.waiting != 0;
      counts.waiting -= there ? 1 : 0;
      return there;
    });
    if (!any) {
      return {};
    }
    return valued_ ? first_value() : 0;
  }

 private:
  struct Run {
    std::int64_t value;
    std::size_t count;
  };
  struct Begun {
    bool any;
    bool more;
  };

  // `arrived` more wait; as many as wait and are not announced are, up to what the executor
  // remembers. `now`: of their arrival, if that is kept.
  void announce(std::uint32_t arrived, os::TimePoint now = {}) noexcept {
    const bool open = is_open_.load();
    if (open) {
      forget_dropped();
    }
    std::uint32_t lost = 0;
    const std::uint32_t count = change([&](Counts& counts) {
      const std::uint32_t room = limit_ - std::min(counts.waiting, limit_);
      lost = arrived - std::min(arrived, room);
      counts.waiting += arrived - lost;
      if (!open || counts.waiting <= counts.announced || counts.announced >= queue_) {
        return 0U;
      }
      const std::uint32_t next =
          std::min(counts.waiting - counts.announced, queue_ - counts.announced);
      counts.announced += next;
      return next;
    });
    if (arrived != 0 && now != os::TimePoint{}) {
      newest_.store(now);
    }
    if (open && lost != 0) {
      release_.lost(lost);
    }
    if (count != 0 && !release_.notify(count)) {  // with the next one that arrives
      change([count](Counts& counts) { counts.announced -= std::min(counts.announced, count); });
    }
  }

  // What the executor has dropped (by its overrun policy, or in a scenario without this callback)
  // comes to no job any more. Each is counted here by one thread.
  void forget_dropped() noexcept {
    const std::uint64_t dropped = release_.dropped();
    std::uint64_t known = dropped_.load(std::memory_order_relaxed);
    while (known < dropped && !dropped_.compare_exchange_weak(known, dropped)) {
    }
    if (known < dropped) {
      change([fewer = dropped - known](Counts& counts) {
        counts.announced -=
            static_cast<std::uint32_t>(std::min<std::uint64_t>(counts.announced, fewer));
      });
    }
  }

  std::int64_t first_value() noexcept {
    const std::lock_guard lock{mutex_};
    Run& first = runs_->front();
    const std::int64_t value = first.value;
    if (--first.count == 0) {
      runs_->pop_front();
    }
    return value;
  }

  const std::uint32_t limit_;
  const std::uint32_t queue_;
  const bool valued_;
  std::atomic<bool> is_open_{false};
  std::atomic<bool> keeps_times_{false};
  std::atomic<os::TimePoint> newest_{};
  Release release_;
  std::atomic<std::uint64_t> dropped_{0};  // as far as they are not announced any more
  std::atomic<std::uint64_t> counts_{0};   // Counts, packed
  executor::PriorityMutex mutex_;
  std::optional<std::deque<Run>> runs_;  // an empty one has memory, too
};

using Arrivals = BasicArrivals<Releases>;

}  // namespace takt_rclcpp
