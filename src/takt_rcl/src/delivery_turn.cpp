// SPDX-License-Identifier: Apache-2.0
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <takt/os/clock.hpp>
#include <takt/os/thread_id.hpp>
#include <takt/rcl/delivery_turn.hpp>

namespace takt::detail {
namespace {

// Or is not there any more, and so holds nobody up.
bool is_bound_to_this_core(std::uint32_t thread) noexcept {
  cpu_set_t cpus;
  if (sched_getaffinity(static_cast<pid_t>(thread), sizeof cpus, &cpus) != 0) {
    return errno == ESRCH;
  }
  return CPU_COUNT(&cpus) == 1 && CPU_ISSET(sched_getcpu(), &cpus) != 0;
}

bool has_ended(std::uint32_t thread) noexcept {
  return tgkill(getpid(), static_cast<pid_t>(thread), 0) != 0 && errno == ESRCH;
}

}  // namespace

bool DeliveryTurn::take() noexcept {
  std::uint32_t present = 0;
  if (word_.compare_exchange_strong(present, os::own_thread_id(), std::memory_order_acquire)) {
    return true;
  }
  if ((present & FUTEX_TID_MASK) == os::own_thread_id()) {
    return false;
  }
  // The kernel gives it to the most urgent waiter, and lends its priority to the holder until then.
  while (syscall(SYS_futex, &word_, FUTEX_LOCK_PI_PRIVATE, 0, nullptr, nullptr, 0) != 0) {
    switch (errno) {
      case EINTR:
      case EAGAIN:  // the holder is about to end
        break;
      case EDEADLK:  // the holder waits, maybe through others, for what this thread has
        return false;
      default:
        if (take_without_kernel()) {
          return true;
        }
    }
  }
  word_.fetch_or(0, std::memory_order_acquire);  // what the kernel did is unknown to the language
  return true;
}

// One try, where the kernel refuses: the holder has ended without giving it back, or the kernel
// lends no priorities (a sandbox, a kernel without them). Then the waiter looks again a little
// later, asleep, so that the holder gets on whatever its priority is.
bool DeliveryTurn::take_without_kernel() noexcept {
  std::uint32_t present = word_.load();
  const std::uint32_t holder = present & FUTEX_TID_MASK;
  if ((holder == 0 || has_ended(holder)) &&
      word_.compare_exchange_strong(present, os::own_thread_id(), std::memory_order_acquire)) {
    return true;
  }
  constexpr std::chrono::microseconds later{100};
  os::sleep_until(os::now() + later);
  return false;
}

bool DeliveryTurn::take_unless_elsewhere() noexcept {
  std::uint32_t present = 0;
  if (word_.compare_exchange_strong(present, os::own_thread_id(), std::memory_order_acquire)) {
    return true;
  }
  return is_bound_to_this_core(present & FUTEX_TID_MASK) && take();
}

void DeliveryTurn::give_back() noexcept {
  std::uint32_t mine = os::own_thread_id();
  if (word_.compare_exchange_strong(mine, 0, std::memory_order_release)) {
    return;
  }
  word_.fetch_or(0, std::memory_order_release);
  while (syscall(SYS_futex, &word_, FUTEX_UNLOCK_PI_PRIVATE, 0, nullptr, nullptr, 0) != 0) {
    if (errno != EINTR && errno != EAGAIN) {
      word_.store(0);  // the kernel knows of no waiter
      return;
    }
  }
}

bool DeliveryTurn::awaited() const noexcept {
  return (word_.load(std::memory_order_relaxed) & FUTEX_WAITERS) != 0;
}

}  // namespace takt::detail
