// SPDX-License-Identifier: Apache-2.0
//
// The entries of a timing file, and which of them have matched a callback: one that matches none
// is most often a slip of the hand, and nobody would see it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core_names.hpp"
#include "takt/rclcpp/timing.hpp"

namespace takt_rclcpp {

struct Rule {
  std::string where;  // file and line

  std::optional<std::string> node;
  std::optional<CallbackKind> kind;
  std::optional<std::string> name;
  std::optional<std::size_t> ordinal;
  std::optional<std::size_t> group;

  std::optional<int> priority;
  std::optional<nanoseconds> deadline;
  std::optional<nanoseconds> period;
  std::optional<nanoseconds> expected_execution;
  std::optional<nanoseconds> budget;
  std::optional<int> cpu;
  std::optional<bool> waits;
  std::optional<std::vector<sched::Read>> reads;

  [[nodiscard]] bool matches(const CallbackId& id) const;
  // Of one subscription, messages from other processes and pointers from this one.
  [[nodiscard]] bool is_kind(CallbackKind other) const;
  void apply(Timing& timing) const;
};

// What there is in place of `wanted`, the nearest first.
[[nodiscard]] std::string fix(const std::string& wanted, const std::set<std::string>& there);

// A TimingRule. Copies know the same of what has matched.
class RulesOfFile {
 public:
  explicit RulesOfFile(std::vector<Rule> rules);

  Timing operator()(const CallbackId& id) const;
  [[nodiscard]] std::vector<Unmatched> unmatched(const std::vector<CallbackId>& there) const;

 private:
  struct Shared {
    std::vector<Rule> rules;
    std::vector<std::atomic<bool>> matched;
  };
  std::shared_ptr<Shared> shared_;
};

}  // namespace takt_rclcpp
