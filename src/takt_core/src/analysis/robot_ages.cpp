// SPDX-License-Identifier: Apache-2.0
//
// How old data is at the end of a chain across processes (docs/reference/analysis.md, eq. 10). It
// is assumed that the messages of a writer reach another process in their order.
#include <algorithm>
#include <utility>

#include "../application/chain_calls.hpp"
#include "../application/robot.hpp"
#include "../application/threads.hpp"
#include "bounds.hpp"
#include "robot_chains.hpp"
#include "robot_words.hpp"

namespace takt::analysis {

// Backwards from the end of the last part. Data that is not used by one job only, but until the
// next data has come, is up to the distance of both older; `loses`: that may stay away.
RobotChains::Age RobotChains::age(std::size_t number, bool loses) const {
  const std::vector<Part>& parts = parts_[number];
  nanoseconds sum{0};
  Stretch stretch{.loses = loses};
  std::int64_t drift = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::optional<nanoseconds> own = bounds_.at(parts[i].chain.name).age;
    if (!own) {
      return {.why_not = "in " + application::place_text(robot_.processes[parts[i].process]) +
                         " it has none, from '" + parts[i].chain.callbacks.front() + "' on"};
    }
    if (i > 0) {
      const Way way = way_to(parts[i], parts[i - 1], stretch);
      if (!way.why_not.empty()) {
        return {.why_not = way.why_not};
      }
      sum += way.handover + slower(way.held, drift);
      const application::Link* const link = link_before(parts[i], parts[i - 1]);
      drift = link == nullptr ? drift : std::min(drift + link->drift, application::Link::whole - 1);
    }
    if (i > 0 && is_used_again(parts[i])) {
      Way within;
      hold(stretch, within);
      if (!within.why_not.empty()) {
        return {.why_not = within.why_not};
      }
      sum += slower(within.held, drift);
    }
    sum += slower(*own, drift);
    follow(stretch, parts[i]);
  }
  return {.bound = sum};
}

// Whether what a message of another process brought is used until the next such message, before
// a timer or a join of its own process has gone on with it.
bool RobotChains::is_used_again(const Part& part) const {
  const std::vector<std::string>& names = part.chain.callbacks;
  if (callback(names.front()).task.kind != sched::TaskKind::message) {
    return false;
  }
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (!callback(names[i - 1]).join.empty()) {
      return false;
    }
    if (!is_followed(names[i], names[i - 1])) {
      return true;
    }
  }
  return false;
}

// Data of the stretch stays until the next comes; that counts once.
void RobotChains::hold(Stretch& stretch, Way& way) const {
  if (std::exchange(stretch.held, true) && !stretch.overtaken) {
    return;
  }
  const std::optional<nanoseconds> next = gap(stretch.head);
  if (stretch.overtaken) {
    way.why_not = "older data may come after newer";
  } else if (stretch.joined) {
    way.why_not = "the data of a join is used until its next publication";
  } else if (stretch.head.empty()) {
    way.why_not = "no timer samples its data, which is used until the next comes";
  } else if (!next) {
    way.why_not = "'" + stretch.head + "' may skip releases, and its data is used until the next";
  } else if (stretch.loses) {
    way.why_not = "links may lose the data after which the one before is no longer used";
  } else {
    way.held = *next;
  }
}

// How much older data may be between two parts.
RobotChains::Way RobotChains::way_to(const Part& part, const Part& former, Stretch& stretch) const {
  const std::string& first = part.chain.callbacks.front();
  const std::string& before = former.chain.callbacks.back();
  const bool called = is_called(part, former);
  const bool released = called || is_released_by(first, before);
  const bool others = called ? has_other_clients(first, before) : has_other_writers(first, before);
  Way way;
  if (others && !released) {
    way.why_not = "others write what '" + first + "' reads of '" + before +
                  "', and may overwrite it before it is read";
    return way;
  }
  if (!released) {
    way.handover = handover_before(part, former);
  }
  if (others || !released) {
    hold(stretch, way);
  }
  return way;
}

// To the end of the part: its last timer that reads begins a stretch.
void RobotChains::follow(Stretch& stretch, const Part& part) const {
  for (std::size_t i = 0; i < part.chain.callbacks.size(); ++i) {
    const std::string& name = part.chain.callbacks[i];
    const application::Callback& one = callback(name);
    if (one.task.kind == sched::TaskKind::timer) {
      stretch = {.head = name, .loses = stretch.loses};
    }
    stretch.overtaken = stretch.overtaken || one.reentrant;
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

// Whether each job of the reader has its data from one of the writer, which releases or calls it.
bool RobotChains::is_followed(const std::string& reader, const std::string& writer) const {
  if (application::calls(callback(writer), callback(reader))) {
    return !has_other_clients(reader, writer);
  }
  return is_released_by(reader, writer) && !has_other_writers(reader, writer);
}

// Whether jobs of the server are for others, too.
bool RobotChains::has_other_clients(const std::string& server, const std::string& client) const {
  const std::string& service = callback(server).task.trigger;
  const application::Topic* const declared = robot_.find_topic(service);
  return (declared != nullptr && declared->external) ||
         std::ranges::any_of(robot_.callbacks, [&](const application::Callback& one) {
           return one.task.name != client && application::sends(one, service);
         });
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
