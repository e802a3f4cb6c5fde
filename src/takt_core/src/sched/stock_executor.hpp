// SPDX-License-Identifier: Apache-2.0
//
// The decisions of rclcpp's own executors, as orders over jobs. They serve analysis and simulation;
// Takt's executor does not run under them, because an application that wants them has rclcpp.
//
// rclcpp_single_threaded  The wait set: when no callback of the last wait is left, all callbacks
//                         that are ready now are collected, and each of them runs once: timers,
//                         then subscriptions. What becomes ready meanwhile waits for the next
//                         collection. A timer whose callback begins drops the expiries that have
//                         passed by then; later ones make it ready again.
// rclcpp_multi_threaded   The same wait set, for several threads: one at a time takes what it runs
//                         next. See wait_result.hpp.
// rclcpp_events_cbg       Several threads and a queue for each callback group, in turn. See
//                         group_turns.hpp. Timers drop expiries as in the wait set.
// rclcpp_events           One queue: expiries and messages in the order of their arrival, all of
//                         them.
//
// Within a kind, rclcpp keeps the wait set in the order of a hash table. Here it is the order of
// the application; the bounds hold for each order.
#pragma once

#include <array>
#include <string_view>

#include "takt/sched/policy.hpp"

namespace takt::sched {

inline constexpr std::string_view wait_set_name = "rclcpp_single_threaded";
inline constexpr std::string_view threads_name = "rclcpp_multi_threaded";
inline constexpr std::string_view arrival_order_name = "rclcpp_events";
inline constexpr std::string_view group_turns_name = "rclcpp_events_cbg";
inline constexpr std::array stock_executor_names{wait_set_name, threads_name, arrival_order_name,
                                                 group_turns_name};

// Null: no such executor.
PolicyPtr stock_executor(std::string_view name);

// Whether ready callbacks are collected in rounds. See CoreState::collect_in_rounds().
inline bool collects_in_rounds(const Policy& policy) noexcept {
  return policy.name() == wait_set_name;
}

// Whether several threads take ready callbacks, each on a core of its own. See
// CoreState::share_among().
inline bool has_threads(std::string_view policy) noexcept {
  return policy == threads_name || policy == group_turns_name;
}

// Whether these take callback groups in turn, not from a wait set.
inline bool takes_groups_in_turn(const Policy& policy) noexcept {
  return policy.name() == group_turns_name;
}

}  // namespace takt::sched
