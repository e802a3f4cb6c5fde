// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "../sched/stock_executor.hpp"
#include "takt/sched/policies.hpp"
#include "takt/trace/timeline.hpp"

namespace takt::trace {
namespace {

sched::Order order_of(const std::string& policy) {
  const auto names = sched::policy_names();
  return std::ranges::find(names, policy) == names.end() ? sched::Order::other
                                                         : sched::parse_policy(policy)->order();
}

}  // namespace

Orders::Orders(const About& about) {
  for (const auto& [number, name] : about.scenarios) {
    scenarios_[number] = order_of(about.attribute("policy." + name));
  }
  std::string first = about.attribute("policy." + about.attribute("scenario"));
  if (first.empty()) {
    first = about.attribute("policy.default");
  }
  first = first.empty() ? about.attribute("policy") : first;
  first_ = order_of(first);
  threads_ = first == sched::threads_name;
  robot_ = first == "robot";
}

bool Orders::by_deadline(std::uint16_t core) const {
  const auto found = cores_.find(core);
  return (found == cores_.end() ? first_ : found->second) == sched::Order::deadline;
}

void Orders::take(const Event& scenario) {
  if (const auto found = scenarios_.find(scenario.value); found != scenarios_.end()) {
    cores_[scenario.core] = found->second;
  }
}

}  // namespace takt::trace
