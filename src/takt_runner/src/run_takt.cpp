// SPDX-License-Identifier: Apache-2.0
//
// One process, one SchedulingExecutor: policy, scenarios, data before the callback, messages by
// pointer.
#include <optional>
#include <takt/rcl/scheduling_executor.hpp>
#include <takt/sched/policies.hpp>

#include "members.hpp"
#include "scenarios.hpp"
#include "task_options.hpp"

namespace takt::runner {
void run_takt(const Execution& execution, os::StopFlag& stop) {
  const application::Application& application = execution.application;
  if (!application.processes.empty()) {
    run_robot(execution, stop);
    return;
  }
  const Context context;
  Common common{application.topics.size(), 1, {}, devices_of(application).size()};
  Members members{execution, common, context, nodes_of(application), Delivery::before_the_callback};
  Feeder feeder{execution, common, context, Delivery::before_the_callback};
  SchedulingExecutor executor{{.policy = sched::parse_policy(application.policy),
                               .cpus = application.cpus,
                               .duration = released_for(execution),
                               .trace = execution.settings.trace,
                               .trace_cpu_time = true,
                               .trace_attributes = execution.attributes}};
  for (const Member& member : members.all()) {
    if (member.timer) {
      executor.add(member.timer, options_of(member));
    } else {
      executor.add(member.trigger, options_of(member));
    }
  }
  if (application.strategy) {
    executor.set_scheduling_strategy(*application.strategy);
  }
  const auto number_of = [&](const std::string& topic) {
    return executor.core().trace_topic(topic);
  };
  members.number_topics(number_of);
  feeder.number_topics(number_of);
  members.wait_for_readers(stop);
  feeder.wait_for_readers(stop);
  if (stop.requested()) {
    return;
  }

  executor.start();
  const os::TimePoint start = executor.core().start_time();
  const os::TimePoint end = end_of(execution, start);
  std::optional<os::Thread> outside;
  if (feeder.needed()) {
    outside.emplace(
        os::ThreadSettings{
            .policy = os::SchedulingPolicy::fifo, .priority = os::max_priority, .name = "outside"},
        [&, recorder = executor.core().add_trace_thread()] {
          feeder.feed(start, end, stop, recorder);
        });
  }
  follow(executor, application, start, end, stop);
  if (outside) {
    outside->join();
  }
  members.end_calls();
  executor.stop();
}

}  // namespace takt::runner
