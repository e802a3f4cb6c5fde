// SPDX-License-Identifier: Apache-2.0
//
// The scenarios of an executor, also of one that runs: there, what they say of its tasks.
#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "keeper.hpp"
#include "registry.hpp"
#include "shared.hpp"
#include "takt/executor/executor.hpp"
#include "takt/sched/error.hpp"

namespace takt::executor {
namespace {

[[noreturn]] void refuse(const std::string& scenario, const char* why) {
  throw std::logic_error{"set_scheduling_strategy: the executor has been started, and scenario '" +
                         scenario + "' " + why + "; stop() it first"};
}

// Functions of users cannot be compared: of theirs only the same object is the same.
bool is_same(const sched::PolicyPtr& one, const sched::PolicyPtr& other) {
  return one == other || (one != nullptr && other != nullptr && one->name() == other->name() &&
                          std::ranges::count(sched::policy_names(), one->name()) > 0);
}

// The strategy with the policies of the former one, which threads look at.
sched::SchedulingStrategy settled(const sched::SchedulingStrategy& strategy,
                                  const sched::SchedulingStrategy& former) {
  sched::SchedulingStrategy completed;
  if (strategy.allows_absent_tasks()) {
    completed.allow_absent_tasks();
  }
  for (std::size_t i = 0; i < strategy.scenarios().size(); ++i) {
    sched::SchedulingScenario scenario = *strategy.scenarios()[i];
    const std::string name = scenario.name();
    if (former.find(name) != i) {
      refuse(name, "is new, or in another place among them");
    }
    const sched::PolicyPtr& policy = former.scenarios()[i]->policy();
    if (!is_same(scenario.policy(), policy)) {
      refuse(name, "has another policy");
    }
    if (policy) {
      scenario.set_scheduling_policy(policy);
    }
    completed.add_scenario(std::move(scenario));
  }
  if (completed.scenarios().size() < former.scenarios().size()) {
    refuse(former.scenarios()[completed.scenarios().size()]->name(), "is missing");
  }
  return completed.set_default_scenario(strategy.scenarios()[strategy.default_scenario()]->name());
}

// Threads look at them without a lock.
void refuse_other_topics(const sched::Task& task, const sched::Task& before) {
  const bool same_reads =
      std::ranges::equal(task.reads, before.reads, {}, &sched::Read::topic, &sched::Read::topic);
  if (!same_reads || task.writes != before.writes) {
    throw std::logic_error{
        "set_scheduling_strategy: the executor has been started, and task '" + task.name +
        "' would have other topics; name them where it is added, or stop() the executor first"};
  }
}

}  // namespace

Change Executor::set_scheduling_strategy(sched::SchedulingStrategy strategy) {
  if (strategy.scenarios().empty()) {
    throw sched::ScheduleError("the strategy", "it has no scenarios", "add at least one");
  }
  std::optional<sched::SchedulingStrategy> other;  // destroyed without the lock
  std::unique_ptr<sched::CompiledApplication> compiled;
  std::unique_lock lock{registry_->mutex};
  registry_->wait_until_built(lock);
  if (registry_->phase == Registry::Phase::idle) {
    std::vector<std::string> names;
    for (const sched::ScenarioPtr& scenario : strategy.scenarios()) {
      names.push_back(scenario->name());
    }
    const std::size_t first = strategy.default_scenario();
    if (names != registry_->scenarios) {  // switch_to() looks at them without a lock
      registry_->scenarios = std::move(names);
      shared_->scenario = first;
    } else if (!registry_->strategy || registry_->strategy->default_scenario() != first) {
      shared_->scenario = first;
    }
    other = std::exchange(registry_->strategy, std::move(strategy));
    return {};
  }
  if (!registry_->strategy) {
    refuse(strategy.scenarios().front()->name(), "is the first one");
  }
  other = settled(strategy, *registry_->strategy);
  std::swap(registry_->strategy, other);
  try {
    if (registry_->is_live()) {
      compiled = compile();
      const auto before = registry_->applications.back()->strategy.tasks();
      for (const auto& [name, index] : registry_->by_name) {
        refuse_other_topics(compiled->strategy.tasks()[index], before[index]);
      }
      prepare_crews(*compiled);
    }
  } catch (...) {
    std::swap(registry_->strategy, other);
    throw;
  }
  // Nothing is refused from here on.
  if (compiled) {
    for (const auto& [name, index] : registry_->by_name) {
      name_in_trace(index, *compiled);
    }
  }
  return keeper_->publish(std::move(compiled), {}, lock);
}

}  // namespace takt::executor
