// SPDX-License-Identifier: Apache-2.0
//
// The simulator under rclcpp's own executors with several threads, against a model of each that is
// written here.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "sim/stock_models.hpp"

namespace takt::sim::stock {
namespace {

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
    return !callbacks_[callback].reentrant &&
           std::ranges::any_of(threads_, [&](const std::optional<Ran>& thread) {
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
      interrupted_ = interrupted_ || !callbacks_[thread->callback].reentrant;
      thread.reset();
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

// Three jobs of a timer run at once, and so do those of a subscription, each of another message.
TEST(threads, jobs_of_a_reentrant_callback_run_at_once) {
  const std::vector<Small> callbacks{{.period = 10, .execution = 25, .reentrant = true},
                                     {.execution = 15, .trigger = 0, .reentrant = true}};
  const auto ran = simulated(callbacks, "rclcpp_multi_threaded", 5);
  EXPECT_EQ(ran, ThreadsModel(callbacks, 5).run_all());
  std::size_t jobs = 0;
  for (const Ran& one : ran) {
    EXPECT_EQ(one.start, one.release);
    jobs += one.callback == 1 ? 1U : 0U;
  }
  EXPECT_EQ(jobs, 17U);
}

// While no thread is free, expiries of its timer become one job, as of any other.
TEST(threads, a_reentrant_timer_drops_what_nobody_takes) {
  const std::vector<Small> callbacks{
      {.period = 200, .execution = 35},
      {.period = 200, .execution = 38},
      {.period = 10, .offset = 1, .execution = 1, .reentrant = true}};
  const auto ran = simulated(callbacks, "rclcpp_multi_threaded", 2);
  EXPECT_EQ(ran, ThreadsModel(callbacks, 2).run_all());
  ASSERT_GT(ran.size(), 3U);
  EXPECT_EQ(ran[1], (Ran{.callback = 2, .release = 1, .start = 35, .end = 36}));
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
  for (int round = 0; round < 200; ++round) {
    std::vector<Small> callbacks;
    const std::int64_t count = number(1, 7);
    for (std::int64_t i = 0; i < count; ++i) {
      const bool timer = i == 0 || number(0, 1) == 0;
      callbacks.push_back({.period = timer ? number(3, 30) : 0,
                           .offset = timer ? number(0, 9) : 0,
                           .execution = number(1, 9),
                           .trigger = timer ? 0 : static_cast<std::size_t>(number(0, i - 1)),
                           .group = static_cast<std::size_t>(number(0, 3))});
      callbacks.back().reentrant = callbacks.back().group == 0 && number(0, 1) == 0;
    }
    SCOPED_TRACE("round " + std::to_string(round));
    for (std::size_t threads = 1; threads <= 3; ++threads) {
      ASSERT_EQ(simulated(callbacks, "rclcpp_multi_threaded", threads),
                ThreadsModel(callbacks, threads).run_all())
          << threads << " threads";
      if (threads > 1) {
        std::vector<Small> exclusive = callbacks;
        for (Small& one : exclusive) {
          one.reentrant = false;
        }
        ASSERT_EQ(simulated(exclusive, "rclcpp_events_cbg", threads),
                  GroupTurnsModel(exclusive, threads).run_all())
            << threads << " threads in turn";
      }
    }
    ASSERT_EQ(simulated(callbacks, "rclcpp_multi_threaded"),
              simulated(callbacks, "rclcpp_single_threaded"));
  }
}

}  // namespace
}  // namespace takt::sim::stock
