// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/plan.hpp"

namespace takt::executor {

std::unique_ptr<Plan> make_plan(sched::CompiledStrategy strategy,
                                const std::function<Topic*(const std::string&)>& topic_of) {
  auto plan = std::make_unique<Plan>(std::move(strategy));
  const std::size_t tasks = plan->strategy.tasks().size();
  for (const sched::CompiledScenario& scenario : plan->strategy.scenarios()) {
    auto target = std::make_unique<Target>();
    target->scenario = &scenario;
    target->id = static_cast<std::uint16_t>(plan->targets.size());
    target->by_reader.resize(tasks);
    target->by_source.resize(tasks);
    target->limits.resize(tasks);
    for (const sched::AgeConstraint& constraint : scenario.age_constraints()) {
      target->limits[constraint.reader].push_back(
          {.topic = topic_of(constraint.topic), .max_age = constraint.max_age});
      if (!constraint.needs_early_release()) {
        continue;
      }
      target->watches.push_back(std::make_unique<AgeWatch>());
      AgeWatch* watch = target->watches.back().get();
      watch->constraint = &constraint;
      target->by_reader[constraint.reader].push_back(watch);
      target->by_source[*constraint.source].push_back(watch);
    }
    plan->targets.push_back(std::move(target));
  }
  return plan;
}

}  // namespace takt::executor
