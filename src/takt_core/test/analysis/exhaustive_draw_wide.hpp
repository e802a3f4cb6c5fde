// SPDX-License-Identifier: Apache-2.0
//
// Random sets with more than timing: callbacks that wait, overheads, data with its ages and chains,
// switches of the scenario; each also without the others.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/exhaustive_draw.hpp"

namespace takt::analysis {

class WideSets : public ExhaustiveSets {
 public:
  using ExhaustiveSets::ExhaustiveSets;

  ExhaustiveSet draw(const std::string& policy) {
    ExhaustiveSet set = ExhaustiveSets::draw(policy, 0.8);
    // In both scenarios the highest priority must be that of a timer.
    const bool foreseen = policy != "p-rm" || std::ranges::all_of(set.tasks, [](const auto& entry) {
                            return entry.trigger.writers.empty();
                          });
    set.switches = foreseen && chance(0.25);
    if (!set.switches && set.rule == Rule::fp && chance(0.4)) {
      add_waiting(set);
    }
    if (chance(0.35)) {
      add_costs(set);
    }
    if (chance(0.6)) {
      add_data(set);
    }
    if (set.switches) {
      add_other_scenario(set);
    }
    raise_sources(set);
    return set;
  }

 private:
  std::size_t pick(std::size_t count) {
    return static_cast<std::size_t>(number(0, static_cast<std::int64_t>(count) - 1));
  }

  void add_waiting(ExhaustiveSet& set) {
    set.tasks.resize(std::min<std::size_t>(set.tasks.size(), 3));
    for (ExhaustiveTask& entry : set.tasks) {
      if (entry.task.group == 0 && chance(0.6)) {
        entry.suspension = number(1, 3);
        entry.suspensions = chance(0.8) ? number(1, 2) : 0;
      }
    }
  }

  void add_costs(ExhaustiveSet& set) {
    for (std::int64_t* const cost : {&set.costs.dispatch, &set.costs.preemption, &set.costs.release,
                                     &set.costs.publish, &set.costs.deliver}) {
      *cost = chance(0.4) ? 1 : 0;
    }
  }

  void add_data(ExhaustiveSet& set) {
    std::size_t queues = 0;
    for (ExhaustiveTask& entry : set.tasks) {
      if (!entry.trigger.writers.empty()) {
        entry.trigger.depth = number(1, 3);
        ++queues;
      }
    }
    for (std::size_t i = 0; i < set.tasks.size() && queues < 4; ++i) {
      if (chance(0.6)) {
        add_input(set, i);
        queues += set.tasks[i].reads.size();
      }
    }
    add_chain(set);
  }

  void add_input(ExhaustiveSet& set, std::size_t reader) {
    Input input{.depth = number(1, 3)};
    for (std::size_t i = 0; i < set.tasks.size(); ++i) {
      if (i != reader && input.writers.size() < 2 && chance(0.4)) {
        input.writers.push_back(i);
      }
    }
    if (!input.writers.empty()) {
      set.tasks[reader].reads.push_back(input);
    }
  }

  void add_chain(ExhaustiveSet& set) {
    std::vector<std::size_t> chain = {pick(set.tasks.size())};
    for (std::size_t length = 1; length < 3; ++length) {
      std::vector<std::size_t> next;
      for (std::size_t i = 0; i < set.tasks.size(); ++i) {
        if (std::ranges::find(chain, i) == chain.end() && is_read(set, chain.back(), i)) {
          next.push_back(i);
        }
      }
      if (next.empty()) {
        break;
      }
      chain.push_back(next[pick(next.size())]);
    }
    if (chain.size() < 2) {
      return;
    }
    set.chain = chain;
    if (chance(0.5)) {
      set.max_latency = number(5, 40);
    }
  }

  static bool is_read(const ExhaustiveSet& set, std::size_t writer, std::size_t reader) {
    const auto reads = [&](const Input& input) {
      return std::ranges::find(input.writers, writer) != input.writers.end();
    };
    return reads(set.tasks[reader].trigger) || std::ranges::any_of(set.tasks[reader].reads, reads);
  }

  // Where messages release somebody, priorities and deadlines mostly stay: else nothing is proved.
  void add_other_scenario(ExhaustiveSet& set) {
    const bool messages = std::ranges::any_of(
        set.tasks, [](const ExhaustiveTask& entry) { return !entry.trigger.writers.empty(); });
    const bool orders = !messages || chance(0.1);
    for (ExhaustiveTask& entry : set.tasks) {
      entry.task.group = 0;
      entry.task.lag = 0;
      if (chance(0.6)) {
        change(set, entry, orders);
      } else {
        entry.other = entry.task;
      }
    }
    assign(set, [](ExhaustiveTask& entry) -> OracleTask& { return *entry.other; });
    for (std::size_t i = 0; i < set.tasks.size(); ++i) {
      for (Input& input : set.tasks[i].reads) {
        input.max_age = oldest(set, input) + number(0, 6);
      }
    }
  }

  void change(const ExhaustiveSet& set, ExhaustiveTask& entry, bool orders) {
    OracleTask other = entry.task;
    if (entry.trigger.writers.empty() && chance(0.5)) {
      other.period = number(std::max<std::int64_t>(4, other.execution), 12);
    }
    if (chance(0.4)) {
      other.execution = number(1, 4);
      other.best =
          std::max<std::int64_t>(1, entry.task.best * other.execution / entry.task.execution);
    }
    if (orders && chance(0.5)) {
      other.priority = static_cast<int>(number(1, 5));
      other.deadline = number(4, 16);
    }
    if (set.policy == "dm" || set.policy == "p-rm" || set.policy == "cw-edf") {
      other.deadline = std::min(other.deadline, other.period);
    }
    other.deadline = std::max(other.deadline, other.execution);
    entry.other = other;
  }

  // Data that is as old as this needs no release before its time.
  static std::int64_t oldest(const ExhaustiveSet& set, const Input& input) {
    std::int64_t age = 0;
    for (const std::size_t writer : input.writers) {
      const ExhaustiveTask& entry = set.tasks[writer];
      const OracleTask other = entry.other.value_or(entry.task);
      const std::int64_t before = entry.trigger.writers.empty()
                                      ? std::max(entry.task.period, other.period)
                                      : oldest(set, entry.trigger);
      age = std::max(age, before + std::max(entry.task.deadline, other.deadline));
    }
    return age;
  }

  // What messages release on the way to a reader that limits the age comes no later than that one.
  static void raise_sources(ExhaustiveSet& set) {
    for (std::size_t round = 0; round < set.tasks.size(); ++round) {
      for (const ExhaustiveTask& reader : set.tasks) {
        for (const Input& input : reader.reads) {
          raise(set, input, reader.task.priority, reader.other.value_or(reader.task).priority);
        }
      }
    }
  }

  static void raise(ExhaustiveSet& set, const Input& input, int priority, int other) {
    for (const std::size_t writer : input.writers) {
      ExhaustiveTask& entry = set.tasks[writer];
      if (entry.trigger.writers.empty()) {
        continue;  // a timer; no job of it is needed before its time
      }
      if (entry.other) {
        entry.other->priority = std::max(entry.other->priority, other);
      }
      entry.task.priority = std::max(entry.task.priority, priority);
      raise(set, entry.trigger, priority, other);
    }
  }
};

}  // namespace takt::analysis
