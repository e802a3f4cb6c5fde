// SPDX-License-Identifier: Apache-2.0
//
// Times of any length that a user may give: refused with a reason, or kept without overflow and
// without taking the core from anybody else. UndefinedBehaviorSanitizer sees what wraps.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <string>
#include <vector>

#include "support.hpp"
#include "takt/os/saturating.hpp"
#include "takt/sched/error.hpp"

namespace takt::test {
namespace {

using std::chrono::nanoseconds;

// In real time a thread that spins would keep the core from the test, too.
Options options_with_handlers(const std::string& policy) {
  Options options{.policy = sched::parse_policy(policy),
                  .cpus = {os::current_thread().cpus.front()},
                  .external_topics = {"outside"},
                  .real_time = false,
                  .on_not_granted = [](const auto&) {}};
  options.handlers.deadline_miss = [](const executor::Miss& miss) {
    EXPECT_GT(miss.ended, miss.deadline);
  };
  options.handlers.budget_overrun = [](const executor::BudgetOverrun& overrun) {
    EXPECT_GT(overrun.used, overrun.budget);
  };
  options.handlers.skip = [](const executor::Skip& skip) { EXPECT_GT(skip.count, 0U); };
  return options;
}

class Extremes : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Policies, Extremes, ::testing::Values("fp", "edf", "np-fp", "np-edf"),
                         [](const auto& policy) {
                           std::string name = policy.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// Its job goes on until the timer has had some: somebody else would have to be up for that.
TEST_P(Extremes, ABudgetWithoutADeadlineTakesTheCoreFromNobody) {
  Executor executor{options_with_handlers(GetParam())};
  std::atomic<int> ticks{0};
  std::atomic<bool> ended{false};
  sched::Task task = message("message", "outside", 5, 0ns);
  task.parameters.budget = 5ms;
  const auto added = executor.add(task, {.callback = [&](const sched::Job& job) {
                                    EXPECT_EQ(job.deadline, os::TimePoint::max());
                                    os::sleep_until(os::now() + 20ms);
                                    ended = true;
                                  }});
  executor.add(timer("ticks", 5ms, 10), {.callback = [&](const auto&) { ++ticks; }});
  executor.start();
  ASSERT_TRUE(added.release.notify());
  ASSERT_TRUE(eventually([&] { return ended.load(); }));
  const int before = ticks;
  EXPECT_TRUE(eventually([&] { return ticks > before + 3; }));
  expect_to_return("stop()", [&] { executor.stop(); });
  EXPECT_EQ(executor.statistics(added.index).completed, 1U);
  EXPECT_EQ(executor.statistics(added.index).deadline_misses, 0U);
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_{seed} {}

  nanoseconds duration() {
    const nanoseconds longest{sched::longest_time};
    const std::vector<nanoseconds> all{nanoseconds::min(),
                                       -1ns,
                                       0ns,
                                       1ns,
                                       2ns,
                                       1us,
                                       1ms,
                                       7ms,
                                       1h,
                                       longest - 1ns,
                                       longest,
                                       nanoseconds::max() / 2,
                                       longest + 1ns,
                                       nanoseconds::max() - 1ns,
                                       nanoseconds::max()};
    return all[below(all.size())];
  }
  // Such as a task may have.
  nanoseconds allowed() {
    nanoseconds time = duration();
    while (time < 0ns || time > sched::longest_time) {
      time = duration();
    }
    return time;
  }
  os::TimePoint time() {
    return one_in(2) ? os::add_sat(os::now(), duration()) : os::TimePoint{duration()};
  }
  // Not catch_up: to make up for a century takes all of the core by right.
  sched::Overrun overrun() { return static_cast<sched::Overrun>(below(2)); }
  bool one_in(std::size_t number) { return below(number) == 0; }

 private:
  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>{0, limit - 1}(random_);
  }

  std::mt19937_64 random_;
};

// Every task that is not refused runs beside the pulse, which goes on.
TEST_P(Extremes, TimesOfAnyLengthAreRefusedOrKept) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw{seed};
    Executor executor{options_with_handlers(GetParam())};
    std::atomic<int> pulse{0};
    executor.add(timer("pulse", 2ms, 90), {.callback = [&](const auto&) { ++pulse; }});
    executor.start();
    std::vector<executor::AddedTask> there;
    for (int i = 0; i < 8; ++i) {
      const bool by_messages = draw.one_in(2);
      sched::Task task = timer("task" + std::to_string(i), draw.duration(), 10 + i, draw.duration(),
                               by_messages ? 0ns : draw.duration());
      task.parameters.budget = draw.duration();
      task.parameters.overrun = draw.overrun();
      if (draw.one_in(3)) {  // else most are refused
        task.parameters.period = draw.allowed();
        task.parameters.deadline = draw.allowed();
        task.parameters.budget = draw.allowed();
        task.parameters.offset = by_messages ? 0ns : draw.allowed();
      }
      if (!by_messages && task.parameters.period > 0ns && task.parameters.period < 1ms) {
        continue;  // takes all of it, too
      }
      executor::Binding binding{.callback = [](const auto&) {}};
      if (by_messages) {
        task.kind = sched::TaskKind::message;
        task.trigger = "outside";
      } else if (draw.one_in(3)) {
        binding.first_release = draw.time();
      }
      try {
        there.push_back(executor.add(task, std::move(binding)));
      } catch (const sched::ScheduleError& error) {
        EXPECT_NE(std::string{error.what()}, "");
      }
    }
    for (int i = 0; i < 20 && !there.empty(); ++i) {
      const auto& release = there[static_cast<std::size_t>(i) % there.size()].release;
      static_cast<void>(release.notify());
      static_cast<void>(draw.one_in(4) ? release.disarm() : release.release_at(draw.time()));
    }
    const int before = pulse;
    ASSERT_TRUE(eventually([&] { return pulse > before + 5; })) << "the others have the core";
    expect_to_return("stop()", [&] { executor.stop(); });
  }
}

}  // namespace
}  // namespace takt::test
