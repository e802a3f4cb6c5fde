// SPDX-License-Identifier: Apache-2.0
#include "takt/trace/flows.hpp"

#include <algorithm>

namespace takt::trace {
namespace {

constexpr std::size_t kept = 20'000;      // messages of a topic: what is older is used by nobody
constexpr std::size_t most_at_once = 64;  // jobs of a task

}  // namespace

Flows::Flows(const About& about, const Chains& chains, const Joins& joins)
    : stored_(joins.size()), last_(chains.size(), not_recorded) {
  for (const auto& [number, name] : about.tasks) {
    for (std::size_t join = 0; join < joins.size(); ++join) {
      if (std::ranges::find(joins[join], name) != joins[join].end()) {
        join_of_[number] = join;
      }
    }
    for (std::size_t chain = 0; chain < chains.size(); ++chain) {
      for (std::size_t place = 0; place < chains[chain].size(); ++place) {
        if (chains[chain][place] == name) {
          places_[number].push_back(
              {.chain = chain, .place = place, .last = place + 1 == chains[chain].size()});
        }
      }
    }
  }
}

void Flows::take(const Event& event) {
  switch (event.type) {
    case EventType::release:
      released_[{event.task, event.job}] = event.time;
      break;
    case EventType::start:
      start(event);
      break;
    case EventType::publish:
      publish(event);
      break;
    case EventType::use:
      use(event);
      break;
    case EventType::end:
      end(event);
      break;
    default:
      break;
  }
}

void Flows::start(const Event& event) {
  std::int64_t release = not_recorded;
  if (const auto found = released_.find({event.task, event.job}); found != released_.end()) {
    release = found->second;
    released_.erase(found);
  }
  OfCore& core = cores_[event.core];
  if (release != not_recorded && core.ended != not_recorded && release <= core.ended &&
      core.running == 0) {
    handovers.push_back(elapsed(core.ended, event.time));
  }
  ++core.running;
  drop_lost(event.task);
  Running& started = running_[{event.task, event.job}];
  started.newest.assign(newest_.begin(), newest_.end());
  started.published.clear();
  started.old = false;
  started.origins = last_.empty() ? nullptr : std::make_shared<Origins>();
  if (release != not_recorded) {
    for (const Place& place : places(event.task)) {
      if (place.place == 0) {
        (*started.origins)[{place.chain, 0}] = release;
      }
    }
  }
}

void Flows::publish(const Event& event) {
  Running* const maker = running(event);
  Messages& messages = messages_[event.topic];
  if (const auto join = join_of_.find(event.task);
      maker != nullptr && maker->origins != nullptr && join != join_of_.end()) {
    // With what the other callbacks have stored; its own is newer.
    maker->origins->insert(stored_[join->second].begin(), stored_[join->second].end());
  }
  const Message message{.published = event.time,
                        .origins = maker != nullptr ? maker->origins : nullptr};
  if (messages.by_sequence.insert_or_assign(event.value, message).second) {
    messages.order.push_back(event.value);
  }
  while (messages.order.size() > kept) {
    messages.by_sequence.erase(messages.order.front());
    messages.order.pop_front();
  }
  if (maker != nullptr) {
    maker->published.emplace_back(event.topic, event.value);
  } else if (event.task == no_task) {
    is_there(event.topic, event.value);
  }
}

void Flows::use(const Event& event) {
  Running* const user = running(event);
  Use& found = uses.emplace_back(Use{.job = event.job,
                                     .time = event.time,
                                     .sequence = event.value,
                                     .task = event.task,
                                     .topic = event.topic,
                                     .started = user != nullptr});
  if (user == nullptr) {
    return;
  }
  const auto newest = std::ranges::lower_bound(user->newest, event.topic, {},
                                               &std::pair<std::uint16_t, std::int64_t>::first);
  if (newest != user->newest.end() && newest->first == event.topic) {
    found.newest = newest->second;
  }
  user->old |= found.newest > event.value;
  const Messages& messages = messages_[event.topic];
  const auto message = messages.by_sequence.find(event.value);
  if (event.value < 0 || message == messages.by_sequence.end()) {
    return;
  }
  found.age = elapsed(message->second.published, event.time);
  if (message->second.origins == nullptr) {
    return;
  }
  for (const Place& place : places(event.task)) {
    if (place.place == 0) {
      continue;
    }
    const auto origin = message->second.origins->find({place.chain, place.place - 1});
    if (origin == message->second.origins->end()) {
      continue;
    }
    const auto [known, is_new] =
        user->origins->try_emplace({place.chain, place.place}, origin->second);
    if (!is_new && known->second < origin->second) {
      known->second = origin->second;
    }
  }
}

void Flows::end(const Event& event) {
  OfCore& core = cores_[event.core];
  core.running -= core.running > 0 ? 1 : 0;
  core.ended = event.time;
  Executions& executions = executions_[event.task];
  ++executions.all;
  if (const Running* const done = running(event)) {
    executions.on_old_data += done->old ? 1 : 0;
    for (const auto& [topic, sequence] : done->published) {
      is_there(topic, sequence);
    }
    if (done->origins != nullptr) {
      store(event.task, *done->origins);
    }
    for (const Place& place : places(event.task)) {
      const auto datum = done->origins->find({place.chain, place.place});
      if (place.last && datum != done->origins->end()) {
        arrive(place.chain, datum->second, event.time);
      }
    }
  }
  running_.erase({event.task, event.job});
}

// The ends of jobs may be lost; of a reentrant task several run at a time.
void Flows::drop_lost(std::uint16_t task) {
  const auto first = running_.lower_bound({task, 0});
  auto next = first;
  for (std::size_t count = 0; next != running_.end() && next->first.first == task; ++next) {
    if (++count == most_at_once) {
      running_.erase(first);
      return;
    }
  }
}

// A job of a callback of a join leaves its data there, in place of that of the job before.
void Flows::store(std::uint16_t task, const Origins& origins) {
  const auto join = join_of_.find(task);
  if (join == join_of_.end()) {
    return;
  }
  Origins& stored = stored_[join->second];
  for (const Place& place : places(task)) {
    if (const auto datum = origins.find({place.chain, place.place}); datum != origins.end()) {
      stored[datum->first] = datum->second;
    }
  }
}

void Flows::arrive(std::size_t chain, std::int64_t release, std::int64_t end) {
  std::int64_t& last = last_[chain];
  const bool first = last == not_recorded || release > last;
  arrivals.push_back({.age = elapsed(release, end),
                      .reaction = first && last != not_recorded ? elapsed(last, end) : not_recorded,
                      .release = release,
                      .chain = static_cast<std::uint32_t>(chain),
                      .first = first});
  if (first) {
    last = release;
  }
}

void Flows::is_there(std::uint16_t topic, std::int64_t sequence) {
  const auto [newest, is_new] = newest_.try_emplace(topic, std::max<std::int64_t>(sequence, -1));
  newest->second = std::max(newest->second, sequence);
}

Flows::Running* Flows::running(const Event& event) {
  const auto found = running_.find({event.task, event.job});
  return found == running_.end() ? nullptr : &found->second;
}

const std::vector<Flows::Place>& Flows::places(std::uint16_t task) const {
  static const std::vector<Place> none;
  const auto found = places_.find(task);
  return found == places_.end() ? none : found->second;
}

}  // namespace takt::trace
