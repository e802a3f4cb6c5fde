// SPDX-License-Identifier: Apache-2.0
#include "drop_remarks.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "../application/requests.hpp"

namespace takt::analysis {
namespace {

// A job takes its message before it ends; until then so many wait in the queue.
std::optional<std::string> lost(const application::Application& application,
                                const sched::Task& task, std::int64_t arrived) {
  const application::Topic* const topic = application.find_topic(task.trigger);
  const std::size_t depth = topic == nullptr ? 1 : topic->depth;
  if (std::cmp_less_equal(arrived, depth)) {
    return std::nullopt;
  }
  return "'" + task.name + "' may lose " + application::messages_text(task.trigger) + ": up to " +
         std::to_string(arrived) + " arrive within one response, and the topic keeps " +
         std::to_string(depth) + ". Give it a depth of " + std::to_string(arrived);
}

std::optional<std::string> dropped(const sched::Task& task, bool skips, bool reentrant,
                                   std::int64_t released) {
  if (released <= (skips ? 1 : 2)) {
    return std::nullopt;
  }
  return "'" + task.name +
         (reentrant ? "' may still wait when it is released again: up to "
                    : "' may still run when it is released again: up to ") +
         std::to_string(released) + " releases within one " + (reentrant ? "wait" : "response") +
         ", of which " +
         (skips ? "only the first runs (overrun: skip)"
                : "only the first and one more run (overrun: queue_one)");
}

}  // namespace

std::optional<std::string> drop_remark(const application::Application& application,
                                       const sched::CompiledScenario& scenario,
                                       const ScenarioModel& model, const ScenarioBounds& bounds,
                                       std::span<const std::size_t> streams, nanoseconds response) {
  const std::size_t index = model.streams()[streams.front()].callback;
  const application::Callback& callback = application.callbacks[index];
  const sched::Overrun overrun = scenario.parameters(static_cast<sched::TaskIndex>(index)).overrun;
  const bool catches_up = overrun == sched::Overrun::catch_up;
  if (catches_up && callback.task.kind == sched::TaskKind::timer) {
    return std::nullopt;
  }
  // The next job of a reentrant callback waits for the start of the one before, not for its end.
  const Demand& first = model.demand(streams.front());
  const nanoseconds until_next = first.reentrant ? response - first.execution : response;
  // All streams count together, each at its densest: two writers of a topic may publish at once.
  std::int64_t released = 0;
  for (const std::size_t stream : streams) {
    const Arrivals arrivals = model.demand(stream).noticed();
    if (arrivals.period.count() <= 0) {
      return std::nullopt;  // no bound on its releases, which the verdict says
    }
    released += arrivals.open(until_next);
  }
  if (const auto jobs = model.jobs_while_busy({streams.begin(), streams.end()}, bounds)) {
    released = std::min(released, *jobs);
  }
  if (!catches_up) {
    return dropped(callback.task, overrun == sched::Overrun::skip, first.reentrant, released);
  }
  // A client waits for one response at a time, and the queue holds a request of each.
  if (callback.server && !application::is_requested(callback.task.trigger)) {
    return std::nullopt;
  }
  return lost(application, callback.task, released);
}

}  // namespace takt::analysis
