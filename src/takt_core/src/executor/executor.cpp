// SPDX-License-Identifier: Apache-2.0
//
// The executor's life: start, spin, stop, and what may be asked of it meanwhile.
#include "takt/executor/executor.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "keeper.hpp"
#include "registry.hpp"
#include "shared.hpp"
#include "stop_signals.hpp"
#include "takt/sched/error.hpp"

namespace takt::executor {
namespace {

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
  if (options.cpus.empty()) {
    options.cpus = {os::current_thread().cpus.front()};
  }
  return options;
}

}  // namespace

Executor::Executor(Options options)
    : shared_(std::make_unique<Shared>(completed(std::move(options)))),
      registry_(std::make_unique<Registry>()) {
  registry_->external_topics = shared_->options.external_topics;
  shared_->request_stop = [this] { request_stop(); };
  keeper_ = std::make_unique<Keeper>(*shared_, *registry_);
}

// NOLINTNEXTLINE(bugprone-exception-escape): only when a callback destroys its own executor
Executor::~Executor() {
  refuse_in_callback("The executor's end");
  try {
    stop();
  } catch (...) {  // NOLINT(bugprone-empty-catch): what left a callback, and nobody asked for
  }
}

void Executor::refuse_in_callback(const char* what) const {
  const Crew* const current = Crew::current();
  if (current != nullptr && current->belongs_to(*shared_)) {
    throw std::logic_error{std::string{what} +
                           " waits for running jobs, so it must not be called from a callback"};
  }
}

void Executor::declare_external_topic(const std::string& topic) {
  const std::lock_guard lock{registry_->mutex};
  auto& topics = registry_->external_topics;
  if (std::ranges::find(topics, topic) == topics.end()) {
    topics.push_back(topic);
  }
}

void Executor::set_handlers(Handlers handlers) {
  const std::lock_guard lock{registry_->mutex};
  if (registry_->phase != Registry::Phase::idle) {
    throw std::logic_error{"handlers must be set before the executor starts"};
  }
  std::swap(shared_->handlers, handlers);  // the former ones are destroyed without the lock
}

void Executor::set_limits(const Limits& limits) {
  auto monitor = std::make_unique<Monitor>(limits);
  const std::lock_guard lock{registry_->mutex};
  if (registry_->phase != Registry::Phase::idle) {
    throw std::logic_error{"limits must be set before the executor starts"};
  }
  std::swap(shared_->monitor, monitor);
}

std::vector<LimitStatistics> Executor::limits() const {
  const std::lock_guard lock{registry_->mutex};
  return shared_->monitor ? shared_->monitor->statistics() : std::vector<LimitStatistics>{};
}

void Executor::start() {
  std::unique_lock lock{registry_->mutex};
  if (registry_->phase != Registry::Phase::idle) {
    throw std::logic_error{"the executor has been started; stop() it before it is started again"};
  }
  if (shared_->monitor) {
    shared_->monitor->check_names(registry_->by_name);
  }
  registry_->applications.clear();
  registry_->applications.push_back(compile());
  const sched::CompiledApplication& compiled = *registry_->applications.back();
  registry_->phase = Registry::Phase::starting;
  registry_->starter = std::this_thread::get_id();
  lock.unlock();
  const auto settle = [&](Registry::Phase phase) {
    lock.lock();
    registry_->phase = phase;
    registry_->starter = {};
    registry_->phase_changed.notify_all();
  };
  try {
    bring_up(compiled);
    arm_all();  // before the first release, which could find its readers still deaf
    set_off();
  } catch (...) {
    {
      const std::lock_guard failing{registry_->mutex};
      registry_->phase = Registry::Phase::stopping;
    }
    wind_down();
    settle(Registry::Phase::idle);
    throw;
  }
  settle(Registry::Phase::running);
  if (shared_->stopping.load()) {  // asked for meanwhile
    lock.unlock();
    request_stop();
  }
}

void Executor::spin() {
  {
    std::unique_lock lock{registry_->mutex};
    if (registry_->phase == Registry::Phase::idle) {
      lock.unlock();
      start();
    }
  }
  {
    const StopSignals signals{shared_->options.stop_on_signals, stop_requested_};
    while (is_started() && !shared_->stopping.load() && !signals.requested()) {
      const os::TimePoint end = shared_->end.load();
      if (!stop_requested_.wait_until(end) && os::now() >= end) {
        break;
      }
    }
  }
  stop();
}

bool Executor::is_started() const {
  const std::lock_guard lock{registry_->mutex};
  return registry_->phase != Registry::Phase::idle && registry_->phase != Registry::Phase::stopping;
}

void Executor::request_stop() noexcept {
  shared_->stopping.store(true);
  const std::size_t crews = shared_->crews_used.load();
  for (std::size_t i = 0; i < crews; ++i) {
    if (Crew* const crew = shared_->crews[i].load()) {
      crew->wake_to_stop();
    }
  }
  shared_->keeper.notify();
  stop_requested_.notify();
}

void Executor::stop() {
  refuse_in_callback("Executor::stop");
  std::unique_lock lock{registry_->mutex};
  if (registry_->starter == std::this_thread::get_id()) {
    throw std::logic_error{
        "Executor::stop waits for start(), so what start() calls must not call it; "
        "request_stop() ends the start, too"};
  }
  const auto settled = [this] {
    return registry_->phase == Registry::Phase::idle ||
           registry_->phase == Registry::Phase::running;
  };
  registry_->phase_changed.wait(lock, settled);
  if (registry_->phase == Registry::Phase::idle) {
    shared_->stopping.store(false);  // nothing is left to be stopped
    return;
  }
  registry_->phase = Registry::Phase::stopping;
  lock.unlock();
  wind_down();
  lock.lock();
  registry_->phase = Registry::Phase::idle;
  registry_->phase_changed.notify_all();
  lock.unlock();
  keeper_->retire_all();  // what callbacks removed meanwhile
  std::exception_ptr failure;
  {
    const std::lock_guard guard{shared_->mutex};
    failure = std::exchange(shared_->failure, nullptr);
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

bool Executor::switch_to(std::string_view scenario) noexcept {
  const auto& names = registry_->scenarios;
  const auto found = std::ranges::find(names, scenario);
  if (found == names.end()) {
    return false;
  }
  shared_->scenario.store(static_cast<std::size_t>(found - names.begin()));
  const std::size_t crews = shared_->crews_used.load();
  for (std::size_t i = 0; i < crews; ++i) {
    Crew* const crew = shared_->crews[i].load();
    if (crew != nullptr && crew != Crew::current()) {
      crew->wake_to_follow();
    }
  }
  return true;
}

std::string_view Executor::scenario() const noexcept {
  return registry_->scenarios[shared_->scenario.load()];
}

std::optional<TaskIndex> Executor::find(std::string_view task) const noexcept {
  const std::lock_guard lock{registry_->mutex};
  for (const auto* const names : {&registry_->by_name, &registry_->coming}) {
    if (const auto found = names->find(task); found != names->end()) {
      return found->second;
    }
  }
  return {};
}

TaskStatistics Executor::statistics(TaskIndex task) const noexcept {
  return shared_->tasks[task]->counters.snapshot();
}

std::size_t Executor::task_count() const noexcept {
  const std::lock_guard lock{registry_->mutex};
  return registry_->tasks.size();
}

std::uint16_t Executor::trace_topic(const std::string& topic) const {
  const std::uint16_t id = registry_->topic(topic)->id;
  if (shared_->tracer) {
    shared_->tracer->writer().name(trace::NameKind::topic, id, topic);
  }
  return id;
}

trace::Recorder Executor::add_trace_thread() const {
  return shared_->tracer ? shared_->tracer->add_thread() : trace::Recorder{};
}

os::TimePoint Executor::start_time() const noexcept {
  return registry_->start_time;
}

os::SettingsNotGranted Executor::not_granted() const {
  const std::lock_guard lock{shared_->mutex};
  return shared_->not_granted;
}

std::uint64_t Executor::lost_trace_events() const noexcept {
  return shared_->tracer ? shared_->tracer->lost() : 0;
}

}  // namespace takt::executor
