// SPDX-License-Identifier: Apache-2.0
//
// The simulator under rclcpp's own executors, against a model of each that is written here.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "sim/schedule.hpp"

namespace takt::sim {
namespace {

constexpr std::int64_t end_of_time = 200;

// A timer, or a subscription to what callback `trigger` publishes at its end. In ticks.
struct Small {
  std::int64_t period = 0;  // 0: a subscription
  std::int64_t offset = 0;
  std::int64_t execution = 1;
  std::size_t trigger = 0;
  std::size_t group = 0;  // above 0: with all others of this number
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

class WaitSetModel : Model {
 public:
  using Model::Model;

  std::vector<Ran> run_all() {
    while (now_ < end_of_time) {
      std::vector<std::size_t> collected;
      for (const bool timers : {true, false}) {
        for (std::size_t i = 0; i < callbacks_.size(); ++i) {
          if (is_timer(i) == timers && waits_since(i)) {
            collected.push_back(i);
          }
        }
      }
      for (const std::size_t i : collected) {
        if (now_ < end_of_time) {
          run(i, true);
        }
      }
      if (collected.empty()) {
        sleep();
      }
    }
    return ran_;
  }
};

class EventsModel : Model {
 public:
  using Model::Model;

  std::vector<Ran> run_all() {
    while (now_ < end_of_time) {
      std::optional<std::size_t> first;
      for (std::size_t i = 0; i < callbacks_.size(); ++i) {
        const auto since = waits_since(i);
        if (since && (!first || *since < *waits_since(*first))) {
          first = i;
        }
      }
      if (first) {
        run(*first, false);
      } else {
        sleep();
      }
    }
    return ran_;
  }
};

// What rclcpp's MultiThreadedExecutor does, step by step as in its source: lists of what the last
// wait has found, and the callbacks that are in the wait set.
class ThreadsModel : protected Model {
 public:
  ThreadsModel(const std::vector<Small>& callbacks, std::size_t threads)
      : Model(callbacks), threads_(threads), wait_set_(callbacks.size()) {
    std::iota(wait_set_.begin(), wait_set_.end(), std::size_t{0});
  }
  virtual ~ThreadsModel() = default;

  std::vector<Ran> run_all() {
    for (; now_ <= end_of_time; ++now_) {
      end_callbacks();
      collect();
      for (std::optional<Ran>& thread : threads_) {
        if (!thread && now_ < end_of_time) {
          if (const auto callback = next()) {
            thread = begin(*callback);
          }
        }
      }
    }
    std::ranges::sort(ran_, {}, [](const Ran& one) { return std::pair{one.end, one.callback}; });
    return ran_;
  }

 protected:
  virtual void collect() {}

  [[nodiscard]] bool group_runs(std::size_t callback) const {
    return std::ranges::any_of(threads_, [&](const std::optional<Ran>& thread) {
      const std::size_t group = callbacks_[callback].group;
      return thread && (thread->callback == callback ||
                        (group > 0 && callbacks_[thread->callback].group == group));
    });
  }

  void end_callbacks() {
    for (std::optional<Ran>& thread : threads_) {
      if (!thread || thread->end > now_) {
        continue;
      }
      for (std::size_t reader = 0; reader < callbacks_.size(); ++reader) {
        if (!is_timer(reader) && callbacks_[reader].trigger == thread->callback) {
          messages_[reader].push_back(now_);
        }
      }
      ran_.push_back(*thread);
      thread.reset();
      interrupted_ = true;
    }
  }

  virtual std::optional<std::size_t> next() {
    auto found = next_of_result();
    bool woken = true;
    while (!found && woken) {
      if (std::exchange(rebuild_, false)) {
        std::erase_if(wait_set_, [&](std::size_t i) { return group_runs(i); });
        for (std::size_t i = 0; i < callbacks_.size(); ++i) {
          if (!group_runs(i) && std::ranges::count(wait_set_, i) == 0) {
            wait_set_.push_back(i);
          }
        }
      }
      timers_.clear();
      subscriptions_.clear();
      for (const std::size_t i : wait_set_) {
        if (waits_since(i)) {
          (is_timer(i) ? timers_ : subscriptions_).push_back(i);
        }
      }
      woken = std::exchange(interrupted_, false);
      rebuild_ = rebuild_ || woken;
      found = next_of_result();
    }
    return found;
  }

 private:
  std::optional<std::size_t> next_of_result() {
    const auto timer = std::ranges::find_if(timers_, [&](std::size_t i) { return !group_runs(i); });
    if (timer != timers_.end()) {
      const std::size_t callback = *timer;
      timers_.erase(timer);
      return callback;
    }
    while (!subscriptions_.empty()) {
      const std::size_t callback = subscriptions_.front();
      subscriptions_.pop_front();
      if (!group_runs(callback)) {
        return callback;
      }
    }
    return {};
  }

 protected:
  Ran begin(std::size_t i) {
    const Ran ran{.callback = i,
                  .release = *waits_since(i),
                  .start = now_,
                  .end = now_ + callbacks_[i].execution};
    if (!is_timer(i)) {
      messages_[i].pop_front();
    } else {
      do {
        expiry_[i] += callbacks_[i].period;
      } while (expiry_[i] < now_);
    }
    return ran;
  }

  std::vector<std::optional<Ran>> threads_;

 private:
  std::vector<std::size_t> wait_set_;
  std::deque<std::size_t> timers_;  // of the last wait's result
  std::deque<std::size_t> subscriptions_;
  bool interrupted_ = false;
  bool rebuild_ = false;
};

// What rclcpp's EventsCBGExecutor does: a queue of groups, each with a queue of its own.
class GroupTurnsModel : public ThreadsModel {
 public:
  GroupTurnsModel(const std::vector<Small>& callbacks, std::size_t threads)
      : ThreadsModel(callbacks, threads),
        known_(callbacks.size(), 0),
        groups_(callbacks.size() + 10) {}

 protected:
  void collect() override {
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      if (is_timer(i)) {
        if (known_[i] == 0 && !runs(i) && waits_since(i)) {
          known_[i] = 1;
          group_of(i).push_back({now_, i});
        }
      } else {
        for (; known_[i] < messages_[i].size(); ++known_[i]) {
          group_of(i).push_back({now_, i});
        }
      }
    }
    std::vector<std::pair<Entry, std::size_t>> added;
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      if (!groups_[group].empty() && std::ranges::count(queue_, group) == 0 &&
          !group_runs(groups_[group].front().second)) {
        added.emplace_back(groups_[group].front(), group);
      }
    }
    std::ranges::sort(added);
    for (const auto& [entry, group] : added) {
      queue_.push_back(group);
    }
  }

  std::optional<std::size_t> next() override {
    if (queue_.empty()) {
      return {};
    }
    std::deque<Entry>& group = groups_[queue_.front()];
    queue_.pop_front();
    const std::size_t callback = group.front().second;
    group.pop_front();
    --known_[callback];
    return callback;
  }

 private:
  using Entry = std::pair<std::int64_t, std::size_t>;  // since when, which callback

  [[nodiscard]] bool runs(std::size_t callback) const {
    return std::ranges::any_of(
        threads_, [&](const auto& thread) { return thread && thread->callback == callback; });
  }
  std::deque<Entry>& group_of(std::size_t callback) {
    const std::size_t group = callbacks_[callback].group;
    return groups_[group > 0 ? group : 10 + callback];
  }

  std::vector<std::size_t> known_;  // entries of each callback
  std::vector<std::deque<Entry>> groups_;
  std::deque<std::size_t> queue_;
};

application::Application described(const std::vector<Small>& callbacks,
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
  }
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    result.topics.push_back({.name = "t" + std::to_string(i), .depth = 100});
  }
  return result;
}

std::vector<Ran> simulated(const std::vector<Small>& callbacks, const std::string& executor,
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

std::vector<std::size_t> order_of(const std::vector<Ran>& ran) {
  std::vector<std::size_t> order;
  for (const Ran& one : ran) {
    order.push_back(one.callback);
  }
  return order;
}

TEST(wait_set, what_becomes_ready_in_a_round_waits_for_the_next) {
  // Timer 1 is due while 0 runs, and subscription 2 was collected with neither of them.
  const std::vector<Small> callbacks{
      {.period = 100, .execution = 10}, {.period = 100, .offset = 5}, {.trigger = 0}};
  EXPECT_EQ(order_of(simulated(callbacks, "rclcpp_single_threaded")),
            (std::vector<std::size_t>{0, 1, 2, 0, 1, 2}));
}

TEST(wait_set, a_callback_runs_once_in_a_round) {
  // Three messages wait; the timer runs between any two of them.
  const std::vector<Small> callbacks{{.period = 40, .execution = 1},
                                     {.period = 4, .offset = 2, .execution = 7},
                                     {.execution = 3, .trigger = 1}};
  const auto ran = simulated(callbacks, "rclcpp_single_threaded");
  for (std::size_t i = 1; i < ran.size(); ++i) {
    EXPECT_FALSE(ran[i].callback == 2 && ran[i - 1].callback == 2) << i;
  }
}

TEST(wait_set, a_timer_drops_the_expiries_before_its_start) {
  const std::vector<Small> callbacks{{.period = 200, .execution = 35}, {.period = 10, .offset = 1}};
  const auto ran = simulated(callbacks, "rclcpp_single_threaded");
  ASSERT_GE(ran.size(), 3U);
  EXPECT_EQ(ran[1], (Ran{.callback = 1, .release = 1, .start = 35, .end = 36}));
  EXPECT_EQ(ran[2].release, 41);
}

TEST(wait_set, a_timer_keeps_the_expiry_during_its_own_job) {
  const std::vector<Small> callbacks{{.period = 10, .execution = 14}};
  const auto ran = simulated(callbacks, "rclcpp_single_threaded");
  ASSERT_GE(ran.size(), 3U);
  EXPECT_EQ(ran[1], (Ran{.callback = 0, .release = 10, .start = 14, .end = 28}));
  EXPECT_EQ(ran[2].release, 20);
}

// The simulator looks at a core when its supply ends, too.
TEST(wait_set, nothing_is_collected_while_the_last_callback_of_a_round_runs) {
  application::Application app = described({{.period = 200, .offset = 18},
                                            {.period = 200, .offset = 1},
                                            {.period = 200, .execution = 20}},
                                           "rclcpp_single_threaded");
  app.cores = {
      {.cpu = 0,
       .supply = application::Supply{.budget = nanoseconds{8}, .period = nanoseconds{10}}}};
  std::vector<TaskIndex> order;
  for (const Finished& job : schedule(app, nanoseconds{100}).finished) {
    order.push_back(job.id.first);
  }
  EXPECT_EQ(order, (std::vector<TaskIndex>{2, 0, 1}));
}

TEST(events, expiries_and_messages_run_in_the_order_of_their_arrival) {
  const std::vector<Small> callbacks{{.period = 100, .execution = 35}, {.period = 10, .offset = 1}};
  EXPECT_EQ(
      order_of(simulated(callbacks, "rclcpp_events")),
      (std::vector<std::size_t>{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
}

// A timer of a group is ready whenever the other thread looks, and so is the subscription of the
// group: the timer comes first each time, as long as it has expired by its own end.
TEST(threads, a_busy_timer_keeps_the_subscription_of_its_group_waiting) {
  const std::vector<Small> callbacks{{.period = 10, .execution = 11, .group = 1},
                                     {.period = 50, .execution = 1},
                                     {.execution = 1, .trigger = 1, .group = 1}};
  EXPECT_EQ(std::ranges::count(order_of(simulated(callbacks, "rclcpp_multi_threaded", 2)), 2U), 0);
  EXPECT_GT(std::ranges::count(order_of(simulated(callbacks, "rclcpp_multi_threaded")), 2U), 2);
}

// The wait set was built while group 1 ran, so the first wait after its end does not find timer 1.
TEST(threads, what_a_group_left_out_of_the_wait_set_comes_after_the_others) {
  const std::vector<Small> callbacks{{.period = 200, .execution = 10, .group = 1},
                                     {.period = 200, .offset = 5, .execution = 4, .group = 1},
                                     {.period = 200, .execution = 2},
                                     {.period = 200, .offset = 3, .execution = 7},
                                     {.period = 200, .offset = 8, .execution = 3}};
  const auto ran = simulated(callbacks, "rclcpp_multi_threaded", 2);
  ASSERT_EQ(ran.size(), 5U);
  EXPECT_EQ(ran, ThreadsModel(callbacks, 2).run_all());
  EXPECT_EQ(order_of(ran), (std::vector<std::size_t>{2, 0, 3, 4, 1}));
}

// The subscription of a busy timer's group gets its turn, where the wait set keeps it waiting.
TEST(group_turns, what_is_ready_in_a_group_runs_in_the_order_in_which_it_was_noticed) {
  const std::vector<Small> callbacks{{.period = 10, .execution = 11, .group = 1},
                                     {.period = 50, .execution = 1},
                                     {.execution = 1, .trigger = 1, .group = 1}};
  EXPECT_EQ(std::ranges::count(order_of(simulated(callbacks, "rclcpp_events_cbg", 2)), 2U), 4);
}

// Up to seven callbacks in up to three groups, and one to three threads.
TEST(threads, the_simulator_decides_as_the_model_does) {
  std::mt19937_64 engine{11};
  const auto number = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution{least, most}(engine);
  };
  for (int round = 0; round < 250; ++round) {
    std::vector<Small> callbacks;
    const std::int64_t count = number(1, 7);
    for (std::int64_t i = 0; i < count; ++i) {
      const bool timer = i == 0 || number(0, 1) == 0;
      callbacks.push_back({.period = timer ? number(3, 30) : 0,
                           .offset = timer ? number(0, 9) : 0,
                           .execution = number(1, 9),
                           .trigger = timer ? 0 : static_cast<std::size_t>(number(0, i - 1)),
                           .group = static_cast<std::size_t>(number(0, 3))});
    }
    SCOPED_TRACE("round " + std::to_string(round));
    for (std::size_t threads = 1; threads <= 3; ++threads) {
      ASSERT_EQ(simulated(callbacks, "rclcpp_multi_threaded", threads),
                ThreadsModel(callbacks, threads).run_all())
          << threads << " threads";
      if (threads > 1) {
        ASSERT_EQ(simulated(callbacks, "rclcpp_events_cbg", threads),
                  GroupTurnsModel(callbacks, threads).run_all())
            << threads << " threads in turn";
      }
    }
    ASSERT_EQ(simulated(callbacks, "rclcpp_multi_threaded"),
              simulated(callbacks, "rclcpp_single_threaded"));
  }
}

// Two timers and two subscriptions in all ways, as far as they differ.
TEST(stock_executors, the_simulator_decides_as_the_models_do) {
  std::mt19937_64 engine{7};
  const auto number = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution{least, most}(engine);
  };
  for (int round = 0; round < 1500; ++round) {
    std::vector<Small> callbacks;
    const std::int64_t count = number(1, 6);
    for (std::int64_t i = 0; i < count; ++i) {
      const bool timer = i == 0 || number(0, 1) == 0;
      callbacks.push_back({.period = timer ? number(3, 30) : 0,
                           .offset = timer ? number(0, 9) : 0,
                           .execution = number(1, 6),
                           .trigger = timer ? 0 : static_cast<std::size_t>(number(0, i - 1))});
    }
    SCOPED_TRACE("round " + std::to_string(round));
    ASSERT_EQ(simulated(callbacks, "rclcpp_single_threaded"), WaitSetModel{callbacks}.run_all());
    ASSERT_EQ(simulated(callbacks, "rclcpp_events"), EventsModel{callbacks}.run_all());
  }
}

}  // namespace
}  // namespace takt::sim
