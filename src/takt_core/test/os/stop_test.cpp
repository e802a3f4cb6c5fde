// SPDX-License-Identifier: Apache-2.0
#include "takt/os/stop.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "os/child.hpp"

namespace takt::os {
namespace {

using namespace std::chrono_literals;

TEST(StopFlag, wakes_every_sleeper) {
  StopFlag stop;
  std::atomic<int> woken{0};
  {
    std::jthread first{[&] {
      stop.wait();
      ++woken;
    }};
    std::jthread second{[&] { woken += stop.wait_until(now() + 24h) ? 1 : 0; }};
    stop.request();
  }
  EXPECT_EQ(woken, 2);
}

TEST(StopFlag, sleep_without_a_request_lasts_to_the_deadline) {
  const StopFlag stop;
  const TimePoint deadline = now() + 2ms;
  EXPECT_FALSE(stop.wait_until(deadline));
  EXPECT_GE(now(), deadline);
}

TEST(StopFlag, notifies_the_attached_events_and_not_the_detached_ones) {
  StopFlag stop;
  Event attached;
  Event detached;
  stop.attach(attached);
  stop.attach(detached);
  stop.detach(detached);
  stop.request();
  EXPECT_TRUE(attached.try_wait());
  EXPECT_FALSE(detached.try_wait());
}

TEST(StopFlag, notifies_an_event_that_is_attached_too_late) {
  StopFlag stop;
  Event event;
  stop.request();
  stop.attach(event);
  EXPECT_TRUE(event.try_wait());
}

TEST(StopFlag, refuses_more_events_than_it_has_places) {
  StopFlag stop;
  std::array<Event, StopFlag::max_events + 1> events;
  for (std::size_t index = 0; index < StopFlag::max_events; ++index) {
    stop.attach(events[index]);
  }
  EXPECT_THROW(stop.attach(events.back()), std::length_error);
  stop.detach(events.front());
  EXPECT_NO_THROW(stop.attach(events.back()));
}

TEST(StopOnSignal, sets_the_flag_and_keeps_the_process_alive) {
  for (const int signal : {SIGINT, SIGTERM}) {
    StopFlag stop;
    const StopOnSignal handler{stop};
    raise(signal);
    EXPECT_TRUE(stop.requested());
  }
}

TEST(StopOnSignal, gives_the_former_handlers_back) {
  std::signal(SIGTERM, SIG_IGN);
  {
    StopFlag stop;
    const StopOnSignal handler{stop};
  }
  EXPECT_EQ(std::signal(SIGTERM, SIG_DFL), SIG_IGN);
}

TEST(StopOnSignal, exists_only_once) {
  StopFlag stop;
  const StopOnSignal handler{stop};
  EXPECT_THROW(StopOnSignal{stop}, std::logic_error);
  raise(SIGTERM);
  EXPECT_TRUE(stop.requested());
}

TEST(StopOnSignal, leaves_nothing_behind_when_a_signal_cannot_be_caught) {
  StopFlag stop;
  EXPECT_THROW((StopOnSignal{stop, {SIGTERM, SIGKILL}}), std::system_error);
  EXPECT_EQ(std::signal(SIGTERM, SIG_DFL), SIG_DFL);
  EXPECT_NO_THROW(StopOnSignal{stop});
}

TEST(StopOnSignal, ends_a_long_clock_sleep) {
  static StopFlag stop;
  const StopOnSignal handler{stop};
  std::atomic<bool> over{false};
  const pthread_t sleeper = pthread_self();
  const std::jthread sender{[&] {
    while (!over) {  // again and again: the first may come before the sleep
      pthread_kill(sleeper, SIGTERM);
      std::this_thread::yield();
    }
  }};
  EXPECT_FALSE(sleep_until(now() + 24h, stop));
  over = true;
}

TEST(StopOnSignal, ends_a_sleep_on_the_flag_whichever_thread_takes_the_signal) {
  static StopFlag stop;
  const StopOnSignal handler{stop};
  bool stopped = false;
  {
    const std::jthread sleeper{[&] { stopped = stop.wait_until(now() + 24h); }};
    raise(SIGINT);
  }
  EXPECT_TRUE(stopped);
}

TEST(EndWithParent, a_child_ends_when_its_parent_does) {
  std::array<int, 2> ready{};
  std::array<int, 2> alive{};
  ASSERT_EQ(pipe(ready.data()), 0);
  ASSERT_EQ(pipe(alive.data()), 0);
  const int code = test::in_child([&] {
    const pid_t parent = getpid();
    test::start_child([&] {
      if (end_with_parent(SIGKILL, parent)) {
        return 1;
      }
      const char byte = 1;
      if (write(ready[1], &byte, 1) != 1) {
        return 1;
      }
      while (true) {
        pause();
      }
    });
    char byte = 0;
    return read(ready[0], &byte, 1) == 1 ? 0 : 1;
  });
  ASSERT_EQ(code, 0);
  close(alive[1]);
  char byte = 0;
  EXPECT_EQ(read(alive[0], &byte, 1), 0);  // end of file: the grandchild's copy is closed too
}

TEST(EndWithParent, a_child_whose_parent_is_gone_already_ends_at_once) {
  const int code = test::in_child([] {
    end_with_parent(SIGKILL, getpid());  // never its own parent, as a parent that is gone
    return 0;
  });
  EXPECT_EQ(code, -SIGKILL);
}

}  // namespace
}  // namespace takt::os
