// SPDX-License-Identifier: Apache-2.0
//
// The locks that callbacks hold while they compute, as mutexes.
#pragma once

#include <cstdint>
#include <memory>
#include <takt/application/application.hpp>
#include <takt/executor/fifo_mutex.hpp>
#include <vector>

#include "work.hpp"

namespace takt::runner {

// A mutex with its protocol.
class HeldLock {
 public:
  HeldLock() = default;
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;
  HeldLock(HeldLock&&) = delete;
  HeldLock& operator=(HeldLock&&) = delete;
  virtual ~HeldLock() = default;

  virtual void take() noexcept = 0;
  // By the thread that took it, the last one first.
  virtual void leave() noexcept = 0;
};

using HeldLocks = std::vector<std::unique_ptr<HeldLock>>;

// One for each lock of the application. `order` must outlive them. Throws std::system_error,
// sched::ScheduleError.
HeldLocks locks_of(const application::Application& application, executor::RequestOrder& order);

// How long jobs hold their locks: as long as in the simulator with the same seed; and when they
// wait in between.
class DrawnSections {
 public:
  // `place`: of the callback in the application.
  DrawnSections(const application::Callback& callback, std::uint64_t seed, std::size_t place)
      : callback_{&callback},
        sections_{&callback.critical_sections},
        plan_{callback.critical_sections, turns(callback) / 2},
        seed_{seed},
        place_{place} {
    waits_.reserve(turns(callback) / 2);
  }

  // Where the job takes and leaves locks, and waits, if it computes for so long; valid until the
  // next call.
  [[nodiscard]] std::span<const application::LockStep> of(
      std::uint64_t job, std::chrono::nanoseconds computing) noexcept;

 private:
  const application::Callback* callback_;
  const std::vector<application::CriticalSection>* sections_;
  application::LockPlan plan_;
  std::vector<std::chrono::nanoseconds> waits_;
  std::uint64_t seed_;
  std::size_t place_;
};

}  // namespace takt::runner
