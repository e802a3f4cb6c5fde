// SPDX-License-Identifier: Apache-2.0
#include "takt/os/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace takt::os {
namespace {

int flag_of(FutexScope scope) noexcept {
  return scope == FutexScope::process ? FUTEX_PRIVATE_FLAG : 0;
}

FutexResult wait(const FutexWord& word, std::uint32_t expected, const timespec* deadline,
                 FutexScope scope) noexcept {
  // FUTEX_WAIT_BITSET, unlike FUTEX_WAIT, takes an absolute CLOCK_MONOTONIC time.
  const long result = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | flag_of(scope), expected,
                              deadline, nullptr, FUTEX_BITSET_MATCH_ANY);
  return result == -1 && errno == ETIMEDOUT ? FutexResult::timed_out : FutexResult::woken;
}

long pi_call(FutexWord& word, int operation) noexcept {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, 0, nullptr, nullptr, 0);
}

}  // namespace

FutexResult futex_wait(const FutexWord& word, std::uint32_t expected, FutexScope scope) noexcept {
  return wait(word, expected, nullptr, scope);
}

FutexResult futex_wait_until(const FutexWord& word, std::uint32_t expected, TimePoint deadline,
                             FutexScope scope) noexcept {
  const timespec time = to_timespec(deadline);
  return wait(word, expected, &time, scope);
}

void futex_wake(FutexWord& word, int count, FutexScope scope) noexcept {
  const int before = errno;  // a signal handler must leave errno as it found it
  syscall(SYS_futex, &word, FUTEX_WAKE | flag_of(scope), count, nullptr, nullptr, 0);
  errno = before;
}

void futex_lock_pi(FutexWord& word) noexcept {
  const int before = errno;
  while (pi_call(word, FUTEX_LOCK_PI) != 0) {
    if (errno != EINTR && errno != EAGAIN) {
      // It is held by the calling thread, or by one that has ended: for good. Or there is no
      // memory.
      constexpr timespec a_while{.tv_sec = 0, .tv_nsec = 1'000'000};
      nanosleep(&a_while, nullptr);
    }
  }
  errno = before;
  // The kernel has exchanged the word, which a sanitizer does not see: here, and in the holder's
  // call.
  static_cast<void>(word.load(std::memory_order_acquire));
}

void futex_unlock_pi(FutexWord& word) noexcept {
  const int before = errno;
  word.fetch_or(0, std::memory_order_release);  // for sanitizers, see above
  pi_call(word, FUTEX_UNLOCK_PI);
  errno = before;
}

std::uint32_t futex_pi_holder(const FutexWord& word) noexcept {
  return word.load(std::memory_order_relaxed) & FUTEX_TID_MASK;
}

int futex_pi_error() noexcept {
  FutexWord word{0};
  // Nobody holds it: that is what a kernel objects to that knows the call.
  return pi_call(word, FUTEX_UNLOCK_PI) == -1 && errno != EPERM ? errno : 0;
}

}  // namespace takt::os
