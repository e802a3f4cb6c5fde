// SPDX-License-Identifier: Apache-2.0
/// @file
/// The load of one core as the tests see it: streams of releases, each with an execution time and a
/// level. A task is one demand, or several if several streams release it: jobs of one level (or
/// relative deadline) run in the order of their releases, so the streams can be treated separately
/// without loss.
///
/// Time is counted in whole nanoseconds, as by the executor's clock: a job that starts before
/// another one is released starts at least one nanosecond before it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "takt/analysis/supply.hpp"
#include "takt/os/saturating.hpp"
#include "takt/sched/srp.hpp"
#include "takt/visibility.hpp"

namespace takt::analysis {

using std::chrono::nanoseconds;

/// Longer than any other duration: no deadline.
inline constexpr nanoseconds never = nanoseconds::max();

/// The densest sequence of events with a period, a jitter and a minimum distance, beginning at time
/// 0: event k comes at max(k * period - jitter, k * distance, 0).
struct Arrivals {
  nanoseconds period{0};    ///< Above 0; 0: the number of events has no known bound.
  nanoseconds jitter{0};    ///< Largest deviation from the period.
  nanoseconds distance{0};  ///< Minimum distance; 0: none.

  friend bool operator==(const Arrivals&, const Arrivals&) = default;

  /// The most events in [0, window], for a period above 0 and window >= 0.
  [[nodiscard]] std::int64_t closed(nanoseconds window) const noexcept {
    const std::int64_t count = (window + jitter) / period + 1;
    return distance.count() > 0 ? std::min(count, window / distance + 1) : count;
  }

  /// The most events in [0, window), for a period above 0 and window >= 0.
  [[nodiscard]] std::int64_t open(nanoseconds window) const noexcept {
    return window.count() > 0 ? closed(window - nanoseconds{1}) : 0;
  }

  /// The earliest time of event k.
  [[nodiscard]] nanoseconds time(std::int64_t k) const noexcept {
    return std::max({k * period - jitter, k * distance, nanoseconds{0}});
  }
};

/// What each of several lanes (sched/turns.hpp) gets of such events, one of `every` in a row.
constexpr Arrivals in_turn(const Arrivals& all, std::int64_t every) noexcept {
  return {.period = os::mul_sat(all.period, every),
          .jitter = all.jitter,
          .distance = os::mul_sat(all.distance, every)};
}

/// A part of each job during which it holds a lock.
struct Section {
  std::size_t lock = 0;                    ///< Index of the lock.
  sched::Level reach = sched::no_ceiling;  ///< The highest level that it may keep from the core.
  nanoseconds declared{0};                 ///< The longest time of computing in it.
  nanoseconds waiting{0};                  ///< For holders on other cores, before it, at most.
  nanoseconds around{0};                   ///< Overheads within it, at most.
  nanoseconds length{0};                   ///< The longest time on the core in it.
  bool by_ceiling = false;  ///< Immediate priority ceiling, in place of priority inheritance.
  bool spins = false;       ///< By ceiling, and waits for holders on other cores.
  bool first = false;       ///< Whoever holds it comes before all others of its core (FMLP+).
  std::optional<std::size_t> around_it = {};  ///< The section that encloses it, by index.
};

/// A part of each job in which it computes, and the wait after it.
struct ComputingSegment {
  nanoseconds declared{0};       ///< The longest time of computing.
  nanoseconds longest{0};        ///< The same, for the factor that is asked for.
  nanoseconds shortest_wait{0};  ///< It waits at least for so long; 0 after the last one.
};

/// One stream of jobs on a core.
struct Demand {
  std::size_t task = 0;      ///< Index of the task; demands of one task are streams of its jobs.
  std::size_t group = 0;     ///< Number of its callback group, of which one job runs at a time.
  bool reentrant = false;    ///< Several jobs of its task run at a time; it is alone in its group.
  Arrivals releases = {};    ///< Releases or arrivals of messages, from which deadlines count.
  nanoseconds lag{0};        ///< The core notices a release up to this much later.
  nanoseconds execution{0};  ///< Worst-case execution time, overheads included.
  nanoseconds notice{0};  ///< Overhead of noticing a release, right before the job at the latest.
  nanoseconds deadline = never;  ///< Relative to the release.
  sched::Level level = 0;        ///< The policy's preemption level.
  /// While a job has started, jobs up to this level do not start: the ceiling of its group.
  sched::Level ceiling = sched::no_ceiling;
  /// Its jobs may be boosted to this level if it is higher, because a reader needs their data.
  sched::Level boosted = sched::no_ceiling;
  /// Jobs that may be released and not ended at the same time; 0: any number.
  std::int64_t most_pending = 1;
  bool interrupt = false;  ///< Takes time from whatever runs, and is no job itself.
  /// Its jobs wait for something other than the core while others run; they have a thread of their
  /// own.
  bool waits = false;
  nanoseconds suspension{0};                    ///< The longest that one job waits in total.
  std::int64_t suspensions = 0;                 ///< The most times that one job waits; 0: unknown.
  std::vector<ComputingSegment> segments = {};  ///< Of each job; empty: it may wait anywhere.
  /// Of each job, the enclosing ones first; under preemptive policies. It does not wait within
  /// them.
  std::vector<Section> sections = {};
  /// Of a server: the tasks that wait while one of its jobs is pending, so that none of them is
  /// delayed by it. They called it, or called one that waits for it.
  std::vector<std::size_t> clients = {};
  bool calls = false;       ///< Part of its suspension are responses of services.
  bool occupies = false;    ///< Part of its suspension are requests of a device before its own.
  bool unanswered = false;  ///< Nothing bounds how long it waits for responses.

  /// The longest that a job which nobody preempts keeps the core: it may start in the moment in
  /// which its release is noticed.
  [[nodiscard]] nanoseconds longest_hold() const noexcept { return execution + notice; }

  /// The highest level that its jobs may have.
  [[nodiscard]] sched::Level reach() const noexcept { return std::max(level, boosted); }

  /// The releases as the core notices them: the lag is added to the jitter.
  [[nodiscard]] Arrivals noticed() const noexcept {
    return {.period = releases.period,
            .jitter = releases.jitter + lag,
            .distance = std::max(nanoseconds{0}, releases.distance - lag)};
  }
};

/// The share of the core that a demand needs; infinity for a stream without bound.
inline double utilization(const Demand& demand) noexcept {
  return demand.releases.period.count() <= 0
             ? std::numeric_limits<double>::infinity()
             : static_cast<double>(demand.execution.count()) /
                   static_cast<double>(demand.releases.period.count());
}

/// Whether the demands need more time than there is. Exact if the fraction fits into 128 bits;
/// beyond that a share within 1e-12 of that of the supply counts as too much.
TAKT_CORE_PUBLIC bool overloaded(std::span<const Demand> demands,
                                 const Supply& supply = {}) noexcept;

/// Whether the demands need all of the time, or more.
TAKT_CORE_PUBLIC bool full(std::span<const Demand> demands, const Supply& supply = {}) noexcept;

/// What a bound follows from.
enum class By : std::uint8_t {
  test,               ///< the test of the policy, callback by callback
  subchain,           ///< the callbacks of a chain on one core as one unit
  subchain_messages,  ///< the same, with later messages of bursts behind its own
  subchain_returns,   ///< the same, with later parts of its chain on the core behind its own
  subchain_messages_returns,  ///< the same with both
  subchain_parts,             ///< the same, with parts of other chains in their order
  path,                       ///< a whole chain, across cores
  path_later,                 ///< the same, with later jobs of its callbacks behind its own
  path_instances,             ///< the same, with what it can meet of other chains
  path_later_instances,       ///< the same with both
  path_messages,              ///< the same, with all messages of a burst in their order
  busy,                       ///< the longest time that the core is busy without a break
  busy_level,                 ///< the same with jobs from a level on
  graph,       ///< the schedule graph of the core, although the tests suffice for the deadlines
  suspension,  ///< the test of the policy, with suspension of some callbacks above as blocking
  intervals,   ///< the waiting of a job, and the intervals between its waits
  segments,    ///< the same with the known lengths of segments
  path_paced,  ///< `path` beside another chain, as both advance
};

/// The response time of one demand.
struct Response {
  std::optional<nanoseconds> bound = {};  ///< From the release to the end; nothing: not found.
  nanoseconds blocking{0};                ///< Part of the bound that less urgent jobs cause.
  By by = By::test;                       ///< What the bound follows from.
};

/// While an instance exists, analyses of this thread end soon after the flag is set, with nothing
/// found. Instances nest.
class TAKT_CORE_PUBLIC Interruptible {
 public:
  /// Watches the flag; null: never interrupted.
  explicit Interruptible(const std::atomic<bool>* asked) noexcept { flag = asked; }

  /// Watches the former flag again.
  ~Interruptible() { flag = before_; }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  Interruptible(Interruptible&&) = delete;
  Interruptible& operator=(Interruptible&&) = delete;

  /// Whether the flag of the calling thread is set.
  static bool interrupted() noexcept {
    return flag != nullptr && flag->load(std::memory_order_relaxed);
  }

 private:
  static inline thread_local const std::atomic<bool>* flag = nullptr;
  const std::atomic<bool>* before_ = flag;
};

/// A limit on the computation for one core, after which the answer is "not found".
struct Effort {
  std::int64_t steps = 20'000'000;  ///< Evaluations of one demand that are left.

  /// Accounts for the evaluation of so many demands.
  /// @return false if the effort is used up or the analysis is interrupted.
  bool spend(std::size_t demands) noexcept {
    steps -= static_cast<std::int64_t>(demands);
    if (Interruptible::interrupted()) {
      steps = std::min<std::int64_t>(steps, 0);
    }
    return steps > 0;
  }
};

}  // namespace takt::analysis
