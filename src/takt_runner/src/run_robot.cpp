// SPDX-License-Identifier: Apache-2.0
//
// A robot: each process is forked and has an executor of its own, with its cores and a band of
// priorities; messages between processes go through the middleware.
#include <algorithm>
#include <iterator>
#include <set>
#include <takt/application/bands.hpp>
#include <takt/baseline/real_time_process.hpp>
#include <takt/rcl/scheduling_executor.hpp>
#include <takt/sched/error.hpp>
#include <takt/sched/policies.hpp>

#include "beside.hpp"
#include "described.hpp"
#include "kernel_scheduling.hpp"
#include "members.hpp"
#include "scenarios.hpp"
#include "separate.hpp"
#include "task_options.hpp"

namespace takt::runner {
namespace {

ExecutorOptions executor_options(const Execution& execution, const application::Process& process,
                                 const os::SettingsNotGranted& refused,
                                 const std::filesystem::path& part, os::TimePoint start) {
  const sched::PolicyPtr policy = sched::parse_policy(process.policy);
  auto attributes = execution.attributes;
  add_not_granted(attributes, refused);
  const bool by_thread = policy->fixed_priority() && policy->preemptive();
  return {.policy = by_thread ? sched::fixed_priority() : policy,
          .cpus = process.reservation ? std::vector{process.cpu} : cpus_of(process),
          .base_priority = std::max(process.priority, os::min_priority),
          .real_time = process.priority > 0,
          .not_before = start,
          .duration = released_for(execution),
          .trace = part,
          .trace_cpu_time = true,
          .trace_attributes = std::move(attributes)};
}

void run_process(const Execution& execution, Common& common, std::size_t number,
                 const application::Band& band, const Parts& parts, const os::StopFlag& stop) {
  const application::Application& robot = execution.application;
  const Context& context = until_the_process_ends<Context>();
  auto& members = until_the_process_ends<Members>(
      execution, common, context, nodes_of(robot, number), Delivery::before_the_callback);
  auto& beside = until_the_process_ends<ThreadsBeside>(execution, common, context, number,
                                                       parts.beside, Delivery::before_the_callback);
  members.wait_for_readers(stop);
  beside.wait_for_readers(stop);
  const auto start = common.meet(stop);
  if (!start) {
    return;
  }
  const application::Process& process = robot.processes[number];
  const bool fifo = !process.reservation && !process.nice;
  const os::SettingsNotGranted refused =
      fifo ? os::SettingsNotGranted{} : not_granted_to(process);  // the executor tells the others
  SchedulingExecutor executor{executor_options(execution, process, refused, parts.jobs, *start)};
  for (const Member& member : members.all()) {
    TaskOptions options = options_of(member);
    const auto place = static_cast<std::size_t>(member.description - robot.callbacks.data());
    if (band.priorities[place] > 0) {
      options.priority = band.priorities[place];
    }
    if (member.timer) {
      executor.add(member.timer, options);
    } else {
      executor.add(member.trigger, options);
    }
  }
  const auto scenarios = application::scenarios_of_process(robot, number, band);
  if (scenarios) {
    executor.set_scheduling_strategy(*scenarios);
  }
  members.number_topics(
      [&](const std::string& topic) { return executor.core().trace_topic(topic); });
  const Receivers receivers = receivers_of(process);
  baseline::raise_middleware(receivers.priority, receivers.cpus);
  executor.start();
  if (!fifo) {
    schedule_as_reported(execution.settings, process, thread_of_takt(), refused);
  }
  beside.start(executor.core().start_time(), stop);
  const os::TimePoint end = end_of(execution, executor.core().start_time());
  if (scenarios) {
    follow(executor, robot, executor.core().start_time(), end, stop);
  } else {
    static_cast<void>(stop.wait_until(end));
  }
  beside.end();
  members.end_calls();
  executor.stop();
}

bool is_of_rclcpp(const application::Process& process) {
  return std::ranges::find(sched::policy_names(), process.policy) == sched::policy_names().end();
}

void refuse_without_rclcpp(const application::Application& robot) {
  const auto found = std::ranges::find_if(robot.processes, is_of_rclcpp);
  if (found != robot.processes.end() && rclcpp_process() == nullptr) {
    throw sched::ScheduleError(
        "process '" + found->name + "'",
        "its executor is '" + found->policy + "', and this program was built without rclcpp",
        "start app_runner_rclcpp");
  }
}

std::string cores_of(const application::Application& robot, const std::vector<std::size_t>& here) {
  std::set<int> cores;
  for (const application::Process& process : robot.processes) {
    if (std::ranges::any_of(here, [&](std::size_t number) {
          const application::Process& own = robot.processes[number];
          return &own == &process || own.name == process.serves;
        })) {
      std::ranges::copy(cpus_of(process), std::inserter(cores, cores.end()));
    }
  }
  std::string text;
  for (const int core : cores) {
    text += (text.empty() ? "" : ",") + std::to_string(core);
  }
  return text;
}

// Of the trace: each process has its own policy, and those of Takt have scenarios.
std::vector<std::pair<std::string, std::string>> attributes_of(
    const application::Application& robot, const std::vector<std::size_t>& here) {
  std::vector<std::pair<std::string, std::string>> attributes{{"cpus", cores_of(robot, here)}};
  if (!robot.strategy) {
    attributes.emplace_back("policy.default", "robot");
    return attributes;
  }
  const auto& scenarios = robot.strategy->scenarios();
  for (const sched::ScenarioPtr& scenario : scenarios) {
    attributes.emplace_back("policy." + scenario->name(), "robot");
  }
  attributes.emplace_back("scenario", scenarios[robot.strategy->default_scenario()]->name());
  return attributes;
}

// The processes of the host that is executed, by their numbers. Throws sched::ScheduleError.
std::vector<std::size_t> executed_here(const Execution& execution) {
  const application::Application& robot = execution.application;
  const std::string& host = execution.settings.host;
  std::vector<std::size_t> here;
  for (std::size_t i = 0; i < robot.processes.size(); ++i) {
    const bool is_driver = !robot.processes[i].serves.empty();
    if (!is_driver && (host.empty() || robot.processes[i].host == host)) {
      here.push_back(i);
    }
  }
  if (here.empty()) {
    throw sched::ScheduleError("host '" + host + "'", "no process runs on it",
                               "name a host of the description");
  }
  return here;
}

}  // namespace

// NOLINTNEXTLINE(misc-const-correctness): the approaches are of one type.
void run_robot(const Execution& described, os::StopFlag& stop) {
  refuse_without_rclcpp(described.application);
  const std::vector<application::Band> bands = application::bands_of(described.application);
  Execution execution = described;
  execution.application = executed_form(described.application);
  const application::Application& robot = execution.application;
  refuse_quotas(execution.settings, robot);
  const std::vector<std::size_t> here = executed_here(execution);
  Separate separate{execution, here.size()};
  for (const std::size_t i : here) {
    const std::filesystem::path beside =
        ThreadsBeside::has_any(robot, i) ? separate.add_part() : std::filesystem::path{};
    separate.add(robot.processes[i].name,
                 [&, i, beside](const std::filesystem::path& part, os::StopFlag& asked) {
                   const Parts parts{.jobs = part, .beside = beside};
                   if (is_of_rclcpp(robot.processes[i])) {
                     rclcpp_process()(execution, separate.common(), i, parts, asked);
                   } else {
                     run_process(execution, separate.common(), i, bands[i], parts, asked);
                   }
                 });
  }
  separate.run(stop, "process", attributes_of(robot, here));
}

}  // namespace takt::runner
