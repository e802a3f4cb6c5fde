// SPDX-License-Identifier: Apache-2.0
#include "takt/os/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

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

}  // namespace takt::os
