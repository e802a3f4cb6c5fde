// SPDX-License-Identifier: Apache-2.0
//
// The simulator under rclcpp's own executors with one thread, against a model of each that is
// written here.
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "sim/stock_models.hpp"

namespace takt::sim::stock {
namespace {

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
}  // namespace takt::sim::stock
