// SPDX-License-Identifier: Apache-2.0
//
// The data of a job in virtual time: what it takes at its start, and what it publishes.
#include <algorithm>

#include "partition.hpp"
#include "takt/os/saturating.hpp"

namespace takt::sim {

using trace::EventType;

nanoseconds Partition::read_and_compute(TaskState& task, const Job& job, TimePoint now) noexcept {
  task.sampled = job.release;
  for (Position* const position : task.first_lane->positions) {
    if (position->before == nullptr) {
      position->origin = job.release;
    }
  }
  nanoseconds cost{0};
  for (Input& input : task.inputs) {
    cost = os::add_sat(cost, read(task, input, job, now));
  }
  if (task.trigger) {
    const nanoseconds delivering = read_trigger(task, job, now);
    if (task.empty) {
      return std::max(cost, nanoseconds{1});
    }
    cost = task.callback->in_thread ? cost : os::add_sat(cost, delivering);
  }
  task.keep_origins();
  cost = os::add_sat(cost, task.cost_of_calls);
  return os::add_sat(os::add_sat(cost, task.execution(job)), task.publish_cost(job));
}

nanoseconds Partition::read(TaskState& task, Input& input, const Job& job, TimePoint now) noexcept {
  TopicState& topic = *input.topic;
  if (topic.published == 0) {
    record(EventType::use, now, task, job.index, -1, topic.shared.id);
    return nanoseconds{0};
  }
  task.metrics.overwritten += input.drop();
  const std::uint64_t count = topic.published - input.next;
  if (count > 0) {
    topic.hand_over(task, input.next, topic.published);
    input.next = topic.published;
    const nanoseconds age = now - topic.message(topic.published - 1).sampled;
    record(EventType::deliver, now, task, job.index, age.count(), topic.shared.id, count);
  }
  use(task, topic, topic.published - 1, job, now);
  return os::mul_sat(topic.deliver_cost, static_cast<std::int64_t>(count));
}

void Partition::use(TaskState& task, const TopicState& topic, std::uint64_t number, const Job& job,
                    TimePoint now) noexcept {
  task.metrics.data_age.record(now - topic.message(number).sent);
  task.metrics.sample_age.record(now - topic.message(number).sampled);
  record(EventType::use, now, task, job.index, static_cast<std::int64_t>(number), topic.shared.id);
}

// The message that released the job: the oldest that waits where all are caught up on, else the
// newest. It may be gone (KEEP_LAST); then the callback has nothing to do.
nanoseconds Partition::read_trigger(TaskState& task, const Job& job, TimePoint now) noexcept {
  Input& input = *task.first_lane->trigger;
  TopicState& topic = *input.topic;
  const std::uint64_t dropped = input.drop();
  task.metrics.overwritten += dropped;
  if (task.callback->server) {
    task.clients.erase(task.clients.begin(),
                       task.clients.begin() + static_cast<std::ptrdiff_t>(dropped));
  }
  task.empty = input.next == topic.published;
  if (task.empty) {
    return nanoseconds{0};
  }
  const bool each = task.callback->task.parameters.overrun == sched::Overrun::catch_up;
  const std::uint64_t number = each ? input.next : topic.published - 1;
  topic.hand_over(*task.first_lane, number, number + 1);
  input.next = number + 1;
  task.sampled = topic.message(number).sampled;
  use(task, topic, number, job, now);
  task.metrics.old_data += input.next < topic.published ? 1U : 0U;
  return topic.deliver_cost;
}

void Partition::check_age(TaskState& task, const Job& job, TimePoint now) noexcept {
  for (const sched::AgeLimit& limit : state_.target()->limits[task.index]) {
    const std::int64_t sampled = limit.topic->sampled.load(std::memory_order_relaxed);
    const bool no_data = sampled == sched::Topic::no_sample;
    const nanoseconds age =
        no_data ? nanoseconds::max() : os::sub_sat(now, TimePoint{nanoseconds{sampled}});
    if (age > limit.max_age) {
      ++task.metrics.age_violations;
      task.metrics.without_data += no_data ? 1U : 0U;
      record(EventType::age_violation, now, task, job.index, no_data ? -1 : age.count(),
             limit.topic->id);
    }
  }
}

void Partition::write(TaskState& task, const Job& job, TimePoint now) noexcept {
  TimePoint sampled = task.sampled;
  bool publishes = true;
  task.restore_origins();
  if (task.join != nullptr) {
    for (Position* const position : task.positions) {
      position->stored = position->origin;
    }
    publishes = task.join->store(task.input, sampled);
    sampled = publishes ? task.join->oldest() : sampled;
  }
  for (std::size_t i = 0; publishes && i < task.writes.size(); ++i) {
    TopicState& topic = *task.writes[i];
    for (std::int64_t left = task.messages_on(i, job); left > 0; --left) {
      record(EventType::publish, now, task, job.index, static_cast<std::int64_t>(topic.published),
             topic.shared.id);
      publish(topic, &task, sampled, now);
    }
  }
}

void Partition::publish_running(TimePoint now) noexcept {
  TaskState& task = *on_core_;
  message_at_ = TimePoint::max();
  task.until_message = nanoseconds{0};
  task.published = true;
  look_ahead();  // nobody looks at releases that cannot come before it ends, as in the executor
  write(task, task.job, now);
}

// Whether somebody comes before a job that has published and only has to end: who was there
// before, or whom a message of this core has just released, as that came before the end.
bool Partition::gives_way(TimePoint now) noexcept {
  if (pending_ != nullptr || !state_.target()->scenario->policy().preemptive()) {
    return false;
  }
  state_.collect_due(now);
  const Job* const chosen = state_.choose(now, wake_);
  return chosen != nullptr && (chosen->release < now || task(chosen->task).by_own_core);
}

void Partition::publish(TopicState& topic, const TaskState* writer, TimePoint sampled,
                        TimePoint now) noexcept {
  topic.publish(writer == nullptr ? nullptr : writer->first_lane, now, sampled);
  for (Triggered& triggered : topic.triggered) {
    TaskState& task = *triggered.lanes[triggered.turns.next()];
    if (task.callback->server) {
      task.clients.push_back(nullptr);
    }
    task.by_own_core = writer != nullptr && writer->partition == task.partition;
    task.partition->arrive(task, now);
  }
}

}  // namespace takt::sim
