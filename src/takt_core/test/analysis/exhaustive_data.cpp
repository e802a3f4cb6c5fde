// SPDX-License-Identifier: Apache-2.0
#include "analysis/exhaustive_data.hpp"

#include <algorithm>
#include <stdexcept>

namespace takt::analysis {
namespace {

void add_tick(std::uint8_t& age) {
  if (age < most_age) {
    ++age;
  }
}

}  // namespace

Data::Data(const Tasks& tasks, Reached& reached) : tasks_(tasks), reached_(reached) {
  reached.oldest.assign(tasks.size(), -1);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    reached.ages.emplace_back(tasks[i].reads.size(), -1);
    for (std::size_t k = 0; k < tasks[i].reads.size(); ++k) {
      add(i, tasks[i].reads[k], k, false);
    }
    // Who takes the newest of all messages leaves none for a job that waits.
    const bool leaves_none = tasks[i].drop != Drop::nothing && !tasks_.is_timer(i);
    if (tasks[i].trigger.depth > 0 || leaves_none) {
      add(i, tasks[i].trigger, 0, true);
    }
  }
  has_data_ = std::ranges::any_of(places_, [](const Place& one) { return one.input->depth > 0; });
}

void Data::add(std::size_t task, const Input& input, std::size_t number, bool releases) {
  if (places_.size() == most_queues || input.depth > static_cast<std::int64_t>(most_kept)) {
    throw std::invalid_argument("more data than a situation has place for");
  }
  places_.push_back({.task = task, .input = &input, .number = number, .releases = releases});
}

void Data::grow_older(Situation& now) const {
  if (!has_data_) {
    return;
  }
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (now.tasks[i].place > 0) {
      add_tick(now.tasks[i].sampled);
    }
    add_tick(now.tasks[i].origin);
    if (now.tasks[i].stored != 0) {
      add_tick(now.tasks[i].stored_sampled);
      add_tick(now.tasks[i].stored_origin);
    }
  }
  for (Queue& queue : now.queues) {
    for (std::size_t k = 0; k < queue.kept; ++k) {
      add_tick(queue.sampled[k]);
      add_tick(queue.origins[k]);
    }
  }
  add_tick(now.last);
}

bool Data::is_link(std::size_t from, std::size_t to) const {
  const auto& chain = tasks_.options().chain;
  const auto found = std::ranges::find(chain, to);
  return found != chain.begin() && found != chain.end() && *(found - 1) == from;
}

// What is as old as that may be older.
std::int64_t Data::known(std::uint8_t age) {
  reached_.complete = reached_.complete && age < most_age;
  return age;
}

std::int64_t Data::take(Situation& now, std::size_t task) {
  if (has_data_) {
    TaskNow& own = now.tasks[task];
    own.sampled = own.ages[0];
    const auto& chain = tasks_.options().chain;
    if (!chain.empty() && chain.front() == task) {
      own.origin = own.ages[0];
    }
  }
  std::int64_t taken = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].task == task) {
      taken += places_[i].releases ? read_trigger(now, i) : read(now, i);
    }
  }
  return taken;
}

// All that has come, of which the newest counts.
std::int64_t Data::read(Situation& now, std::size_t queue) {
  Queue& from = now.queues[queue];
  if (from.kept == 0) {
    return 0;
  }
  for (std::size_t k = 0; k < from.unread; ++k) {
    if (from.origins[k] != no_age) {
      now.tasks[places_[queue].task].origin = from.origins[k];
      break;
    }
  }
  const std::int64_t taken = from.unread;
  from.unread = 0;
  use(queue, from.sampled[0]);
  return taken;
}

// The message that released the job: the oldest that waits where all are caught up on.
std::int64_t Data::read_trigger(Situation& now, std::size_t queue) {
  Queue& from = now.queues[queue];
  TaskNow& own = now.tasks[places_[queue].task];
  own.empty = from.unread == 0 ? 1 : 0;
  if (own.empty != 0) {
    return 0;
  }
  if (places_[queue].input->depth == 0) {
    from.unread = 0;
    return 0;
  }
  const bool each = tasks_[places_[queue].task].drop == Drop::nothing;
  const std::size_t k = each ? from.unread - 1U : 0U;
  if (from.origins[k] != no_age) {
    own.origin = from.origins[k];
  }
  own.sampled = from.sampled[k];
  from.unread = each ? static_cast<std::uint8_t>(k) : std::uint8_t{0};
  use(queue, from.sampled[k]);
  return 1;
}

void Data::use(std::size_t queue, std::uint8_t age) {
  const Place& place = places_[queue];
  const std::int64_t time = known(age);
  reached_.oldest[place.task] = std::max(reached_.oldest[place.task], time);
  if (!place.releases) {
    std::int64_t& longest = reached_.ages[place.task][place.number];
    longest = std::max(longest, time);
  }
}

bool Data::is_with(std::size_t task, std::size_t other) const {
  return task == other || (tasks_[task].join != 0 && tasks_[task].join == tasks_[other].join);
}

bool Data::publish(Situation& now, std::size_t task) {
  TaskNow& own = now.tasks[task];
  own.stored = 1;
  own.stored_sampled = own.sampled;
  own.stored_origin = own.origin;
  std::uint8_t oldest = 0;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (is_with(task, i) && now.tasks[i].stored == 0) {
      return false;
    }
    oldest = is_with(task, i) ? std::max(oldest, now.tasks[i].stored_sampled) : oldest;
  }
  for (std::int64_t left = tasks_[task].messages; left > 0; --left) {
    publish(now, task, oldest);
  }
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (is_with(task, i)) {
      TaskNow& joined = now.tasks[i];
      joined.stored = joined.stored_sampled = joined.stored_origin = 0;
    }
  }
  return true;
}

// The chain's datum for a task, from the one before it in the chain.
std::uint8_t Data::origin_for(const Situation& now, std::size_t writer, std::size_t reader) const {
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (is_with(writer, i) && is_link(i, reader)) {
      return now.tasks[i].stored_origin;
    }
  }
  return no_age;
}

void Data::publish(Situation& now, std::size_t task, std::uint8_t sampled) {
  if (places_.empty()) {
    return;
  }
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Input& input = *places_[i].input;
    if (std::ranges::find(input.writers, task) == input.writers.end()) {
      continue;
    }
    Queue& to = now.queues[i];
    if (input.depth == 0) {  // all are taken at once: it matters whether there is one
      to.unread = 1;
      continue;
    }
    std::shift_right(to.sampled.begin(), to.sampled.end(), 1);
    std::shift_right(to.origins.begin(), to.origins.end(), 1);
    to.sampled[0] = sampled;
    to.origins[0] = origin_for(now, task, places_[i].task);
    const auto depth = static_cast<std::uint8_t>(input.depth);
    to.kept = std::min<std::uint8_t>(to.kept + 1, depth);
    to.unread = std::min<std::uint8_t>(to.unread + 1, depth);
    for (std::size_t k = to.kept; k < most_kept; ++k) {
      to.sampled[k] = to.origins[k] = 0;
    }
  }
}

void Data::end(Situation& now, std::size_t task) {
  const auto& chain = tasks_.options().chain;
  if (!places_.empty() && !chain.empty() && chain.back() == task) {
    end_chain(now);
  }
}

void Data::end_chain(Situation& now) {
  const std::uint8_t origin = now.tasks[tasks_.options().chain.back()].origin;
  if (origin == no_age) {
    return;
  }
  reached_.age = std::max(reached_.age, known(origin));
  if (now.last != no_age && origin >= now.last) {
    return;
  }
  reached_.latency = std::max(reached_.latency, known(origin));
  if (now.last != no_age) {
    reached_.reaction = std::max(reached_.reaction, known(now.last));
  }
  now.last = origin;
}

}  // namespace takt::analysis
