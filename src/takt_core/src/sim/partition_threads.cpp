// SPDX-License-Identifier: Apache-2.0
//
// Several threads of one executor, each on a core of its own (rclcpp's MultiThreadedExecutor and
// EventsCBGExecutor).
#include "../sched/stock_executor.hpp"
#include "partition.hpp"

namespace takt::sim {

Partition::Partition(Partition& first, const sched::Policy& policy, int cpu,
                     const application::Core* declared)
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

void Partition::choose_for_thread(TimePoint now) noexcept {
  if (on_core_ != nullptr || now < back_) {
    return;
  }
  if (first_ != nullptr) {
    first_->now_ = now;  // the first one listens to the state
  }
  state_.collect_due(now);
  if (const Job* const chosen = state_.choose(now, wake_)) {
    start(*chosen, now);
  }
}

// What one of them has taken, or what has come for all, changes when the others look.
void Partition::look_ahead_all() noexcept {
  for (Partition* const thread : threads()) {
    thread->look_ahead();
  }
}

// Those that are free, and have no core, look for nothing.
void Partition::count_able() noexcept {
  std::size_t able = 0;
  for (const Partition* const thread : threads()) {
    able += thread->on_core_ != nullptr || !thread->held_ ? 1U : 0U;
  }
  state_.set_depth(able);
}

}  // namespace takt::sim
