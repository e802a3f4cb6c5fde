// SPDX-License-Identifier: Apache-2.0
/// @file
/// Limits that an executor watches while it runs: the response of callbacks, skipped releases and
/// dropped messages, the age of data, the latency of chains. They are those of `takt gate`
/// (docs/reference/limits-keys.md), without waiting for a trace.
///
/// ```cpp
/// executor.set_limits({.callbacks = {{.callback = "guard.brake", .response = 4ms}},
///                      .chains = {{.chain = "stop",
///                                  .callbacks = {"radar.scan", "guard.brake"},
///                                  .latency = 20ms}}});
/// executor.set_handlers({.limit_exceeded = [](const LimitExceeded& e) noexcept { slow_down(e);
/// }});
/// ```
///
/// The latency of a chain counts from the release of the first callback's job to the end of the
/// first job of the last callback that used its data; its age, to the end of each such job. Which
/// data a job used is known from its key: the sample time of a message that is passed by pointer,
/// what the middleware stamps on others when they are published (publish_message()). The executor
/// remembers the last `remembered_jobs` keys of each callback along a chain. Older data, and that
/// of other processes, leads to no arrival.
///
/// A job that has not ended has exceeded nothing yet; Handlers::deadline_miss reports those that
/// are still running at their deadline.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/os/clock.hpp"
#include "takt/sched/job.hpp"
#include "takt/visibility.hpp"

namespace takt::executor {

/// How many messages of a callback are remembered for the chains that it is part of.
inline constexpr std::size_t remembered_jobs = 256;

/// The most places that one callback can have in all chains with limits.
inline constexpr std::size_t most_places = 16;

/// The quantity that has a limit.
enum class Quantity : std::uint8_t {
  response,  ///< from the release of a job to its end
  skipped,   ///< releases that the overrun policy dropped
  dropped,   ///< messages for which the queue had no room
  age,       ///< of data at the start of the job that reads it; of a chain: at the job's end
  latency,   ///< of a chain
};

/// Limits of one callback. Shares are 0..1.
struct CallbackLimits {
  std::string callback = {};             ///< Name of the task.
  std::chrono::nanoseconds response{0};  ///< Longest response; 0: until its deadline.
  double late = 0;                       ///< Share of the jobs that may exceed it.
  std::optional<double> skipped = {};    ///< Share of the releases that may be skipped.
  std::optional<double> dropped = {};    ///< Share of the messages that may be dropped.
};

/// Limit of the data of one topic that a callback reads (Task::reads).
struct ReadLimits {
  std::string callback = {};        ///< Name of the task.
  std::string topic = {};           ///< Name of the topic.
  std::chrono::nanoseconds age{0};  ///< Since the data was sampled; above 0.
  double late = 0;                  ///< Share of the jobs that may use older data.
};

/// Limits of one chain: a path of callbacks, each of which reads what the former one writes
/// (Task::writes).
struct ChainLimits {
  std::string chain = {};                   ///< Name of the chain; unique.
  std::vector<std::string> callbacks = {};  ///< Names of the tasks along the path.
  std::chrono::nanoseconds latency{0};      ///< Longest latency; 0: not watched.
  std::chrono::nanoseconds age{0};          ///< Oldest data at its end; 0: not watched.
  double late = 0;                          ///< Share of the arrivals that may exceed either.
};

/// All limits of an executor.
struct Limits {
  std::vector<CallbackLimits> callbacks = {};  ///< At most one for each callback.
  std::vector<ReadLimits> reads = {};          ///< At most one for each callback and topic.
  std::vector<ChainLimits> chains = {};        ///< At most one for each name.
  bool allow_absent_tasks = false;             ///< The start accepts names of no present task.
};

/// A limit was exceeded.
struct LimitExceeded {
  sched::TaskIndex task = 0;          ///< The task whose job has ended.
  std::uint64_t job = 0;              ///< Index of its release, from 0.
  std::string_view subject;           ///< Callback or chain; valid as long as the executor.
  std::string_view topic;             ///< Of a read; else empty.
  Quantity quantity{};                ///< What was too large.
  std::chrono::nanoseconds limit{0};  ///< 0 for counts.
  std::chrono::nanoseconds value{0};  ///< 0 for counts.
  os::TimePoint from;                 ///< Release of the job; of data: when it was sampled.
  os::TimePoint ended;                ///< End of the job.
  std::uint64_t checked = 0;          ///< Jobs, releases, messages or arrivals so far.
  std::uint64_t exceeded = 0;         ///< How many of these exceeded the limit so far.
  bool allowed = false;               ///< The share of the limit allows for so many.
};

/// Whether no more exceeded a limit than the share of it that is allowed.
[[nodiscard]] constexpr bool is_within(double allowed, std::uint64_t exceeded,
                                       std::uint64_t checked) noexcept {
  return static_cast<double>(exceeded) <= allowed * static_cast<double>(checked);
}

/// What was seen of one limit since the first start.
struct LimitStatistics {
  std::string subject;                ///< Name of the callback or chain.
  std::string topic;                  ///< Of a read; else empty.
  Quantity quantity{};                ///< What is limited.
  std::chrono::nanoseconds limit{0};  ///< 0: counts, or until the deadline.
  double allowed = 0;                 ///< Share that may exceed it.
  std::uint64_t checked = 0;          ///< Jobs, releases, messages or arrivals.
  std::uint64_t exceeded = 0;         ///< How many of these exceeded the limit.
  std::chrono::nanoseconds worst{0};  ///< The largest value; 0 for counts.
  std::uint64_t begun = 0;            ///< Chains: jobs of the first callback that have ended.

  /// Whether no more exceeded the limit than it allows.
  [[nodiscard]] bool holds() const noexcept { return is_within(allowed, exceeded, checked); }
};

/// For front ends that run the callback of a message task by themselves: the calling thread's job
/// uses data of the topic that released it. To be called before the callback; no effect elsewhere.
/// Wait-free.
/// @param sampled sample time of the data.
TAKT_CORE_PUBLIC void use_trigger(os::TimePoint sampled) noexcept;

/// For front ends: the calling thread's job hands over a message now. To be called before any
/// reader can have it; no effect elsewhere. Wait-free.
/// @param key by which its reader will know it: not that of another message of this callback, and
/// no sample time.
TAKT_CORE_PUBLIC void publish_message(std::int64_t key) noexcept;

/// For front ends: the calling thread's job uses a message. No effect elsewhere. Wait-free.
/// @param key that publish_message() was given in this process; others are of no chain.
TAKT_CORE_PUBLIC void use_message(std::int64_t key) noexcept;

}  // namespace takt::executor
