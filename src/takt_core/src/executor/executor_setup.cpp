// SPDX-License-Identifier: Apache-2.0
//
// The part of the executor that prepares a plan, what it runs on and what it records.
#include <algorithm>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>

#include "registry.hpp"
#include "takt/executor/executor.hpp"
#include "takt/executor/lanes.hpp"
#include "takt/executor/shared.hpp"
#include "takt/executor/stack.hpp"
#include "takt/os/usage.hpp"

namespace takt::executor {

std::unique_ptr<Plan> Executor::compile() const {
  const Options& options = shared_->options;
  const sched::CompileOptions compile_options{.cpus = options.cpus,
                                              .external_topics = registry_->external_topics};
  auto strategy = registry_->strategy
                      ? sched::CompiledStrategy{registry_->tasks, *registry_->strategy,
                                                options.policy, compile_options}
                      : sched::CompiledStrategy{registry_->tasks, options.policy, compile_options};
  return make_plan(std::move(strategy),
                   [this](const std::string& topic) { return registry_->topic(topic); });
}

// What the task's state takes from the plan; the threads do not know the task yet.
void Executor::create_state(TaskIndex index) {
  TaskState& state = *shared_->tasks[index];
  const sched::Task& task = registry_->plans.back()->strategy.tasks()[index];
  for (const BoundInput& input : state.binding.inputs) {
    state.input_topics.push_back(registry_->topic(input.topic));
  }
  for (const std::string& topic : task.writes) {
    state.writes.push_back(registry_->topic(topic));
  }
  state.trigger = task.trigger.empty() ? nullptr : registry_->topic(task.trigger);
  registry_->tasks[index].cpu = task.cpu;  // where it is, it stays
  if (state.binding.kernel_deadline) {
    partitions_.push_back(std::make_unique<Lanes>(*shared_, index));
    state.partition = partitions_.back().get();
  } else {
    const auto cpu = std::ranges::find(shared_->options.cpus, task.cpu);
    state.partition =
        partitions_[static_cast<std::size_t>(cpu - shared_->options.cpus.begin())].get();
  }
  if (shared_->tracer) {
    auto& writer = shared_->tracer->writer();
    writer.name(trace::NameKind::task, static_cast<std::uint16_t>(index), task.name);
    for (const Topic& topic : registry_->topics()) {
      writer.name(trace::NameKind::topic, topic.id, topic.name);
    }
  }
}

// One for each core; those of kernel deadlines follow with their tasks.
void Executor::create_partitions(const Plan& plan) {
  const auto scenarios = plan.strategy.scenarios();
  const bool kernel_keeps_order = std::ranges::all_of(scenarios, [](const auto& scenario) {
    return scenario.policy().fixed_priority() && scenario.policy().preemptive();
  });
  for (const int cpu : shared_->options.cpus) {
    if (kernel_keeps_order) {
      partitions_.push_back(std::make_unique<Lanes>(*shared_, cpu));
    } else {
      partitions_.push_back(std::make_unique<Stack>(*shared_, cpu, scenarios.front().policy()));
    }
  }
}

void Executor::open_trace() {
  const Options& options = shared_->options;
  if (options.trace.empty()) {
    return;
  }
  shared_->tracer = std::make_unique<trace::Tracer>(
      options.trace, trace::TracerOptions{.ring_capacity = options.trace_capacity});
  auto& writer = shared_->tracer->writer();
  std::string cpus;
  for (const int cpu : options.cpus) {
    cpus += (cpus.empty() ? "" : ",") + std::to_string(cpu);
  }
  writer.attribute("cpus", cpus);
  writer.attribute("real_time", options.real_time ? "true" : "false");
  const auto scenarios = registry_->plans.back()->strategy.scenarios();
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    writer.name(trace::NameKind::scenario, static_cast<std::uint16_t>(i), scenarios[i].name());
    writer.attribute("policy." + scenarios[i].name(), scenarios[i].policy().name());
  }
  writer.attribute("scenario", scenarios[shared_->scenario].name());
  if (options.trace_cpu_time && os::run_delay()) {  // else that none is there means nothing
    writer.attribute("waits_from_ns", std::to_string(trace::least_wait.count()));
  }
  for (const auto& [key, value] : options.trace_attributes) {
    writer.attribute(key, value);
  }
}

std::uint16_t Executor::trace_topic(const std::string& topic) const {
  const std::lock_guard lock{registry_->mutex};
  const std::uint16_t id = registry_->topic(topic)->id;
  if (shared_->tracer) {
    shared_->tracer->writer().name(trace::NameKind::topic, id, topic);
  }
  return id;
}

trace::Recorder Executor::add_trace_thread() const {
  return shared_->tracer ? shared_->tracer->add_thread() : trace::Recorder{};
}

void Executor::report_shortfalls() {
  const os::Shortfalls& shortfalls = shared_->shortfalls;
  if (shared_->tracer) {
    for (const os::Shortfall& shortfall : shortfalls) {
      shared_->tracer->writer().attribute("shortfall", shortfall.what + ": " + shortfall.why);
    }
  }
  if (shortfalls.empty()) {
    return;
  }
  if (shared_->options.on_shortfalls) {
    shared_->options.on_shortfalls(shortfalls);
    return;
  }
  const os::Shortfall& first = shortfalls.front();
  std::fprintf(
      stderr,
      "takt: %zu real-time setting(s) not obtained; the order of tasks and their exclusive "
      "groups hold, their timing does not. First: %s: %s. To get it: %s.\n",
      shortfalls.size(), first.what.c_str(), first.why.c_str(), first.fix.c_str());
}

}  // namespace takt::executor
