// SPDX-License-Identifier: Apache-2.0
//
// The locks that callbacks hold while they compute, as mutexes of the kernel.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <takt/application/application.hpp>
#include <takt/executor/mutex.hpp>
#include <takt/trace/event.hpp>
#include <vector>

namespace takt::runner {

// A mutex with its protocol. The ceiling is set by hand: glibc's PTHREAD_PRIO_PROTECT remembers the
// priority that a thread had when it first took such a mutex, and an executor's threads change it
// for each job.
class HeldLock {
 public:
  // `ceiling`: the priority of whoever holds it; 0: priority inheritance. `number`: of the lock in
  // the application.
  HeldLock(int ceiling, std::uint16_t number) : ceiling_{ceiling}, number_{number} {}

  void take() noexcept;
  // By the thread that took it, the last one first.
  void leave() noexcept;

 private:
  void wait_for_mutex() noexcept;

  executor::PriorityMutex mutex_;
  const int ceiling_;
  const std::uint16_t number_;
  std::atomic<std::uint32_t> holder_{trace::no_task};  // its number in the trace
  int before_{0};  // the holder's priority; 0: it was not changed
};

// One for each lock of the application. Throws std::system_error, sched::ScheduleError.
std::deque<HeldLock> locks_of(const application::Application& application);

// How long jobs hold their locks: as long as in the simulator with the same seed.
class DrawnSections {
 public:
  // `place`: of the callback in the application.
  DrawnSections(const application::Callback& callback, std::uint64_t seed, std::size_t place)
      : sections_{&callback.critical_sections},
        plan_{callback.critical_sections},
        seed_{seed},
        place_{place} {}

  // Where the job takes and leaves locks, if it computes for so long; valid until the next call.
  [[nodiscard]] std::span<const application::LockStep> of(
      std::uint64_t job, std::chrono::nanoseconds computing) noexcept;

 private:
  const std::vector<application::CriticalSection>* sections_;
  application::LockPlan plan_;
  std::uint64_t seed_;
  std::size_t place_;
};

}  // namespace takt::runner
