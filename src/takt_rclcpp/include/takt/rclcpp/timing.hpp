// SPDX-License-Identifier: Apache-2.0
/// @file
/// The timing that a callback of an rclcpp node needs, stated outside of the node, whose author
/// knows nothing of it. The executor asks once for each callback, when it first sees it.
///
/// ```cpp
/// executor.set_timing([](const CallbackId& id) -> Timing {
///   return id.topic_or_service == "/scan" ? Timing{.priority = 60, .deadline = 5ms} : Timing{};
/// });
/// ```
///
/// Instead of a function there can be a file (load_timing), which `takt analyse --assign` writes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/rclcpp/visibility.hpp"
#include "takt/sched/policy.hpp"
#include "takt/sched/task.hpp"

namespace takt_rclcpp {

using std::chrono::nanoseconds;  ///< The unit of all durations here.

/// What releases a callback.
enum class CallbackKind : std::uint8_t {
  timer,          ///< A timer of any clock.
  subscription,   ///< Messages of other processes, and of this one without intra-process comms.
  intra_process,  ///< Of the same subscription: messages that arrive as pointers.
  service,        ///< Requests.
  client,         ///< Responses.
  qos_event,      ///< Of publishers and subscriptions: deadlines, matches, incompatible QoS, ...
  waitable,       ///< Anything else: actions, and waitables of a node's own.
  /// All services and QoS events of one callback group that rclcpp itself created, together, as
  /// long as the timing sets nothing for them. The executor asks for each of them, and never for
  /// this.
  housekeeping,
};

/// The name of a kind, as in timing files: "timer", "subscription", ...
[[nodiscard]] TAKT_RCLCPP_PUBLIC std::string_view to_text(CallbackKind kind) noexcept;

/// Identifies a callback within its node. Callbacks have no names in rclcpp.
struct TAKT_RCLCPP_PUBLIC CallbackId {
  /// Full name of the node ("/arm/planner"). Empty for a group that was added without its node.
  std::string node = {};
  CallbackKind kind = CallbackKind::timer;  ///< What releases it.
  /// With namespace; empty for timers, events and waitables.
  std::string topic_or_service = {};
  /// Number among the callbacks of its node that are equal otherwise, from 0: in the order of their
  /// callback groups, the default group first, then of their creation.
  std::size_t ordinal = 0;
  nanoseconds period{0};      ///< Of timers; zero otherwise.
  std::size_t group = 0;      ///< Callback group of the node, in the order of their creation.
  bool housekeeping = false;  ///< Created by rclcpp: parameter services, type descriptions, ...

  /// @return "planner.timer0", "planner.subscription:/scan": unique in its executor if the names of
  /// its nodes are.
  [[nodiscard]] std::string text() const;
};

/// The timing of one callback. Whatever is left out is the executor's default. takt/sched/task.hpp
/// defines each value.
struct TAKT_RCLCPP_PUBLIC Timing {
  int priority = 0;         ///< 1..98, 98 is the most urgent; 0: the default.
  nanoseconds deadline{0};  ///< Relative to the release.
  nanoseconds period{0};    ///< Of messages: their shortest distance. Ignored for timers.
  /// Topics of the same node whose messages are delivered before the callback runs.
  std::vector<takt::sched::Read> reads = {};
  int cpu = -1;                       ///< The core; -1: the executor chooses.
  nanoseconds expected_execution{0};  ///< Worst case of one call, as declared; 0: unknown.
  nanoseconds budget{0};              ///< CPU time of one call; 0: not monitored.
  /// What happens to a release that comes before the previous call has ended.
  std::optional<takt::sched::Overrun> overrun = {};
  /// The callback blocks inside, for an answer or a device. It gets a thread of its own, so that
  /// others run meanwhile. Fixed priorities only.
  std::optional<bool> waits = {};

  /// Whether nothing is set.
  [[nodiscard]] bool is_default() const;
};

/// Returns the timing of a callback. Called once for each of them, on the thread that calls spin().
using TimingRule = std::function<Timing(const CallbackId&)>;

/// The contents of a timing file.
struct TimingFile {
  takt::sched::PolicyPtr policy = {};  ///< Null: the file sets none.
  std::vector<int> cpus = {};          ///< The executor's cores; empty: the file sets none.
  TimingRule rule = {};                ///< The entries for callbacks.
};

/// Reads a timing file; docs/reference/timing-keys.md describes its keys.
/// @throws takt::sched::ScheduleError with file, line and fix.
[[nodiscard]] TAKT_RCLCPP_PUBLIC TimingFile load_timing(const std::filesystem::path& file);

/// An entry of a timing file that matches no callback.
struct Unmatched {
  std::string where = {};    ///< File and line.
  std::string problem = {};  ///< Which of its keys names something that does not exist yet.
  std::string fix = {};      ///< What exists, the most similar first.
};

/// @param rule of load_timing(); other rules have no entries.
/// @param there all callbacks that exist, for the fix.
/// @return the entries of the file that matched none of the callbacks for which `rule` was called.
[[nodiscard]] TAKT_RCLCPP_PUBLIC std::vector<Unmatched> unmatched_entries(
    const TimingRule& rule, const std::vector<CallbackId>& there);

}  // namespace takt_rclcpp
