// SPDX-License-Identifier: Apache-2.0
#include "takt/os/event.hpp"

#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "os/child.hpp"
#include "os/sanitizer.hpp"

namespace takt::os {
namespace {

using namespace std::chrono_literals;
using test::end_of;
using test::start_child;

static_assert(std::is_standard_layout_v<Event> && std::is_trivially_destructible_v<Event>);

// Two events in memory that child processes share.
struct Pair {
  Event there;
  Event back;
  int value = 0;
};

struct Unmap {
  void operator()(Pair* pair) const { munmap(pair, sizeof(Pair)); }
};

std::unique_ptr<Pair, Unmap> shared_pair() {
  void* memory =
      mmap(nullptr, sizeof(Pair), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return std::unique_ptr<Pair, Unmap>{new (memory) Pair};
}

// Returns when `process` sleeps in a futex call.
void await_sleep_of(pid_t process) {
  std::string state;
  while (state != "S") {
    std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
    std::string skipped;
    file >> skipped >> skipped >> state;
    std::this_thread::yield();
  }
}

TEST(Event, is_taken_once_for_each_time_it_was_set) {
  Event event;
  EXPECT_FALSE(event.try_wait());
  event.notify();
  EXPECT_TRUE(event.try_wait());
  EXPECT_FALSE(event.try_wait());
}

TEST(Event, notifications_before_it_is_taken_merge) {
  Event event;
  event.notify();
  event.notify();
  event.wait();
  EXPECT_FALSE(event.try_wait());
}

TEST(Event, no_notification_of_a_thread_is_lost_among_many) {
  constexpr int last = 200'000;
  ThreadEvent event;
  std::atomic<int> sent{0};
  std::thread waiter{[&] {
    while (sent.load() != last) {
      event.wait();  // a lost one would leave it asleep
    }
  }};
  for (int i = 1; i <= last; ++i) {
    sent.store(i);
    event.notify();
  }
  waiter.join();
}

TEST(Event, that_is_set_is_taken_even_when_the_deadline_has_passed) {
  Event event;
  event.notify();
  EXPECT_TRUE(event.wait_until(now() - 1h));
  EXPECT_FALSE(event.wait_until(now() - 1h));
}

TEST(Event, time_out_never_comes_before_the_deadline) {
  Event event;
  const TimePoint deadline = now() + 2ms;
  EXPECT_FALSE(event.wait_until(deadline));
  EXPECT_GE(now(), deadline);
}

TEST(Event, hands_data_to_the_other_thread_and_back) {
  Event there;
  Event back;
  int value = 0;  // not atomic: ThreadSanitizer checks that the events order the accesses
  constexpr int rounds = 5'000;
  std::jthread other{[&] {
    for (int round = 0; round < rounds; ++round) {
      there.wait();
      ++value;
      back.notify();
    }
  }};
  for (int round = 0; round < rounds; ++round) {
    value += 10;
    there.notify();
    back.wait();
    ASSERT_EQ(value, 11 * (round + 1));
  }
}

TEST(Event, is_not_lost_when_it_meets_the_time_out) {
  Event there;
  Event back;
  constexpr int rounds = 3'000;
  int taken = 0;
  std::jthread other{[&] {
    while (taken < rounds) {
      // So short that the notification comes before, at and after the deadline.
      if (there.wait_until(now() + 5us)) {
        ++taken;
        back.notify();
      }
    }
  }};
  for (int round = 0; round < rounds; ++round) {
    there.notify();
    back.wait();
  }
  other.join();
  EXPECT_EQ(taken, rounds);
}

TEST(Event, excludes_others_when_it_is_used_as_a_token) {
  Event token;
  token.notify();
  std::int64_t sum = 0;
  constexpr int rounds = 1'000;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (int round = 0; round < rounds; ++round) {
          token.wait();
          ++sum;
          token.notify();
        }
      });
    }
  }
  EXPECT_EQ(sum, 4 * rounds);
}

TEST(Event, works_between_processes_in_shared_memory) {
  const auto pair = shared_pair();
  constexpr int rounds = 500;
  const pid_t child = start_child([&] {
    for (int round = 0; round < rounds; ++round) {
      pair->there.wait();
      ++pair->value;
      pair->back.notify();
    }
    return 0;
  });
  for (int round = 0; round < rounds; ++round) {
    pair->there.notify();
    pair->back.wait();
    ASSERT_EQ(pair->value, round + 1);
  }
  EXPECT_EQ(end_of(child), 0);
}

TEST(Event, still_wakes_others_after_a_waiting_process_was_killed) {
  const auto pair = shared_pair();
  const pid_t victim = start_child([&] {
    pair->there.wait();
    return 0;
  });
  await_sleep_of(victim);
  kill(victim, SIGKILL);
  EXPECT_EQ(end_of(victim), -SIGKILL);
  const pid_t waiter = start_child([&] {
    pair->there.wait();
    return 0;
  });
  await_sleep_of(waiter);
  pair->there.notify();
  EXPECT_EQ(end_of(waiter), 0);
}

TEST(Event, makes_no_system_call_when_nobody_waits) {
  if (test::sanitized) {
    GTEST_SKIP() << "sanitizers make system calls of their own";
  }
  Event event;
  const int code = test::in_child([&]() -> int {
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);  // any call but exit and write now kills
    event.notify();
    event.wait();
    event.notify();
    syscall(SYS_exit, event.wait_until(TimePoint{}) ? 0 : 1);
    return 2;
  });
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace takt::os
