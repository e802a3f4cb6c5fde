// SPDX-License-Identifier: Apache-2.0
#include "held_locks.hpp"

#include <sched.h>

#include <algorithm>
#include <takt/application/compile.hpp>
#include <takt/os/clock.hpp>
#include <takt/trace/current.hpp>

#include "work.hpp"

namespace takt::runner {

void HeldLock::take() noexcept {
  sched_param parameters{};
  int before = 0;
  // Without privileges threads have no priorities, and nothing is raised.
  if (ceiling_ > 0 && sched_getparam(0, &parameters) == 0 && parameters.sched_priority > 0 &&
      parameters.sched_priority < ceiling_) {
    before = parameters.sched_priority;
    parameters.sched_priority = ceiling_;
    before = sched_setparam(0, &parameters) == 0 ? before : 0;
  }
  if (!mutex_.try_lock()) {
    wait_for_mutex();
  }
  holder_.store(trace::task_of_current_job(), std::memory_order_relaxed);
  before_ = before;
}

void HeldLock::wait_for_mutex() noexcept {
  trace::record_in_job(trace::EventType::lock_wait, os::now(), number_,
                       holder_.load(std::memory_order_relaxed));
  mutex_.lock();
  trace::record_in_job(trace::EventType::lock, os::now(), number_, 0);
}

void HeldLock::leave() noexcept {
  const int before = before_;
  mutex_.unlock();
  if (before > 0) {
    const sched_param parameters{.sched_priority = before};
    sched_setparam(0, &parameters);
  }
}

std::deque<HeldLock> locks_of(const application::Application& application) {
  std::deque<HeldLock> locks;
  if (application.locks.empty()) {
    return locks;
  }
  const sched::CompiledStrategy strategy = application::compile(application);
  const sched::CompiledScenario& scenario = strategy.scenarios().front();
  std::vector<int> ceilings(application.locks.size(), 0);
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    for (const application::CriticalSection& section : application.callbacks[i].critical_sections) {
      const bool raises =
          scenario.policy().preemptive() && scenario.policy().fixed_priority() &&
          application.locks[section.lock].protocol == application::LockProtocol::ceiling;
      const int priority = scenario.parameters(static_cast<sched::TaskIndex>(i)).priority;
      int& ceiling = ceilings[section.lock];
      ceiling = raises ? std::max(ceiling, priority) : ceiling;
    }
  }
  for (std::size_t i = 0; i < ceilings.size(); ++i) {
    locks.emplace_back(ceilings[i], static_cast<std::uint16_t>(i));
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
  return plan_.steps_within(computing);
}

}  // namespace takt::runner
