// SPDX-License-Identifier: Apache-2.0
#include "held_locks.hpp"

#include <algorithm>
#include <atomic>
#include <takt/application/bands.hpp>
#include <takt/application/compile.hpp>
#include <takt/executor/fifo_mutex.hpp>
#include <takt/executor/lock.hpp>
#include <takt/executor/mutex.hpp>
#include <takt/os/clock.hpp>
#include <takt/os/thread.hpp>
#include <takt/sched/error.hpp>
#include <takt/trace/current.hpp>
#include <takt/trace/event.hpp>

#include "work.hpp"

namespace takt::runner {
namespace {

// Who waits for which lock, for the trace.
class Waits {
 public:
  // `number`: of the lock in the application.
  explicit Waits(std::size_t number) : number_{static_cast<std::uint16_t>(number)} {}

  void begin() const noexcept {
    trace::record_in_job(trace::EventType::lock_wait, os::now(), number_,
                         holder_.load(std::memory_order_relaxed));
  }
  void end() const noexcept { trace::record_in_job(trace::EventType::lock, os::now(), number_, 0); }
  [[nodiscard]] bool has_holder() const noexcept {
    return holder_.load(std::memory_order_relaxed) != trace::no_task;
  }
  void leaves() noexcept { holder_.store(trace::no_task, std::memory_order_relaxed); }
  // The job of this thread holds it now.
  void holds() noexcept { holder_.store(trace::task_of_current_job(), std::memory_order_relaxed); }

 private:
  const std::uint16_t number_;
  std::atomic<std::uint32_t> holder_{trace::no_task};  // its number in the trace
};

class InheritedLock final : public HeldLock {
 public:
  explicit InheritedLock(std::size_t number) : waits_{number} {}

  void take() noexcept override {
    if (!mutex_.try_lock()) {
      waits_.begin();
      mutex_.lock();
      waits_.end();
    }
    waits_.holds();
  }
  void leave() noexcept override { mutex_.unlock(); }

 private:
  executor::PriorityMutex mutex_;
  Waits waits_;
};

// Nobody waits for it: who could does not start. Where one thread runs all, nobody waits anyway.
class CeilingLock final : public HeldLock {
 public:
  CeilingLock(const std::string& name, int priority) : mutex_{name, priority} {}

  void take() noexcept override { mutex_.lock(); }
  void leave() noexcept override { mutex_.unlock(); }

 private:
  executor::CeilingMutex mutex_;
};

class SpinLock final : public HeldLock {
 public:
  SpinLock(std::size_t number, int priority) : mutex_{priority}, waits_{number} {}

  void take() noexcept override {
    const executor::SpinMutex::Request request = mutex_.request();
    const bool waits = !mutex_.is_turn_of(request);
    if (waits) {
      // Whoever has just got it is about to tell.
      for (int i = 0; i < 1000 && !waits_.has_holder() && !mutex_.is_turn_of(request); ++i) {
      }
      waits_.begin();
    }
    mutex_.wait(request);
    if (waits) {
      waits_.end();
    }
    waits_.holds();
  }
  void leave() noexcept override {
    waits_.leaves();
    mutex_.unlock();
  }

 private:
  executor::SpinMutex mutex_;
  Waits waits_;
};

class FifoLock final : public HeldLock {
 public:
  FifoLock(executor::RequestOrder& order, std::size_t number) : mutex_{order}, waits_{number} {}

  void take() noexcept override {
    if (!mutex_.request()) {
      waits_.begin();
      executor::FifoMutex::wait();
      waits_.end();
    }
    waits_.holds();
  }
  void leave() noexcept override {
    waits_.leaves();
    mutex_.unlock();
  }

 private:
  executor::FifoMutex mutex_;
  Waits waits_;
};

constexpr int above_all_jobs = os::max_priority + 1;

// Of the threads that run these callbacks, in any scenario.
template <class Takes>
int highest_described(const application::Application& application, const Takes& takes) {
  const sched::CompiledStrategy strategy = application::compile(application);
  int highest = 0;
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    if (takes(application.callbacks[i])) {
      for (const sched::CompiledScenario& scenario : strategy.scenarios()) {
        highest = std::max(highest, scenario.parameters(static_cast<sched::TaskIndex>(i)).priority);
      }
    }
  }
  return highest;
}

// In a process of a robot threads have the priorities of its band, not those of the description.
template <class Takes>
int highest_in_band(const application::Application& robot, std::size_t process,
                    const Takes& takes) {
  const application::Band band = application::bands_of(robot)[process];
  int highest = 0;
  for (std::size_t i = 0; i < robot.callbacks.size(); ++i) {
    if (takes(robot.callbacks[i])) {
      highest = std::max(highest, band.priorities[i]);
      for (const std::vector<int>& priorities : band.in_scenarios) {
        highest = std::max(highest, priorities[i]);
      }
    }
  }
  return highest;
}

// What a thread that holds the lock needs where some callbacks of its process have threads of their
// own, which the executor cannot keep from starting: jobs wait under fixed priorities only. 0:
// nothing, as in a process that the kernel schedules in another way.
int priority_with(const application::Application& application, std::size_t lock) {
  const auto takes = [&](const application::Callback& callback) {
    return std::ranges::count(callback.critical_sections, lock,
                              &application::CriticalSection::lock) > 0;
  };
  const auto taker = std::ranges::find_if(application.callbacks, takes);
  if (taker == application.callbacks.end() ||
      std::ranges::none_of(application.callbacks, [&](const application::Callback& callback) {
        return callback.task.waits && callback.process == taker->process;
      })) {
    return 0;
  }
  if (application.locks[lock].protocol == application::LockProtocol::spin) {
    return above_all_jobs;
  }
  return application.processes.empty() ? highest_described(application, takes)
                                       : highest_in_band(application, taker->process, takes);
}

}  // namespace

HeldLocks locks_of(const application::Application& application, executor::RequestOrder& order) {
  HeldLocks locks;
  for (std::size_t i = 0; i < application.locks.size(); ++i) {
    const application::Lock& lock = application.locks[i];
    switch (lock.protocol) {
      case application::LockProtocol::inheritance:
        locks.push_back(std::make_unique<InheritedLock>(i));
        break;
      case application::LockProtocol::ceiling:
        locks.push_back(std::make_unique<CeilingLock>(lock.name, priority_with(application, i)));
        break;
      case application::LockProtocol::spin:
        locks.push_back(std::make_unique<SpinLock>(i, priority_with(application, i)));
        break;
      case application::LockProtocol::fmlp_plus:
        locks.push_back(std::make_unique<FifoLock>(order, i));
        break;
    }
  }
  return locks;
}

std::span<const application::LockStep> DrawnSections::of(
    std::uint64_t job, std::chrono::nanoseconds computing) noexcept {
  constexpr std::uint64_t stream = std::uint64_t{1} << 36U;  // of the simulator
  for (std::size_t i = 0; i < sections_->size(); ++i) {
    const application::CriticalSection& section = (*sections_)[i];
    plan_.lengths()[i] =
        section.shortest + drawn_up_to(section.longest - section.shortest, seed_, stream + place_,
                                       job * sections_->size() + i);
  }
  waits_.clear();
  std::chrono::nanoseconds computed{0};
  for (std::size_t i = 0; i + 1 < turns(*callback_); i += 2) {
    computed += turn(*callback_, i, computing);
    waits_.push_back(computed);
  }
  return plan_.steps_within(computing, waits_);
}

}  // namespace takt::runner
