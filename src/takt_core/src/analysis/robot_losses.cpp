// SPDX-License-Identifier: Apache-2.0
//
// What gets lost between the parts of a chain across processes, and why a part has no bound then.
#include <algorithm>
#include <utility>

#include "../application/chain_calls.hpp"
#include "../application/requests.hpp"
#include "../application/robot.hpp"
#include "../application/threads.hpp"
#include "bounds.hpp"
#include "methods.hpp"
#include "robot_chains.hpp"
#include "robot_words.hpp"

namespace takt::analysis {

// Whether data goes from the one part to the other at all.
bool RobotChains::is_connected(const Part& part, const Part& before) const {
  const std::string& writer = before.chain.callbacks.back();
  const application::Callback& reader = callback(part.chain.callbacks.front());
  return is_called(part, before) || is_released_by(reader.task.name, writer) ||
         std::ranges::any_of(reader.task.reads, [&](const sched::Read& read) {
           return contains(callback(writer).task.writes, read.topic);
         });
}

// Of the n-th part; empty: it has one.
std::string RobotChains::why_no_bound(std::size_t chain, std::size_t number) const {
  const Part& part = parts_[chain][number];
  if (ends_by_response(chain, number)) {
    return {};  // in the term of its client
  }
  const std::string& first = part.chain.callbacks.front();
  std::string text = "no bound in " + application::place_text(robot_.processes[part.process]) +
                     ", from '" + first + "' on";
  const ChainReport& own = bounds_.at(part.chain.name);
  if (!own.latency) {
    return own.bound_by == methods::chain || own.bound_by == methods::join
               ? text
               : std::move(text) + ": " + own.bound_by;
  }
  if (number == 0 || is_called(part, parts_[chain][number - 1])) {
    return {};
  }
  if (is_released_by(first, parts_[chain][number - 1].chain.callbacks.back())) {
    const std::string loss = loss_before(first);
    return loss.empty() ? loss : std::move(text) + ": " + loss;
  }
  if (!wait(first)) {
    return std::move(text) + ": '" + first +
           "' may still run when it is released again, so a release may come to nothing";
  }
  const std::string topic =
      overwritten_before(first, parts_[chain][number - 1].chain.callbacks.back());
  return topic.empty()
             ? topic
             : std::move(text) + ": other writers of topic '" + topic +
                   "' may overwrite its data before it is read: give the topic more depth";
}

// A topic by which data goes from a writer of another process to a timer, and of which others may
// publish as many messages as it keeps before the timer has read; empty: it reads all.
std::string RobotChains::overwritten_before(const std::string& reader,
                                            const std::string& writer) const {
  const application::Callback& own = callback(reader);
  const application::Callback& from = callback(writer);
  const CallbackReport& known = callbacks_.at(reader);
  const nanoseconds since = own.task.parameters.period + known.jitter + *known.response;
  std::string overwritten;
  for (const sched::Read& read : own.task.reads) {
    if (!contains(from.task.writes, read.topic)) {
      continue;
    }
    const application::Topic* const declared = robot_.find_topic(read.topic);
    const application::Topic topic = declared == nullptr ? application::Topic{} : *declared;
    std::optional<std::int64_t> others =
        topic.external ? std::nullopt : std::optional<std::int64_t>{0};
    for (const application::Callback& one : robot_.callbacks) {
      const bool together =
          one.process == from.process && !from.join.empty() && one.join == from.join;
      if (one.task.name == writer || together || !contains(one.task.writes, read.topic)) {
        continue;
      }
      const auto published = messages_within(one, own, read.topic, since);
      others = others && published ? std::optional{*others + *published} : std::nullopt;
    }
    if (others && (*others == 0 || std::cmp_less(*others, topic.depth))) {
      return {};
    }
    overwritten = read.topic;
  }
  return overwritten;
}

// The most messages on a topic that come from a writer to a reader's process in such a window.
std::optional<std::int64_t> RobotChains::messages_within(const application::Callback& writer,
                                                         const application::Callback& reader,
                                                         const std::string& topic,
                                                         nanoseconds window) const {
  const auto known = callbacks_.find(writer.task.name);
  if (known == callbacks_.end() || !known->second.response || !known->second.period) {
    return {};
  }
  window += known->second.jitter + *known->second.response;
  if (writer.process != reader.process) {
    const application::Process& there = robot_.processes[writer.process];
    const application::Process& here = robot_.processes[reader.process];
    window += application::between(robot_, there, here)->most;
    const application::Link* const link = application::find_link(robot_, there, here);
    window = slower(window, link == nullptr ? 0 : link->drift);
  }
  return writer.messages_on(topic).most * (window / *known->second.period + 1);
}

// Why a message may lead to no job, or be overwritten before its job reads it; empty: it may not.
std::string RobotChains::loss_before(const std::string& reader) const {
  const application::Callback& own = callback(reader);
  const auto known = callbacks_.find(reader);
  const bool both = std::ranges::any_of(robot_.callbacks, [&](const application::Callback& one) {
    return one.process == own.process && contains(one.task.writes, own.task.trigger);
  });
  if (both) {
    return "its own process publishes " + application::messages_text(own.task.trigger) + ", too";
  }
  if (known == callbacks_.end() || !known->second.response || !known->second.period) {
    return "'" + reader + "' has no bound";
  }
  const nanoseconds response = *known->second.response;
  const nanoseconds period = *known->second.period;
  const std::int64_t waiting = (response - nanoseconds{1} + known->second.jitter) / period + 1;
  std::string text = application::message_text(own.task.trigger) + " may be lost before '" +
                     reader + "' reads it: up to " + std::to_string(waiting) +
                     " of them come within its response";
  if (own.task.parameters.overrun != sched::Overrun::catch_up) {
    return response <= period - known->second.jitter
               ? std::string{}
               : std::move(text) + ", and each job reads the newest. Fix: let it catch up " +
                     "(overrun: catch_up), and give the topic a depth of " +
                     std::to_string(waiting);
  }
  const application::Topic* const topic = robot_.find_topic(own.task.trigger);
  const std::size_t depth = topic == nullptr ? 1 : topic->depth;
  return std::cmp_less_equal(waiting, depth)
             ? std::string{}
             : std::move(text) + ", and the topic keeps " + std::to_string(depth) +
                   ". Fix: give it a depth of " + std::to_string(waiting);
}

// From the arrival of data to the release of the timer job that reads it; none: a release may lead
// to no job.
std::optional<nanoseconds> RobotChains::wait(const std::string& reader) const {
  const sched::Task& task = callback(reader).task;
  const auto known = callbacks_.find(reader);
  if (task.kind != sched::TaskKind::timer || known == callbacks_.end() || !known->second.response ||
      *known->second.response > task.parameters.period) {
    return {};
  }
  return std::max(task.parameters.period, task.parameters.offset);
}

}  // namespace takt::analysis
