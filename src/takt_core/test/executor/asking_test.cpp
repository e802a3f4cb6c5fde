// SPDX-License-Identifier: Apache-2.0
//
// What the executor calls may ask it for anything and change its tasks, whenever it is called, and
// hold up no other thread meanwhile.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "../policies.hpp"
#include "support.hpp"
#include "takt/sched/error.hpp"

namespace takt::test {
namespace {

using executor::Changes;
using executor::ReleaseHandle;

// A source that does whatever the test wants.
class Source final : public executor::JobSource {
 public:
  explicit Source(std::string name) : name_{std::move(name)} {}

  [[nodiscard]] sched::Task describe() const override { return timer(name_, 1ms, 10); }
  executor::Outcome run(const sched::Job& /*job*/) override {
    ++ran;
    return {};
  }
  void arm(const ReleaseHandle& release) override {
    ++armed;
    if (on_arm) {
      on_arm(release);
    }
  }
  void disarm() noexcept override {
    ++disarmed;
    if (on_disarm) {
      on_disarm();
    }
  }

  std::function<void(const ReleaseHandle&)> on_arm;
  std::function<void()> on_disarm;
  std::atomic<int> ran{0};
  std::atomic<int> armed{0};
  std::atomic<int> disarmed{0};

 private:
  const std::string name_;
};

std::shared_ptr<Source> source_of(const std::string& name) {
  return std::make_shared<Source>(name);
}

class Asked : public UnderPolicy {
 protected:
  // Everything that may be asked and changed at any time. Tasks named `name`... come and go.
  static void ask(Executor& executor, const std::string& name) {
    static_cast<void>(executor.find("always"));
    static_cast<void>(executor.task_count());
    static_cast<void>(executor.not_granted());
    static_cast<void>(executor.scenario());
    executor.declare_external_topic("asked");
    executor.add(timer(name + ".one", 1ms, 20), {[](const auto&) {}});
    executor.add(timer(name + ".two", 1ms, 20), {[](const auto&) {}});
    executor.pause(name + ".one");
    executor.resume(name + ".one");
    executor.remove(name + ".two");
    executor.set_scheduling_strategy(strategy());
  }
  static sched::SchedulingStrategy strategy() {
    sched::SchedulingStrategy whole;
    whole.allow_absent_tasks();
    whole.add_scenario(sched::SchedulingScenario{"only"});
    return whole;
  }
  static void expect_runs(const Executor& executor, const std::string& name) {
    const auto index = executor.find(name);
    ASSERT_TRUE(index) << name;
    EXPECT_TRUE(eventually([&] { return executor.statistics(*index).completed > 2; })) << name;
  }
};

INSTANTIATE_TEST_SUITE_P(Policies, Asked, ::testing::Values("fp", "edf", "np-fp"), policy_name);

TEST_P(Asked, ASourceAsksAndChangesWhereverItIsArmedAndDisarmed) {
  Executor executor{options()};
  executor.set_scheduling_strategy(strategy());
  executor.add(timer("always", 1ms, 10), {[](const auto&) {}});
  const auto early = source_of("early");
  early->on_arm = [&](const auto&) {
    EXPECT_TRUE(executor.find("early"));
    ask(executor, "at the start");
  };
  early->on_disarm = [&] { ask(executor, "early's end"); };
  executor.add(early->describe(), {.source = early});
  expect_to_return("start()", [&] { executor.start(); });
  expect_runs(executor, "at the start.one");
  expect_runs(executor, "early");

  const auto late = source_of("late");
  late->on_arm = [&](const auto&) {
    EXPECT_TRUE(executor.find("late"));
    ask(executor, "while it runs");
  };
  late->on_disarm = [&] { ask(executor, "at the stop"); };
  expect_to_return("add()", [&] { executor.add(late->describe(), {.source = late}); });
  expect_runs(executor, "while it runs.one");
  expect_runs(executor, "late");

  expect_to_return("remove()", [&] { executor.remove("early").wait(); });
  expect_runs(executor, "early's end.one");
  expect_to_return("stop()", [&] { executor.stop(); });
  EXPECT_TRUE(executor.find("at the stop.one"));
  EXPECT_EQ(early->disarmed, 1);
  EXPECT_EQ(late->disarmed, 1);
}

TEST_P(Asked, NoJobRunsBeforeAllSourcesAreArmed) {
  Executor executor{options()};
  const auto first = source_of("a");
  const auto second = source_of("b");
  first->on_arm = [](const ReleaseHandle& release) { EXPECT_TRUE(release.release_at(os::now())); };
  second->on_arm = [&](const auto&) {
    executor.add(timer("beside", 1ms, 10), {[](const auto&) {}});
    std::this_thread::sleep_for(20ms);  // far longer than the threads need
    EXPECT_EQ(first->ran, 0);
  };
  executor.add(first->describe(), {.source = first});
  executor.add(second->describe(), {.source = second});
  const os::TimePoint before = os::now();
  executor.start();
  EXPECT_GE(executor.start_time(), before + 20ms);
  expect_runs(executor, "a");
  expect_runs(executor, "beside");
  executor.stop();
}

TEST_P(Asked, AnotherThreadChangesTasksWhileASourceIsArmed) {
  Executor executor{options()};
  executor.add(timer("old", 1ms, 10), {[](const auto&) {}});
  executor.start();
  const auto slow = source_of("slow");
  slow->on_arm = [&](const auto&) {
    // It waits for somebody who needs the executor, as with a lock that both take.
    expect_to_return("changes beside arm()", [&] {
      EXPECT_THROW(executor.add(timer("slow", 1ms, 10), {[](const auto&) {}}), sched::ScheduleError)
          << "the name is taken";
      EXPECT_THROW(executor.remove("slow"), sched::ScheduleError) << "it is not there yet";
      executor.add(timer("quick", 1ms, 10), {[](const auto&) {}});
      executor.remove("old").wait();
    });
  };
  executor.add(slow->describe(), {.source = slow});
  expect_runs(executor, "quick");
  expect_runs(executor, "slow");
  EXPECT_FALSE(executor.find("old"));
  executor.stop();
  EXPECT_EQ(slow->disarmed, 1);
}

TEST_P(Asked, WhatOthersDidWhileASourceWasArmedMayRefuseTheChangeAndThenNothingOfItIsThere) {
  Executor executor{options()};
  executor.add(timer("old", 1ms, 10), {[](const auto&) {}});
  executor.add(timer("kept", 1ms, 10), {[](const auto&) {}});
  executor.start();
  const auto source = source_of("new");
  source->on_arm = [&](const auto&) { executor.remove("old").wait(); };
  Changes changes;
  changes.remove("kept").remove("old").add(source->describe(), {.source = source});
  EXPECT_THROW(executor.apply(std::move(changes)), sched::ScheduleError) << "old has gone";
  EXPECT_EQ(source->disarmed, 1);
  EXPECT_FALSE(executor.find("new"));
  expect_runs(executor, "kept");
  EXPECT_TRUE(eventually([&] { return source.use_count() == 1; }));

  const auto refusing = source_of("new");
  refusing->on_arm = [&](const auto&) {
    executor.add(timer("beside", 1ms, 10), {[](const auto&) {}});
    throw std::runtime_error{"the middleware does not listen"};
  };
  Changes thrown;
  thrown.remove("kept").add(refusing->describe(), {.source = refusing});
  EXPECT_THROW(executor.apply(std::move(thrown)), std::runtime_error);
  EXPECT_EQ(refusing->disarmed, 0);
  EXPECT_FALSE(executor.find("new"));
  expect_runs(executor, "kept");
  expect_runs(executor, "beside");
  const auto accepted = source_of("new");
  executor.add(accepted->describe(), {.source = accepted});
  expect_runs(executor, "new");
  executor.stop();
}

TEST_P(Asked, ASourceMayTakeTheNameOfTheOneThatGoesInTheSameChange) {
  Executor executor{options()};
  const auto former = source_of("same");
  executor.add(former->describe(), {.source = former});
  executor.start();
  expect_runs(executor, "same");
  const auto source = source_of("same");
  source->on_arm = [&](const auto&) {
    EXPECT_TRUE(executor.find("same"));
    EXPECT_THROW(executor.add(timer("same", 1ms, 10), {[](const auto&) {}}), sched::ScheduleError);
  };
  Changes changes;
  changes.remove("same").add(source->describe(), {.source = source});
  executor.apply(std::move(changes)).change.wait();
  EXPECT_EQ(former->disarmed, 1);
  expect_runs(executor, "same");
  executor.stop();
  EXPECT_EQ(source->disarmed, 1);
}

TEST_P(Asked, AnExecutorThatStopsOrStartsAnewWhileASourceIsArmedLeavesItAsItsTaskIs) {
  Executor executor{options()};
  executor.add(timer("always", 1ms, 10), {[](const auto&) {}});
  executor.start();
  const auto stopped = source_of("stopped");
  stopped->on_arm = [&](const auto&) { executor.stop(); };
  executor.add(stopped->describe(), {.source = stopped});
  EXPECT_EQ(stopped->armed, stopped->disarmed) << "nothing runs";
  stopped->on_arm = {};
  executor.start();
  expect_runs(executor, "stopped");
  const auto again = source_of("again");
  again->on_arm = [&](const auto&) {
    again->on_arm = {};
    executor.stop();
    executor.start();
  };
  executor.add(again->describe(), {.source = again});
  expect_runs(executor, "again");
  EXPECT_EQ(again->armed - again->disarmed, 1);
  executor.stop();
  EXPECT_EQ(again->armed, again->disarmed);
  EXPECT_EQ(stopped->armed, stopped->disarmed);
}

TEST_P(Asked, ASourceThatIsRemovedWhileItIsArmedAtTheStartIsDisarmed) {
  Executor executor{options()};
  executor.add(timer("always", 1ms, 10), {[](const auto&) {}});
  const auto source = source_of("leaves");
  source->on_arm = [&](const auto&) {
    executor.remove("leaves");
    executor.add(timer("follows", 1ms, 10), {[](const auto&) {}});
  };
  executor.add(source->describe(), {.source = source});
  const auto stops = source_of("stops");
  stops->on_arm = [&](const auto&) {
    EXPECT_THROW(executor.stop(), std::logic_error) << "it would wait for start(), which is here";
  };
  executor.add(stops->describe(), {.source = stops});
  expect_to_return("start()", [&] { executor.start(); });
  EXPECT_EQ(source->armed, 1);
  EXPECT_EQ(source->disarmed, 1);
  EXPECT_FALSE(executor.find("leaves"));
  expect_runs(executor, "follows");
  executor.stop();
  EXPECT_EQ(source->disarmed, 1);
  EXPECT_EQ(stops->disarmed, 1);
}

TEST_P(Asked, AHandlerOfSettingsNotGrantedChangesTasks) {
  Executor* reported = nullptr;
  std::atomic<int> calls{0};
  Options wanting = options();
  wanting.cpus = {1023};  // nobody has it
  wanting.on_not_granted = [&](const auto&) {
    ask(*reported, "reported " + std::to_string(++calls));
  };
  Executor executor{wanting};
  reported = &executor;
  executor.set_scheduling_strategy(strategy());
  executor.add(timer("always", 1ms, 10), {[](const auto&) {}});
  expect_to_return("start()", [&] { executor.start(); });
  ASSERT_GE(calls, 1);
  expect_runs(executor, "reported 1.one");
  expect_to_return("stop()", [&] { executor.stop(); });
}

TEST_P(Asked, HandlersChangeTasks) {
  Executor* handled = nullptr;
  std::atomic<int> calls{0};
  const auto change = [&] {
    const int call = ++calls;
    if (call < 20) {
      ask(*handled, "call " + std::to_string(call));
    }
  };
  Options watched = options();
  watched.handlers = {.deadline_miss = [&](const auto&) { change(); },
                      .skip = [&](const auto&) { change(); },
                      .budget_overrun = [&](const auto&) { change(); }};
  Executor executor{watched};
  handled = &executor;
  executor.set_scheduling_strategy(strategy());
  sched::Task late = timer("late", 2ms, 10, 1ms);
  late.parameters.budget = 1us;
  executor.add(late, {[](const auto&) { burn(5ms); }});
  executor.start();
  EXPECT_TRUE(eventually([&] { return calls > 5; }));
  expect_runs(executor, "call 1.one");
  expect_to_return("stop()", [&] { executor.stop(); });
}

// What a callback holds may ask the executor when it is destroyed.
TEST_P(Asked, WhatHandlersAndPoliciesHoldIsDestroyedWithoutALock) {
  Executor executor{options()};
  int destroyed = 0;
  const auto asks_at_its_end = [&] {
    return std::shared_ptr<int>{new int{0}, [&](const int* held) {
                                  delete held;
                                  static_cast<void>(executor.task_count());
                                  ++destroyed;
                                }};
  };
  expect_to_return("set_handlers()", [&] {
    executor.set_handlers({.skip = [held = asks_at_its_end()](const auto&) {}});
    executor.set_handlers({});
    sched::SchedulingStrategy custom = strategy();
    sched::SchedulingScenario scenario{"custom"};
    scenario.set_scheduling_policy(sched::custom(
        "earlier", [held = asks_at_its_end()](const sched::Job& one, const sched::Job& other) {
          return one.release < other.release;
        }));
    custom.add_scenario(std::move(scenario));
    executor.set_scheduling_strategy(std::move(custom));
    executor.set_scheduling_strategy(strategy());
  });
  EXPECT_EQ(destroyed, 2);
}

}  // namespace
}  // namespace takt::test
