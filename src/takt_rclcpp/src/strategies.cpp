// SPDX-License-Identifier: Apache-2.0
#include "strategies.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include "core_names.hpp"
#include "takt/sched/error.hpp"
#include "timing_rules.hpp"

namespace takt_rclcpp {
namespace {

std::string owner_text(const std::string& node) {
  return node.empty() ? "the executor's strategy" : "the strategy of node '" + node + "'";
}

// "timer0", "subscription:/scan": without its node. No node's name ends like that.
bool is_of_own_node(std::string_view name) {
  constexpr std::array kinds{CallbackKind::timer,         CallbackKind::subscription,
                             CallbackKind::intra_process, CallbackKind::service,
                             CallbackKind::client,        CallbackKind::qos_event,
                             CallbackKind::waitable};
  return std::ranges::any_of(kinds, [&](CallbackKind kind) {
    const std::string_view text = to_text(kind);
    const std::string_view rest = name.starts_with(text) ? name.substr(text.size()) : "";
    return rest.starts_with(':') ||
           (!rest.empty() && rest.find_first_not_of("0123456789") == std::string_view::npos);
  });
}

std::string full_name(const std::string& node, const std::string& callback) {
  if (node.empty() || !is_of_own_node(callback)) {
    return callback;
  }
  return (node.starts_with('/') ? node.substr(1) : node) + "." + callback;
}

// Functions of users cannot be compared: of theirs only the same object is the same.
bool is_same(const sched::PolicyPtr& one, const sched::PolicyPtr& other) {
  return one == other || (one->name() == other->name() &&
                          std::ranges::count(sched::policy_names(), one->name()) > 0);
}

// A scenario of the same name, of several.
class Mixture {
 public:
  explicit Mixture(const std::string& name) : scenario_{name} {}

  void add(const std::string& node, const sched::ScenarioPtr& scenario) {
    take_policy(node, scenario->policy());
    for (sched::TaskChange change : scenario->tasks()) {
      change.task = full_name(node, change.task);
      const auto [known, is_new] = origins_.try_emplace(change.task, node, scenario);
      if (is_new) {
        scenario_.add_task(std::move(change));
      } else if (known->second.second != scenario) {
        throw sched::ScheduleError("scenario '" + scenario_.name() + "'",
                                   owner_text(known->second.first) + " and " + owner_text(node) +
                                       " both say something of callback '" + change.task + "'",
                                   "say it in one of them, or give both the same scenario");
      }
    }
  }
  [[nodiscard]] sched::SchedulingScenario take() { return std::move(scenario_); }

 private:
  void take_policy(const std::string& node, const sched::PolicyPtr& policy) {
    if (policy == nullptr) {
      return;
    }
    if (policy_ == nullptr) {
      policy_ = policy;
      policy_of_ = node;
      scenario_.set_scheduling_policy(policy);
    } else if (!is_same(policy_, policy)) {
      throw sched::ScheduleError(
          "scenario '" + scenario_.name() + "'",
          owner_text(policy_of_) + " has the policy '" + std::string{policy_->name()} +
              "' for it, " + owner_text(node) + " '" + std::string{policy->name()} + "'",
          "an executor has one policy in a scenario: leave it to the executor's strategy");
    }
  }

  sched::SchedulingScenario scenario_;
  sched::PolicyPtr policy_;
  std::string policy_of_;
  std::map<std::string, std::pair<std::string, sched::ScenarioPtr>> origins_;
};

}  // namespace

void Strategies::set(const std::string& node, sched::SchedulingStrategy strategy) {
  if (strategy.scenarios().empty()) {
    throw sched::ScheduleError(owner_text(node), "it has no scenarios", "add at least one");
  }
  std::vector<OfOne> all = all_;
  const auto known = std::ranges::find(all, node, &OfOne::node);
  if (known != all.end()) {
    known->strategy = std::move(strategy);
  } else {
    all.insert(node.empty() ? all.begin() : all.end(), {node, std::move(strategy)});
  }
  together_ = merged(all);
  all_ = std::move(all);
}

sched::SchedulingStrategy Strategies::merged(const std::vector<OfOne>& all) {
  std::vector<std::pair<std::string, Mixture>> mixtures;
  for (const OfOne& one : all) {
    for (const sched::ScenarioPtr& scenario : one.strategy.scenarios()) {
      auto mixture =
          std::ranges::find(mixtures, scenario->name(), &std::pair<std::string, Mixture>::first);
      if (mixture == mixtures.end()) {
        // The executor's come first: it has none of this name.
        if (all.front().node.empty() && !one.node.empty()) {
          std::set<std::string> there;
          for (const auto& [name, unused] : mixtures) {
            there.insert(name);
          }
          throw sched::ScheduleError(
              owner_text(one.node),
              "its scenario '" + scenario->name() + "' is none of the executor's",
              fix(scenario->name(), there));
        }
        mixtures.emplace_back(scenario->name(), Mixture{scenario->name()});
        mixture = std::prev(mixtures.end());
      }
      mixture->second.add(one.node, scenario);
    }
  }
  sched::SchedulingStrategy together;
  for (auto& [name, mixture] : mixtures) {
    together.add_scenario(mixture.take());
  }
  const sched::SchedulingStrategy& first = all.front().strategy;
  together.set_default_scenario(first.scenarios()[first.default_scenario()]->name());
  together.allow_absent_tasks();
  return together;
}

void Strategies::look(const std::function<bool(const std::string& callback)>& is_there) {
  if (!together_) {
    return;
  }
  for (const sched::ScenarioPtr& scenario : together_->scenarios()) {
    for (const sched::TaskChange& change : scenario->tasks()) {
      if (!matched_.contains(change.task) && is_there(change.task)) {
        matched_.insert(change.task);
      }
    }
  }
}

std::vector<Unmatched> Strategies::unmatched(const std::set<std::string>& there) const {
  std::vector<Unmatched> found;
  if (!together_) {
    return found;
  }
  for (const sched::ScenarioPtr& scenario : together_->scenarios()) {
    for (const sched::TaskChange& change : scenario->tasks()) {
      if (!matched_.contains(change.task)) {
        found.push_back({.where = "scenario '" + scenario->name() + "', '" + change.task + "'",
                         .problem = "no callback of this name yet",
                         .fix = fix(change.task, there)});
      }
    }
  }
  return found;
}

}  // namespace takt_rclcpp
