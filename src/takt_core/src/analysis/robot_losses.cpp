// SPDX-License-Identifier: Apache-2.0
//
// What gets lost between the parts of a chain across processes, and why a part has no bound then.
#include <algorithm>
#include <utility>

#include "../application/chain_calls.hpp"
#include "../application/requests.hpp"
#include "../application/threads.hpp"
#include "bounds.hpp"
#include "methods.hpp"
#include "robot_chains.hpp"

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
  return wait(first) ? std::string{}
                     : std::move(text) + ": '" + first +
                           "' may still run when it is released again, so a release may come to "
                           "nothing";
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
