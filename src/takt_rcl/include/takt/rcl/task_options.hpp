// SPDX-License-Identifier: Apache-2.0
/// @file
/// TaskOptions: the scheduling parameters of one callback of a SchedulingExecutor. The policy
/// chooses or requires what is left out. The values mean the same as in sched::Task and
/// sched::TaskParameters.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <takt/rcl/publisher_base.hpp>
#include <takt/rcl/subscription_base.hpp>
#include <takt/sched/task.hpp>
#include <utility>
#include <vector>

namespace takt {

/// A subscription whose waiting messages are delivered before the callback runs: to the
/// subscription's own callback, or into its latest().
struct ReadFrom {
  /// Converts implicitly, so that `.reads = {scan, {odometry, 20ms}}` works.
  template <class SubscriptionT>
  // NOLINTNEXTLINE(*-explicit-constructor): see above
  ReadFrom(std::shared_ptr<SubscriptionT> from, std::chrono::nanoseconds oldest = {})
      : subscription{std::move(from)}, max_age{oldest} {}

  std::shared_ptr<SubscriptionBase> subscription;  ///< What to read; not null.
  std::chrono::nanoseconds max_age;  ///< Oldest data allowed; 0: TaskOptions::max_age.
};

/// The scheduling parameters of a callback.
struct TaskOptions {
  std::string name{};  ///< In scenarios and traces; empty: the entity's get_name().
  int priority{0};     ///< 1..98, 98 highest; 0: assigned by the policy.
  std::chrono::nanoseconds deadline{0};  ///< Relative to the release; 0: the period.
  std::vector<ReadFrom> reads{};         ///< Delivered before the callback, in this order.
  std::chrono::nanoseconds max_age{0};   ///< Oldest data allowed at the start; 0: any.
  std::vector<std::shared_ptr<PublisherBase>> writes{};  ///< The publishers that the callback uses.
  std::string group{};               ///< Callbacks of one group exclude each other; empty: none.
  std::vector<std::string> locks{};  ///< Of each executor::CeilingMutex that it takes, the name.
  /// The callback sleeps or waits for a device: it has a thread of its own, and others run
  /// meanwhile.
  bool waits{false};
  std::chrono::nanoseconds offset{0};              ///< Of a timer's first release.
  std::chrono::nanoseconds expected_execution{0};  ///< Worst case; 0: unknown.
  std::chrono::nanoseconds budget{0};              ///< CPU time of one execution; 0: not watched.
  /// Releases while the callback is still running. By default timers skip them and subscriptions
  /// catch up, with one execution for each message. With another choice the callback of a
  /// subscription gets the newest message only.
  std::optional<sched::Overrun> overrun{};
  std::chrono::nanoseconds period{0};  ///< Subscriptions: minimum distance of messages.
  int cpu{-1};                         ///< One of the executor's CPUs; -1: chosen by the executor.
  bool active{true};                   ///< False: no releases until a scenario activates it.
  bool kernel_deadline{false};         ///< Timers: use SCHED_DEADLINE, outside of the policy.
};

}  // namespace takt
