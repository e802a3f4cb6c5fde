// SPDX-License-Identifier: Apache-2.0
#include "life.hpp"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <rclcpp/logging.hpp>
#include <utility>

#include "takt/os/memory.hpp"
#include "takt/os/thread.hpp"

namespace takt::rclcpp {
namespace {

executor::Options overruled(executor::Options options) {
  options.stop_on_signals = false;
  options.exceptions = executor::Exceptions::leave_spin;
  options.lock_memory = false;  // done when the executor is made: it takes a tenth of a second
  return options;
}

bool is_fixed(const sched::PolicyPtr& policy) {
  return policy != nullptr && policy->fixed_priority() && policy->preemptive();
}

// Whether the thread of this process sleeps, as the kernel says.
bool sleeps(int thread) {
  std::ifstream file{"/proc/self/task/" + std::to_string(thread) + "/stat"};
  std::string text;
  std::getline(file, text);
  const std::size_t end_of_name = text.rfind(')');
  return end_of_name != std::string::npos && end_of_name + 2 < text.size() &&
         (text[end_of_name + 2] == 'S' || text[end_of_name + 2] == 'D');
}

// Of the calling thread, where it is a real-time one, and only for what waits as long as any
// callback wants to run.
class LowestPriority {
 public:
  LowestPriority() noexcept {
    const int policy = sched_getscheduler(0);
    sched_param present{};
    if ((policy == SCHED_FIFO || policy == SCHED_RR) && sched_getparam(0, &present) == 0 &&
        present.sched_priority > os::min_priority) {
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
    : options{std::move(chosen)},
      core{overruled(options.scheduling)},
      publications{core},
      bell{std::make_shared<Bell>(options.scheduling.trace.empty() ? nullptr : &publications)},
      rule{options.timing} {
  if (options.scheduling.real_time && options.scheduling.lock_memory) {
    memory_ = os::lock_memory();
  }
}

bool SchedulingExecutor::Life::may_wait() const {
  return std::ranges::all_of(
             strategy.scenarios(),
             [&](const sched::ScenarioPtr& scenario) {
               return is_fixed(scenario->policy() ? scenario->policy() : options.scheduling.policy);
             }) &&
         (!strategy.scenarios().empty() || is_fixed(options.scheduling.policy));
}

void SchedulingExecutor::Life::begin() {
  const std::lock_guard lock{mutex};
  if (!tasks) {
    tasks = std::make_unique<Tasks>(options, rule, may_wait(), bell);
  }
  has_started_ = false;
  static_cast<void>(bell->take_error());  // of a spin() that something else has left
  told.clear();
  publications.forget();
  tell_of_memory();
  ++spins_;
}

void SchedulingExecutor::Life::tell_of_memory() {
  const os::Shortfalls shortfalls = std::exchange(memory_, {});
  if (shortfalls.empty()) {
    return;
  }
  if (options.scheduling.on_shortfalls) {
    options.scheduling.on_shortfalls(shortfalls);
    return;
  }
  for (const os::Shortfall& shortfall : shortfalls) {
    RCLCPP_WARN(::rclcpp::get_logger("takt"), "not obtained: %s: %s; %s", shortfall.what.c_str(),
                shortfall.why.c_str(), shortfall.fix.c_str());
  }
}

void SchedulingExecutor::Life::entities_changed() {
  tell_of_reentrant();
  if (spins.load()) {
    bell->ring();
  }
}

// rclcpp's multi-threaded executors run one callback of such a group twice at once.
void SchedulingExecutor::Life::tell_of_reentrant() {
  for (const std::shared_ptr<const Group>& group : nodes.take_reentrant()) {
    RCLCPP_INFO(::rclcpp::get_logger("takt"),
                "callback group %zu of node '%s' is Reentrant: its callbacks exclude nobody, but "
                "none of them runs twice at once under this executor",
                group->ordinal, group->node.c_str());
  }
}

void SchedulingExecutor::Life::follow(const std::vector<::rclcpp::CallbackGroup::WeakPtr>& groups) {
  const std::vector<Entity> entities = nodes.collect(groups);
  tell_of_reentrant();
  const std::lock_guard lock{mutex};
  const bool left_out = tasks->follow(entities, Tasks::Which::of_authors, core);
  if (left_out && is_started.load()) {
    const LowestPriority no_hurry;
    tasks->follow(entities, Tasks::Which::all, core);
  }
  ++looks_;
}

void SchedulingExecutor::Life::start() {
  core.start();
  is_started.store(true);
  const std::lock_guard lock{mutex};
  has_started_ = true;
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
    departure.happened = tasks->is_settled();
  }
  return departure.happened;
}

void SchedulingExecutor::Life::end() noexcept {
  is_started.store(false);
  try {
    core.stop();
  } catch (...) {  // of a handler: what callbacks throw is on the bell already
    bell->fail(std::current_exception());
  }
  const std::lock_guard lock{mutex};
  tell_of_unmatched();
}

std::vector<Unmatched> SchedulingExecutor::Life::unmatched() const {
  std::vector<CallbackId> there;
  if (tasks) {
    for (const auto& [key, task] : tasks->present()) {
      there.push_back(task.source->id());
    }
  }
  return unmatched_entries(rule, there);
}

void SchedulingExecutor::Life::tell_of_unmatched() {
  for (const Unmatched& entry : unmatched()) {
    if (told_of_timing.insert(entry.where).second) {
      RCLCPP_WARN(::rclcpp::get_logger("takt"), "%s: %s; %s", entry.where.c_str(),
                  entry.problem.c_str(), entry.remedy.c_str());
    }
  }
}

std::optional<executor::Snapshot> SchedulingExecutor::Life::snapshot() const {
  const std::lock_guard lock{mutex};
  if (!has_started_) {
    return {};
  }
  std::vector<executor::NamedTask> named;
  for (const auto& [key, task] : tasks->present()) {
    const auto index = core.find(task.name);
    const CallbackId& id = task.source->id();
    const bool is_quiet = id.housekeeping || id.kind == CallbackKind::qos_event;
    if (index && (!is_quiet || core.statistics(*index).releases > 0)) {
      named.push_back({.index = *index, .name = task.name});
    }
  }
  std::ranges::sort(named, {}, &executor::NamedTask::index);
  return executor::snapshot(core, std::move(named));
}

void SchedulingExecutor::Life::look_around() {
  const os::TimePoint now = os::now();
  const std::lock_guard lock{mutex};
  if (now - last_look_ >= std::chrono::seconds{1}) {
    last_look_ = now;
    tasks->look_again();
    const std::size_t present = tasks->present().size();
    if (std::exchange(present_at_last_look_, present) == present) {
      tell_of_unmatched();
    }
  }
  for (auto& [key, task] : tasks->present()) {
    const Running& running = task.source->running();
    const std::uint64_t count = running.count.load();
    if (count != std::exchange(task.looked_at, count)) {
      task.runs_since = now;
    }
    const nanoseconds waits = now - task.runs_since;
    if (count % 2 == 0 || waits < options.tell_waiting_after || told.contains(task.name) ||
        task.source->describe().waits || !sleeps(running.thread.load())) {
      continue;
    }
    told.insert(task.name);
    RCLCPP_WARN(::rclcpp::get_logger("takt"),
                "callback '%s' has been waiting inside for %.1f s, and callbacks of the same or "
                "lower priority on its core wait with it. If it waits for one of them, it waits "
                "for ever. Say 'waits: true' of it in the timing file (fixed priorities): then it "
                "has a thread of its own",
                task.name.c_str(), static_cast<double>(waits.count()) * 1e-9);
  }
}

}  // namespace takt::rclcpp
