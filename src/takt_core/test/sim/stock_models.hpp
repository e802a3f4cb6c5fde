// SPDX-License-Identifier: Apache-2.0
//
// What the models of rclcpp's own executors share, and the simulator's jobs to compare with theirs.
// In a namespace of its own: the simulator has a Model, too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "sim/schedule.hpp"

namespace takt::sim::stock {

inline constexpr std::int64_t end_of_time = 200;

// A timer, or a subscription to what callback `trigger` publishes at its end. In ticks.
struct Small {
  std::int64_t period = 0;  // 0: a subscription
  std::int64_t offset = 0;
  std::int64_t execution = 1;
  std::size_t trigger = 0;
  std::size_t group = 0;   // above 0: with all others of this number
  bool reentrant = false;  // under rclcpp_multi_threaded, without such a group
};

struct Ran {
  std::size_t callback = 0;
  std::int64_t release = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;

  friend bool operator==(const Ran&, const Ran&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Ran& ran) {
    return out << ran.callback << ": " << ran.release << " " << ran.start << ".." << ran.end;
  }
};

// What both models share: who waits since when.
class Model {
 public:
  explicit Model(const std::vector<Small>& callbacks)
      : callbacks_(callbacks), messages_(callbacks.size()) {
    for (const Small& callback : callbacks) {
      expiry_.push_back(callback.offset);
    }
  }

 protected:
  [[nodiscard]] std::optional<std::int64_t> waits_since(std::size_t i) const {
    if (callbacks_[i].period > 0) {
      return expiry_[i] <= now_ ? std::optional{expiry_[i]} : std::nullopt;
    }
    return messages_[i].empty() ? std::nullopt : std::optional{messages_[i].front()};
  }

  void run(std::size_t i, bool drops) {
    const Small& callback = callbacks_[i];
    Ran ran{.callback = i, .release = *waits_since(i), .start = now_};
    if (callback.period > 0) {
      do {
        expiry_[i] += callback.period;
      } while (drops && expiry_[i] < now_);
    } else {
      messages_[i].pop_front();
    }
    now_ += callback.execution;
    ran.end = now_;
    for (std::size_t reader = 0; reader < callbacks_.size(); ++reader) {
      if (callbacks_[reader].period == 0 && callbacks_[reader].trigger == i) {
        messages_[reader].push_back(now_);
      }
    }
    if (now_ <= end_of_time) {
      ran_.push_back(ran);
    }
  }

  void sleep() {
    std::int64_t next = end_of_time;
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      next = callbacks_[i].period > 0 ? std::min(next, expiry_[i]) : next;
    }
    now_ = next;
  }

  [[nodiscard]] bool is_timer(std::size_t i) const { return callbacks_[i].period > 0; }

  std::vector<Small> callbacks_;
  std::vector<std::int64_t> expiry_;
  std::vector<std::deque<std::int64_t>> messages_;
  std::int64_t now_ = 0;
  std::vector<Ran> ran_;
};

inline application::Application described(const std::vector<Small>& callbacks,
                                          const std::string& executor) {
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    Task task{.name = "c" + std::to_string(i)};
    task.kind = callbacks[i].period > 0 ? sched::TaskKind::timer : sched::TaskKind::message;
    task.parameters.period = nanoseconds{callbacks[i].period};
    task.parameters.offset = nanoseconds{callbacks[i].offset};
    task.parameters.expected_execution = nanoseconds{callbacks[i].execution};
    if (callbacks[i].period == 0) {
      task.trigger = "t" + std::to_string(callbacks[i].trigger);
    }
    task.writes = {"t" + std::to_string(i)};
    task.group = callbacks[i].group > 0 ? "g" + std::to_string(callbacks[i].group) : "";
    tasks.push_back(task);
  }
  application::Application result = application(tasks, executor);
  for (std::size_t i = 0; i < callbacks.size(); ++i) {  // a group is of one node
    result.callbacks[i].node = tasks[i].group.empty() ? tasks[i].name : tasks[i].group;
    result.callbacks[i].reentrant = callbacks[i].reentrant && executor == "rclcpp_multi_threaded";
  }
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    result.topics.push_back({.name = "t" + std::to_string(i), .depth = 100});
  }
  return result;
}

inline std::vector<Ran> simulated(const std::vector<Small>& callbacks, const std::string& executor,
                                  std::size_t threads = 1) {
  application::Application app = described(callbacks, executor);
  app.cpus.resize(threads);
  std::iota(app.cpus.begin(), app.cpus.end(), 0);
  const Schedule described_schedule = schedule(app, nanoseconds{end_of_time});
  std::vector<Ran> ran;
  for (const Finished& job : described_schedule.finished) {
    const auto ticks = [](TimePoint time) { return time.time_since_epoch().count(); };
    ran.push_back({job.id.first, ticks(job.release), ticks(job.start), ticks(job.end)});
  }
  std::ranges::stable_sort(ran, {},
                           [](const Ran& one) { return std::pair{one.end, one.callback}; });
  return ran;
}

inline std::vector<std::size_t> order_of(const std::vector<Ran>& ran) {
  std::vector<std::size_t> order;
  for (const Ran& one : ran) {
    order.push_back(one.callback);
  }
  return order;
}

}  // namespace takt::sim::stock
