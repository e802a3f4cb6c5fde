// SPDX-License-Identifier: Apache-2.0
//
// Ends the fuzz where anything of it hangs, and says what: one thread, above all others where it
// may be, looks after whatever has begun and not returned. What begins and ends takes no lock for
// it: who spins with a lock must not keep the watchdog from seeing it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "takt/os/clock.hpp"
#include "takt/os/saturating.hpp"
#include "takt/os/thread.hpp"

namespace takt::fuzz {

using namespace std::chrono_literals;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// A sanitizer's own spin lock may never be given back by a thread that is preempted for good.
inline constexpr bool sanitized = true;
inline constexpr std::chrono::seconds patience{100};
#else
inline constexpr bool sanitized = false;
inline constexpr std::chrono::seconds patience{60};
#endif

// Which run it is, for whoever has to repeat it.
inline std::atomic<std::uint64_t> seed_of_round{0};

[[noreturn]] inline void fail(std::string_view what) {
  std::fprintf(stderr, "seed %llu: %.*s\n", static_cast<unsigned long long>(seed_of_round.load()),
               static_cast<int>(what.size()), what.data());
  std::abort();  // sanitizers and debuggers show where everybody is
}

class Watchdog {
 public:
  struct Entry {
    std::atomic<bool> taken{false};
    std::atomic<std::int64_t> until{never};  // ns of the clock
    std::array<char, 96> what{};
  };

  Watchdog() : thread_{settings(), [this] { watch(); }} {}
  ~Watchdog() {
    ends_.store(true);
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  Watchdog(Watchdog&&) = delete;
  Watchdog& operator=(Watchdog&&) = delete;

  // Null where more goes on than it can look after.
  Entry* begin(std::string_view what, std::chrono::nanoseconds at_most) {
    for (Entry& entry : entries_) {
      if (!entry.taken.exchange(true)) {
        const std::size_t size = what.copy(entry.what.data(), entry.what.size() - 1);
        entry.what[size] = '\0';
        entry.until.store(os::add_sat(os::now(), at_most).time_since_epoch().count());
        return &entry;
      }
    }
    return nullptr;
  }
  static void end(Entry* entry) {
    if (entry != nullptr) {
      entry->until.store(never);
      entry->taken.store(false);
    }
  }

  static Watchdog& instance() {
    static Watchdog watchdog;
    return watchdog;
  }

 private:
  static constexpr std::int64_t never = INT64_MAX;

  static os::ThreadSettings settings() {
    os::ThreadSettings settings{.name = "watchdog"};
    if (!sanitized) {
      settings.policy = os::SchedulingPolicy::fifo;
      settings.priority = os::max_priority;
    }
    return settings;
  }

  void watch() {
    while (!ends_.load()) {
      const std::int64_t now = os::now().time_since_epoch().count();
      for (const Entry& entry : entries_) {
        if (entry.until.load() < now) {
          fail(std::string{entry.what.data()} + " does not return");
        }
      }
      os::sleep_until(os::now() + 200ms);
    }
  }

  std::array<Entry, 256> entries_;
  std::atomic<bool> ends_{false};
  os::Thread thread_;
};

// What lasts longer than this never ends.
class Limit {
 public:
  explicit Limit(std::string_view what, std::chrono::nanoseconds at_most = patience)
      : entry_{Watchdog::instance().begin(what, at_most)} {}
  ~Limit() { Watchdog::end(entry_); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  Limit(Limit&&) = delete;
  Limit& operator=(Limit&&) = delete;

 private:
  Watchdog::Entry* entry_;
};

}  // namespace takt::fuzz
