// SPDX-License-Identifier: Apache-2.0
#include "robot_chains.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "../application/chain_calls.hpp"
#include "../application/process_cores.hpp"
#include "../application/robot.hpp"
#include "../application/threads.hpp"
#include "../sched/text.hpp"
#include "bounds.hpp"
#include "overtaking.hpp"
#include "robot_words.hpp"

namespace takt::analysis {
namespace {

std::string text(const LatencyTerm& term) {
  switch (term.kind) {
    case LatencyTerm::Kind::handover:
      return "handover";
    case LatencyTerm::Kind::link:
      return "link";
    case LatencyTerm::Kind::wait:
      return "until '" + term.name + "'";
    case LatencyTerm::Kind::thread:
      return "thread " + term.name;
    case LatencyTerm::Kind::process:
      break;
  }
  return term.name;
}

std::string text(const std::vector<LatencyTerm>& terms) {
  std::string result;
  for (const LatencyTerm& term : terms) {
    result += (result.empty() ? "" : " + ") + text(term) + " " + sched::time_text(term.time);
  }
  return result;
}

}  // namespace

RobotChains::RobotChains(const application::Application& robot) : robot_(robot) {
  for (std::size_t i = 0; i < robot.chains.size(); ++i) {
    std::vector<Part>& parts = parts_.emplace_back();
    bool overtaken = false;
    for (const std::string& name : robot.chains[i].callbacks) {
      const std::size_t process = callback(name).process;
      if (parts.empty() || parts.back().process != process) {
        if (!parts.empty()) {
          const application::Callback& last = callback(parts.back().chain.callbacks.back());
          parts.back().chain.published =
              !last.join.empty() && !application::calls(last, callback(name));
        }
        parts.push_back({.process = process,
                         .chain = {.name = std::to_string(i) + "." + std::to_string(parts.size()),
                                   .goes_on = !parts.empty(),
                                   .overtaken = overtaken}});
      }
      parts.back().chain.callbacks.push_back(name);
      overtaken = overtaken || callback(name).reentrant;
    }
  }
}

const application::Callback& RobotChains::callback(const std::string& name) const {
  return *std::ranges::find_if(
      robot_.callbacks, [&](const application::Callback& one) { return one.task.name == name; });
}

std::vector<application::Chain> RobotChains::parts_of(std::size_t process) const {
  std::vector<application::Chain> chains;
  for (const std::vector<Part>& parts : parts_) {
    for (const Part& part : parts) {
      if (part.process == process) {
        chains.push_back(part.chain);
      }
    }
  }
  return chains;
}

void RobotChains::take(const ScenarioReport& report) {
  for (const ChainReport& chain : report.chains) {
    bounds_[chain.name] = chain;
  }
  for (const CallbackReport& one : report.callbacks) {
    callbacks_[one.name] = one;
  }
}

std::vector<ChainReport> RobotChains::reports(bool bounded) const {
  std::vector<ChainReport> result;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    ChainReport chain = report(i);
    if (!bounded) {
      chain.latency = chain.reaction = chain.age = {};
      chain.terms.clear();
    }
    const nanoseconds limit = robot_.chains[i].max_latency;
    if (limit.count() > 0) {
      chain.max_latency = limit;
    }
    chain.verdict = chain.latency && (limit.count() == 0 || *chain.latency <= limit)
                        ? Verdict::meets
                        : Verdict::not_proved;
    result.push_back(std::move(chain));
  }
  return result;
}

std::vector<std::string> RobotChains::without_age(const std::vector<ChainReport>& reports) const {
  std::vector<std::string> remarks;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const ChainReport& chain = reports[i];
    if (!chain.latency || chain.age) {
      continue;
    }
    const std::string overtaking = overtaking_in(robot_, robot_.chains[i]);
    if (!overtaking.empty()) {
      remarks.push_back(overtaken_text(chain, overtaking));
    } else if (parts_[i].size() > 1) {
      remarks.push_back("chain " + sched::name_text(chain.name) +
                        ": no bound on the age of its data: " + age(i, chain.loss > 0).why_not);
    }
  }
  return remarks;
}

ChainReport RobotChains::report(std::size_t number) const {
  const std::vector<Part>& parts = parts_[number];
  ChainReport result = bounds_.at(parts.front().chain.name);
  result.name = robot_.chains[number].name;
  const application::Chain& chain = robot_.chains[number];
  result.callbacks = chain.described.empty() ? chain.callbacks : chain.described;
  if (parts.size() == 1) {
    if (result.latency) {
      result.terms = {term_of(parts.front(), *result.latency)};
    }
    return result;
  }
  result.reaction = result.age = {};
  result.latency.reset();
  std::vector<LatencyTerm> terms;
  std::int64_t drift = 0;  // of the clocks, since the first part
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const application::Link* const link = i > 0 ? link_before(parts[i], parts[i - 1]) : nullptr;
    if (link != nullptr) {
      // Whether the same data is lost on both is not known.
      result.loss = std::min(result.loss + link->loss, application::Link::whole);
      drift = std::min(drift + link->drift, application::Link::whole - 1);
    }
    const std::string why_not = i > 0 && !is_connected(parts[i], parts[i - 1])
                                    ? "'" + parts[i].chain.callbacks.front() +
                                          "' reads nothing that '" +
                                          parts[i - 1].chain.callbacks.back() + "' writes"
                                    : why_no_bound(number, i);
    if (!why_not.empty()) {
      result.bound_by = why_not;
      return result;
    }
    add_terms(number, i, drift, terms);
  }
  result.latency = nanoseconds{0};
  for (const LatencyTerm& term : terms) {
    *result.latency += term.time;
  }
  result.bound_by = text(terms);
  result.terms = std::move(terms);
  const ChainReport& first = bounds_.at(parts.front().chain.name);
  if (first.reaction && first.latency && result.loss == 0 && !replaces_newer(robot_, chain)) {
    result.reaction = *result.latency + *first.reaction - *first.latency;
  }
  result.age = age(number, result.loss > 0).bound;
  return result;
}

LatencyTerm RobotChains::term_of(const Part& part, nanoseconds time) const {
  const application::Process& process = robot_.processes[part.process];
  const bool beside = !process.serves.empty() && !process.one_of_cores;
  return {.kind = beside ? LatencyTerm::Kind::thread : LatencyTerm::Kind::process,
          .name = process.one_of_cores
                      ? application::family_of(process) + ".core" + std::to_string(process.cpu)
                      : process.name,
          .time = time};
}

// Of the n-th part, which has a bound, by the clock of the first one.
void RobotChains::add_terms(std::size_t chain, std::size_t number, std::int64_t drift,
                            std::vector<LatencyTerm>& terms) const {
  const Part& part = parts_[chain][number];
  const std::string& first = part.chain.callbacks.front();
  if (ends_by_response(chain, number)) {
    return;  // in the term of its client
  }
  const nanoseconds own = *bounds_.at(part.chain.name).latency - after_call(chain, number);
  nanoseconds counted{0};  // in the bound of the part
  if (number > 0) {
    const Part& before = parts_[chain][number - 1];
    const bool released =
        is_called(part, before) || is_released_by(first, before.chain.callbacks.back());
    const nanoseconds wait = released ? nanoseconds{0} : *this->wait(first);
    const nanoseconds handover = handover_before(part, before);
    const bool together = application::belong_together(robot_.processes[part.process],
                                                       robot_.processes[before.process]);
    if (!together) {
      terms.push_back({.kind = link_before(part, before) == nullptr ? LatencyTerm::Kind::handover
                                                                    : LatencyTerm::Kind::link,
                       .name = first,
                       .time = handover});
    }
    if (wait.count() > 0) {
      terms.push_back(
          {.kind = LatencyTerm::Kind::wait, .name = first, .time = slower(wait, drift)});
    }
    counted = released && !together ? handover : nanoseconds{0};
  }
  terms.push_back(term_of(part, slower(own - counted, drift)));
}

const application::Link* RobotChains::link_before(const Part& part, const Part& before) const {
  return application::find_link(robot_, robot_.processes[before.process],
                                robot_.processes[part.process]);
}

// A callback that messages release has the longest time of all its writers as its jitter.
nanoseconds RobotChains::handover_before(const Part& part, const Part& before) const {
  const std::string& first = part.chain.callbacks.front();
  if (is_released_by(first, before.chain.callbacks.back()) || is_called(part, before)) {
    return application::handover_to(robot_, callback(first)).most;
  }
  return application::between(robot_, robot_.processes[before.process],
                              robot_.processes[part.process])
      ->most;
}

bool RobotChains::is_released_by(const std::string& reader, const std::string& writer) const {
  const sched::Task& task = callback(reader).task;
  return task.kind == sched::TaskKind::message &&
         contains(callback(writer).task.writes, task.trigger);
}

bool RobotChains::is_called(const Part& part, const Part& before) const {
  return application::calls(callback(before.chain.callbacks.back()),
                            callback(part.chain.callbacks.front()));
}

// Whether the part is a server alone that the one before calls.
bool RobotChains::ends_by_response(std::size_t chain, std::size_t number) const {
  const std::vector<Part>& parts = parts_[chain];
  return number > 0 && parts[number].chain.callbacks.size() == 1 &&
         is_called(parts[number], parts[number - 1]);
}

// Where the n-th part ends with a call of what begins the next one: the least time from there to
// the end of the job that calls, which has the response by then. 0: it does not.
nanoseconds RobotChains::after_call(std::size_t chain, std::size_t number) const {
  const std::vector<Part>& parts = parts_[chain];
  if (number + 1 == parts.size() || !is_called(parts[number + 1], parts[number])) {
    return nanoseconds{0};
  }
  const application::Callback& client = callback(parts[number].chain.callbacks.back());
  const application::Callback& server = callback(parts[number + 1].chain.callbacks.front());
  nanoseconds least = nanoseconds::max();
  nanoseconds after{0};
  for (const application::Segment& segment : client.segments | std::views::reverse) {
    least = segment.call == server.task.trigger ? std::min(least, after) : least;
    after += segment.shortest;
  }
  const application::Link* const link = link_before(parts[number + 1], parts[number]);
  const std::int64_t drift = link == nullptr ? 0 : link->drift;
  const nanoseconds way = application::between(robot_, robot_.processes[client.process],
                                               robot_.processes[server.process])
                              ->least;
  return least + (ends_by_response(chain, number + 1)
                      ? faster(way, drift)
                      : faster(2 * way + server.execution.best, drift));
}

}  // namespace takt::analysis
