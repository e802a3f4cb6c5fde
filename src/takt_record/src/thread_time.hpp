// SPDX-License-Identifier: Apache-2.0
//
// The CPU time of a thread at the begin and the end of its callbacks, mostly without the system
// call, which takes longer than all that a callback's other events cost.
//
// A call that ends within `short_call` counts as long as it lasted, whoever had its core meanwhile.
// At the end of each longer call the clock is asked; at its begin, too, if the last call of this
// callback was long, or if the clock was not asked for `stale`. So only a call that takes much
// longer than the one before it can count too much: by what the thread computed within `stale`
// before it, and never more than it lasted.
#pragma once

#include <cstdint>
#include <ctime>

namespace takt_record {

inline constexpr std::int64_t short_call = 20'000;  // ns
inline constexpr std::int64_t stale = 1'000'000;    // ns

/// One of each thread; all times in ns. `Clock` returns the CPU time of the thread that calls it.
template <typename Clock>
class ThreadTime {
 public:
  /// At the begin of a callback, at CLOCK_MONOTONIC `now`: a time from which end() counts on.
  std::int64_t begin(std::int64_t now, std::uint64_t callback) noexcept {
    if (open_ != 0 || (long_ & bit(callback)) != 0 || now - asked_at_ >= stale) {
      ask(now);
    }
    open_ = callback;
    begun_ = now;
    return asked_;
  }

  /// At its end.
  std::int64_t end(std::int64_t now, std::uint64_t callback) noexcept {
    if (open_ != callback) {
      return ask(now);  // another call was within it
    }
    open_ = 0;
    const std::int64_t took = now - begun_;
    const std::int64_t most = asked_ + took;
    if (took < short_call) {
      long_ &= ~bit(callback);
      return most;
    }
    long_ |= bit(callback);
    const std::int64_t cpu = ask(now);
    return cpu < most ? cpu : most;
  }

 private:
  static constexpr std::uint64_t bit(std::uint64_t callback) noexcept {
    return std::uint64_t{1} << ((callback >> 4U ^ callback >> 10U) % 64);  // some share one
  }

  std::int64_t ask(std::int64_t now) noexcept {
    asked_at_ = now;
    asked_ = Clock::now();
    return asked_;
  }

  std::int64_t asked_ = 0;  // CPU time, at
  std::int64_t asked_at_ = -stale;
  std::int64_t begun_ = 0;
  std::uint64_t long_ = ~std::uint64_t{0};  // callbacks of which the last call was; or not known
  std::uint64_t open_ = 0;                  // the callback that began last and has not ended
};

struct CpuClock {
  static std::int64_t now() noexcept {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
  }
};

}  // namespace takt_record
