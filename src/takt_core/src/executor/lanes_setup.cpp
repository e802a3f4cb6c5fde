// SPDX-License-Identifier: Apache-2.0
//
// The part of the lanes that is done before the first release, and when tasks or scenarios change:
// lanes, threads, and what the kernel is asked for.
#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

#include "takt/executor/kernel_deadline.hpp"
#include "takt/executor/lanes.hpp"

namespace takt::executor {

void Lanes::prepare(const Plan& plan) {
  if (kernel_deadline_) {
    add_lane(os::min_priority, plan.targets[shared_.scenario].get());
    return;
  }
  std::vector<int> priorities;
  for (const sched::CompiledScenario& scenario : plan.strategy.scenarios()) {
    for (TaskIndex i = 0; i < scenario.parameters().size(); ++i) {
      if (task(i).partition == this) {
        priorities.push_back(scenario.parameters(i).priority);
      }
    }
  }
  if (priorities.empty()) {
    priorities.push_back(os::min_priority);  // somebody has to follow, should tasks come
  }
  // The highest first: the others' workers start with its priority.
  std::ranges::sort(priorities, std::ranges::greater{});
  for (const int priority : priorities) {
    add_lane(priority, nullptr);
  }
}

// With a worker, which comes first: there is always one for each job that can have started.
void Lanes::add_lane(int priority, const Target* target) {
  if (at_[static_cast<std::size_t>(priority)] != 0) {
    return;
  }
  const bool higher = priority > top_;
  add_worker(std::max(top_, priority), target);
  Lane lane{.priority = priority,
            .next = TimePoint::max(),
            .calendar = std::make_unique<Calendar>(shared_.options.max_tasks)};
  {
    const std::lock_guard lock{mutex_};
    top_ = std::max(top_, priority);
    lanes_.push_back(std::move(lane));
    std::ranges::sort(lanes_, std::ranges::greater{}, &Lane::priority);
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      at_[static_cast<std::size_t>(lanes_[i].priority)] = static_cast<std::uint8_t>(i + 1);
    }
  }
  if (higher) {
    wake_to_stop();  // whoever sleeps shall do so at the new priority
  }
}

void Lanes::add_worker(int priority, const Target* target) {
  auto worker = std::make_unique<Worker>(workers_.size());
  if (shared_.tracer) {
    worker->recorder = shared_.tracer->add_thread();
  }
  os::ThreadSettings settings{.stack = shared_.options.stack};
  if (kernel_deadline_) {
    settings.name = "takt.d" + std::to_string(*kernel_deadline_);
  } else {
    settings.name = "takt.f" + std::to_string(worker->number);
    settings.cpus = {cpu_};
    if (shared_.options.real_time) {
      settings.policy = os::SchedulingPolicy::fifo;
      settings.priority = priority;
    }
  }
  worker->thread = std::make_unique<os::Thread>(settings, [this, target, me = worker.get()] {
    enter_thread();
    if (kernel_deadline_) {
      ask_kernel(*target);
    }
    const os::ThreadStatus status = os::current_thread();
    me->real_time = status.policy == os::SchedulingPolicy::fifo;
    me->priority = status.priority;
    {
      const std::lock_guard lock{mutex_};
      watches_.push_back({});
      by_number_[me->number].store(me);
    }
    me->ready.notify();
    run(*me, target);
  });
  worker->ready.wait();
  shared_.add(worker->thread->shortfalls());
  workers_.push_back(std::move(worker));
}

// Not in the loop of a job: only after the start and after a switch. For a task that is inactive, or
// was removed, there is nothing to ask for.
void Lanes::ask_kernel(const Target& target) {
  const sched::TaskParameters& parameters = target.scenario->parameters(*kernel_deadline_);
  if (!parameters.active) {
    return;
  }
  const auto runtime =
      parameters.budget.count() > 0 ? parameters.budget : parameters.expected_execution;
  const auto shortfall = reserve({.runtime = runtime,
                                  .deadline = sched::relative_deadline(parameters),
                                  .period = parameters.period},
                                 "task '" + task(*kernel_deadline_).name + "'");
  if (shortfall) {
    shared_.add({*shortfall});
  }
}

}  // namespace takt::executor
