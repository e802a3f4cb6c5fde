// SPDX-License-Identifier: Apache-2.0
#include "partition.hpp"

#include <algorithm>
#include <utility>

#include "../application/locks.hpp"
#include "../sched/stock_executor.hpp"
#include "takt/os/saturating.hpp"

namespace takt::sim {
namespace {

using trace::EventType;

TaskState& state_of(sched::CoreTask& task) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast): there are no others here
  return static_cast<TaskState&>(task);
}

// The most jobs that the executor has threads for.
std::size_t depth_of(const sched::CompiledStrategy& strategy, const sched::Core& core, bool fixed) {
  const bool preempts = std::ranges::any_of(
      strategy.scenarios(), [](const auto& one) { return one.policy().preemptive(); });
  return std::max<std::size_t>(fixed ? core.tasks.size() : 1, preempts ? strategy.depth(core) : 1);
}

// Of each lock.
std::vector<sched::Level> ceilings_in(const application::Application& application,
                                      const sched::CompiledScenario& scenario) {
  std::vector<sched::Level> ceilings = application::lock_ceilings(application, scenario.ceilings());
  for (std::size_t i = 0; i < ceilings.size(); ++i) {
    if (application.locks[i].protocol == application::LockProtocol::inheritance) {
      ceilings[i] = sched::no_ceiling;
    }
  }
  return ceilings;
}

}  // namespace

Partition::Partition(Model& model, const sched::CompiledApplication& compiled, std::size_t number,
                     const application::Core* declared, bool fixed, Trace& trace)
    : model_(model),
      trace_(trace),
      overheads_(model.application().overheads),
      number_(number),
      own_(std::make_unique<sched::CoreState>(static_cast<sched::CoreListener&>(*this),
                                              compiled.strategy.scenarios().front().policy(), fixed,
                                              compiled.strategy.cores()[number].tasks.size())),
      state_(*own_),
      first_(nullptr) {
  const sched::Core& core = compiled.strategy.cores()[number];
  result_.cpu = core.cpu;
  for (const TaskIndex index : core.tasks) {
    task(index).partition = this;
    for (sched::CoreTask* runner = task(index).runner; runner != nullptr; runner = runner->runner) {
      state_of(*runner).partition = this;
    }
  }
  state_.set_depth(depth_of(compiled.strategy, core, fixed));
  const sched::Policy& policy = compiled.strategy.scenarios().front().policy();
  if (sched::collects_in_rounds(policy)) {
    state_.collect_in_rounds();
  } else if (sched::has_threads(policy.name())) {
    state_.share_among(1, model.groups(), sched::takes_groups_in_turn(policy));
  }
  locks_ = !model.application().locks.empty() &&
           std::ranges::any_of(compiled.strategy.scenarios(),
                               [](const auto& scenario) { return scenario.policy().preemptive(); });
  if (locks_) {
    for (const sched::CompiledScenario& scenario : compiled.strategy.scenarios()) {
      ceilings_.push_back(ceilings_in(model.application(), scenario));
    }
    state_.declare_locks(ceilings_.front());
  }
  declare(declared);
}

void Partition::begin(const sched::Target& target) noexcept {
  if (first_ != nullptr) {
    look_ahead();
    return;
  }
  pending_ = &target;
  follow(TimePoint{});
  for (sched::CoreTask* const member : state_.members()) {
    TaskState& task = state_of(*member);
    task.releases_here = std::ranges::any_of(task.writes, [this](const TopicState* topic) {
      return std::ranges::any_of(topic->triggered, [this](const Triggered& triggered) {
        return std::ranges::find(triggered.lanes, this, &TaskState::partition) !=
               triggered.lanes.end();
      });
    });
  }
  look_ahead();
}

void Partition::switch_to(const sched::Target& target, TimePoint now) noexcept {
  pending_ = &target == state_.target() ? nullptr : &target;
  next_ = std::min(next_, now);
}

void Partition::follow(TimePoint now) noexcept {
  const bool first = state_.target() == nullptr;
  const sched::Target& target = *std::exchange(pending_, nullptr);
  state_.follow(target, number_, model_.by_index(), now);
  if (locks_) {
    state_.set_lock_ceilings(ceilings_[target.id]);
  }
  limits_ = !target.scenario->age_constraints().empty();
  if (!first && trace_.on()) {
    trace_.record(EventType::scenario, now, result_.cpu, trace::no_task, 0, target.id);
  }
}

void Partition::decide(TimePoint now) noexcept {
  now_ = now;
  if (is_thread()) {
    choose_for_thread(now);
    lose_time(now);
    look_ahead_all();
    return;
  }
  if (now >= back_) {
    choose(now);
  }
  lose_time(now);
  look_ahead();
}

void Partition::choose(TimePoint now) noexcept {
  wake(now);
  if (pending_ != nullptr) {
    follow(now);
  }
  state_.collect_due(now);
  wake_ = TimePoint::max();
  if (const Job* const chosen = state_.choose(now, wake_)) {
    start(*chosen, now);
  } else if (const auto* const running = state_.running();
             running != nullptr && running->task != on_core_) {
    if (on_core_ != nullptr) {
      pause(now);
    }
    resume(state_of(*running->task), now);
  }
  if (on_core_ != nullptr && debt_.count() > 0) {
    end_ = os::add_sat(end_, std::exchange(debt_, nanoseconds{0}));
  }
}

// What begins now and keeps the core away.
void Partition::lose_time(TimePoint now) noexcept {
  while (withheld_.next() <= now) {
    const nanoseconds length = withheld_.take();
    back_ = os::add_sat(std::max(back_, now), length);
    if (on_core_ != nullptr) {
      end_ = os::add_sat(end_, length);
      message_at_ = os::add_sat(message_at_, length);
    }
  }
}

// When to look again.
void Partition::look_ahead() noexcept {
  next_ = std::min({end_, message_at_, wake_});
  if (!is_thread() || on_core_ == nullptr) {  // of several threads a free one looks
    next_ = std::min(next_, state_.next_look());
  }
  if (is_thread() && on_core_ == nullptr && back_ > now_ && state_.has_pending()) {
    next_ = back_;  // the others have noticed what this one may take
  }
  for (const TaskState* const task : waiting_) {
    next_ = std::min(next_, task->wakes);
  }
  next_ = std::min(withheld_.next(), std::max(next_, back_));
}

void Partition::start(const Job& chosen, TimePoint now) noexcept {
  if (on_core_ != nullptr) {
    pause(now);
  } else if (idle()) {
    busy_since_ = now;
  }
  const sched::CoreState::Started& started = state_.start(chosen);
  TaskState& task = state_of(*started.task);
  task.job = started.job;
  const Job& job = task.job;
  record(EventType::start, now, task, job.index, job.priority);
  state_.settle_start(task, now);
  task.metrics.start_delay.record(os::sub_sat(now, job.release));
  task.computes = task.plain ? task.execution(job) : read_and_compute(task, job, now);
  if (limits_) {
    check_age(task, job, now);
  }
  const nanoseconds dispatch = task.callback->in_thread ? nanoseconds{0} : overheads_.dispatch;
  task.left = os::add_sat(task.computes, dispatch + task.begin_late(latency_));
  if (is_thread()) {
    task.left = os::add_sat(task.left, overheads_.release);
  }
  task.waits = task.most_waits();
  task.may_wait = task.callback->suspension;
  task.steps = {};
  task.step = 0;
  if (locks_ && task.callback->holds_locks()) {
    begin_steps(task);
  } else {
    stop_at_wait(task);
  }
  task.finished = false;
  task.published = task.plain || task.empty;
  const bool anywhere = task.callback->publishes_anywhere && !task.published && task.steps.empty();
  task.until_message = anywhere ? task.publishes_after(task.computes, job) : nanoseconds{0};
  run(task, now);
}

// It has the core.
void Partition::run(TaskState& task, TimePoint now) noexcept {
  on_core_ = &task;
  end_ = os::add_sat(now, task.left);
  message_at_ =
      task.until_message.count() > 0 ? os::add_sat(now, task.until_message) : TimePoint::max();
}

void Partition::end_running(TimePoint now) noexcept {
  TaskState& task = *on_core_;
  stop_running(now);
  if (task.step < task.steps.size()) {
    pass_step(task, now);
  } else if (task.waits > 0) {
    wait(task, now);
  } else {
    finish_job(task, now);
  }
  end_finished(now);
  if (idle()) {
    result_.busy += now - busy_since_;
  }
}

// It has computed, and publishes what it has not published yet. A job that this releases may
// preempt it before it has ended, as in the executor.
void Partition::finish_job(TaskState& task, TimePoint now) noexcept {
  if (!std::exchange(task.published, true)) {
    task.until_message = nanoseconds{0};
    write(task, task.job, now);
    if (task.releases_here && gives_way(now)) {
      task.finished = true;
      task.left = nanoseconds{0};
      run(task, now);
      return;
    }
  }
  end_job(task, now);
}

// Jobs that gave way to their own messages and only have to end do so as soon as nobody comes
// before them.
void Partition::end_finished(TimePoint now) noexcept {
  const auto finished = [this] {
    const sched::CoreState::Started* const next = on_core_ == nullptr ? state_.running() : nullptr;
    TaskState* const task = next == nullptr ? nullptr : &state_of(*next->task);
    return task != nullptr && task->finished && task->left.count() == 0 ? task : nullptr;
  };
  while (TaskState* const task = finished()) {
    if (gives_way(now)) {
      return;
    }
    end_job(*task, now);
  }
}

void Partition::end_job(TaskState& task, TimePoint now) noexcept {
  const Job& job = task.job;
  CallbackMetrics& metrics = task.metrics;
  if (!task.empty) {
    task.restore_origins();
    for (ChainState* const chain : task.first_lane->ends) {
      chain->end(now);
    }
  }
  metrics.computed += task.computes;
  metrics.response.record(os::sub_sat(now, job.release));
  record(EventType::end, now, task, job.index, task.computes.count());
  if (now > job.deadline) {
    ++metrics.misses;
    record(EventType::deadline_miss, now, task, job.index, job.deadline.time_since_epoch().count());
  }
  const nanoseconds budget = task.under->scenario->parameters(task.index).budget;
  if (budget.count() > 0 && task.computes > budget) {
    ++metrics.budget_overruns;
    record(EventType::budget_overrun, now, task, job.index, task.computes.count());
  }
  ++result_.jobs;
  state_.settle(task, now);
  state_.end(task);
  if (!task.clients.empty() && !task.empty) {
    answer(task, now);
  }
}

// The core goes to another job, or away.
void Partition::stop_running(TimePoint now) noexcept {
  TaskState& task = *std::exchange(on_core_, nullptr);
  task.left = std::exchange(end_, TimePoint::max()) - now;
  if (message_at_ != TimePoint::max()) {
    task.until_message = std::exchange(message_at_, TimePoint::max()) - now;
  }
}

void Partition::pause(TimePoint now) noexcept {
  TaskState& task = *on_core_;
  stop_running(now);
  task.left = os::add_sat(task.left, overheads_.preemption);
  ++task.metrics.preemptions;
  ++result_.preemptions;
  record(EventType::preempt, now, task, task.job.index);
}

void Partition::resume(TaskState& task, TimePoint now) noexcept {
  run(task, now);
  record(EventType::resume, now, task, task.job.index);
}

void Partition::hold(TimePoint now) noexcept {
  const bool was_held = std::exchange(held_, true);
  if (!was_held && is_thread()) {
    count_able();
    look_ahead_all();
  }
  if (was_held || on_core_ == nullptr) {
    return;
  }
  TaskState& task = *on_core_;
  stop_running(now);
  on_core_ = &task;
  task.left = os::add_sat(task.left, overheads_.preemption);
  ++task.metrics.preemptions;
  ++result_.preemptions;
  result_.busy += now - busy_since_;
  record(EventType::preempt, now, task, task.job.index);
}

void Partition::let(TimePoint now) noexcept {
  if (!std::exchange(held_, false)) {
    return;
  }
  if (is_thread()) {
    count_able();
    look_ahead_all();
  }
  while (withheld_.next() < now) {  // the core was away from the other process
    const TimePoint began = withheld_.next();
    back_ = os::add_sat(std::max(back_, began), withheld_.take());
  }
  if (on_core_ != nullptr) {
    resume(*on_core_, now);
    const nanoseconds away = std::max(back_ - now, nanoseconds{0});
    end_ = os::add_sat(end_, away);
    message_at_ = os::add_sat(message_at_, away);
    busy_since_ = now;
  }
  next_ = now;
}

void Partition::finish(TimePoint now) noexcept {
  while (end_ == now && on_core_ != nullptr && on_core_->waits == 0) {
    end_running(now);
  }
  if (!held_ && !idle()) {
    result_.busy += now - busy_since_;
  }
  const bool last = first_ == nullptr ? threads_.empty() : first_->threads_.back() == this;
  if (last) {
    count_unfinished(now);
  }
}

void Partition::count_unfinished(TimePoint now) noexcept {
  now_ = now;
  state_.release_due(now - nanoseconds{1});
  const auto count = [&](const Job& job) {
    TaskState& unfinished = task(job.task);
    ++unfinished.metrics.unfinished;
    if (job.deadline <= now) {
      ++unfinished.metrics.misses;
      record(EventType::deadline_miss, now, unfinished, job.index,
             job.deadline.time_since_epoch().count());
    }
  };
  for (const auto& started : state_.started()) {
    count(started.job);
  }
  std::ranges::for_each(state_.pending(), count);
}

}  // namespace takt::sim
