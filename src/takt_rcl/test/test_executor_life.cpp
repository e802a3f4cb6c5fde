// SPDX-License-Identifier: Apache-2.0
//
// What becomes of tasks, timers and subscriptions when tasks come and go, or cannot come. Threads
// are refused by standing between takt_core and pthread_create().
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <takt_interfaces/msg/sample.hpp>

#include "executor_support.hpp"

namespace {

std::atomic<bool> no_threads{false};

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*body)(void*), void* argument) noexcept {
  static const auto original =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return no_threads ? EAGAIN : original(thread, attributes, body, argument);
}

namespace takt::test {
namespace {

using Sample = takt_interfaces::msg::Sample;

class ExecutorLife : public testing::Test {
 protected:
  void SetUp() override {
    executor_.add(node_.create_timer(10ms, [] {}), {.name = "first", .priority = 10});
  }
  std::shared_ptr<Timer> timer() {
    return node_.create_timer(1ms, [] {});
  }
  auto subscription() {
    return node_.create_subscription<Sample>(topic_, QoS{1}, [](const Sample&) {});
  }
  // Another priority than those of before, so that a thread is missing.
  template <class Entity>
  void add_in_vain(const Entity& entity, const TaskOptions& options) {
    no_threads = true;
    EXPECT_THROW(executor_.add(entity, options), std::system_error);
    no_threads = false;
  }

  Context context_;
  Node node_{context_, "life"};
  std::string topic_{unique_topic("life")};
  SchedulingExecutor executor_{quiet()};
};

TEST_F(ExecutorLife, a_task_that_cannot_be_added_leaves_the_others_their_indices) {
  std::atomic<int> misses{0};
  executor_.on_deadline_miss([&](const Miss& miss) noexcept {
    if (executor_.task_name(miss.task) == "late") ++misses;
  });
  executor_.start();
  add_in_vain(timer(), {.name = "in vain", .priority = 20});
  const TaskIndex late = executor_.add(node_.create_timer(2ms, [] { burn(10us); }),
                                       {.name = "late", .priority = 30, .deadline = 1us});
  EXPECT_EQ(executor_.task_name(late), "late");
  EXPECT_TRUE(eventually([&] { return misses > 3; }));
  EXPECT_TRUE(eventually([&] { return executor_.statistics("late").completed > 3; }));
  executor_.stop();
}

TEST_F(ExecutorLife, what_cannot_be_added_is_free_for_another_executor) {
  executor_.start();
  const auto ticks = timer();
  const auto in = subscription();
  const auto read = subscription();
  add_in_vain(ticks, {.name = "ticks", .priority = 20, .reads = {read}});
  add_in_vain(in, {.name = "in", .priority = 20});
  EXPECT_THROW(static_cast<void>(executor_.statistics("ticks")), std::out_of_range);
  SchedulingExecutor other{quiet()};
  other.add(ticks, {.name = "ticks", .priority = 20, .reads = {read}});
  other.add(in, {.name = "in", .priority = 20});
  executor_.stop();
}

TEST_F(ExecutorLife, a_removed_task_is_forgotten_and_its_name_free) {
  executor_.start();
  for (int i = 0; i < 3; ++i) {
    const TaskIndex ticks = executor_.add(timer(), {.name = "ticks", .priority = 20});
    EXPECT_EQ(executor_.task_name(ticks), "ticks");
    EXPECT_TRUE(eventually([&] { return executor_.statistics("ticks").completed > 0; }));
    EXPECT_EQ(executor_.tasks().size(), 2U);
    executor_.remove("ticks").wait();
    EXPECT_EQ(executor_.tasks().size(), 1U);
    EXPECT_THROW(static_cast<void>(executor_.task_name(ticks)), std::out_of_range);
    EXPECT_THROW(static_cast<void>(executor_.statistics("ticks")), std::out_of_range);
    EXPECT_THROW(executor_.remove("ticks"), ScheduleError);
  }
  executor_.stop();
}

}  // namespace
}  // namespace takt::test
