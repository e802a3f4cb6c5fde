// SPDX-License-Identifier: Apache-2.0
#include "robot_gaps.hpp"

#include <algorithm>
#include <deque>
#include <optional>

#include "../application/robot.hpp"
#include "paths.hpp"
#include "robot_words.hpp"
#include "takt/analysis/scenario_model.hpp"
#include "takt/application/compile.hpp"

namespace takt::analysis {
namespace {

using application::Application;
using application::Gap;

// A process with its bounds; `view` must outlive it, and may change its gaps.
class Solved {
 public:
  explicit Solved(const Application& view)
      : strategy_(application::compile(view)),
        model_(view, strategy_, strategy_.scenarios().front()),
        bounds_(solve()),
        paths_(view, strategy_, strategy_.scenarios().front(), model_, bounds_) {}

  [[nodiscard]] std::optional<Gap> gap(const std::string& writer) const {
    const auto task = strategy_.find_task(writer);
    return task && bounds_.converged ? paths_.gap_of_messages(*task) : std::nullopt;
  }

 private:
  ScenarioBounds solve() {
    Effort effort;
    return model_.solve(effort, Graphs::none);
  }

  sched::CompiledStrategy strategy_;
  ScenarioModel model_;
  ScenarioBounds bounds_;
  Paths paths_;
};

nanoseconds longest(const Gap& gap) {
  return std::max(gap.between, gap.first);
}

// Whether messages may stay away on the way.
bool may_lose(const Application& robot, std::size_t writer, std::size_t reader) {
  const application::Link* const link =
      application::find_link(robot, robot.processes[writer], robot.processes[reader]);
  return link != nullptr && link->loss > 0;
}

// Of the messages of other processes, any of which will do.
std::optional<Gap> least_gap(const Application& robot, const std::deque<Solved>& processes,
                             const std::string& topic, std::size_t reader) {
  std::optional<Gap> least;
  for (const application::Callback& writer : robot.callbacks) {
    if (writer.process == reader || !publishes(writer, topic) ||
        may_lose(robot, writer.process, reader)) {
      continue;
    }
    std::optional<Gap> found = processes[writer.process].gap(writer.task.name);
    const application::Link* const link =
        application::find_link(robot, robot.processes[writer.process], robot.processes[reader]);
    if (found && link != nullptr) {
      found = {.between = slower(found->between, link->drift),
               .first = slower(found->first, link->drift)};
    }
    if (found && (!least || longest(*found) < longest(*least))) {
      least = found;
    }
  }
  return least;
}

}  // namespace

void add_gaps(const Application& robot, std::vector<Application>& views) {
  if (robot.joins().empty()) {
    return;  // nothing waits for a message
  }
  std::deque<Solved> processes;
  for (const Application& view : views) {
    processes.emplace_back(view);
  }
  // What one gap rests on is known before it. A way through the robot passes no topic twice.
  bool changed = true;
  for (std::size_t round = 0; changed && round <= robot.topics.size(); ++round) {
    changed = false;
    for (std::size_t i = 0; i < views.size(); ++i) {
      for (application::Topic& topic : views[i].topics) {
        if (!topic.external) {
          continue;
        }
        const std::optional<Gap> found = least_gap(robot, processes, topic.name, i);
        changed = changed || found != topic.external_gap;
        topic.external_gap = found;
      }
    }
  }
}

}  // namespace takt::analysis
