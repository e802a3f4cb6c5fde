// SPDX-License-Identifier: Apache-2.0
//
// One process, the same nodes on the executor that the approach names, or the process of a robot.
// rclcpp's own run at one real-time priority; Takt's as the description says.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <takt/baseline/real_time_process.hpp>
#include <takt/rclcpp/any_executor.hpp>

#include "beside.hpp"
#include "described.hpp"
#include "kernel_scheduling.hpp"
#include "names.hpp"
#include "nodes.hpp"
#include "own_trace.hpp"
#include "scheduling.hpp"
#include "separate.hpp"
#include "spinning.hpp"
#include "timer_threads.hpp"

namespace takt::runner {
namespace {

constexpr int peers_priority = 40;

// Switches the scenarios at their times, above all callbacks. What the cores follow from then on is
// told on each of them, as Takt's own trace has it.
void follow(takt_rclcpp::SchedulingExecutor& executor, const application::Application& application,
            JobTrace& trace, os::TimePoint start, os::TimePoint end, const os::StopFlag& stop) {
  const Affinity anywhere;
  os::apply({.policy = os::SchedulingPolicy::fifo, .priority = os::max_priority});
  for (const application::Switch& change : application.switches) {
    if (start + change.at >= end || stop.wait_until(start + change.at)) {
      return;
    }
    const os::TimePoint now = os::now();
    static_cast<void>(executor.switch_to(change.scenario));  // the description was checked
    const std::size_t scenario = application.strategy->find(change.scenario).value_or(0);
    for (const int cpu : application.cpus) {
      os::apply(
          {.policy = os::SchedulingPolicy::fifo, .priority = os::max_priority, .cpus = {cpu}});
      trace.switched(scenario, now);
    }
    anywhere.apply();
  }
}

}  // namespace

void run_rclcpp(const Execution& execution, os::StopFlag& stop) {
  const application::Application& application = execution.application;
  const std::string executor_name =
      execution.settings.approach.substr(std::string{approach_prefix}.size());
  const bool is_takt = executor_name == "takt";
  const bool outside = has_outside(application);
  Common common{application.topics.size(), 1};
  auto attributes = execution.attributes;
  const os::ThreadSettings of_peers{.policy = os::SchedulingPolicy::fifo,
                                    .priority = peers_priority,
                                    .cpus = application.cpus,
                                    .name = "takt.spin"};
  add_not_granted(attributes, of_peers);
  JobTrace trace{execution.settings.trace,
                 is_takt ? application.policy : execution.settings.approach, attributes};
  const Affinity anywhere;
  os::apply({.cpus = application.cpus});  // the threads of the middleware shall inherit it
  const InContext context;
  Nodes nodes{execution, common, trace, nodes_of(application)};
  NodeOutside world{execution, common, trace};
  anywhere.apply();
  const TimerThreads before{executor_name};
  const auto executor = takt_rclcpp::make_executor(
      executor_name, is_takt ? scheduling_of(application, nodes) : takt_rclcpp::Options{},
      std::max<std::size_t>(application.cpus.size(), 2));
  before.raise_existing(peers_priority + 1);
  auto* const scheduling = dynamic_cast<takt_rclcpp::SchedulingExecutor*>(executor.get());
  if (scheduling != nullptr) {
    if (const auto strategy = strategy_of(application, nodes)) {
      scheduling->set_scheduling_strategy(*strategy);
      trace.name_scenarios(*strategy);
    }
  }
  for (const auto& [name, node] : nodes.all()) {
    executor->add_node(node);
  }
  nodes.wait_for_readers(stop);
  world.wait_for_readers(stop);
  const auto start = common.meet(stop);
  if (!start) {
    return;
  }
  nodes.begin_at(*start);
  const os::TimePoint end = end_of(execution, *start);
  trace.ends_at(end);
  {
    const TimerThreads not_spinning{executor_name};
    Spinning spinning{*executor, is_takt ? os::ThreadSettings{.name = "takt.spin"} : of_peers,
                      stop};
    not_spinning.raise_spinning(spinning.tid(), peers_priority + 1);
    std::optional<os::Thread> feeding;
    if (outside) {
      feeding.emplace(
          os::ThreadSettings{.policy = os::SchedulingPolicy::fifo,
                             .priority = os::max_priority,
                             .name = "outside"},
          [&, recorder = trace.add_thread()] { world.feed(*start, end, stop, recorder); });
    }
    if (scheduling != nullptr) {
      follow(*scheduling, application, trace, *start, end, stop);
    }
    static_cast<void>(stop.wait_until(end));
    if (feeding) {
      feeding->join();
    }
    spinning.end();
  }
  trace.stop();
}

void run_rclcpp_process(const Execution& execution, Common& common, std::size_t number,
                        const Parts& parts, os::StopFlag& stop) {
  const application::Process& process = execution.application.processes[number];
  auto attributes = execution.attributes;
  const os::SettingsNotGranted refused = not_granted_to(process);
  add_not_granted(attributes, refused);
  JobTrace trace{parts.jobs, "", attributes};
  until_the_process_ends<InContext>();
  auto& nodes = until_the_process_ends<Nodes>(execution, common, trace,
                                              nodes_of(execution.application, number));
  const std::string executor_name = process.policy.substr(std::string{approach_prefix}.size());
  auto& executor = *until_the_process_ends<std::unique_ptr<rclcpp::Executor>>(
      takt_rclcpp::make_executor(executor_name, {}, cpus_of(process).size()));
  for (const auto& [name, node] : nodes.all()) {
    executor.add_node(node);
  }
  ThreadsBeside* beside = nullptr;
  if (!parts.beside.empty()) {
    beside = &until_the_process_ends<ThreadsBeside>(
        execution, common, until_the_process_ends<Context>(through_middleware), number,
        parts.beside, Delivery::own_callbacks);
    beside->wait_for_readers(stop);
  }
  nodes.wait_for_readers(stop);
  const auto start = common.meet(stop);
  if (!start) {
    return;
  }
  nodes.begin_at(*start);
  const os::TimePoint end = end_of(execution, *start);
  trace.ends_at(end);
  const Receivers receivers = receivers_of(process);
  baseline::raise_middleware(receivers.priority, receivers.cpus);
  {
    // Those of an EventsCBGExecutor are among the threads that were raised above.
    const TimerThreads not_spinning{executor_name};
    Spinning spinning{executor, settings_of(process), stop, [&] {
                        schedule_as_reported(execution.settings, process, gettid(), refused);
                      }};
    not_spinning.raise_spinning(spinning.tid(), receivers.priority);
    if (beside != nullptr) {
      beside->start(*start, stop);
    }
    static_cast<void>(stop.wait_until(end));
    if (beside != nullptr) {
      beside->end();
    }
    spinning.end();
  }
  trace.stop();
}

}  // namespace takt::runner
