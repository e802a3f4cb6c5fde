// SPDX-License-Identifier: Apache-2.0
#include "timing_rules.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace takt_rclcpp {
namespace {

// How many letters have to be put in, taken out or changed.
std::size_t distance(const std::string& one, const std::string& other) {
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < other.size(); ++j) {
      const std::size_t changed = diagonal + (one[i] == other[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string fix(const std::string& wanted, const std::set<std::string>& there) {
  constexpr std::size_t most = 12;  // a long list helps nobody
  if (there.empty()) {
    return "none yet";
  }
  std::vector<std::pair<std::size_t, std::string>> nearest;
  for (const std::string& one : there) {
    nearest.emplace_back(distance(wanted, one), one);
  }
  std::ranges::sort(nearest);
  const auto& [changes, first] = nearest.front();
  std::string text;
  if (changes <= std::max<std::size_t>(2, wanted.size() / 3) &&
      changes < std::max(wanted.size(), first.size())) {
    text = "did you mean '" + first + "'? ";
  }
  text += "Known: ";
  for (std::size_t i = 0; i < std::min(nearest.size(), most); ++i) {
    text += (i == 0 ? "" : ", ") + nearest[i].second;
  }
  return text + (nearest.size() > most ? ", ..." : "");
}

bool Rule::matches(const CallbackId& id) const {
  const auto same = [](const auto& wanted, const auto& value) {
    return !wanted || *wanted == value;
  };
  return same(node, id.node) && (!kind || is_kind(id.kind)) && same(name, id.topic_or_service) &&
         same(ordinal, id.ordinal) && same(group, id.group);
}

bool Rule::is_kind(CallbackKind other) const {
  return *kind == other ||
         (*kind == CallbackKind::subscription && other == CallbackKind::intra_process);
}

void Rule::apply(Timing& timing) const {
  const auto set = [](auto& value, const auto& said) {
    if (said) {
      value = *said;
    }
  };
  set(timing.priority, priority);
  set(timing.deadline, deadline);
  set(timing.period, period);
  set(timing.expected_execution, expected_execution);
  set(timing.budget, budget);
  set(timing.cpu, cpu);
  set(timing.waits, waits);
  set(timing.reads, reads);
}

namespace {

// Which key of the entry leaves none of the callbacks, and what it could have said.
Unmatched describe(const Rule& rule, std::vector<CallbackId> left) {
  std::string of;  // what the keys before have chosen
  std::optional<Unmatched> found;
  const auto narrow = [&](const char* what, const std::string& wanted, const auto& matches,
                          const auto& value_of) {
    if (found) {
      return;
    }
    std::set<std::string> there;
    for (const CallbackId& id : left) {
      if (!id.housekeeping && !value_of(id).empty()) {
        there.insert(value_of(id));
      }
    }
    std::erase_if(left, [&](const CallbackId& id) { return !matches(id); });
    if (left.empty()) {
      found =
          Unmatched{.where = rule.where,
                    .problem = "no " + std::string{what} + " '" + wanted + "' yet" +
                               (of.empty() ? "" : " with" + of) + "; this entry matches nothing",
                    .fix = fix(wanted, there)};
    }
    of += (of.empty() ? " " : ", ") + std::string{what} + " '" + wanted + "'";
  };
  if (rule.node) {
    narrow(
        "node", *rule.node, [&](const CallbackId& id) { return id.node == *rule.node; },
        [](const CallbackId& id) { return id.node; });
  }
  if (rule.kind) {
    narrow(
        "kind", std::string{to_text(*rule.kind)},
        [&](const CallbackId& id) { return rule.is_kind(id.kind); },
        [](const CallbackId& id) { return std::string{to_text(id.kind)}; });
  }
  if (rule.name) {
    narrow(
        "name", *rule.name, [&](const CallbackId& id) { return id.topic_or_service == *rule.name; },
        [](const CallbackId& id) { return id.topic_or_service; });
  }
  if (rule.group) {
    narrow(
        "group", std::to_string(*rule.group),
        [&](const CallbackId& id) { return id.group == *rule.group; },
        [](const CallbackId& id) { return std::to_string(id.group); });
  }
  if (rule.ordinal) {
    narrow(
        "ordinal", std::to_string(*rule.ordinal),
        [&](const CallbackId& id) { return id.ordinal == *rule.ordinal; },
        [](const CallbackId& id) { return std::to_string(id.ordinal); });
  }
  return found.value_or(Unmatched{
      .where = rule.where, .problem = "no callback yet", .fix = "add nodes to the executor"});
}

}  // namespace

RulesOfFile::RulesOfFile(std::vector<Rule> rules) : shared_{std::make_shared<Shared>()} {
  shared_->matched = std::vector<std::atomic<bool>>(rules.size());
  shared_->rules = std::move(rules);
}

Timing RulesOfFile::operator()(const CallbackId& id) const {
  Timing timing;
  for (std::size_t i = 0; i < shared_->rules.size(); ++i) {
    if (shared_->rules[i].matches(id)) {
      shared_->rules[i].apply(timing);
      shared_->matched[i].store(true);
    }
  }
  return timing;
}

std::vector<Unmatched> RulesOfFile::unmatched(const std::vector<CallbackId>& there) const {
  std::vector<Unmatched> found;
  for (std::size_t i = 0; i < shared_->rules.size(); ++i) {
    if (!shared_->matched[i].load()) {
      found.push_back(describe(shared_->rules[i], there));
    }
  }
  return found;
}

std::vector<Unmatched> unmatched_entries(const TimingRule& rule,
                                         const std::vector<CallbackId>& there) {
  const auto* const of_file = rule.target<RulesOfFile>();
  return of_file == nullptr ? std::vector<Unmatched>{} : of_file->unmatched(there);
}

}  // namespace takt_rclcpp
