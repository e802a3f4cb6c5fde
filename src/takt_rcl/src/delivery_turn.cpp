// SPDX-License-Identifier: Apache-2.0
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <takt/rcl/delivery_turn.hpp>

namespace takt::detail {
namespace {

std::uint32_t this_thread() noexcept {
  thread_local const auto id = static_cast<std::uint32_t>(gettid());
  return id;
}

bool is_bound_to_this_core(std::uint32_t thread) noexcept {
  cpu_set_t cpus;
  return sched_getaffinity(static_cast<pid_t>(thread), sizeof cpus, &cpus) == 0 &&
         CPU_COUNT(&cpus) == 1 && CPU_ISSET(sched_getcpu(), &cpus) != 0;
}

}  // namespace

bool DeliveryTurn::take() noexcept {
  std::uint32_t present = 0;
  if (word_.compare_exchange_strong(present, this_thread(), std::memory_order_acquire)) {
    return true;
  }
  if ((present & FUTEX_TID_MASK) == this_thread()) {
    return false;
  }
  // The kernel gives it to the most urgent waiter, and lends its priority to the holder until then.
  while (syscall(SYS_futex, &word_, FUTEX_LOCK_PI_PRIVATE, 0, nullptr, nullptr, 0) != 0) {
  }
  word_.fetch_or(0, std::memory_order_acquire);  // what the kernel did is unknown to the language
  return true;
}

bool DeliveryTurn::take_unless_elsewhere() noexcept {
  std::uint32_t present = 0;
  if (word_.compare_exchange_strong(present, this_thread(), std::memory_order_acquire)) {
    return true;
  }
  return is_bound_to_this_core(present & FUTEX_TID_MASK) && take();
}

void DeliveryTurn::give_back() noexcept {
  std::uint32_t mine = this_thread();
  if (word_.compare_exchange_strong(mine, 0, std::memory_order_release)) {
    return;
  }
  word_.fetch_or(0, std::memory_order_release);
  syscall(SYS_futex, &word_, FUTEX_UNLOCK_PI_PRIVATE, 0, nullptr, nullptr, 0);
}

bool DeliveryTurn::awaited() const noexcept {
  return (word_.load(std::memory_order_relaxed) & FUTEX_WAITERS) != 0;
}

}  // namespace takt::detail
