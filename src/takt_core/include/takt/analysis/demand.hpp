// SPDX-License-Identifier: Apache-2.0
//
// What one core has to carry, as the tests see it: streams of releases, each with an execution time
// and a level. A task is one demand, or several where several streams release it: jobs of one level
// (or relative deadline) run in the order of their releases anyway, so nothing is lost by looking
// at its streams one by one.
//
// Time is counted in whole nanoseconds, as by the executor's clock: a job that starts before
// another one is released starts at least one nanosecond before it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "takt/sched/srp.hpp"
#include "takt/visibility.hpp"

namespace takt::analysis {

using std::chrono::nanoseconds;

inline constexpr nanoseconds never = nanoseconds::max();

// The densest run of events with a period, a jitter and a least distance, which starts at time 0:
// event k comes at max(k * period - jitter, k * distance, 0).
struct Arrivals {
  nanoseconds period{0};  // above 0; 0: no bound on the number of events is known
  nanoseconds jitter{0};
  nanoseconds distance{0};  // 0: none

  friend bool operator==(const Arrivals&, const Arrivals&) = default;

  // The most events in [0, window] and in [0, window), for a period above 0 and window >= 0.
  [[nodiscard]] std::int64_t closed(nanoseconds window) const noexcept {
    const std::int64_t count = (window + jitter) / period + 1;
    return distance.count() > 0 ? std::min(count, window / distance + 1) : count;
  }
  [[nodiscard]] std::int64_t open(nanoseconds window) const noexcept {
    return window.count() > 0 ? closed(window - nanoseconds{1}) : 0;
  }
  [[nodiscard]] nanoseconds time(std::int64_t k) const noexcept {
    return std::max({k * period - jitter, k * distance, nanoseconds{0}});
  }
};

struct Demand {
  std::size_t task = 0;  // whose: demands of one task are streams of its jobs
  // As the stream counts for deadlines (releases, arrivals of messages), and as it counts for the
  // core, which notices a release up to `lag` later.
  Arrivals releases = {};
  nanoseconds lag{0};
  nanoseconds execution{0};
  nanoseconds deadline = never;  // relative to the release
  sched::Level level = 0;        // the policy's preemption level
  // While its job has started, jobs up to this level do not start: the ceiling of its group.
  sched::Level ceiling = sched::no_ceiling;
  // To this level any of its jobs may be boosted, where that is higher: a reader needs its data.
  sched::Level boosted = sched::no_ceiling;
  // So many of its jobs may be there at once, released and not ended; 0: any number.
  std::int64_t most_pending = 1;
  bool interrupt = false;  // takes time from whatever runs, and is no job itself
  // Its jobs wait for something else than the core, up to so long in all, while others run; they
  // have a thread of their own.
  bool waits = false;
  nanoseconds suspension{0};

  // The highest level that its jobs may have.
  [[nodiscard]] sched::Level reach() const noexcept { return std::max(level, boosted); }

  [[nodiscard]] Arrivals noticed() const noexcept {
    return {.period = releases.period,
            .jitter = releases.jitter + lag,
            .distance = std::max(nanoseconds{0}, releases.distance - lag)};
  }
};

// Share of the core; infinity for a stream without bound.
inline double utilization(const Demand& demand) noexcept {
  return demand.releases.period.count() <= 0
             ? std::numeric_limits<double>::infinity()
             : static_cast<double>(demand.execution.count()) /
                   static_cast<double>(demand.releases.period.count());
}

// Whether the demands take more time than there is. Exact where the fraction fits into 128 bits;
// beyond that a share within 1e-12 of 1 counts as too much.
TAKT_CORE_PUBLIC bool overloaded(std::span<const Demand> demands) noexcept;

// Whether they leave none of it.
TAKT_CORE_PUBLIC bool full(std::span<const Demand> demands) noexcept;

struct Response {
  std::optional<nanoseconds> bound = {};  // from the release to the end; none: not found
  nanoseconds blocking{0};                // part of it
};

// While there is one, what this thread analyses comes to an end soon after the flag is set, with
// nothing found.
class TAKT_CORE_PUBLIC Interruptible {
 public:
  explicit Interruptible(const std::atomic<bool>* asked) noexcept { flag = asked; }
  ~Interruptible() { flag = before_; }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  Interruptible(Interruptible&&) = delete;
  Interruptible& operator=(Interruptible&&) = delete;

  static bool interrupted() noexcept {
    return flag != nullptr && flag->load(std::memory_order_relaxed);
  }

 private:
  static inline thread_local const std::atomic<bool>* flag = nullptr;
  const std::atomic<bool>* before_ = flag;
};

// How much may be computed for one core before the answer is "not found".
struct Effort {
  std::int64_t steps = 20'000'000;  // evaluations of one demand

  // False when it is used up.
  bool spend(std::size_t demands) noexcept {
    steps -= static_cast<std::int64_t>(demands);
    if (Interruptible::interrupted()) {
      steps = std::min<std::int64_t>(steps, 0);
    }
    return steps > 0;
  }
};

}  // namespace takt::analysis
