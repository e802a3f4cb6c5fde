// SPDX-License-Identifier: Apache-2.0
#include "parse_joins.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "../sched/text.hpp"
#include "takt/sched/error.hpp"
#include "takt/sched/join.hpp"

namespace takt::application {
namespace {

[[noreturn]] void refuse(const Callback& callback, const std::string& what,
                         const std::string& fix) {
  throw sched::ScheduleError(sched::task_text(callback.task),
                             "it belongs to join " + sched::name_text(callback.join) + what, fix);
}

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::ranges::sort(names);
  return names;
}

bool publish_alike(const Callback& one, const Callback& other) {
  return sorted(one.task.writes) == sorted(other.task.writes) &&
         std::ranges::all_of(one.task.writes, [&](const std::string& topic) {
           return one.messages_on(topic) == other.messages_on(topic);
         });
}

void check_join(const Application& application, const std::vector<std::size_t>& join) {
  const Callback& first = application.callbacks[join.front()];
  if (join.size() < 2) {
    refuse(first, ", and no other callback of its node does",
           "name the join at each of its callbacks, or remove join");
  }
  if (join.size() > sched::Join::most_inputs) {
    refuse(first,
           ", which has " + std::to_string(join.size()) + " callbacks, more than the " +
               std::to_string(sched::Join::most_inputs) + " that one may have",
           "split the join");
  }
  for (const std::size_t input : join) {
    const Callback& callback = application.callbacks[input];
    if (callback.task.kind != sched::TaskKind::message) {
      refuse(callback, ", and no message releases it",
             "let it be released by a topic, or remove join");
    }
    if (callback.process != first.process) {
      refuse(callback, ", and " + sched::task_text(first.task) + " of it is in another process",
             "give all callbacks of a node the same process");
    }
    if (callback.task.writes.empty()) {
      refuse(callback, ", and writes nothing", "name the topics of the join in its writes");
    }
    if (!publish_alike(first, callback)) {
      refuse(callback,
             ", and writes something else than " + sched::task_text(first.task) +
                 ": the same is published, whichever completes the set",
             "give all callbacks of a join the same writes");
    }
  }
}

void check_change(const Application& application, const sched::TaskChange& change) {
  for (const Callback& callback : application.callbacks) {
    if (callback.task.name == change.task && !callback.join.empty() && !change.writes.empty()) {
      refuse(callback, ", and a scenario changes what it writes",
             "remove writes from the scenario");
    }
  }
}

}  // namespace

void check_joins(const Application& application) {
  const std::vector<std::vector<std::size_t>> joins = application.joins();
  for (const std::vector<std::size_t>& join : joins) {
    check_join(application, join);
  }
  if (application.strategy) {
    for (const sched::ScenarioPtr& scenario : application.strategy->scenarios()) {
      for (const sched::TaskChange& change : scenario->tasks()) {
        check_change(application, change);
      }
    }
  }
}

}  // namespace takt::application
