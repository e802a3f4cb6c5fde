// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/executor.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "registry.hpp"
#include "takt/executor/partition.hpp"
#include "takt/executor/shared.hpp"
#include "takt/os/memory.hpp"
#include "takt/sched/error.hpp"

namespace takt::executor {
namespace {

// Between the start of the threads and the first release: time enough to fall asleep first.
constexpr std::chrono::milliseconds lead{1};

Options completed(Options options) {
  if (!options.policy) {
    throw sched::ScheduleError("the executor", "it has no policy", "give it one, such as edf()");
  }
  if (options.base_priority < os::min_priority || options.base_priority > os::max_priority) {
    throw sched::ScheduleError(
        "the executor",
        "its base priority " + std::to_string(options.base_priority) + " is outside of 1..98",
        "choose one that leaves room above it for jobs that preempt each other");
  }
  if (options.max_tasks == 0 || options.max_tasks >= trace::no_task) {
    throw sched::ScheduleError("the executor", "max_tasks is " + std::to_string(options.max_tasks),
                               "choose a number from 1 to " + std::to_string(trace::no_task - 1));
  }
  if (options.cpus.empty()) {
    options.cpus = {os::current_thread().cpus.front()};
  }
  return options;
}

}  // namespace

bool ReleaseHandle::notify() const noexcept {
  if (!task_->messages.arrive(os::now())) {
    task_->counters.lost_arrivals.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (Partition* const partition = task_->partition.load()) {
    partition->announce(*task_);
  }
  return true;
}

Executor::Executor(Options options)
    : shared_(std::make_unique<Shared>(completed(std::move(options)))),
      registry_(std::make_unique<Registry>()) {
  registry_->external_topics = shared_->options.external_topics;
}

// NOLINTNEXTLINE(bugprone-exception-escape): only when a callback destroys its own executor
Executor::~Executor() {
  stop();
}

void Executor::refuse_in_callback(const char* what) const {
  const Partition* const current = Partition::current();
  const bool inside = current != nullptr && current->belongs_to(*shared_);
  if (inside) {
    throw std::logic_error{std::string{what} +
                           " waits for running jobs, so it must not be called from a callback"};
  }
}

AddedTask Executor::add(const sched::Task& task, Binding binding) {
  refuse_in_callback("Executor::add");
  check_binding(task, binding);
  const std::lock_guard lock{registry_->mutex};
  const auto index = static_cast<TaskIndex>(registry_->tasks.size());
  if (index >= shared_->options.max_tasks) {
    throw std::length_error{"task '" + task.name + "' is one more than Options::max_tasks (" +
                            std::to_string(shared_->options.max_tasks) +
                            "), which counts removed tasks, too; raise it"};
  }
  if (registry_->started && binding.kernel_deadline) {
    throw sched::ScheduleError(
        "task '" + task.name + "'",
        "a task under SCHED_DEADLINE cannot be added while the executor spins",
        "add it before the start");
  }
  registry_->tasks.push_back(task);
  std::unique_ptr<TaskState>& state = shared_->tasks[index];
  try {
    const bool live = registry_->started && !registry_->stopped;
    std::unique_ptr<Plan> plan = live ? compile() : nullptr;
    state = std::make_unique<TaskState>(index, task, std::move(binding));
    if (plan) {
      publish(std::move(plan));
    }
  } catch (...) {
    state.reset();
    registry_->tasks.pop_back();
    throw;
  }
  const bool released_by_messages = task.kind == sched::TaskKind::message;
  return {.index = index,
          .release = released_by_messages ? ReleaseHandle{state.get()} : ReleaseHandle{}};
}

void Executor::remove(std::string_view name) {
  refuse_in_callback("Executor::remove");
  const std::lock_guard lock{registry_->mutex};
  const auto found = std::ranges::find(registry_->tasks, name, &sched::Task::name);
  if (found == registry_->tasks.end()) {
    throw sched::ScheduleError("task '" + std::string{name} + "'", "there is no such task",
                               "remove a task by the name that it was added with");
  }
  const auto index = static_cast<TaskIndex>(found - registry_->tasks.begin());
  const bool live = registry_->started && !registry_->stopped;
  const int priority =
      live ? shared_->target()->scenario->parameters(index).priority : found->parameters.priority;
  const sched::Task former = std::exchange(*found, stub_of(*found, index, priority));
  if (live) {
    try {
      publish(compile());
    } catch (...) {
      *found = former;
      throw;
    }
  }
  shared_->tasks[index]->binding.callback = nullptr;
  shared_->tasks[index]->binding.inputs.clear();
}

void Executor::declare_external_topic(const std::string& topic) {
  const std::lock_guard lock{registry_->mutex};
  auto& topics = registry_->external_topics;
  if (std::ranges::find(topics, topic) == topics.end()) {
    topics.push_back(topic);
  }
}

void Executor::set_scheduling_strategy(sched::SchedulingStrategy strategy) {
  const std::lock_guard lock{registry_->mutex};
  if (registry_->started) {
    throw std::logic_error{"the strategy must be set before the executor starts"};
  }
  if (strategy.scenarios().empty()) {
    throw sched::ScheduleError("the strategy", "it has no scenarios", "add at least one");
  }
  registry_->scenarios.clear();
  for (const sched::ScenarioPtr& scenario : strategy.scenarios()) {
    registry_->scenarios.push_back(scenario->name());
  }
  shared_->scenario = strategy.default_scenario();
  registry_->strategy = std::move(strategy);
}

void Executor::start() {
  const std::lock_guard lock{registry_->mutex};
  if (registry_->started) {
    throw std::logic_error{"an executor starts once"};
  }
  registry_->plans.push_back(compile());
  const Plan& plan = *registry_->plans.back();
  open_trace();
  if (shared_->options.real_time && shared_->options.lock_memory) {
    shared_->add(os::lock_memory());
  }
  create_partitions(plan);
  for (TaskIndex index = 0; index < plan.strategy.tasks().size(); ++index) {
    create_state(index);
  }
  registry_->started = true;
  for (const auto& partition : partitions_) {
    partition->prepare(plan);
  }
  if (shared_->options.real_time) {  // after the threads: theirs weigh more
    const auto& shortfall = registry_->no_deep_idle.emplace().shortfall();
    if (shortfall) {
      shared_->add({*shortfall});
    }
  }
  report_shortfalls();
  shared_->plan.store(&plan, std::memory_order_release);
  registry_->start_time = os::now() + lead;
  for (const auto& partition : partitions_) {
    partition->begin(registry_->start_time);
  }
  live_.store(true);
  // What was asked for meanwhile has woken nobody.
  for (const auto& partition : partitions_) {
    partition->wake_to_follow();
    if (shared_->stopping.load()) {
      partition->wake_to_stop();
    }
  }
}

// Makes the threads follow a plan with other tasks, and waits until no job of the former is left.
// Where a thread is missing for it, the former plan stays.
void Executor::publish(std::unique_ptr<Plan> plan) {
  registry_->plans.push_back(std::move(plan));
  const Plan& current = *registry_->plans.back();
  try {
    for (TaskIndex index = 0; index < current.strategy.tasks().size(); ++index) {
      if (shared_->tasks[index]->partition.load() == nullptr) {
        create_state(index);
      }
    }
    for (const auto& partition : partitions_) {
      partition->prepare(current);
    }
  } catch (...) {
    registry_->plans.pop_back();
    throw;
  }
  shared_->plan.store(&current, std::memory_order_release);
  for (const auto& partition : partitions_) {
    partition->wake_to_follow();
  }
  for (const auto& partition : partitions_) {
    while (!partition->follows(current)) {
      if (shared_->stopping.load()) {
        partition->join();  // nobody follows any more, but a job may still run
        break;
      }
      os::sleep_until(os::now() + std::chrono::milliseconds{1});
    }
  }
  if (!shared_->stopping.load()) {
    registry_->plans.erase(registry_->plans.begin(), registry_->plans.end() - 1);
  }
}

void Executor::spin() {
  bool started = false;
  {
    const std::lock_guard lock{registry_->mutex};
    started = registry_->started;
  }
  if (!started) {
    start();
  }
  while (!shared_->stopping.load()) {
    stop_requested_.wait();
  }
  stop();
}

void Executor::request_stop() noexcept {
  shared_->stopping.store(true);
  if (live_.load()) {
    for (const auto& partition : partitions_) {
      partition->wake_to_stop();
    }
  }
  stop_requested_.notify();
}

void Executor::stop() {
  refuse_in_callback("Executor::stop");
  request_stop();
  const std::lock_guard lock{registry_->mutex};
  for (const auto& partition : partitions_) {
    partition->wake_to_stop();  // again, for a start that failed halfway
    partition->join();
  }
  registry_->stopped = true;
  registry_->no_deep_idle.reset();
  if (shared_->tracer) {
    const std::string error = shared_->tracer->stop();
    if (!error.empty()) {
      shared_->add({{.what = "a complete trace", .why = error, .fix = "make room for the file"}});
    }
  }
}

bool Executor::switch_to(std::string_view scenario) noexcept {
  const auto& names = registry_->scenarios;
  const auto found = std::ranges::find(names, scenario);
  if (found == names.end()) {
    return false;
  }
  shared_->scenario.store(static_cast<std::size_t>(found - names.begin()));
  if (live_.load()) {
    for (const auto& partition : partitions_) {
      if (!partition->is_current()) {
        partition->wake_to_follow();
      }
    }
  }
  return true;
}

std::string_view Executor::scenario() const noexcept {
  return registry_->scenarios[shared_->scenario.load()];
}

std::optional<TaskIndex> Executor::find(std::string_view task) const noexcept {
  const auto found = std::ranges::find(registry_->tasks, task, &sched::Task::name);
  if (found == registry_->tasks.end()) {
    return {};
  }
  return static_cast<TaskIndex>(found - registry_->tasks.begin());
}

TaskStatistics Executor::statistics(TaskIndex task) const noexcept {
  return shared_->tasks[task]->counters.snapshot();
}

std::size_t Executor::task_count() const noexcept {
  return registry_->tasks.size();
}

os::TimePoint Executor::start_time() const noexcept {
  return registry_->start_time;
}

os::Shortfalls Executor::shortfalls() const {
  const std::lock_guard lock{shared_->shortfalls_mutex};
  return shared_->shortfalls;
}

std::uint64_t Executor::lost_trace_events() const noexcept {
  return shared_->tracer ? shared_->tracer->lost() : 0;
}

}  // namespace takt::executor
