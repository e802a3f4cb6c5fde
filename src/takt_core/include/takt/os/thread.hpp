// SPDX-License-Identifier: Apache-2.0
/// @file
/// Real-time threads: requests policy, priority, CPUs and name from the kernel, and reads back what
/// it granted. Requested and granted values are kept apart, because results depend on the granted
/// ones.
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

#include "takt/os/not_granted.hpp"
#include "takt/visibility.hpp"

namespace takt::os {

/// The kernel's scheduling policies. Only the first three can be requested; a thread may be found
/// to have any of them.
enum class SchedulingPolicy : std::uint8_t {
  other,     ///< SCHED_OTHER, the fair scheduler
  fifo,      ///< SCHED_FIFO, real-time until it blocks
  rr,        ///< SCHED_RR, real-time with time slices among equal priorities
  batch,     ///< SCHED_BATCH
  idle,      ///< SCHED_IDLE
  deadline,  ///< SCHED_DEADLINE, the kernel's EDF with reservations
  unknown,   ///< a policy that this version does not know, or not read
};

/// The lower-case name of the enumerator, as in settings and results: "fifo".
TAKT_CORE_PUBLIC std::string_view to_string(SchedulingPolicy policy) noexcept;

/// Parses "other", "fifo" or "rr"; nothing for any other text.
TAKT_CORE_PUBLIC std::optional<SchedulingPolicy> parse_policy(std::string_view text) noexcept;

/// The lowest priority of fifo and rr.
inline constexpr int min_priority = 1;
/// The highest priority that Takt uses; as on Linux, higher numbers run first. The kernel's
/// watchdog and migration threads keep 99.
inline constexpr int max_priority = 98;

/// What to request for a thread.
struct ThreadSettings {
  SchedulingPolicy policy = SchedulingPolicy::other;  ///< SchedulingPolicy::other, fifo or rr.
  int priority = 0;  ///< min_priority..max_priority for fifo and rr, 0 for other.
  /// CPUs that the thread may use; empty: unchanged (see child_cpus.hpp).
  std::vector<int> cpus = {};
  std::string name = {};  ///< At most 15 bytes; empty: unchanged.
  /// Children run at SchedulingPolicy::other instead of inheriting the policy
  /// (SCHED_RESET_ON_FORK).
  bool reset_on_fork = false;
  /// Bytes of the stack of a Thread created with these settings; 0: the system's default, usually 8
  /// MB. All of it counts towards locked memory.
  std::size_t stack = 0;
  /// Bytes of its stack that such a Thread touches first, so that they are in memory.
  std::size_t prefaulted_stack = 0;
};

/// Applies the settings to the calling thread, each on its own: if one fails, the others are still
/// applied. Threads started later inherit policy (see reset_on_fork), priority and CPUs (see
/// child_cpus.hpp).
/// @return what the kernel did not grant, setting by setting.
TAKT_CORE_PUBLIC SettingsNotGranted apply(const ThreadSettings& settings);

/// What the kernel granted to a thread.
struct ThreadStatus {
  pid_t tid = 0;                                        ///< Kernel thread id.
  std::string name;                                     ///< At most 15 bytes.
  SchedulingPolicy policy = SchedulingPolicy::unknown;  ///< The policy in effect.
  int priority = 0;       ///< Real-time priority; 0 unless the policy is fifo or rr.
  std::vector<int> cpus;  ///< Ascending.
};

/// Reads the status of the calling thread from the kernel.
TAKT_CORE_PUBLIC ThreadStatus current_thread();

/// Reads the status of the thread `tid` of this process; nothing if it has ended.
TAKT_CORE_PUBLIC std::optional<ThreadStatus> thread_status(pid_t tid);

/// The policy of one thread, read with a single system call instead of /proc, and without the flags
/// that the kernel stores with it (SCHED_RESET_ON_FORK).
/// @param tid 0: the calling thread.
TAKT_CORE_PUBLIC SchedulingPolicy policy_of(pid_t tid) noexcept;

/// The status of all threads of this process, in the order of their tid.
TAKT_CORE_PUBLIC std::vector<ThreadStatus> process_threads();

/// Sets how much later than requested the kernel may wake this thread at SchedulingPolicy::other
/// (default 50 us). The kernel ignores it for fifo and rr.
TAKT_CORE_PUBLIC std::optional<NotGranted> set_timer_slack(std::chrono::nanoseconds slack);

/// The timer slack of the calling thread.
TAKT_CORE_PUBLIC std::chrono::nanoseconds timer_slack() noexcept;

/// The time slice of the calling thread at SchedulingPolicy::rr; zero at every other policy.
TAKT_CORE_PUBLIC std::chrono::nanoseconds rr_interval() noexcept;

/// A thread that has its settings before it runs its body; joined by the destructor. As with
/// std::thread, an exception that leaves the body ends the process.
class TAKT_CORE_PUBLIC Thread {
 public:
  /// Starts the thread, and returns after the settings have been applied. Does not wait for a busy
  /// CPU among those of the settings: until the settings are applied, the thread is scheduled like
  /// its creator.
  /// @throws std::system_error if the thread cannot be created, or not with such a stack.
  Thread(const ThreadSettings& settings, std::function<void()> body);

  /// Joins the thread.
  ~Thread();
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  Thread(Thread&&) = delete;
  Thread& operator=(Thread&&) = delete;

  /// Waits for the end of the body. Call it once, while joinable().
  void join() noexcept;

  /// Whether join() has not been called yet.
  [[nodiscard]] bool joinable() const noexcept { return joinable_; }

  /// Kernel thread id.
  [[nodiscard]] pid_t tid() const noexcept { return tid_; }

  /// The clock of the CPU time that the thread has used. Valid until it is joined.
  [[nodiscard]] clockid_t cpu_clock() const noexcept;

  /// The settings that the kernel refused.
  [[nodiscard]] const SettingsNotGranted& not_granted() const noexcept { return not_granted_; }

 private:
  pid_t tid_ = 0;
  SettingsNotGranted not_granted_;
  pthread_t thread_{};
  bool joinable_ = false;
};

/// Runs `work` at SchedulingPolicy::other and waits for its end: in a thread of its own if the
/// caller has a real-time policy, which it keeps. For third-party code that may poll, which at a
/// real-time priority would wait forever for a thread that it keeps from running.
///
/// An exception that leaves `work` ends the process. If no further thread can be created, the
/// caller runs `work` itself, at its own policy.
TAKT_CORE_PUBLIC void run_without_priority(const std::function<void()>& work) noexcept;

}  // namespace takt::os
