// SPDX-License-Identifier: Apache-2.0
//
// Threads and processes that a callback starts have neither its urgency nor its core.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support.hpp"
#include "takt/os/child_cpus.hpp"

namespace takt::test {
namespace {

using os::SchedulingPolicy;

// What a task's callback does once, on its thread.
template <class Body>
void in_callback(const Options& options, Binding binding, sched::Task task, Body body) {
  Executor executor{options};
  std::atomic<bool> done{false};
  binding.callback = [&](const auto&) {
    if (!done) {
      body(executor);
      done = true;
    }
  };
  executor.add(task, std::move(binding));
  executor.start();
  EXPECT_TRUE(eventually([&] { return done.load(); }));
  executor.stop();
}

class Child : public ::testing::TestWithParam<std::string> {
 protected:
  // `body` in a callback of a task that is bound to a core, by each kind of crew.
  template <class Body>
  void in_callback(Body body) const {
    sched::Task task = timer("parent", 1ms, 30);
    task.waits = GetParam() == "waits";
    const Options options{.policy = sched::parse_policy(task.waits ? "fp" : GetParam()),
                          .on_not_granted = [](const auto&) {}};
    test::in_callback(options, {}, task, body);
  }
  const std::vector<int> own_ = os::current_thread().cpus;
};

INSTANTIATE_TEST_SUITE_P(Of, Child, ::testing::Values("fp", "edf", "waits"),
                         [](const auto& policy) { return policy.param; });

TEST_P(Child, ThreadIsOfNoUrgencyAndRunsWhereTheProcessMay) {
  os::ThreadStatus parent;
  os::ThreadStatus child;
  os::ThreadStatus own_kind;
  in_callback([&](Executor&) {
    parent = os::current_thread();
    std::thread{[&] { child = os::current_thread(); }}.join();
    os::Thread{{}, [&] { own_kind = os::current_thread(); }}.join();
  });
  EXPECT_EQ(parent.cpus.size(), 1U);
  EXPECT_EQ(child.policy, SchedulingPolicy::other);
  EXPECT_EQ(own_kind.policy, SchedulingPolicy::other);
  EXPECT_EQ(own_kind.cpus, own_);
#if !defined(__SANITIZE_THREAD__)  // which starts threads with attributes of its own
  EXPECT_EQ(child.cpus, own_);
#endif
}

TEST_P(Child, ProcessIsOfNoUrgencyAndRunsWhereTheProcessMay) {
  int status = -1;
  in_callback([&](Executor&) {
    const pid_t child = fork();
    if (child == 0) {
      cpu_set_t cpus;
      CPU_ZERO(&cpus);
      sched_getaffinity(0, sizeof cpus, &cpus);
      const bool everywhere = CPU_COUNT(&cpus) == static_cast<int>(own_.size());
      _exit((sched_getscheduler(0) == SCHED_OTHER ? 0 : 1) + (everywhere ? 0 : 2));
    }
    waitpid(child, &status, 0);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "1: its policy, 2: its CPUs";
}

TEST_P(Child, ProgramIsOfNoUrgency) {
  std::string printed;
  in_callback([&](Executor&) {
    std::FILE* const output = popen("cat /proc/self/stat", "r");
    std::array<char, 1024> line{};
    printed = std::fgets(line.data(), line.size(), output) != nullptr ? line.data() : "";
    pclose(output);
  });
  // Behind the name: the 38th is the priority of a real-time thread, the 39th the policy.
  std::istringstream fields{printed.substr(printed.rfind(')') + 1)};
  const std::vector<std::string> words{std::istream_iterator<std::string>{fields}, {}};
  ASSERT_GT(words.size(), 39U) << printed;
  EXPECT_EQ(words[37], "0");
  EXPECT_EQ(words[38], std::to_string(SCHED_OTHER));
}

// The threads that a change needs are the executor's own, whoever makes the change.
TEST_P(Child, TaskThatACallbackAddsHasThePolicyThatItAsksFor) {
  os::ThreadStatus added;
  std::atomic<bool> ran{false};
  const auto look = [&](const auto&) {
    if (!ran) {
      added = os::current_thread();
      ran = true;
    }
  };
  Executor executor{{.policy = sched::fixed_priority(), .on_not_granted = [](const auto&) {}}};
  std::atomic<bool> done{false};
  executor.add(timer("parent", 1ms, 30), {[&](const auto&) {
                 if (!done.exchange(true)) {
                   sched::Task task = timer("added", 1ms, 20);
                   task.waits = GetParam() == "waits";  // a crew of its own
                   executor.add(task, {look});
                 }
               }});
  executor.start();
  EXPECT_TRUE(eventually([&] { return ran.load(); }));
  executor.stop();
  if (!no_real_time()) {
    EXPECT_EQ(added.policy, SchedulingPolicy::fifo);
    EXPECT_EQ(added.cpus.size(), 1U);
  }
}

TEST(ChildCpus, AreTheCreatorsAgainWhenTheExecutorHasStopped) {
  const std::vector<int> own = os::current_thread().cpus;
  os::ThreadStatus child;
  {
    const os::ChildCpus while_it_lives;
    const os::ChildCpus second;
  }
  os::Thread{{.cpus = {own.front()}},
             [&] { std::thread{[&] { child = os::current_thread(); }}.join(); }}
      .join();
  EXPECT_EQ(child.cpus, std::vector{own.front()});
}

// The default that a program has chosen itself is not touched.
TEST(ChildCpus, LeaveTheProgramsOwnDefaultAlone) {
  const int core = os::current_thread().cpus.back();
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  CPU_SET(core, &chosen);
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_getattr_default_np(&attributes), 0);
  ASSERT_EQ(pthread_attr_setaffinity_np(&attributes, sizeof chosen, &chosen), 0);
  ASSERT_EQ(pthread_setattr_default_np(&attributes), 0);
  const auto cpus_of_child = [] {
    os::ThreadStatus child;
    std::thread{[&] { child = os::current_thread(); }}.join();
    return child.cpus;
  };
  std::vector<int> during;
  {
    const os::ChildCpus living;
    during = cpus_of_child();
  }
  const std::vector<int> after = cpus_of_child();
  pthread_attr_setaffinity_np(&attributes, 0, &chosen);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
#if !defined(__SANITIZE_THREAD__)
  EXPECT_EQ(during, std::vector{core});
  EXPECT_EQ(after, std::vector{core});
#endif
}

}  // namespace
}  // namespace takt::test
