// SPDX-License-Identifier: Apache-2.0
#include "life.hpp"

#include <sched.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core_names.hpp"
#include "pointers.hpp"
#include "takt/os/memory.hpp"
#include "takt/os/thread.hpp"

namespace takt_rclcpp {
namespace {

executor::Options overruled(executor::Options options) {
  options.stop_on_signals = false;
  options.exceptions = executor::Exceptions::leave_spin;
  options.lock_memory = false;  // done when the executor is made: it takes a tenth of a second
  return options;
}

// Callbacks of other groups run side by side, as nodes expect it.
Options with_cores(Options options) {
  if (options.scheduling.cpus.empty()) {
    options.scheduling.cpus = os::current_thread().cpus;
  }
  return options;
}

bool is_fixed(const sched::PolicyPtr& policy) {
  return policy != nullptr && policy->fixed_priority() && policy->preemptive();
}

bool is_by_period(const sched::Policy& policy) {
  return policy.name() == sched::rate_monotonic()->name() ||
         policy.name() == sched::precautious_rm()->name();
}

// Of the calling thread, where it is a real-time one, and only for what waits as long as any
// callback wants to run.
class LowestPriority {
 public:
  LowestPriority() noexcept {
    const os::SchedulingPolicy policy = os::policy_of(0);
    sched_param present{};
    if ((policy == os::SchedulingPolicy::fifo || policy == os::SchedulingPolicy::rr) &&
        sched_getparam(0, &present) == 0 && present.sched_priority > os::min_priority) {
      before_ = present;
      change({.sched_priority = os::min_priority});
    }
  }
  ~LowestPriority() {
    if (before_) {
      change(*before_);
    }
  }
  LowestPriority(const LowestPriority&) = delete;
  LowestPriority& operator=(const LowestPriority&) = delete;
  LowestPriority(LowestPriority&&) = delete;
  LowestPriority& operator=(LowestPriority&&) = delete;

 private:
  // Whoever has a priority may have it back.
  static void change(const sched_param& to) noexcept { static_cast<void>(sched_setparam(0, &to)); }

  std::optional<sched_param> before_;
};

}  // namespace

SchedulingExecutor::Life::Life(Options chosen)
    : options{with_cores(std::move(chosen))},
      core{overruled(options.scheduling)},
      publications{core},
      bell{std::make_shared<Bell>(options.scheduling.trace.empty() ? nullptr : &publications)},
      rule{options.timing} {
  if (!options.scheduling.trace.empty()) {
    Pointers::follow();
  }
  if (options.scheduling.real_time && options.scheduling.lock_memory) {
    memory_ = os::lock_memory();
  }
  set_handlers(options.scheduling.handlers);
}

Tasks::Needs SchedulingExecutor::Life::needs(const Strategies& of) const {
  std::vector<sched::PolicyPtr> policies;
  if (of.together()) {
    for (const sched::ScenarioPtr& scenario : of.together()->scenarios()) {
      policies.push_back(scenario->policy() ? scenario->policy() : options.scheduling.policy);
    }
  } else {
    policies.push_back(options.scheduling.policy);
  }
  return {.own_threads = std::ranges::all_of(policies, is_fixed),
          .periods = std::ranges::any_of(policies,
                                         [&](const sched::PolicyPtr& policy) {
                                           return policy != nullptr && is_by_period(*policy);
                                         }),
          .lanes = !of.together()};
}

// Entities that go with it may remove nodes.
SchedulingExecutor::Life::~Life() {
  try {
    forget_tasks();
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory; the core lets go of them then
  }
}

void SchedulingExecutor::Life::forget_tasks() {
  const std::lock_guard lock{changing};
  std::unique_ptr<Tasks> former;
  {
    const std::lock_guard written{mutex};
    former = std::move(tasks);
    has_started_ = false;
  }
  if (!former) {
    return;
  }
  executor::Changes changes;
  for (const auto& [key, task] : former->present()) {
    task.each_name([&](const std::string& name) { changes.remove(name); });
  }
  static_cast<void>(core.apply(std::move(changes)));
}

void SchedulingExecutor::Life::forget_gone(const Groups& groups) {
  try {
    tasks->forget_gone(nodes.collect(groups()), core);
  } catch (const std::exception&) {  // what stays is met anew by the next spin()
    forget_tasks();
  }
}

void SchedulingExecutor::Life::set_rule(TimingRule other) {
  if (spins.load()) {
    throw std::logic_error{"set_timing: the executor spins; set the timing before"};
  }
  {
    const std::scoped_lock lock{changing, mutex};
    rule.swap(other);
  }
  forget_tasks();
}

void SchedulingExecutor::Life::set_strategy(const std::string& node, SchedulingStrategy strategy) {
  {
    const std::lock_guard lock{changing};
    Strategies next = strategies;
    next.set(node, std::move(strategy));
    if (spins.load() && needs(next) != needs(strategies)) {  // of callbacks that have been met
      throw std::logic_error{
          "set_scheduling_strategy: the executor spins; set scenarios of other policies before"};
    }
    static_cast<void>(core.set_scheduling_strategy(*next.together()));
    const std::lock_guard written{mutex};
    std::swap(strategies, next);
  }
  if (!spins.load()) {
    forget_tasks();  // whether callbacks may have threads of their own is the policies' affair
  }
}

void SchedulingExecutor::Life::begin() {
  const std::lock_guard lock{changing};
  auto created =
      tasks ? nullptr : std::make_unique<Tasks>(options, rule, needs(strategies), bell, mutex);
  static_cast<void>(bell->take_error());  // of a spin() that something else has left
  reported.clear();
  publications.forget();
  report_memory();
  begun_at_ = os::now();
  nodes_at_begin_ = nodes.arrived().count;
  const std::lock_guard written{mutex};
  if (created) {
    tasks = std::move(created);
  }
  has_started_ = false;
  runs_ = true;
  ++spins_;
}

void SchedulingExecutor::Life::entities_changed() {
  report_reentrant();
  if (spins.load()) {
    bell->ring();
  }
}

void SchedulingExecutor::Life::entities_left(const Groups& groups) {
  {
    const std::lock_guard lock{changing};
    if (!tasks) {
      return;
    }
    if (!runs_) {
      forget_gone(groups);
      return;
    }
    tasks->let_go(nodes.collect(groups()));
    has_left.store(true);
  }
  entities_changed();
}

void SchedulingExecutor::Life::follow(const Groups& groups) {
  report_reentrant();
  const std::lock_guard lock{changing};
  const std::vector<Entity> entities = nodes.collect(groups());
  // Once others run, a node that comes may not end them.
  const auto fault = is_started.load() ? Tasks::Fault::is_of_node : Tasks::Fault::ends;
  const bool left_out = tasks->follow(entities, Tasks::Which::of_authors, fault, core);
  if (left_out && is_started.load()) {
    const LowestPriority no_hurry;
    tasks->follow(entities, Tasks::Which::all, fault, core);
  }
  report_remarks();
  const std::lock_guard written{mutex};
  strategies.look([this](const std::string& callback) { return core.find(callback).has_value(); });
  ++looks_;
}

void SchedulingExecutor::Life::start() {
  core.start();
  is_started.store(true);
  const std::lock_guard lock{mutex};
  has_started_ = true;
}

void SchedulingExecutor::Life::set_handlers(executor::Handlers handlers) {
  auto of_user = std::move(handlers.held_up);
  handlers.held_up = [this, of_user = std::move(of_user)](const executor::HoldUp& hold_up) {
    Letter none = Letter::none;
    if (hold_up_is_.compare_exchange_strong(none, Letter::being_written)) {
      hold_up_ = hold_up;
      hold_up_is_.store(Letter::there);
      bell->ring();
    }
    if (of_user) {
      of_user(hold_up);
    }
  };
  core.set_handlers(std::move(handlers));
}

void SchedulingExecutor::Life::stop_soon() noexcept {
  if (is_started.load()) {
    core.request_stop();
  }
}

SchedulingExecutor::Life::Departure SchedulingExecutor::Life::departure() const {
  const std::lock_guard lock{mutex};
  return {.spin = spins_, .looks = looks_};
}

bool SchedulingExecutor::Life::has_happened(Departure& departure) const {
  const std::lock_guard lock{mutex};
  if (departure.happened || !spins.load() || spins_ != departure.spin) {
    departure.happened = true;  // nothing runs, or began to when that was not there any more
  } else if (looks_ < departure.looks + 2) {  // the first one may have begun before
    bell->ring();
  } else {
    departure.happened = !tasks || tasks->is_settled();
  }
  return departure.happened;
}

void SchedulingExecutor::Life::end(const Groups& groups) noexcept {
  is_started.store(false);
  try {
    core.stop();
  } catch (...) {  // of a handler: what callbacks throw is on the bell already
    bell->fail(std::current_exception());
  }
  const std::lock_guard lock{changing};
  runs_ = false;
  if (!tasks) {
    return;
  }
  if (nodes_have_come()) {
    report_unmatched();
  }
  try {
    forget_gone(groups);  // what has left since the last look
  } catch (...) {
    bell->fail(std::current_exception());
  }
}

std::optional<executor::Snapshot> SchedulingExecutor::Life::snapshot() const {
  const std::lock_guard lock{mutex};
  if (!has_started_) {
    return {};
  }
  std::vector<executor::NamedTask> named;
  for (const auto& [key, task] : tasks->present()) {
    const CallbackId& id = task.source->id();
    const bool is_quiet = id.housekeeping || id.kind == CallbackKind::qos_event;
    task.each_name([&](const std::string& name) {
      const auto index = core.find(name);
      if (index && (!is_quiet || core.statistics(*index).releases > 0)) {
        named.push_back({.index = *index, .name = name});
      }
    });
  }
  std::ranges::sort(named, {}, &executor::NamedTask::index);
  return executor::snapshot(core, std::move(named));
}

}  // namespace takt_rclcpp
