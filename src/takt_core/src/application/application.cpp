// SPDX-License-Identifier: Apache-2.0
#include "takt/application/application.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "takt/sched/task_set.hpp"

namespace takt::application {
namespace {

// Rounded up: an overhead is never underestimated by less than a message's last part.
nanoseconds message_cost(nanoseconds per_message, nanoseconds per_kib, std::size_t bytes) noexcept {
  const auto variable = static_cast<std::uint64_t>(per_kib.count()) * bytes;
  return per_message + nanoseconds{static_cast<std::int64_t>((variable + 1023) / 1024)};
}

}  // namespace

nanoseconds ExecutionTime::at(double probability) const noexcept {
  if (quantiles.empty()) {
    return worst;
  }
  const double place =
      std::clamp(probability, 0.0, 1.0) * static_cast<double>(quantiles.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= quantiles.size()) {
    return quantiles.back();
  }
  const double share = place - static_cast<double>(below);
  const auto step = static_cast<double>((quantiles[below + 1] - quantiles[below]).count());
  return quantiles[below] + nanoseconds{std::llround(share * step)};
}

MessageCount Callback::messages_on(const std::string& topic) const noexcept {
  if (const auto calls = std::ranges::count(segments, topic, &Segment::call); calls > 0) {
    return {.least = calls, .most = calls};
  }
  const auto found = messages.find(topic);
  return found == messages.end() ? MessageCount{} : found->second;
}

bool Callback::calls() const noexcept {
  return std::ranges::any_of(segments, [](const Segment& one) { return !one.call.empty(); });
}

std::string Callback::node_name() const {
  return node.empty() ? task.name.substr(0, task.name.find('.')) : node;
}

bool Overheads::any() const noexcept {
  constexpr nanoseconds none{0};
  return dispatch > none || preemption > none || release > none || publish > none ||
         publish_per_kib > none || deliver > none || deliver_per_kib > none;
}

std::vector<sched::Task> Application::tasks() const {
  std::vector<sched::Task> result;
  result.reserve(callbacks.size());
  for (const Callback& callback : callbacks) {
    result.push_back(callback.task);
    result.back().jitter = callback.jitter;
    result.back().joined = !callback.join.empty();
  }
  return result;
}

std::vector<std::vector<std::size_t>> Application::joins() const {
  std::vector<std::vector<std::size_t>> result;
  std::map<std::pair<std::string, std::string>, std::size_t> places;  // by node and name
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    if (callbacks[i].join.empty()) {
      continue;
    }
    const auto [known, is_new] =
        places.try_emplace({callbacks[i].node_name(), callbacks[i].join}, result.size());
    if (is_new) {
      result.emplace_back();
    }
    result[known->second].push_back(i);
  }
  return result;
}

std::vector<std::string> Application::external_topics() const {
  std::vector<std::string> result;
  for (const Topic& topic : topics) {
    if (topic.external) {
      result.push_back(topic.name);
    }
  }
  for (const Callback& callback : callbacks) {
    if (callback.server) {
      result.push_back(callback.task.trigger);
    }
  }
  return result;
}

std::size_t Application::server_of(const std::string& service) const noexcept {
  const auto found = std::ranges::find_if(callbacks, [&](const Callback& callback) {
    return callback.server && callback.task.trigger == service;
  });
  return static_cast<std::size_t>(found - callbacks.begin());
}

nanoseconds Application::cost_of_calls(const Callback& callback) const noexcept {
  const nanoseconds sent = message_cost(overheads.publish, overheads.publish_per_kib, 0);
  const nanoseconds received = message_cost(overheads.deliver, overheads.deliver_per_kib, 0);
  const auto calls = std::ranges::count_if(callback.segments,
                                           [](const Segment& one) { return !one.call.empty(); });
  return calls * (sent + received) + (callback.server ? sent : nanoseconds{0});
}

const Core* Application::find_core(int cpu) const noexcept {
  const auto found = std::ranges::find(cores, cpu, &Core::cpu);
  return found == cores.end() ? nullptr : &*found;
}

const Topic* Application::find_topic(const std::string& topic) const noexcept {
  const auto found = std::ranges::find(topics, topic, &Topic::name);
  return found == topics.end() ? nullptr : &*found;
}

std::map<std::string, int> Application::node_priorities() const {
  std::vector<sched::Task> found = with_topics_of_scenarios().tasks();  // what they read is there
  if (std::ranges::any_of(found,
                          [](const sched::Task& task) { return task.parameters.priority == 0; })) {
    const auto rate_monotonic = sched::parse_policy("rm");
    found = sched::TaskSet{std::move(found), *rate_monotonic, external_topics()}.tasks();
  }
  std::map<std::string, int> priorities;
  for (std::size_t place = 0; place < found.size(); ++place) {
    int& priority = priorities[callbacks[place].node_name()];
    priority = std::max(priority, found[place].parameters.priority);
  }
  return priorities;
}

Application Application::with_topics_of_scenarios() const {
  Application result = *this;
  if (!strategy) {
    return result;
  }
  for (const sched::ScenarioPtr& scenario : strategy->scenarios()) {
    for (const sched::TaskChange& change : scenario->tasks()) {
      for (Callback& callback : result.callbacks) {
        if (callback.task.name == change.task) {
          sched::add_topics(callback.task, change);
        }
      }
    }
  }
  return result;
}

nanoseconds Application::worst_overhead(const Callback& callback,
                                        const sched::Task& task) const noexcept {
  if (callback.in_thread) {
    return overheads.preemption;
  }
  const std::int64_t segments = 1 + callback.suspensions;
  nanoseconds result =
      overheads.dispatch + segments * overheads.preemption + cost_of_calls(callback);
  for (const std::string& written : task.writes) {
    const Topic* topic = find_topic(written);
    if (topic != nullptr && topic->local) {
      continue;
    }
    result += callback.messages_on(written).most *
              message_cost(overheads.publish, overheads.publish_per_kib,
                           topic == nullptr ? 0 : topic->bytes);
  }
  const auto delivered = [this](const std::string& read, bool all) {
    const Topic* topic = find_topic(read);
    if (topic != nullptr && topic->local) {
      return nanoseconds{0};
    }
    const nanoseconds one = message_cost(overheads.deliver, overheads.deliver_per_kib,
                                         topic == nullptr ? 0 : topic->bytes);
    return one * static_cast<std::int64_t>(topic == nullptr || !all ? 1 : topic->depth);
  };
  for (const sched::Read& read : task.reads) {
    result += delivered(read.topic, true);
  }
  if (task.kind == sched::TaskKind::message) {
    result += delivered(task.trigger, false);  // one message a job
  }
  return result;
}

}  // namespace takt::application
