// SPDX-License-Identifier: Apache-2.0
//
// Real-time threads: asking the kernel for policy, priority, CPUs and name, and reading back what
// it gave. Asked and obtained are kept apart, because a result is worth only what was obtained.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/os/shortfall.hpp"
#include "takt/visibility.hpp"

namespace takt::os {

// The kernel's scheduling policies. Only the first three can be asked for; the others are what a
// thread may be found to have.
enum class SchedulingPolicy : std::uint8_t { other, fifo, rr, batch, idle, deadline, unknown };

TAKT_CORE_PUBLIC std::string_view to_string(SchedulingPolicy policy) noexcept;

// "other", "fifo" or "rr"; nothing for any other text.
TAKT_CORE_PUBLIC std::optional<SchedulingPolicy> parse_policy(std::string_view text) noexcept;

// Priorities of fifo and rr, as Linux counts them (higher runs first). 99 is left to the kernel's
// own watchdog and migration threads.
inline constexpr int min_priority = 1;
inline constexpr int max_priority = 98;

struct ThreadSettings {
  SchedulingPolicy policy = SchedulingPolicy::other;
  int priority = 0;            // min_priority..max_priority for fifo and rr, 0 for other
  std::vector<int> cpus = {};  // where it may run; empty: left as it is (see child_cpus.hpp)
  std::string name = {};       // at most 15 bytes; empty: left as it is
  // Threads and processes that it starts are at policy other (SCHED_RESET_ON_FORK), not at its own.
  bool reset_on_fork = false;
  // Bytes, of a Thread that is created with these settings; 0: the system's default, 8 MB on most.
  // All of it counts where memory is locked.
  std::size_t stack = 0;
  // Bytes of it that such a Thread touches before anything else, so that they are in memory.
  std::size_t prefaulted_stack = 0;
};

// Applies the settings to the calling thread, each on its own: one that fails does not keep the
// others from being applied. Threads started later inherit policy (see reset_on_fork), priority and
// CPUs (see child_cpus.hpp).
TAKT_CORE_PUBLIC Shortfalls apply(const ThreadSettings& settings);

struct ThreadStatus {
  pid_t tid = 0;
  std::string name;
  SchedulingPolicy policy = SchedulingPolicy::unknown;
  int priority = 0;
  std::vector<int> cpus;  // ascending
};

// Read back from the kernel: this thread, the thread `tid` of this process (nothing when it has
// ended), all threads of this process in the order of their tid.
TAKT_CORE_PUBLIC ThreadStatus current_thread();
TAKT_CORE_PUBLIC std::optional<ThreadStatus> thread_status(pid_t tid);
// Without /proc, and without what else the kernel tells with it (SCHED_RESET_ON_FORK).
TAKT_CORE_PUBLIC SchedulingPolicy policy_of(pid_t tid) noexcept;  // 0: the calling thread
TAKT_CORE_PUBLIC std::vector<ThreadStatus> process_threads();

// How much later than asked the kernel may wake this thread at policy other (default 50 us). The
// kernel does not apply it to fifo and rr.
TAKT_CORE_PUBLIC std::optional<Shortfall> set_timer_slack(std::chrono::nanoseconds slack);
TAKT_CORE_PUBLIC std::chrono::nanoseconds timer_slack() noexcept;

// The time slice of this thread at policy rr; zero at every other policy.
TAKT_CORE_PUBLIC std::chrono::nanoseconds rr_interval() noexcept;

// A thread that has its settings before it runs `body`, joined at the end of its life. An exception
// that leaves `body` ends the process, as with std::thread.
class TAKT_CORE_PUBLIC Thread {
 public:
  // Returns when the settings have been applied, without having waited for whoever has the CPUs of
  // these settings: until then the thread is scheduled as its creator is. Throws
  // std::system_error when there can be no thread at all, or none with such a stack.
  Thread(const ThreadSettings& settings, std::function<void()> body);
  ~Thread();
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  Thread(Thread&&) = delete;
  Thread& operator=(Thread&&) = delete;

  // Once, while joinable().
  void join() noexcept;
  [[nodiscard]] bool joinable() const noexcept { return joinable_; }
  [[nodiscard]] pid_t tid() const noexcept { return tid_; }
  // Of the CPU time that it has had; until it is joined.
  [[nodiscard]] clockid_t cpu_clock() const noexcept;
  [[nodiscard]] const Shortfalls& shortfalls() const noexcept { return shortfalls_; }

 private:
  pid_t tid_ = 0;
  Shortfalls shortfalls_;
  pthread_t thread_{};
  bool joinable_ = false;
};

// Runs `work` at policy other and waits for it: in a thread of its own where the caller has a
// real-time policy, which it keeps. For code of others that may poll, which at a real-time priority
// would wait for ever for a thread that it does not let run. An exception that leaves `work` ends
// the process. Where there can be no further thread, the caller runs it as it is.
TAKT_CORE_PUBLIC void run_without_priority(const std::function<void()>& work) noexcept;

}  // namespace takt::os
