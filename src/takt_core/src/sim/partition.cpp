// SPDX-License-Identifier: Apache-2.0
#include "partition.hpp"

#include <algorithm>
#include <utility>

namespace takt::sim {

using sched::no_ceiling;
using trace::EventType;

Partition::Partition(Model& model, const sched::Core& core, bool lanes, Trace& trace)
    : trace_(trace),
      overheads_(model.application().overheads),
      lanes_(lanes),
      calendar_(core.tasks.size()),
      ready_(model.plan().strategy.scenarios().front().policy(), core.tasks.size()),
      ceiling_(model.plan().strategy.scenarios().front().ceilings(), core.tasks.size()) {
  const sched::CompiledStrategy& strategy = model.plan().strategy;
  result_.cpu = core.cpu;
  for (const TaskIndex index : core.tasks) {
    TaskState& task = model.tasks()[index];
    task.partition = this;
    task.local = static_cast<std::uint32_t>(tasks_.size());
    tasks_.push_back(&task);
  }
  for (TaskState& task : model.tasks()) {
    by_index_.push_back(&task);
  }
  started_.reserve(tasks_.size() + 1);
  next_jobs_.reserve(tasks_.size());
  if (lanes_) {
    const std::vector<int> priorities = strategy.priorities(core);
    highest_level_ = priorities.empty() ? no_ceiling : priorities.back();
  }
  depth_ = lanes_ ? tasks_.size() : 1;
  for (const sched::CompiledScenario& scenario : strategy.scenarios()) {
    if (scenario.policy().preemptive()) {
      depth_ = std::max(depth_, scenario.ceilings().depth(core.tasks));
    }
  }
}

void Partition::begin(const executor::Target& target) noexcept {
  pending_ = &target;
  follow(TimePoint{});
  look_ahead();
}

void Partition::switch_to(const executor::Target& target, TimePoint now) noexcept {
  pending_ = &target == target_ ? nullptr : &target;
  if (!blind_) {
    next_ = std::min(next_, now);
  }
}

void Partition::end_job(TimePoint now) noexcept {
  const Started& top = started_.back();
  TaskState& task = *top.task;
  const Job& job = top.job;
  CallbackMetrics& metrics = task.metrics;
  if (!task.plain && !task.empty) {
    write(task, job, now);
  }
  metrics.computed += top.computes;
  metrics.response.record(now - job.release);
  record(EventType::end, now, task, job.index, top.computes.count());
  if (now > job.deadline) {
    ++metrics.misses;
    record(EventType::deadline_miss, now, task, job.index, job.deadline.time_since_epoch().count());
  }
  const nanoseconds budget = task.under->scenario->parameters(task.index).budget;
  if (budget.count() > 0 && top.computes > budget) {
    ++metrics.budget_overruns;
    record(EventType::budget_overrun, now, task, job.index, top.computes.count());
  }
  ++result_.jobs;
  started_.pop_back();
  ceiling_.pop();
  running_ = false;
  blind_ = false;
  end_ = TimePoint::max();
  if (started_.empty()) {
    result_.busy += now - busy_since_;
  }
  count_skipped(task,
                task.timer_task ? task.timer.end_of_job(now) : task.messages->end_of_job(now));
  task.busy = false;
  reschedule(task, now);
}

void Partition::decide(TimePoint now) noexcept {
  if (pending_ != nullptr) {
    follow(now);
  }
  while (calendar_.first_time() <= now) {
    notice(*tasks_[calendar_.first()], now);
  }
  wake_ = TimePoint::max();
  while (!ready_.empty()) {
    const auto job = choose(now);
    if (!job || start(*job, now)) {
      break;
    }
  }
  if (!running_ && !started_.empty()) {
    resume(now);
  }
  if (running_ && debt_.count() > 0) {
    end_ += std::exchange(debt_, nanoseconds{0});
  }
  look_ahead();
}

// When to look again, and whether releases matter until then.
void Partition::look_ahead() noexcept {
  blind_ = false;
  if (!started_.empty()) {
    const Job& job = started_.back().job;
    if (lanes_) {
      // Every release takes its time from whoever runs.
      blind_ = overheads_.release.count() == 0 &&
               std::max<sched::Level>(job.priority, ceiling_.ceiling()) >= highest_level_;
    } else {
      const sched::Ceilings& ceilings = scenario_->ceilings();
      const sched::Level own = ceilings.has_levels() ? ceilings.level(job.task) : no_ceiling;
      blind_ = !preemptive_ || std::max(own, ceiling_.ceiling()) >= highest_level_;
    }
  }
  next_ = blind_ ? end_ : std::min({end_, wake_, calendar_.first_time()});
}

void Partition::follow(TimePoint now) noexcept {
  const bool first = target_ == nullptr;
  target_ = std::exchange(pending_, nullptr);
  scenario_ = target_->scenario;
  switched_ = !first;
  preemptive_ = scenario_->policy().preemptive();
  work_conserving_ = scenario_->policy().work_conserving();
  if (lanes_) {
    ready_.clear();  // nothing in it was taken: all is decided anew
  }
  ready_.set_policy(scenario_->policy());
  // Priorities mean the same in every scenario, other levels do not.
  ceiling_.set_ceilings(scenario_->ceilings(), lanes_);
  if (!lanes_) {
    highest_level_ = no_ceiling;
  }
  for (TaskState* const task : tasks_) {
    const sched::TaskParameters& parameters = scenario_->parameters(task->index);
    if (!lanes_ && parameters.active) {
      highest_level_ = std::max(highest_level_, scenario_->ceilings().level(task->index));
    }
    task->watched = !target_->by_source[task->index].empty();
    task->watching = !target_->by_reader[task->index].empty();
    task->limited = !target_->limits[task->index].empty();
    task->queued = false;
    count_skipped(*task, task->timer_task ? task->timer.follow(parameters, now)
                                          : task->messages->follow(parameters));
    reschedule(*task, now);
  }
  if (!first && trace_.on()) {
    trace_.record(EventType::scenario, now, result_.cpu, trace::no_task, 0, target_->id);
  }
}

// The job that is to be started now above all started ones, if any.
std::optional<Job> Partition::choose(TimePoint now) noexcept {
  if (started_.empty()) {
    return choose_idle(now);
  }
  const Job& best = ready_.top();
  const Job& running = started_.back().job;
  if (!preemptive_ || started_.size() >= depth_ || !ceiling_.may_start(best)) {
    return {};
  }
  if (lanes_ ? best.priority <= running.priority || group_is_held(*by_index_[best.task])
             : !ready_.runs_before(best, running)) {
    return {};
  }
  return best;
}

std::optional<Job> Partition::choose_idle(TimePoint now) noexcept {
  if (work_conserving_) {
    return ready_.top();
  }
  next_jobs_.clear();
  for (const TaskState* const task : tasks_) {
    if (task->timer_task) {
      if (const auto next = task->timer.next_after(now)) {
        next_jobs_.push_back(scenario_->job(task->index, next->index, next->time));
      }
    }
  }
  const sched::Decision decision = scenario_->policy().decide(ready_.jobs(), next_jobs_, now);
  if (decision.job != sched::Decision::none) {
    return ready_.jobs()[decision.job];
  }
  if (decision.idle_until <= now) {
    return ready_.top();  // a policy that waits for the past would keep the core from everybody
  }
  wake_ = decision.idle_until;
  return {};
}

// Ceilings see to that, but those of another scenario may be lower than what a job of this one has.
bool Partition::group_is_held(const TaskState& task) const noexcept {
  const std::string& group = task.callback->task.group;
  return switched_ && !group.empty() && std::ranges::any_of(started_, [&](const Started& started) {
           return started.task->callback->task.group == group;
         });
}

// False when there turns out to be no reason for the job.
bool Partition::start(Job job, TimePoint now) noexcept {
  TaskState& task = *by_index_[job.task];
  if (ready_.top().task == job.task) {
    ready_.pop();
  } else {
    ready_.remove(job.task, job.index);
  }
  if (lanes_) {
    task.queued = false;
    if (!task.watched) {
      take(task, job);
    } else if (const auto released = release(task, now)) {
      job = *released;
    } else {
      return false;
    }
  }
  if (running_) {
    pause(now);
  } else if (started_.empty()) {
    busy_since_ = now;
  }
  record(EventType::start, now, task, job.index, job.priority);
  task.metrics.start_delay.record(now - job.release);
  const nanoseconds computes = task.plain ? task.execution(job) : read_and_compute(task, job, now);
  if (task.limited) {
    check_age(task, job, now);
  }
  started_.push_back({.job = job, .task = &task, .computes = computes});
  ceiling_.push(job);
  end_ = now + computes + overheads_.dispatch;
  running_ = true;
  return true;
}

void Partition::pause(TimePoint now) noexcept {
  Started& top = started_.back();
  top.left = end_ - now + overheads_.preemption;
  ++top.task->metrics.preemptions;
  ++result_.preemptions;
  record(EventType::preempt, now, *top.task, top.job.index);
}

void Partition::resume(TimePoint now) noexcept {
  const Started& top = started_.back();
  end_ = now + top.left;
  running_ = true;
  record(EventType::resume, now, *top.task, top.job.index);
}

void Partition::finish(TimePoint now) noexcept {
  if (end_ == now) {
    end_job(now);
  }
  if (!started_.empty()) {
    result_.busy += now - busy_since_;
  }
  while (calendar_.first_time() < now) {
    notice(*tasks_[calendar_.first()], now);
  }
  const auto count = [&](TaskState& task, const Job& job) {
    ++task.metrics.unfinished;
    if (job.deadline <= now) {
      ++task.metrics.misses;
      record(EventType::deadline_miss, now, task, job.index,
             job.deadline.time_since_epoch().count());
    }
  };
  for (const Started& started : started_) {
    count(*started.task, started.job);
  }
  while (!ready_.empty()) {
    Job job = ready_.pop();
    TaskState& task = *by_index_[job.task];
    if (lanes_) {
      task.queued = false;
      if (!task.watched) {
        take(task, job);
      } else if (const auto released = release(task, now)) {
        job = *released;
      } else {
        continue;
      }
    }
    count(task, job);
  }
}

}  // namespace takt::sim
