// SPDX-License-Identifier: Apache-2.0
#include "data_age.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>

#include "takt/sched/error.hpp"
#include "text.hpp"

namespace takt::sched {
namespace {

struct Chain {
  TaskIndex source = 0;
  TaskIndex writer = 0;
  nanoseconds youngest{0};
  nanoseconds oldest{0};
};

bool writes_topic(const Task& task, const std::string& topic) {
  return std::ranges::find(task.writes, topic) != task.writes.end();
}

nanoseconds add(nanoseconds a, nanoseconds b) {
  return a > nanoseconds::max() - b ? nanoseconds::max() : a + b;
}

// Follows topics upstream, from a topic over message tasks to the timers that feed it.
class Upstream {
 public:
  explicit Upstream(const std::vector<Task>& tasks) : tasks_(&tasks), visited_(tasks.size()) {}

  // The chain that can deliver the topic soonest after its timer's release.
  std::optional<Chain> best_chain(const std::string& topic) {
    std::optional<Chain> best;
    for (std::size_t i = 0; i < tasks_->size(); ++i) {
      if (!visited_[i] && writes_topic(task(i), topic)) {
        const auto chain = chain_to(static_cast<TaskIndex>(i));
        if (chain && (!best || std::tie(chain->youngest, chain->oldest) <
                                   std::tie(best->youngest, best->oldest))) {
          best = chain;
        }
      }
    }
    return best;
  }

  // Every task through which the topic's data comes, timers included.
  void collect(const std::string& topic, std::vector<TaskIndex>& producers) {
    for (std::size_t i = 0; i < tasks_->size(); ++i) {
      if (!visited_[i] && writes_topic(task(i), topic)) {
        visited_[i] = true;
        producers.push_back(static_cast<TaskIndex>(i));
        if (task(i).kind == TaskKind::message) {
          collect(task(i).trigger, producers);
        }
      }
    }
  }

 private:
  [[nodiscard]] const Task& task(std::size_t index) const { return (*tasks_)[index]; }

  std::optional<Chain> chain_to(TaskIndex writer) {
    const TaskParameters& parameters = task(writer).parameters;
    const nanoseconds deadline = relative_deadline(parameters);
    if (task(writer).kind == TaskKind::timer) {
      return Chain{.source = writer,
                   .writer = writer,
                   .youngest = parameters.expected_execution,
                   .oldest = add(parameters.period, deadline)};
    }
    visited_[writer] = true;  // on the way from here upstream; topics may form a circle
    auto chain = best_chain(task(writer).trigger);
    visited_[writer] = false;
    if (chain) {
      chain->writer = writer;
      chain->youngest = add(chain->youngest, parameters.expected_execution);
      chain->oldest = add(chain->oldest, deadline.count() > 0 ? deadline : nanoseconds::max());
    }
    return chain;
  }

  const std::vector<Task>* tasks_;
  std::vector<bool> visited_;
};

}  // namespace

std::vector<AgeConstraint> find_age_constraints(const std::vector<Task>& tasks) {
  std::vector<AgeConstraint> constraints;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (const Read& read : tasks[i].reads) {
      if (read.max_age.count() == 0) {
        continue;
      }
      AgeConstraint constraint{.reader = static_cast<TaskIndex>(i),
                               .topic = read.topic,
                               .max_age = read.max_age,
                               .source = {}};
      if (const auto chain = Upstream{tasks}.best_chain(read.topic)) {
        constraint.source = chain->source;
        constraint.youngest = chain->youngest;
        constraint.oldest = chain->oldest;
        if (read.max_age < chain->youngest) {
          throw ScheduleError(
              task_text(tasks[i]),
              "it allows topic " + quoted(read.topic) + " an age of " + time_text(read.max_age) +
                  ", but the data takes at least " + time_text(chain->youngest) + " from " +
                  task_text(tasks[chain->source]) +
                  (chain->writer == chain->source ? std::string{}
                                                  : " over " + task_text(tasks[chain->writer])),
              "allow more age, or make the callbacks that produce the data shorter");
        }
      }
      constraints.push_back(std::move(constraint));
    }
  }
  return constraints;
}

void raise_sources(std::vector<Task>& tasks, const std::vector<AgeConstraint>& constraints) {
  bool changed = true;
  while (changed) {  // a producer that was raised may limit the age of its own data
    changed = false;
    for (const AgeConstraint& constraint : constraints) {
      const int priority = tasks[constraint.reader].parameters.priority;
      std::vector<TaskIndex> producers;
      Upstream{tasks}.collect(constraint.topic, producers);
      for (const TaskIndex producer : producers) {
        TaskParameters& parameters = tasks[producer].parameters;
        changed = changed || parameters.priority < priority;
        parameters.priority = std::max(parameters.priority, priority);
      }
    }
  }
}

}  // namespace takt::sched
