// SPDX-License-Identifier: Apache-2.0
//
// Several threads of one executor, each on a core of its own (rclcpp's MultiThreadedExecutor and
// EventsCBGExecutor).
#include "../sched/stock_executor.hpp"
#include "partition.hpp"

namespace takt::sim {

Partition::Partition(Partition& first, int cpu, const application::Core* declared)
    : model_(first.model_),
      trace_(first.trace_),
      overheads_(first.overheads_),
      number_(first.number_),
      state_(first.state_),
      first_(&first) {
  result_.cpu = cpu;
  if (first.threads_.empty()) {
    first.threads_.push_back(&first);
  }
  first.threads_.push_back(this);
  const sched::Policy& policy = model_.compiled().strategy.scenarios().front().policy();
  state_.share_among(first.threads_.size(), model_.groups(), sched::takes_groups_in_turn(policy));
  declare(declared);
}

void Partition::declare(const application::Core* core) {
  if (core != nullptr) {
    const Options& options = model_.options();
    withheld_ = Withheld{*core, options.execution == ExecutionTimes::drawn, options.seed};
    latency_ = core->latency;
  }
}

// Whether none of its jobs computes. Those that wait for a device do not.
bool Partition::idle() const noexcept {
  return is_thread() ? on_core_ == nullptr : state_.started().size() == waiting_.size();
}

// Whichever of them takes a job: what is taken changes what the others may take.
void Partition::choose_for_threads(TimePoint now) noexcept {
  now_ = now;
  for (Partition* const thread : threads_) {
    if (thread->on_core_ == nullptr) {
      state_.collect_due(now);
      if (const Job* const chosen = state_.choose(now, wake_)) {
        thread->start(*chosen, now);
      }
    }
  }
  for (Partition* const thread : threads_) {
    thread->look_ahead();
  }
}

}  // namespace takt::sim
