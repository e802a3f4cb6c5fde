// SPDX-License-Identifier: Apache-2.0
#include "life.hpp"

#include <algorithm>
#include <fstream>
#include <rclcpp/logging.hpp>
#include <utility>

namespace takt::rclcpp {
namespace {

executor::Options overruled(executor::Options options) {
  options.stop_on_signals = false;
  options.exceptions = executor::Exceptions::leave_spin;
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

}  // namespace

SchedulingExecutor::Life::Life(Options chosen)
    : options{std::move(chosen)}, core{overruled(options.scheduling)}, rule{options.timing} {}

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
  told.clear();
}

void SchedulingExecutor::Life::follow(const std::vector<::rclcpp::CallbackGroup::WeakPtr>& groups) {
  const std::vector<Entity> entities = nodes.collect(groups);
  const std::lock_guard lock{mutex};
  tasks->follow(entities, core);
}

void SchedulingExecutor::Life::end() noexcept {
  try {
    core.stop();
  } catch (...) {  // of a handler: what callbacks throw is on the bell already
    bell->fail(std::current_exception());
  }
}

void SchedulingExecutor::Life::tell_of_waiting() {
  const auto now = os::now().time_since_epoch().count();
  const std::lock_guard lock{mutex};
  for (const auto& [key, task] : tasks->present()) {
    const Running& running = task.source->running();
    const std::int64_t since = running.since_ns.load(std::memory_order_relaxed);
    if (since == 0 || now - since < options.tell_waiting_after.count() ||
        task.source->describe().waits || told.contains(task.name) ||
        !sleeps(running.thread.load(std::memory_order_relaxed))) {
      continue;
    }
    told.insert(task.name);
    RCLCPP_WARN(::rclcpp::get_logger("takt"),
                "callback '%s' has been waiting inside for %.1f s, and callbacks of the same or "
                "lower priority on its core wait with it. If it waits for one of them, it waits "
                "for ever. Say 'waits: true' of it in the timing file (fixed priorities): then it "
                "has a thread of its own",
                task.name.c_str(), static_cast<double>(now - since) * 1e-9);
  }
}

}  // namespace takt::rclcpp
