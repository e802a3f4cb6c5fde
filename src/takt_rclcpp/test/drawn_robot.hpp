// SPDX-License-Identifier: Apache-2.0
//
// Small applications of two processes that hear each other's topics and call each other's services,
// and what one of the processes did, with what came to it from the other.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "recorded.hpp"

namespace takt::test {

// The first three callbacks of an application of draw() in each process, a third shorter, because
// the orders of a wait set are many; one or two subscriptions to what the other process publishes
// in each; a service in one of them that the other one calls.
inline std::vector<Drawn> draw_robot(std::uint64_t seed,
                                     const std::array<std::size_t, 2>& threads) {
  std::mt19937_64 random{seed};
  const auto number = [&](std::size_t least, std::size_t most) {
    return std::uniform_int_distribution{least, most}(random);
  };
  std::vector<Drawn> callbacks;
  std::array<std::size_t, 3> first{};  // of each process
  for (std::size_t process = 0; process < 2; ++process) {
    constexpr std::size_t most = 3;
    std::vector<Drawn> own = draw(2 * seed + process, threads.at(process));
    own.resize(std::min(own.size(), most));
    for (Drawn one : own) {
      one.process = process;
      one.execution = one.execution * 2 / 3;
      one.trigger += first.at(process);
      callbacks.push_back(one);
    }
    first.at(process + 1) = callbacks.size();
  }
  const auto add = [&](Kind kind, std::size_t process, std::size_t trigger) {
    Drawn one{.trigger = trigger, .hears = kind, .process = process};
    one.execution = std::chrono::microseconds{10 * number(10, 60)};
    one.reentrant = number(0, 4) == 0;
    one.group = one.reentrant ? 0 : number(0, 2);
    callbacks.push_back(one);
  };
  const auto any_of = [&](std::size_t process) {
    return number(first.at(process), first.at(process + 1) - 1);
  };
  for (std::size_t process = 0; process < 2; ++process) {
    for (std::size_t left = number(1, 2); left > 0; --left) {
      add(Kind::subscription, process, any_of(1 - process));
    }
  }
  const std::size_t caller = number(0, 1);
  add(Kind::service, 1 - caller, any_of(caller));
  add(Kind::client, caller, callbacks.size() - 1);
  return callbacks;
}

// One process of a recorded application as a recording of its own.
inline Recording process_of(const Recording& all, std::size_t process) {
  Recording own;
  own.begin = all.begin;
  own.end = all.end;
  std::vector<std::size_t> numbers(all.callbacks.size());
  for (std::size_t i = 0; i < all.callbacks.size(); ++i) {
    Drawn one = all.callbacks[i];
    if (one.process != process) {
      continue;
    }
    numbers[i] = own.callbacks.size();
    one.outside = !one.is_timer() && all.callbacks[one.trigger].process != process;
    std::vector<Arrival> arrivals;
    if (one.outside) {
      const std::vector<TimePoint> computed = all.sorted(one.trigger, &RecordedJob::computed);
      const std::vector<TimePoint> published = all.sorted(one.trigger, &RecordedJob::published);
      for (std::size_t job = 0; job < computed.size(); ++job) {
        arrivals.push_back({.earliest = computed[job], .latest = published[job]});
      }
    }
    if (!one.is_timer() && !one.outside) {
      one.trigger = numbers[one.trigger];
    }
    own.callbacks.push_back(one);
    own.from_outside.push_back(std::move(arrivals));
  }
  for (RecordedJob job : all.jobs) {
    if (all.callbacks[job.callback].process == process) {
      job.callback = numbers[job.callback];
      own.jobs.push_back(job);
    }
  }
  return own;
}

}  // namespace takt::test
