// SPDX-License-Identifier: Apache-2.0
//
// The thesis's baseline1 as ROS 2 has it: a process for each node, with the node's priority and
// rclcpp's own single-threaded executor inside.
#include <optional>
#include <takt/baseline/real_time_process.hpp>
#include <takt/rclcpp/any_executor.hpp>

#include "described.hpp"
#include "nodes.hpp"
#include "own_trace.hpp"
#include "separate.hpp"
#include "spinning.hpp"

namespace takt::runner {
namespace {

void run_node(const Execution& execution, Common& common, const std::string& node, int priority,
              const std::filesystem::path& part, os::StopFlag& stop) {
  const std::vector<int>& cpus = execution.application.cpus;
  const os::ThreadSettings settings{.policy = os::SchedulingPolicy::fifo,
                                    .priority = priority,
                                    .cpus = cpus,
                                    .name = "takt.spin"};
  auto attributes = execution.attributes;
  add_not_granted(attributes, settings);
  JobTrace trace{part, "", attributes};
  until_the_process_ends<InContext>();
  auto& nodes = until_the_process_ends<Nodes>(execution, common, trace, std::vector{node});
  auto& executor = *until_the_process_ends<std::unique_ptr<rclcpp::Executor>>(
      takt_rclcpp::make_executor("single_threaded", {}, 1));
  for (const auto& [name, each] : nodes.all()) {
    executor.add_node(each);
  }
  nodes.wait_for_readers(stop);
  const auto start = common.meet(stop);
  if (!start) {
    return;
  }
  nodes.begin_at(*start);
  const os::TimePoint end = end_of(execution, *start);
  trace.ends_at(end);
  {
    // All threads of the process, as baseline1 has them; only then the one that spins.
    const baseline::RealTimeProcess real_time{priority, cpus};
    Spinning spinning{executor, settings, stop};
    static_cast<void>(stop.wait_until(end));
    spinning.end();
  }
  trace.stop();
}

}  // namespace

void run_rclcpp_baseline1(const Execution& execution, os::StopFlag& stop) {
  const auto nodes = nodes_of(execution.application);
  const auto priorities = execution.application.node_priorities();
  Separate separate{execution, nodes.size()};
  for (const std::string& node : nodes) {
    separate.add(node, [&, priority = priorities.at(node)](const std::filesystem::path& part,
                                                           os::StopFlag& asked) {
      run_node(execution, separate.common(), node, priority, part, asked);
    });
  }
  separate.run(stop, "node", {{"policy", execution.settings.approach}});
}

}  // namespace takt::runner
