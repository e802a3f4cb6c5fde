// SPDX-License-Identifier: Apache-2.0
//
// What a thread of a robot's process becomes while it holds a lock.
#include <gtest/gtest.h>
#include <sched.h>

#include <string>
#include <takt/application/parse.hpp>
#include <takt/os/thread.hpp>

#include "held_locks.hpp"

namespace takt::runner {
namespace {

constexpr int band = 60;  // of the process whose callbacks take the lock

std::string callback(const std::string& name, int priority, const std::string& more) {
  return R"({"name": ")" + name + R"(", "kind": "timer", "period": 100000, "priority": )" +
         std::to_string(priority) +
         R"(, "execution": {"best": 10, "worst": 10, "quantiles": [10]})" + more + "}";
}

// `low` takes the lock, and so does `high`, which waits: each callback has a thread of its own.
application::Application robot() {
  const std::string in_two = R"(, "process": "two")";
  const std::string section = R"(, "critical_sections": [{"lock": "map", "longest": 2}])";
  return application::parse(
      R"({"version": 1, "name": "locks", "callbacks": [)" +
      callback("other", 97, R"(, "process": "one")") + ", " + callback("low", 1, in_two + section) +
      ", " + callback("middle", 2, in_two) + ", " +
      callback("high", 3, in_two + section + R"(, "suspension": 5)") +
      R"(], "locks": [{"name": "map", "protocol": "ceiling"}], "processes": [)"
      R"({"name": "one", "cpu": 0, "priority": 20}, {"name": "two", "cpu": 0, "priority": )" +
      std::to_string(band) + "}]}");
}

int own_priority() {
  sched_param parameters{};
  sched_getparam(0, &parameters);
  return parameters.sched_priority;
}

TEST(HeldLocks, CeilingsOfARobotArePrioritiesOfTheBandOfTheProcess) {
  executor::RequestOrder order;
  const HeldLocks locks = locks_of(robot(), order);
  ASSERT_EQ(locks.size(), 1U);
  int held = 0;
  int after = 0;
  os::Thread low{{.policy = os::SchedulingPolicy::fifo, .priority = band}, [&] {
                   locks.front()->take();
                   held = own_priority();
                   locks.front()->leave();
                   after = own_priority();
                 }};
  const bool granted = low.not_granted().empty();
  low.join();
  if (!granted) {
    GTEST_SKIP() << "no real-time priorities here";
  }
  EXPECT_EQ(held, band + 2);  // of `high`: no callback in between starts
  EXPECT_EQ(after, band);
}

}  // namespace
}  // namespace takt::runner
