// SPDX-License-Identifier: Apache-2.0
//
// A turn is taken by one thread at a time, whatever becomes of its holder and of the kernel's help.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <takt/rcl/delivery_turn.hpp>
#include <thread>
#include <vector>

namespace takt::test {
namespace {

using detail::DeliveryTurn;
using namespace std::chrono_literals;

// What has not returned after a minute never will.
template <class Body>
auto returns(Body body) {
  auto result = std::async(std::launch::async, body);
  if (result.wait_for(60s) != std::future_status::ready) {
    std::fprintf(stderr, "it has not returned for a minute\n");
    std::_Exit(EXIT_FAILURE);
  }
  return result.get();
}

// Whether threads that take it are never two at once.
bool keeps_threads_apart() {
  DeliveryTurn turn;
  std::atomic<int> inside{0};
  std::atomic<bool> apart{true};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        if (!turn.take()) {
          apart = false;
          return;
        }
        apart = apart && inside.fetch_add(1) == 0;
        std::this_thread::yield();
        inside.fetch_sub(1);
        turn.give_back();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return apart;
}

// From here on the kernel answers FUTEX_LOCK_PI so.
bool refuse_lock_pi(int error) {
  const auto answer = SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
  std::array<sock_filter, 7> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, static_cast<std::uint32_t>(FUTEX_CMD_MASK)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FUTEX_LOCK_PI, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{.len = static_cast<unsigned short>(filter.size()),
                           .filter = filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(DeliveryTurn, is_taken_by_one_thread_at_a_time) {
  EXPECT_TRUE(keeps_threads_apart());
}

TEST(DeliveryTurn, is_taken_by_one_thread_at_a_time_where_the_kernel_lends_no_priorities) {
  for (const int error : {ENOSYS, EPERM, ENOMEM, EINVAL}) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // ends it
      if (!refuse_lock_pi(error)) std::_Exit(2);
      std::_Exit(keeps_threads_apart() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "it never ends after error " << error;
    if (WEXITSTATUS(status) == 2) {
      GTEST_SKIP() << "the kernel takes no filter of system calls";
    }
    EXPECT_EQ(WEXITSTATUS(status), 0) << "two at once after error " << error;
  }
}

TEST(DeliveryTurn, of_a_thread_that_has_ended_is_free) {
  DeliveryTurn turn;
  std::thread{[&] { ASSERT_TRUE(turn.take()); }}.join();
  EXPECT_TRUE(returns([&] {
    const bool mine = turn.take();
    turn.give_back();
    return mine;
  }));
  std::thread{[&] { ASSERT_TRUE(turn.take()); }}.join();
  EXPECT_TRUE(returns([&] { return turn.take_unless_elsewhere(); }));
}

TEST(DeliveryTurn, is_not_waited_for_by_whom_its_holder_waits_for) {
  std::array<DeliveryTurn, 2> turns;
  std::atomic<int> holders{0};
  const auto take_both = [&](std::size_t first) {
    if (!turns[first].take()) return false;
    ++holders;
    while (holders < 2) std::this_thread::yield();
    const bool both = turns[1 - first].take();
    if (both) turns[1 - first].give_back();
    turns[first].give_back();
    return both;
  };
  // Where both come at the same time the kernel may tell both of it.
  const bool one_gave_way = returns([&] {
    auto other = std::async(std::launch::async, [&] { return take_both(1); });
    const bool mine = take_both(0);
    return !(other.get() && mine);
  });
  EXPECT_TRUE(one_gave_way) << "two had both at the same time";
}

TEST(DeliveryTurn, that_the_thread_has_is_not_taken_again) {
  DeliveryTurn turn;
  ASSERT_TRUE(turn.take());
  EXPECT_FALSE(turn.take());
  turn.give_back();
  EXPECT_TRUE(turn.take());
  turn.give_back();
}

}  // namespace
}  // namespace takt::test
