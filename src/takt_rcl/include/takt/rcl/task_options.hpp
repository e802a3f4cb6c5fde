// SPDX-License-Identifier: Apache-2.0
//
// TaskOptions: what a SchedulingExecutor is told about one callback. What is left out is the
// policy's to choose or to ask for. The meaning of each is that of sched::Task and its parameters.
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

// A subscription whose pending messages are delivered before the callback runs: to the
// subscription's own callback, or into its latest().
struct ReadFrom {
  template <class SubscriptionT>
  // NOLINTNEXTLINE(*-explicit-constructor): .reads = {scan, {odometry, 20ms}}
  ReadFrom(std::shared_ptr<SubscriptionT> from, std::chrono::nanoseconds oldest = {})
      : subscription{std::move(from)}, max_age{oldest} {}

  std::shared_ptr<SubscriptionBase> subscription;
  std::chrono::nanoseconds max_age;  // 0: TaskOptions::max_age
};

struct TaskOptions {
  std::string name{};  // as scenarios and traces call it; else the entity's get_name()
  int priority{0};     // 1..98, 98 highest
  std::chrono::nanoseconds deadline{0};  // relative to the release; 0: the period
  std::vector<ReadFrom> reads{};
  std::chrono::nanoseconds max_age{0};  // of the data read at the start of the callback; 0: any
  std::vector<std::shared_ptr<PublisherBase>> writes{};  // that the callback publishes with
  std::string group{};  // callbacks of one group exclude each other
  bool waits{false};  // the callback sleeps or waits for a device: a thread of its own, others run
  std::chrono::nanoseconds offset{0};  // of a timer's first release
  std::chrono::nanoseconds expected_execution{0};
  std::chrono::nanoseconds budget{0};  // CPU time of one execution; 0: not watched
  // Releases while the callback still runs. Timers skip them; subscriptions catch up, one execution
  // for each message. With another choice a subscription's callback gets the newest message only.
  std::optional<sched::Overrun> overrun{};
  std::chrono::nanoseconds period{0};  // of a subscription: the shortest distance of its messages
  int cpu{-1};                         // one of the executor's; -1: chosen
  bool active{true};                   // else it has no releases until a scenario wakes it
  bool kernel_deadline{false};         // a timer under SCHED_DEADLINE, outside of the policy
};

}  // namespace takt
