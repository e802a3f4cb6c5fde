// SPDX-License-Identifier: Apache-2.0
//
// Whether the simulator's decisions permit the order of the callbacks in a recording.
//
// A recording tells when a callback began and ended, not when its thread looked for it, when a
// message was there, or when the others saw that a group was free. Each of these events lies
// between two times that it does tell. So the decisions are asked again and again in one order of
// the events after the other, until one is found in which a thread takes what it took in the
// recording each time that it looks; that of the recorded times comes first. Within a kind, the
// wait set of rclcpp has the order of a hash table: each one is tried.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "events.hpp"

namespace takt::test {

// One way through the events of a recording. At each choice there are several ways to go on, of
// which the first is that of the recorded times.
class Walk {
 public:
  struct Choice {
    std::size_t taken = 0;
    std::size_t count = 1;
    bool in_a_look = false;  // the group became free between its timers and its subscriptions
  };

  Walk(const Recording& recording, const Executor& executor, const Events& events,
       const std::vector<std::size_t>& order, std::vector<Choice>& path)
      : recording_(recording),
        executor_(executor),
        events_(events),
        path_(path),
        decisions_(recording.callbacks, executor, order),
        passed_(events.all().size(), false),
        started_(recording.jobs.size(), false),
        ended_(recording.jobs.size(), false),
        released_(recording.callbacks.size(), 0),
        taken_(recording.callbacks.size(), 0) {}

  // Whether each thread takes what it took. Chooses as in `path`, then the first way each time.
  bool run() {
    while (next_job() < recording_.jobs.size() && recording_.jobs[next_].start < recording_.end) {
      const TimePoint start = recording_.jobs[next_].start;
      const std::vector<std::size_t> ways = candidates(start);
      if (ways.empty()) {
        now_ = std::max(now_ + nanoseconds{1}, start);
        const std::size_t looked_for = next_;
        if (!look(true) || !started_[looked_for]) {
          return false;
        }
        continue;
      }
      pass(ways[choose(ways.size())]);
      if (!look(false)) {
        return false;
      }
    }
    return true;
  }

  // Of the first job that no thread has taken so far: its place in the recording.
  [[nodiscard]] std::size_t reached() const { return next_; }
  // How many jobs were taken while several callbacks were ready.
  [[nodiscard]] std::size_t among() const { return chosen_; }
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  static constexpr std::size_t most_ways = 3;

  std::size_t next_job() {
    while (next_ < started_.size() && started_[next_]) {
      ++next_;
    }
    return next_;
  }

  std::size_t choose(std::size_t count, bool in_a_look = false) {
    if (count == 1) {
      return 0;
    }
    if (depth_ == path_.size()) {
      path_.push_back({.taken = 0, .count = count, .in_a_look = in_a_look});
    }
    return path_[depth_++].taken;
  }

  [[nodiscard]] bool may_happen(const Event& event) const {
    if (event.ends) {
      return started_[events_.jobs_of(event.callback)[event.number]];
    }
    const bool timer = recording_.callbacks[event.callback].is_timer();
    if (event.number != released_[event.callback]) {
      return false;
    }
    if (!timer || event.number == 0 || executor_.name == "rclcpp_events") {
      return true;
    }
    const std::size_t last = events_.jobs_of(event.callback)[event.number - 1];
    return executor_.takes_in_turn() ? ended_[last] : started_[last];
  }

  // The events that may be next, before a job that started then.
  std::vector<std::size_t> candidates(TimePoint start) {
    const std::vector<Event>& all = events_.all();
    while (first_ < all.size() && passed_[first_]) {
      ++first_;
    }
    TimePoint limit = start;
    for (std::size_t i = first_; i < all.size() && all[i].earliest <= limit; ++i) {
      if (!passed_[i] && may_happen(all[i])) {
        limit = std::min(limit, all[i].latest);
      }
    }
    std::vector<std::size_t> found;
    for (std::size_t i = first_; i < all.size() && all[i].earliest <= limit; ++i) {
      if (!passed_[i] && may_happen(all[i])) {
        found.push_back(i);
      }
    }
    if (events_.delayed()) {
      std::ranges::stable_sort(found, {}, [&](std::size_t i) { return all[i].latest; });
    }
    found.resize(std::min(found.size(), most_ways));
    return found;
  }

  void pass(std::size_t number) {
    const Event& event = events_.all()[number];
    passed_[number] = true;
    now_ = std::max(now_ + nanoseconds{1}, event.earliest);
    if (event.ends) {
      decisions_.end(event.callback, event.number, now_);
      ended_[events_.jobs_of(event.callback)[event.number]] = true;
      freed_[recording_.callbacks[event.callback].group] = now_;
    } else {
      decisions_.release(event.callback, now_);
      ++released_[event.callback];
    }
  }

  // Whether all that threads take now is what they took.
  bool look(bool must) {
    while (decisions_.has_free_thread()) {
      const bool anything =
          std::ranges::any_of(recording_.callbacks, [&, i = std::size_t{0}](const Drawn&) mutable {
            const std::size_t callback = i++;
            return released_[callback] > taken_[callback];
          });
      // It makes no difference when it looks if nothing happens before it has to.
      if (anything && !must && next_job() < recording_.jobs.size() &&
          !candidates(recording_.jobs[next_].start).empty() && choose(2) == 1) {
        asleep_since_ = std::min(asleep_since_, now_);
        return true;
      }
      const TimePoint asleep = std::exchange(asleep_since_, TimePoint::max());
      if (!events_.delayed() && asleep < now_ - usual_race) {
        why_ = "does not leave a thread idle for so long";
        return false;
      }
      const auto taken = decisions_.look(now_);
      if (!taken) {
        return true;
      }
      const std::vector<std::size_t> others = passed_by(*taken);
      const std::size_t other = choose(1 + others.size(), true);
      if (other > 0) {
        decisions_.take_instead(others[other - 1]);
      }
      chosen_ += several() ? 1 : 0;
      if (!take(other > 0 ? others[other - 1] : *taken)) {
        return false;
      }
    }
    return true;
  }

  // Whether more than one callback is released.
  [[nodiscard]] bool several() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < released_.size(); ++i) {
      count += released_[i] > taken_[i] ? 1 : 0;
    }
    return count > 1;
  }

  // A thread of MultiThreadedExecutor looks at one kind after the other, timers first. If a group
  // becomes free in between, a subscription of it is taken, although a timer of it is ready.
  [[nodiscard]] std::vector<std::size_t> passed_by(std::size_t taken) const {
    const auto& callbacks = recording_.callbacks;
    const std::size_t group = callbacks[taken].group;
    std::vector<std::size_t> found;
    if (executor_.name != "rclcpp_multi_threaded" || group == 0 ||
        now_ - freed_[group] > usual_race) {
      return found;
    }
    for (std::size_t i = 0; i < callbacks.size(); ++i) {
      if (callbacks[i].kind() > callbacks[taken].kind() && callbacks[i].group == group &&
          decisions_.is_ready(i)) {
        found.push_back(i);
      }
    }
    return found;
  }

  bool take(std::size_t callback) {
    const auto& jobs = events_.jobs_of(callback);
    if (taken_[callback] == jobs.size()) {
      why_ = "takes callback " + std::to_string(callback) + ", which did not run again";
      return false;
    }
    const std::size_t job = jobs[taken_[callback]];
    const auto before = events_.before(job);
    if (before && !ended_[*before]) {
      why_ = "takes callback " + std::to_string(callback) + ", whose thread was busy";
      return false;
    }
    if (recording_.jobs[job].start < now_) {
      why_ = "takes callback " + std::to_string(callback) + " after its start";
      return false;
    }
    decisions_.start(now_);
    started_[job] = true;
    ++taken_[callback];
    return true;
  }

  const Recording& recording_;
  Executor executor_;
  const Events& events_;
  std::vector<Choice>& path_;
  std::size_t depth_ = 0;
  Decisions decisions_;
  TimePoint now_{};
  TimePoint asleep_since_ = TimePoint::max();  // a free thread, although something is released
  std::vector<bool> passed_;                   // by event
  std::vector<bool> started_;                  // by job
  std::vector<bool> ended_;
  std::array<TimePoint, 3> freed_{};   // by group
  std::vector<std::size_t> released_;  // by callback: how many
  std::vector<std::size_t> taken_;
  std::size_t first_ = 0;  // event that has not been seen
  std::size_t chosen_ = 0;
  std::size_t next_ = 0;  // job that has not started
  std::string why_;
};

// The answer for one recording.
struct Permission {
  bool permitted = false;
  std::size_t among = 0;     // jobs that were taken while several callbacks were ready
  std::size_t races = 0;     // choices other than that of the recorded times
  bool late = false;         // something was seen later than usual_race
  std::size_t in_looks = 0;  // of these, groups that became free while a thread looked
  std::size_t reached = 0;   // else: the first job that is not permitted
  std::string why;
};

namespace detail {

// All orders in which each kind has one of its own, beginning with that of creation reversed, which
// is the one of rclcpp's hash table as a rule.
inline std::vector<std::vector<std::size_t>> orders(const Recording& recording,
                                                    const Executor& executor) {
  std::vector<std::size_t> order(recording.callbacks.size());
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  const auto kind = [&](std::size_t i) { return recording.callbacks[i].kind(); };
  std::ranges::stable_sort(order, {}, kind);
  std::vector<std::vector<std::size_t>> all;
  const auto add = [&](const auto& self, auto begin) -> void {
    if (begin == order.end()) {
      all.push_back(order);
      return;
    }
    const auto end =
        std::find_if(begin, order.end(), [&](std::size_t i) { return kind(i) != kind(*begin); });
    do {
      self(self, end);
    } while (std::prev_permutation(begin, end));
  };
  add(add, order.begin());
  if (!executor.has_wait_set()) {
    all.resize(1);
  }
  return all;
}

// The next path, which differs as late as possible.
// @return false: there is none.
inline bool go_back(std::vector<Walk::Choice>& path) {
  while (!path.empty() && path.back().taken + 1 == path.back().count) {
    path.pop_back();
  }
  if (path.empty()) {
    return false;
  }
  ++path.back().taken;
  return true;
}

template <class Which>
std::size_t count(const std::vector<Walk::Choice>& path, Which which) {
  return static_cast<std::size_t>(std::ranges::count_if(
      path, [&](const Walk::Choice& one) { return one.taken > 0 && which(one); }));
}

// Whether one of so many ways leads to the end.
inline bool has_way(const Recording& recording, const Executor& executor, const Events& events,
                    const std::vector<std::size_t>& order, std::size_t ways, Permission& result) {
  std::vector<Walk::Choice> path;
  for (std::size_t tried = 0; tried < ways; ++tried) {
    Walk walk{recording, executor, events, order, path};
    if (walk.run()) {
      result.permitted = true;
      result.among = walk.among();
      result.races = count(path, [](const auto&) { return true; });
      result.in_looks = count(path, [](const auto& one) { return one.in_a_look; });
      return true;
    }
    if (walk.reached() >= result.reached) {
      result.reached = walk.reached();
      result.why = walk.why();
    }
    if (!go_back(path)) {
      return false;
    }
  }
  return false;
}

}  // namespace detail

// `most`: how many ways are tried for each order of the wait set.
inline Permission is_permitted(const Recording& recording, const Executor& executor,
                               std::size_t most) {
  Permission result;
  const auto orders = detail::orders(recording, executor);
  for (const bool late : {false, true}) {
    const Events events{recording, executor, late};
    for (const std::size_t ways : {most / 50, most}) {
      for (const std::vector<std::size_t>& order : orders) {
        if (detail::has_way(recording, executor, events, order, ways, result)) {
          result.late = late;
          return result;
        }
      }
    }
  }
  return result;
}

}  // namespace takt::test
