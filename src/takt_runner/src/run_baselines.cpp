// SPDX-License-Identifier: Apache-2.0
//
// What Takt is compared with: one wait set over everything (baseline0), and one process for each
// node, with the node's priority and a wait set inside (baseline1). Data reaches a timer through
// the subscriptions' own callbacks, in whatever order the wait set has them.
#include <optional>
#include <takt/baseline/real_time_process.hpp>
#include <takt/baseline/single_threaded_executor.hpp>

#include "members.hpp"
#include "own_trace.hpp"
#include "separate.hpp"

namespace takt::runner {
namespace {

void add_all(baseline::SingleThreadedExecutor& executor, Members& members, int priority) {
  for (const Member& member : members.all()) {
    const sched::Task& task = member.description->task;
    const baseline::CallbackOptions options{.name = task.name,
                                            .priority = priority,
                                            .deadline = task.parameters.deadline,
                                            .offset = task.parameters.offset};
    if (member.timer) {
      executor.add(member.timer, options);
    } else {
      executor.add(member.trigger, options);
    }
    for (const Inlet& inlet : member.reads) {
      executor.add(inlet.subscription(), {.priority = priority});
    }
  }
}

// Spins from the common start for the duration of the execution, on this thread.
void spin(baseline::SingleThreadedExecutor& executor, Members& members, Common& common,
          const Execution& execution, os::StopFlag& stop,
          std::optional<int> process_priority = {}) {
  members.number_topics([&](const std::string& topic) { return executor.trace_topic(topic); });
  members.wait_for_readers(stop);
  const auto start = common.meet(stop);
  if (!start) {
    return;
  }
  std::optional<baseline::RealTimeProcess> real_time;
  if (process_priority) {
    real_time.emplace(*process_priority, execution.application.cpus);
  }
  executor.begin_at(*start);
  executor.spin(stop, end_of(execution, *start));
}

void run_node(const Execution& execution, Common& common, const std::string& node, int priority,
              const std::filesystem::path& trace, os::StopFlag& stop) {
  const std::vector<int>& cpus = execution.application.cpus;
  auto attributes = execution.attributes;
  add_not_granted(attributes,
                  {.policy = os::SchedulingPolicy::fifo, .priority = priority, .cpus = cpus});
  const Context& context = until_the_process_ends<Context>(through_middleware);
  auto& members = until_the_process_ends<Members>(execution, common, context, std::vector{node},
                                                  Delivery::own_callbacks);
  baseline::SingleThreadedExecutor executor{
      context, {.trace = trace, .trace_capacity = trace_capacity, .trace_attributes = attributes}};
  add_all(executor, members, priority);
  spin(executor, members, common, execution, stop, priority);
}

}  // namespace

void run_baseline0(const Execution& execution, os::StopFlag& stop) {
  constexpr int priority = 40;
  const bool outside = has_outside(execution.application);
  Common common{execution.application.topics.size(), outside ? 2U : 1U};
  const Affinity anywhere;
  os::apply(
      {.cpus = execution.application.cpus});  // the threads of the middleware shall inherit it
  const Context context{through_middleware};
  Members members{execution, common, context, nodes_of(execution.application),
                  Delivery::own_callbacks};
  Feeder feeder{execution, common, context, Delivery::own_callbacks};
  anywhere.apply();
  auto attributes = execution.attributes;
  std::exception_ptr failure;
  std::optional<baseline::SingleThreadedExecutor> executor;
  add_not_granted(attributes, {.policy = os::SchedulingPolicy::fifo,
                               .priority = priority,
                               .cpus = execution.application.cpus});
  executor.emplace(context, baseline::Options{.trace = execution.settings.trace,
                                              .trace_capacity = trace_capacity,
                                              .trace_attributes = attributes});
  add_all(*executor, members, priority);
  feeder.number_topics([&](const std::string& topic) { return executor->trace_topic(topic); });
  feeder.wait_for_readers(stop);
  std::optional<os::Thread> feeding;
  if (outside) {
    feeding.emplace(
        os::ThreadSettings{
            .policy = os::SchedulingPolicy::fifo, .priority = os::max_priority, .name = "outside"},
        [&, recorder = executor->add_trace_thread()] {
          if (const auto start = common.meet(stop)) {
            feeder.feed(*start, end_of(execution, *start), stop, recorder);
          }
        });
  }
  os::Thread spinning{{.policy = os::SchedulingPolicy::fifo,
                       .priority = priority,
                       .cpus = execution.application.cpus,
                       .name = "baseline0"},
                      [&] {
                        try {
                          spin(*executor, members, common, execution, stop);
                        } catch (...) {
                          failure = std::current_exception();
                          stop.request();  // whoever waits for it
                        }
                      }};
  spinning.join();
  if (feeding) {
    feeding->join();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

// NOLINTNEXTLINE(misc-const-correctness): the approaches are of one type.
void run_baseline1(const Execution& execution, os::StopFlag& stop) {
  const auto nodes = nodes_of(execution.application);
  const auto priorities = execution.application.node_priorities();
  Separate separate{execution, nodes.size()};
  for (const std::string& node : nodes) {
    separate.add(node, [&, priority = priorities.at(node)](const std::filesystem::path& part,
                                                           os::StopFlag& asked) {
      run_node(execution, separate.common(), node, priority, part, asked);
    });
  }
  separate.run(stop, "node", {{"policy", "baseline1"}});
}

}  // namespace takt::runner
