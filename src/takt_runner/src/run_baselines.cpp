// SPDX-License-Identifier: Apache-2.0
//
// What Takt is compared with: one wait set over everything (baseline0), and one process for each
// node, with the node's priority and a wait set inside (baseline1). Data reaches a timer through
// the subscriptions' own callbacks, in whatever order the wait set has them.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <takt/baseline/node_processes.hpp>
#include <takt/baseline/real_time_process.hpp>
#include <takt/baseline/single_threaded_executor.hpp>
#include <takt/trace/tracer.hpp>
#include <utility>

#include "members.hpp"
#include "merge.hpp"
#include "own_trace.hpp"

namespace takt::runner {
namespace {

const ContextOptions through_middleware{.use_intra_process = false};

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

// What lives in a process of baseline1 until _exit(). Taking leave of each other is not part of the
// experiment, takes seconds with dozens of nodes, and does not always end: Fast DDS may wait for a
// callback of its own forever. Whoever started the execution removes the shared memory.
template <class Thing, class... Arguments>
Thing& until_the_process_ends(Arguments&&... arguments) {
  return *std::make_unique<Thing>(std::forward<Arguments>(arguments)...).release();
}

int run_node(const Execution& execution, Common& common, const std::string& node, int priority,
             const std::filesystem::path& trace, os::StopFlag& stop) {
  try {
    const std::vector<int>& cpus = execution.application.cpus;
    auto attributes = execution.attributes;
    add_shortfalls(attributes,
                   {.policy = os::SchedulingPolicy::fifo, .priority = priority, .cpus = cpus});
    const Context& context = until_the_process_ends<Context>(through_middleware);
    auto& members = until_the_process_ends<Members>(execution, common, context, std::vector{node},
                                                    Delivery::own_callbacks);
    baseline::SingleThreadedExecutor executor{
        context,
        {.trace = trace, .trace_capacity = trace_capacity, .trace_attributes = attributes}};
    add_all(executor, members, priority);
    spin(executor, members, common, execution, stop, priority);
    return 0;
  } catch (...) {
    common.fail();
    throw;
  }
}

int run_outside(const Execution& execution, Common& common, const std::filesystem::path& trace,
                const os::StopFlag& stop) {
  try {
    const Context& context = until_the_process_ends<Context>(through_middleware);
    auto& feeder =
        until_the_process_ends<Feeder>(execution, common, context, Delivery::own_callbacks);
    trace::Tracer tracer{trace};
    std::map<std::string, std::uint16_t> topics;
    feeder.number_topics([&](const std::string& topic) {
      const auto number = static_cast<std::uint16_t>(topics.size());
      topics.emplace(topic, number);
      tracer.writer().name(trace::NameKind::topic, number, topic);
      return number;
    });
    feeder.wait_for_readers(stop);
    if (const auto start = common.meet(stop)) {
      feeder.feed(*start, end_of(execution, *start), stop, tracer.add_thread());
    }
    return 0;
  } catch (...) {
    common.fail();
    throw;
  }
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
  add_shortfalls(attributes, {.policy = os::SchedulingPolicy::fifo,
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
  const bool outside = has_outside(execution.application);
  Common common{execution.application.topics.size(), nodes.size() + (outside ? 1 : 0)};
  std::vector<std::filesystem::path> parts;
  std::vector<baseline::NodeProcess> processes;
  processes.reserve(nodes.size() + (outside ? 1 : 0));
  const auto next_part = [&] {
    auto part = execution.settings.trace;
    part += ".part" + std::to_string(parts.size());
    parts.push_back(part);
    return part;
  };
  for (const std::string& node : nodes) {
    processes.push_back({.name = node,
                         .run = [&execution, &common, node, priority = priorities.at(node),
                                 part = next_part()](os::StopFlag& asked) {
                           return run_node(execution, common, node, priority, part, asked);
                         }});
  }
  if (outside) {
    processes.push_back({.name = "takt_outside",
                         .priority = os::max_priority,
                         .cpus = {},
                         .run = [&, part = next_part()](os::StopFlag& asked) {
                           return run_outside(execution, common, part, asked);
                         }});
  }
  const auto ended = baseline::run_node_processes(processes, stop);
  merge_traces(parts, execution.settings.trace, {{"policy", "baseline1"}});
  for (const baseline::EndedProcess& process : ended) {
    if (process.exit_code != 0) {
      throw std::runtime_error{"node '" + process.name + "' ended with exit code " +
                               std::to_string(process.exit_code)};
    }
  }
}

}  // namespace takt::runner
