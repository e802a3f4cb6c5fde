// SPDX-License-Identifier: Apache-2.0
//
// The two futex calls that Event and StopFlag need: sleep while a word has a value, wake the
// sleepers. Between the threads of one process the kernel finds the sleepers faster.
#pragma once

#include <atomic>
#include <cstdint>

#include "takt/os/clock.hpp"
#include "takt/visibility.hpp"

namespace takt::os {

using FutexWord = std::atomic<std::uint32_t>;
static_assert(FutexWord::is_always_lock_free && sizeof(FutexWord) == 4);

enum class FutexScope : std::uint8_t {
  shared,  // the word may lie in memory that processes share
  process,
};

enum class FutexResult : std::uint8_t { woken, timed_out };

// Sleeps while `word` equals `expected`. `woken` may be spurious (a signal, a changed word): the
// caller looks at the word again.
TAKT_CORE_PUBLIC FutexResult futex_wait(const FutexWord& word, std::uint32_t expected,
                                        FutexScope scope = FutexScope::shared) noexcept;
TAKT_CORE_PUBLIC FutexResult futex_wait_until(const FutexWord& word, std::uint32_t expected,
                                              TimePoint deadline,
                                              FutexScope scope = FutexScope::shared) noexcept;

// Wakes at most `count` sleepers. Safe in a signal handler.
TAKT_CORE_PUBLIC void futex_wake(FutexWord& word, int count,
                                 FutexScope scope = FutexScope::shared) noexcept;

}  // namespace takt::os
