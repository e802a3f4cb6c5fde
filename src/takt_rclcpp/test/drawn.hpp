// SPDX-License-Identifier: Apache-2.0
//
// Small applications: timers, and what hears another callback at its end, in callback groups of one
// node for each process.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "takt/application/application.hpp"

namespace takt::test {

using std::chrono::nanoseconds;

// In the order in which a wait set has them.
enum class Kind : std::uint8_t { timer, subscription, service, client };

struct Drawn {
  nanoseconds period{0};  // 0: no timer
  nanoseconds offset{0};
  nanoseconds execution{0};
  // The callback whose messages it hears; of a service: whose requests; of a client: the service.
  std::size_t trigger = 0;
  std::size_t group = 0;            // 0: a mutually exclusive one of its own
  bool reentrant = false;           // in the reentrant group of all such callbacks
  Kind hears = Kind::subscription;  // unless it is a timer
  std::size_t process = 0;
  bool outside = false;  // what it hears comes from a process that is not looked at

  [[nodiscard]] bool is_timer() const { return period.count() > 0; }
  [[nodiscard]] Kind kind() const { return is_timer() ? Kind::timer : hears; }
};

// One to three timers and up to three subscriptions, which load this number of threads by about
// nine tenths, some more. Each is alone, in one of two mutually exclusive groups, or in the
// reentrant one.
inline std::vector<Drawn> draw(std::uint64_t seed, std::size_t threads) {
  std::mt19937_64 random{seed};
  const auto number = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution{least, most}(random);
  };
  const auto timers = static_cast<std::size_t>(number(1, 3));
  const auto subscriptions = static_cast<std::size_t>(number(timers == 1 ? 1 : 0, 3));
  std::vector<Drawn> callbacks;
  for (std::size_t i = 0; i < timers + subscriptions; ++i) {
    Drawn one;
    if (i < timers) {
      one.period = std::chrono::microseconds{100 * number(20, 60)};
      one.offset = std::chrono::microseconds{10 * number(0, 200)};
    } else {
      one.trigger = static_cast<std::size_t>(number(0, static_cast<std::int64_t>(i) - 1));
    }
    one.execution = std::chrono::microseconds{14 * number(10, 120)} * static_cast<int>(threads);
    one.reentrant = number(0, 4) == 0;
    one.group = one.reentrant ? 0 : static_cast<std::size_t>(number(0, 2));
    callbacks.push_back(one);
  }
  return callbacks;
}

// The same, as analysis and simulation have it. `order`: the callbacks by their places in it.
inline application::Application described(const std::vector<Drawn>& callbacks,
                                          const std::vector<std::size_t>& order,
                                          const std::string& executor, std::size_t threads) {
  application::Application result{.name = "drawn", .policy = executor};
  result.cpus.clear();
  for (std::size_t cpu = 0; cpu < threads; ++cpu) {
    result.cpus.push_back(static_cast<int>(cpu));
  }
  for (const std::size_t number : order) {
    const Drawn& drawn = callbacks[number];
    const std::string name = std::to_string(number);
    application::Callback callback;
    sched::Task& task = callback.task;
    task.name = "c" + name;
    task.kind = drawn.is_timer() ? sched::TaskKind::timer : sched::TaskKind::message;
    task.parameters.period = drawn.period;
    task.parameters.offset = drawn.offset;
    task.parameters.expected_execution = drawn.execution;
    if (!drawn.is_timer()) {
      task.trigger = drawn.outside ? "x" + name : "t" + std::to_string(drawn.trigger);
    }
    task.writes = {"t" + name};
    if (drawn.group > 0) {
      task.group = "g" + std::to_string(drawn.group);
    } else if (drawn.reentrant && executor == "rclcpp_events_cbg") {
      task.group = "reentrant";  // which it takes for a mutually exclusive one, in rclcpp 29.5.9
    }
    callback.reentrant = drawn.reentrant && executor == "rclcpp_multi_threaded";
    callback.node = task.group.empty() ? task.name : task.group;  // a group is of one node
    callback.execution = {.best = nanoseconds{0}, .worst = drawn.execution};
    result.callbacks.push_back(callback);
  }
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    result.topics.push_back({.name = "t" + std::to_string(i), .depth = 100});
    if (callbacks[i].outside) {
      result.topics.push_back({.name = "x" + std::to_string(i), .depth = 100, .external = true});
    }
  }
  return result;
}

}  // namespace takt::test
