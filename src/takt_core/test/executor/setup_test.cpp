// SPDX-License-Identifier: Apache-2.0
//
// What is refused before anything spins, running without privileges, and SCHED_DEADLINE.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>

#include "../os/child.hpp"
#include "../os/sanitizer.hpp"
#include "support.hpp"
#include "takt/executor/kernel_deadline.hpp"
#include "takt/os/memory.hpp"
#include "takt/sched/error.hpp"

namespace takt::test {
namespace {

Binding nothing() {
  return {.callback = [](const auto&) {}};
}

TEST(Refused, AreOptionsThatMakeNoSense) {
  EXPECT_THROW(Executor({.policy = nullptr}), sched::ScheduleError);
  EXPECT_THROW(Executor({.base_priority = 0}), sched::ScheduleError);
  EXPECT_THROW(Executor({.base_priority = 99}), sched::ScheduleError);
}

TEST(Refused, AreBindingsThatDoNotFit) {
  Executor executor{{}};
  EXPECT_THROW(executor.add(timer("a", 1ms, 1), {}), sched::ScheduleError);
  Binding with_input = nothing();
  with_input.inputs = {{.topic = "unread", .input = nullptr}};
  EXPECT_THROW(executor.add(timer("a", 1ms, 1), with_input), sched::ScheduleError);
  Binding reserved = nothing();
  reserved.kernel_deadline = true;
  EXPECT_THROW(executor.add(timer("a", 1ms, 1), reserved), sched::ScheduleError);  // no time
  sched::Task in_group = timer("a", 1ms, 1);
  in_group.parameters.budget = 100us;
  in_group.group = "g";
  EXPECT_THROW(executor.add(in_group, reserved), sched::ScheduleError);
  EXPECT_EQ(executor.task_count(), 0U);
}

TEST(Refused, AreTaskSetsAtTheStartAndTheExecutorStaysUsable) {
  Executor executor{{.cpus = {0}, .on_not_granted = [](const auto&) {}}};
  executor.add(timer("a", 1ms, 99), nothing());
  EXPECT_THROW(executor.start(), sched::ScheduleError);
  executor.remove("a").wait();
  executor.add(timer("a", 1ms, 98), nothing());
  executor.start();
  EXPECT_THROW(executor.start(), std::logic_error);
  executor.stop();
}

TEST(Refused, IsATraceThatCannotBeWritten) {
  Executor executor{{.trace = "/nonexistent/folder/trace"}};
  executor.add(timer("a", 1ms, 1), nothing());
  EXPECT_THROW(executor.start(), std::system_error);
}

TEST(Executor, MayBeDestroyedWithoutHavingStarted) {
  Executor executor{{}};
  executor.add(timer("a", 1ms, 1), nothing());
}

TEST(Executor, WithoutTasksSpinsUntilItIsStopped) {
  Executor executor{{.on_not_granted = [](const auto&) {}}};
  std::thread stopper{[&] { executor.request_stop(); }};
  executor.spin();
  stopper.join();
}

// In a process of its own, because privileges do not come back.
int run_as_nobody(const std::filesystem::path& trace) {
  constexpr unsigned nobody = 65534;
  if (geteuid() == 0 && (setgid(nobody) != 0 || setuid(nobody) != 0)) {
    return 2;
  }
  std::size_t reported = 0;
  Executor executor{
      {.policy = sched::edf(),
       .cpus = {os::current_thread().cpus.front()},
       .lock_memory = true,
       .trace = trace,
       .on_not_granted = [&](const auto& not_granted) { reported += not_granted.size(); }}};
  executor.add(timer("a", 2ms, 10), {[](const auto&) { burn(100us); }});
  executor.add(timer("b", 3ms, 20), {[](const auto&) { burn(100us); }});
  run_until_each_completed(executor, 20);
  const bool ran = executor.statistics(0).completed >= 20 && executor.statistics(1).completed >= 20;
  return ran && reported > 0 && executor.not_granted().size() == reported ? 0 : 1;
}

TEST(Unprivileged, RunsEverythingAndSaysWhatItLacks) {
  const TemporaryFile file;
  std::filesystem::permissions(file.path().parent_path(), std::filesystem::perms::all);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::_Exit(run_as_nobody(file.path()));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 2) {
    GTEST_SKIP() << "cannot become another user here";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const trace::Trace trace = trace::read_trace(file.path());
  EXPECT_TRUE(std::ranges::any_of(trace.attributes, [](const std::string& attribute) {
    return attribute.starts_with("not_granted=policy fifo");
  })) << "the trace is not marked";
}

bool lacks_locked_memory(const Executor& executor) {
  return std::ranges::any_of(executor.not_granted(), [](const os::NotGranted& refused_setting) {
    return refused_setting.what == "locked memory";
  });
}

// In processes of their own, because locked is locked.
TEST(Memory, IsLockedWhileTheExecutorSpinsUnlessThisIsDisabled) {
  if (os::test::sanitized) {
    GTEST_SKIP() << "sanitizers turn mlockall into nothing";
  }
  enum Found { unlocked, locked, refused };
  const auto found = [](Options options) {
    options.on_not_granted = [](const auto&) {};
    Executor executor{options};
    executor.add(timer("a", 1ms, 1), nothing());
    executor.start();
    return lacks_locked_memory(executor) ? refused : os::memory_locked() ? locked : unlocked;
  };
  EXPECT_EQ(os::test::in_child([&] { return found({.lock_memory = false}); }), unlocked);
  EXPECT_EQ(os::test::in_child([&] { return found({.real_time = false}); }), unlocked);
  const int by_default = os::test::in_child([&] { return found({}); });
  if (by_default == refused) {
    GTEST_SKIP() << "this process may not lock its memory";
  }
  EXPECT_EQ(by_default, locked);
}

TEST(Memory, ThatMustNotBeLockedIsNotGranted) {
  const int code = os::test::in_child([] {
    const rlimit nothing_at_all{.rlim_cur = 0, .rlim_max = 0};
    constexpr unsigned nobody = 65534;
    if (setrlimit(RLIMIT_MEMLOCK, &nothing_at_all) != 0 ||
        (geteuid() == 0 && setuid(nobody) != 0)) {
      return 2;
    }
    Executor executor{{.on_not_granted = [](const auto&) {}}};
    executor.add(timer("a", 1ms, 1), nothing());
    executor.start();
    return lacks_locked_memory(executor) ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
}

bool is_about_reserved(const os::NotGranted& refused_setting) {
  return refused_setting.what.find("task 'reserved'") != std::string::npos;
}

TEST(KernelDeadline, IsAskedForWithAReasonWhenItIsRefused) {
  std::thread{[] {
    const auto refused_setting =
        executor::reserve({.runtime = 10ms, .deadline = 5ms, .period = 5ms}, "task 'x'");
    ASSERT_TRUE(refused_setting);
    EXPECT_NE(refused_setting->what.find("10 ms in every 5 ms"), std::string::npos)
        << refused_setting->what;
    EXPECT_FALSE(refused_setting->fix.empty());
  }}.join();
}

TEST(KernelDeadline, RunsATaskUnderTheKernelsOwnPolicy) {
  std::optional<os::NotGranted> refused;
  std::thread{[&] {
    refused = executor::reserve({.runtime = 1ms, .deadline = 10ms, .period = 10ms}, "a thread");
  }}.join();
  if (refused) {
    GTEST_SKIP() << refused->what << ": " << refused->why;
  }
  Executor executor{{.cpus = {0}}};
  sched::Task task = timer("reserved", 10ms, 50);
  task.parameters.budget = 1ms;
  std::atomic<int> wrong{0};
  executor.add(task, {.callback =
                          [&](const auto&) {
                            const bool right =
                                os::current_thread().policy == os::SchedulingPolicy::deadline;
                            wrong += right ? 0 : 1;
                          },
                      .kernel_deadline = true});
  executor.add(timer("ordinary", 5ms, 40), {[&](const auto&) {
                 const bool right = os::current_thread().policy == os::SchedulingPolicy::fifo;
                 wrong += right ? 0 : 1;
               }});
  run_until_each_completed(executor, 10);
  EXPECT_GE(executor.statistics(0).completed, 10U);
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(std::ranges::none_of(executor.not_granted(), is_about_reserved));
}

// The task's thread asks by itself, after start() has told what was missing until then. No kernel
// reserves less than a microsecond.
TEST(KernelDeadline, ThatIsRefusedIsReportedOnceAlsoWhenTheTaskGoes) {
  std::atomic<std::size_t> reported{0};
  Executor executor{{.cpus = {0}, .on_not_granted = [&](const os::SettingsNotGranted& not_granted) {
                       reported += static_cast<std::size_t>(
                           std::ranges::count_if(not_granted, is_about_reserved));
                     }}};
  sched::Task task = timer("reserved", 10ms, 50);
  task.parameters.budget = 500ns;
  Binding reserved = nothing();
  reserved.kernel_deadline = true;
  executor.add(task, reserved);
  executor.start();
  EXPECT_TRUE(eventually([&] { return reported > 0; }));
  executor.remove("reserved");
  executor.stop();
  EXPECT_EQ(reported, 1U);
  EXPECT_EQ(std::ranges::count_if(executor.not_granted(), is_about_reserved), 1);
}

}  // namespace
}  // namespace takt::test
