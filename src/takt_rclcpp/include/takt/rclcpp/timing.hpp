// SPDX-License-Identifier: Apache-2.0
//
// What a callback of an rclcpp node needs in time, said outside of the node: whoever wrote the node
// knows nothing of it. The executor asks once for each callback, when it meets it.
//
//   executor.set_timing([](const CallbackId& id) -> Timing {
//     return id.topic_or_service == "/scan" ? Timing{.priority = 60, .deadline = 5ms} : Timing{};
//   });
//
// or a file (load_timing), which `takt analyse --assign` writes.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/rclcpp/visibility.hpp"
#include "takt/sched/policy.hpp"
#include "takt/sched/task.hpp"

namespace takt::rclcpp {

using std::chrono::nanoseconds;

enum class CallbackKind : std::uint8_t {
  timer,
  subscription,   // messages of other processes, and of this one where nodes do not pass pointers
  intra_process,  // of the same subscription: messages that come as pointers
  service,
  client,     // answers
  qos_event,  // of publishers and subscriptions: deadlines, matches, incompatible settings, ...
  waitable,   // anything else: actions, whatever a node brings along
  // Services and QoS events of one callback group that no author asked for, together, as long as
  // the timing says nothing of them. The executor asks for each, and never for this.
  housekeeping,
};

[[nodiscard]] TAKT_RCLCPP_PUBLIC std::string_view to_text(CallbackKind kind) noexcept;

// A callback as a node has it. Callbacks have no names in rclcpp.
struct TAKT_RCLCPP_PUBLIC CallbackId {
  std::string node = {};  // "/arm/planner"; empty: a group that was added without its node
  CallbackKind kind = CallbackKind::timer;
  std::string topic_or_service = {};  // with namespace; empty for timers, events and waitables
  // Among those of its node that are alike otherwise, from 0: in the order of their callback
  // groups, the default one first, then of their making.
  std::size_t ordinal = 0;
  nanoseconds period{0};  // of timers
  std::size_t group = 0;  // callback group of the node, in the order of their making
  // Of the node itself, not of its author: parameter services, type descriptions and their like.
  bool housekeeping = false;

  // "planner.timer0", "planner.subscription:/scan": unique in its executor if nodes' names are.
  [[nodiscard]] std::string text() const;
};

// What is left out: the executor's default. See sched/task.hpp for what each means.
struct TAKT_RCLCPP_PUBLIC Timing {
  int priority = 0;         // 1..98
  nanoseconds deadline{0};  // relative to the release
  nanoseconds period{0};    // of messages: the shortest distance. Timers have their own.
  std::vector<sched::Read> reads = {};  // topics of the same node, delivered before the callback
  int cpu = -1;
  nanoseconds expected_execution{0};
  nanoseconds budget{0};
  std::optional<sched::Overrun> overrun = {};
  // The callback waits for something inside: an answer, a device. It gets a thread of its own, and
  // others run meanwhile. Fixed priorities only.
  std::optional<bool> waits = {};

  // Whether it says nothing.
  [[nodiscard]] bool is_default() const;
};

using TimingRule = std::function<Timing(const CallbackId&)>;

// A file of rules, and what it says of the executor.
struct TimingFile {
  sched::PolicyPtr policy = {};  // null: not said
  std::vector<int> cpus = {};
  TimingRule rule = {};
};

// Throws sched::ScheduleError with file, line and remedy.
[[nodiscard]] TAKT_RCLCPP_PUBLIC TimingFile load_timing(const std::filesystem::path& file);

// An entry of a timing file that is said of no callback.
struct Unmatched {
  std::string where = {};    // file and line
  std::string problem = {};  // which of its keys names what was not seen
  std::string remedy = {};   // what was seen, the most alike first
};

// The entries that no callback has matched for which the rule was asked; `there`: the callbacks
// that there are. Of rules that are not a file's: none.
[[nodiscard]] TAKT_RCLCPP_PUBLIC std::vector<Unmatched> unmatched_entries(
    const TimingRule& rule, const std::vector<CallbackId>& there);

}  // namespace takt::rclcpp
