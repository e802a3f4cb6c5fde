// SPDX-License-Identifier: Apache-2.0
#include "takt/os/thread.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "os/child.hpp"
#include "takt/os/clock.hpp"
#include "takt/os/event.hpp"
#include "takt/os/thread_id.hpp"

namespace takt::os {
namespace {

using namespace std::chrono_literals;

void expect_explained(const SettingsNotGranted& not_granted) {
  for (const NotGranted& refused_setting : not_granted) {
    EXPECT_FALSE(refused_setting.what.empty());
    EXPECT_FALSE(refused_setting.why.empty());
    EXPECT_FALSE(refused_setting.fix.empty());
  }
}

// Applies settings in a thread of its own and reads back what it got.
struct Outcome {
  SettingsNotGranted not_granted;
  ThreadStatus status;
};
Outcome outcome_of(const ThreadSettings& settings) {
  Outcome outcome;
  Thread thread{settings, [&outcome] { outcome.status = current_thread(); }};
  thread.join();
  outcome.not_granted = thread.not_granted();
  return outcome;
}

TEST(Thread, HasTheStackThatWasAskedFor) {
  for (const std::size_t wanted : {std::size_t{1}, std::size_t{300'000}, std::size_t{1} << 21}) {
    std::size_t size = 0;
    Thread thread{{.stack = wanted}, [&size] {
                    pthread_attr_t attributes;
                    pthread_getattr_np(pthread_self(), &attributes);
                    pthread_attr_getstacksize(&attributes, &size);
                    pthread_attr_destroy(&attributes);
                  }};
    thread.join();
    EXPECT_GE(size, wanted);
    EXPECT_LT(size, wanted + 1'000'000) << "the least that is possible is not that much";
  }
}

// Has a CPU to itself at a real-time priority, for so much of its CPU time at most.
class Hog {
 public:
  explicit Hog(int cpu)
      : thread_{{.policy = SchedulingPolicy::fifo, .priority = 40, .cpus = {cpu}},
                [this] { burn(); }} {
    while (!burns_) {
      sleep_until(now() + 100us);
    }
  }
  ~Hog() { end(); }
  Hog(const Hog&) = delete;
  Hog& operator=(const Hog&) = delete;
  Hog(Hog&&) = delete;
  Hog& operator=(Hog&&) = delete;

  [[nodiscard]] bool burns() const { return burns_; }
  void end() { done_ = true; }

 private:
  void burn() {
    burns_ = true;
    const auto used = [] {
      timespec time{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return time.tv_sec * 1s + time.tv_nsec * 1ns;
    };
    while (!done_ && used() < 500ms) {
    }
    burns_ = false;
  }
  std::atomic<bool> burns_{false};
  std::atomic<bool> done_{false};
  Thread thread_;
};

// Its creator has another CPU, at a real-time priority, so that only a hypervisor could keep it
// from creating the thread in time: not three times in a row.
TEST(Thread, IsCreatedWithoutWaitingForWhoHasItsCpu) {
  const std::vector<int> cpus = current_thread().cpus;
  if (cpus.size() < 2) {
    GTEST_SKIP() << "needs two CPUs";
  }
  for (const int priority : {0, 7, 40}) {
    const auto policy = priority == 0 ? SchedulingPolicy::other : SchedulingPolicy::fifo;
    bool in_time = false;
    SettingsNotGranted not_granted;
    ThreadStatus status;
    for (int attempt = 0; attempt < 3 && !in_time; ++attempt) {
      Thread creator{
          {.policy = SchedulingPolicy::fifo, .priority = 20, .cpus = {cpus.back()}}, [&] {
            Hog hog{cpus.front()};
            Thread thread{{.policy = policy, .priority = priority, .cpus = {cpus.front()}}, [] {}};
            in_time = hog.burns();
            status = thread_status(thread.tid()).value_or(ThreadStatus{});
          }};
      creator.join();
      not_granted = creator.not_granted();
    }
    if (!not_granted.empty()) {
      GTEST_SKIP() << "needs real-time priorities: " << not_granted.front().why;
    }
    EXPECT_TRUE(in_time) << "at priority " << priority;
    EXPECT_EQ(status.policy, policy);
    EXPECT_EQ(status.priority, priority);
  }
}

TEST(Policy, names_of_what_can_be_asked_for_are_read_back) {
  for (const auto policy :
       {SchedulingPolicy::other, SchedulingPolicy::fifo, SchedulingPolicy::rr}) {
    EXPECT_EQ(parse_policy(to_string(policy)), policy);
  }
}

TEST(Policy, other_texts_are_no_policy) {
  for (const auto* text : {"", "FIFO", "fifo ", "deadline", "batch", "unknown"}) {
    EXPECT_EQ(parse_policy(text), std::nullopt) << text;
  }
}

TEST(ThreadSettings, are_granted_or_reported_as_not_granted) {
  for (const auto policy :
       {SchedulingPolicy::other, SchedulingPolicy::fifo, SchedulingPolicy::rr}) {
    const int priority = policy == SchedulingPolicy::other ? 0 : 7;
    const Outcome outcome = outcome_of({.policy = policy, .priority = priority});
    const bool granted = outcome.status.policy == policy && outcome.status.priority == priority;
    EXPECT_EQ(granted, outcome.not_granted.empty());
    expect_explained(outcome.not_granted);
  }
}

TEST(ThreadSettings, name_and_one_cpu_need_no_privilege) {
  const std::vector<int> allowed = current_thread().cpus;
  ASSERT_FALSE(allowed.empty());
  const Outcome outcome = outcome_of({.cpus = {allowed.back()}, .name = "takt-test"});
  EXPECT_TRUE(outcome.not_granted.empty());
  EXPECT_EQ(outcome.status.name, "takt-test");
  EXPECT_EQ(outcome.status.cpus, std::vector<int>{allowed.back()});
}

TEST(ThreadSettings, priority_outside_of_the_range_is_not_granted_and_changes_nothing) {
  for (const int priority : {-1, 0, max_priority + 1, 1000}) {
    const Outcome outcome = outcome_of({.policy = SchedulingPolicy::fifo, .priority = priority});
    ASSERT_EQ(outcome.not_granted.size(), 1U) << priority;
    expect_explained(outcome.not_granted);
    EXPECT_EQ(outcome.status.policy, SchedulingPolicy::other);
  }
}

TEST(ThreadSettings, priority_at_policy_other_is_not_granted) {
  expect_explained(outcome_of({.priority = 5}).not_granted);
  EXPECT_EQ(outcome_of({.priority = 5}).not_granted.size(), 1U);
}

TEST(ThreadSettings, cpus_that_do_not_exist_are_not_granted) {
  const std::vector<int> allowed = current_thread().cpus;
  for (const auto& cpus : std::vector<std::vector<int>>{
           {-1}, {CPU_SETSIZE}, {CPU_SETSIZE - 1}, {allowed.front(), CPU_SETSIZE - 1}}) {
    const Outcome outcome = outcome_of({.cpus = cpus});
    ASSERT_EQ(outcome.not_granted.size(), 1U);
    expect_explained(outcome.not_granted);
  }
}

TEST(ThreadSettings, long_name_is_cut_and_reported) {
  const Outcome outcome = outcome_of({.name = "0123456789abcdefgh"});
  EXPECT_EQ(outcome.status.name, "0123456789abcde");
  EXPECT_EQ(outcome.not_granted.size(), 1U);
}

TEST(ThreadSettings, one_refused_setting_does_not_keep_the_others_from_being_applied) {
  const Outcome outcome =
      outcome_of({.policy = SchedulingPolicy::fifo, .priority = 1000, .name = "kept"});
  EXPECT_EQ(outcome.not_granted.size(), 1U);
  EXPECT_EQ(outcome.status.name, "kept");
}

TEST(ProcessThreads, lists_this_thread_and_the_started_ones) {
  Event end;
  const Thread thread{{.name = "listed"}, [&end] { end.wait(); }};
  const std::vector<ThreadStatus> threads = process_threads();
  const auto named = std::ranges::find(threads, thread.tid(), &ThreadStatus::tid);
  ASSERT_NE(named, threads.end());
  EXPECT_EQ(named->name, "listed");
  EXPECT_NE(std::ranges::find(threads, gettid(), &ThreadStatus::tid), threads.end());
  EXPECT_TRUE(std::ranges::is_sorted(threads, {}, &ThreadStatus::tid));
  end.notify();
}

TEST(ProcessThreads, thread_of_another_process_is_not_found) {
  EXPECT_FALSE(thread_status(getppid()).has_value());
}

TEST(RunWithoutPriority, leaves_the_caller_its_own) {
  ThreadStatus within;
  ThreadStatus after;
  Thread thread{{.policy = SchedulingPolicy::fifo, .priority = 10}, [&] {
                  run_without_priority([&] { within = current_thread(); });
                  after = current_thread();
                }};
  thread.join();
  EXPECT_EQ(within.policy, SchedulingPolicy::other);
  if (!thread.not_granted().empty()) return;  // not allowed here: it had none to keep
  EXPECT_NE(within.tid, after.tid);
  EXPECT_EQ(after.policy, SchedulingPolicy::fifo);
  EXPECT_EQ(after.priority, 10);
}

TEST(RunWithoutPriority, needs_no_thread_where_the_caller_has_none) {
  pid_t within = 0;
  run_without_priority([&within] { within = gettid(); });
  EXPECT_EQ(within, gettid());
}

TEST(TimerSlack, is_read_back) {
  ASSERT_EQ(set_timer_slack(1234ns), std::nullopt);
  EXPECT_EQ(timer_slack(), 1234ns);
  ASSERT_EQ(set_timer_slack(0ns), std::nullopt);  // 0 would restore the kernel's default
  EXPECT_EQ(timer_slack(), 1ns);
}

TEST(RrInterval, is_positive_at_policy_rr_only) {
  std::chrono::nanoseconds interval{-1};
  SchedulingPolicy granted{};
  Thread thread{{.policy = SchedulingPolicy::rr, .priority = 1}, [&] {
                  interval = rr_interval();
                  granted = current_thread().policy;
                }};
  thread.join();
  EXPECT_EQ(interval > 0ns, granted == SchedulingPolicy::rr);
  EXPECT_EQ(rr_interval(), 0ns);
}

TEST(OwnThreadId, is_the_kernels_in_each_thread_and_after_fork) {
  const auto is_right = [] { return own_thread_id() == static_cast<std::uint32_t>(gettid()); };
  EXPECT_TRUE(is_right());
  EXPECT_TRUE(is_right());  // it is known by now
  bool in_thread = false;
  Thread{{}, [&] { in_thread = is_right(); }}.join();
  EXPECT_TRUE(in_thread);
  EXPECT_EQ(test::in_child([&] { return is_right() ? 0 : 1; }), 0);
}

}  // namespace
}  // namespace takt::os
