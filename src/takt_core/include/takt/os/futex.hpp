// SPDX-License-Identifier: Apache-2.0
/// @file
/// The futex calls that Event, StopFlag and PriorityMutex need: sleep while a word has a value,
/// wake the sleepers; hand a lock over with priority inheritance. Among the threads of one process
/// the kernel finds sleepers faster.
#pragma once

#include <atomic>
#include <cstdint>

#include "takt/os/clock.hpp"
#include "takt/visibility.hpp"

namespace takt::os {

/// The word that a futex sleeps on: 32 bits, always lock-free.
using FutexWord = std::atomic<std::uint32_t>;
static_assert(FutexWord::is_always_lock_free && sizeof(FutexWord) == 4);

/// Which memory the kernel searches for sleepers.
enum class FutexScope : std::uint8_t {
  shared,   ///< the word may be in memory that processes share
  process,  ///< the word belongs to this process only, which is faster
};

/// Why a futex wait returned.
enum class FutexResult : std::uint8_t {
  woken,      ///< by a wake-up, a signal or a changed word
  timed_out,  ///< the deadline has passed
};

/// Sleeps while `word` equals `expected`. FutexResult::woken may be spurious (a signal, a changed
/// word): check the word again.
TAKT_CORE_PUBLIC FutexResult futex_wait(const FutexWord& word, std::uint32_t expected,
                                        FutexScope scope = FutexScope::shared) noexcept;

/// Like futex_wait(), but returns FutexResult::timed_out at `deadline` (CLOCK_MONOTONIC).
TAKT_CORE_PUBLIC FutexResult futex_wait_until(const FutexWord& word, std::uint32_t expected,
                                              TimePoint deadline,
                                              FutexScope scope = FutexScope::shared) noexcept;

/// Wakes at most `count` sleepers. Safe in a signal handler.
TAKT_CORE_PUBLIC void futex_wake(FutexWord& word, int count,
                                 FutexScope scope = FutexScope::shared) noexcept;

/// Waits until the calling thread holds the lock, whose word is 0 while it is free, else the
/// holder's thread id, which the kernel marks while others wait. The holder inherits the priority
/// of the most urgent one. Among the threads of one process. Never returns if the calling thread
/// holds it already.
TAKT_CORE_PUBLIC void futex_lock_pi(FutexWord& word) noexcept;

/// Hands the calling thread's lock to the most urgent of those that wait.
TAKT_CORE_PUBLIC void futex_unlock_pi(FutexWord& word) noexcept;

/// The thread id of the lock's holder; 0: it is free.
[[nodiscard]] TAKT_CORE_PUBLIC std::uint32_t futex_pi_holder(const FutexWord& word) noexcept;

/// Why the kernel refuses priority inheritance, as an error number; 0: it does not.
[[nodiscard]] TAKT_CORE_PUBLIC int futex_pi_error() noexcept;

}  // namespace takt::os
