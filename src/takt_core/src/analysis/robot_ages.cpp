// SPDX-License-Identifier: Apache-2.0
//
// How old data is at the end of a chain across processes (docs/reference/analysis.md, eq. 10). It
// is assumed that the messages of a writer reach another process in their order.
#include <algorithm>
#include <utility>

#include "../application/robot.hpp"
#include "robot_chains.hpp"
#include "robot_words.hpp"

namespace takt::analysis {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

// Backwards from the end of the last part. Data that is not used by one job only, but until the
// next data has come, is up to the distance of both older; `loses`: that may stay away.
std::optional<nanoseconds> RobotChains::age(std::size_t number, bool loses) const {
  const std::vector<Part>& parts = parts_[number];
  nanoseconds sum{0};
  Stretch stretch;
  std::int64_t drift = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::optional<nanoseconds> own = bounds_.at(parts[i].chain.name).age;
    if (!own) {
      return {};
    }
    if (i > 0) {
      const std::optional<Way> way = way_to(parts[i], parts[i - 1], stretch, loses);
      if (!way) {
        return {};
      }
      sum += way->handover + slower(way->held, drift);
      const application::Link* const link = link_before(parts[i], parts[i - 1]);
      drift = link == nullptr ? drift : std::min(drift + link->drift, application::Link::whole - 1);
    }
    sum += slower(*own, drift);
    follow(stretch, parts[i]);
  }
  return sum;
}

// How much older data may be between two parts; none: its age has no bound.
std::optional<RobotChains::Way> RobotChains::way_to(const Part& part, const Part& former,
                                                    Stretch& stretch, bool loses) const {
  const std::string& first = part.chain.callbacks.front();
  const std::string& before = former.chain.callbacks.back();
  const bool released = is_released_by(first, before);
  const bool others = has_other_writers(first, before);
  if (others && !released) {
    return {};  // they may overwrite its data before it is read
  }
  Way way;
  if (!released) {
    way.handover = handover_before(part, former);
  }
  if ((others || !released) && !std::exchange(stretch.held, true)) {
    const std::optional<nanoseconds> next = stretch.joined ? std::nullopt : gap(stretch.head);
    if (!next || loses) {
      return {};
    }
    way.held = *next;
  }
  return way;
}

// To the end of the part: its last timer that reads begins a stretch.
void RobotChains::follow(Stretch& stretch, const Part& part) const {
  for (std::size_t i = 0; i < part.chain.callbacks.size(); ++i) {
    const std::string& name = part.chain.callbacks[i];
    const application::Callback& one = callback(name);
    if (one.task.kind == sched::TaskKind::timer) {
      stretch = {.head = name};
    }
    const bool goes_on = i + 1 < part.chain.callbacks.size() || part.chain.published;
    stretch.joined = stretch.joined || (goes_on && !one.join.empty());
  }
}

// The longest time between two jobs of a timer; none: a release may lead to no job.
std::optional<nanoseconds> RobotChains::gap(const std::string& timer) const {
  const auto known = callbacks_.find(timer);
  if (known == callbacks_.end() || callback(timer).task.kind != sched::TaskKind::timer ||
      !known->second.response) {
    return {};
  }
  const nanoseconds period = callback(timer).task.parameters.period;
  const nanoseconds jitter = known->second.jitter;
  return *known->second.response + jitter <= period ? std::optional{period + jitter} : std::nullopt;
}

// Whether others publish what the reader has from the writer, or from its join.
bool RobotChains::has_other_writers(const std::string& reader, const std::string& writer) const {
  const sched::Task& task = callback(reader).task;
  const application::Callback& own = callback(writer);
  const auto reads = [&](const std::string& topic) {
    return task.kind == sched::TaskKind::message
               ? topic == task.trigger
               : std::ranges::any_of(task.reads,
                                     [&](const auto& read) { return read.topic == topic; });
  };
  return std::ranges::any_of(own.task.writes, [&](const std::string& topic) {
    const application::Topic* const declared = robot_.find_topic(topic);
    return reads(topic) &&
           ((declared != nullptr && declared->external) ||
            std::ranges::any_of(robot_.callbacks, [&](const application::Callback& one) {
              const bool together =
                  one.process == own.process && !own.join.empty() && one.join == own.join;
              return one.task.name != writer && !together && contains(one.task.writes, topic);
            }));
  });
}

}  // namespace takt::analysis
