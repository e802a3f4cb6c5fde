// SPDX-License-Identifier: Apache-2.0
//
// Jobs that wait in virtual time: for a while, for a device, or for the response of a server.
#include <algorithm>

#include "partition.hpp"
#include "takt/os/saturating.hpp"

namespace takt::sim {

using trace::EventType;

// Of what it has to compute.
void Partition::stop_at_wait(TaskState& task) noexcept {
  if (task.waits > 0) {
    task.after = task.left - task.before_wait(task.left);
    task.left -= task.after;
  }
}

void Partition::wait(TaskState& task, TimePoint now) noexcept {
  const Called* const call = task.next_call();
  const nanoseconds time = call == nullptr ? task.wait_time() : nanoseconds{0};
  TimePoint* const free_at = task.next_device();
  --task.waits;
  task.may_wait -= time;
  if (task.steps.empty()) {
    task.left = task.after;
    stop_at_wait(task);
  } else {
    go_to_next_step(task);
  }
  task.wakes = call == nullptr ? os::add_sat(now, time) : TimePoint::max();
  if (free_at != nullptr) {  // requests are served in their order
    task.wakes = *free_at = os::add_sat(std::max(now, *free_at), time);
  }
  waiting_.push_back(&task);
  state_.wait(task);
  record(EventType::preempt, now, task, task.job.index);
  if (call != nullptr) {
    task.called = call;
    request(*call->server, task, now);
  }
}

void Partition::request(TaskState& server, TaskState& client, TimePoint now) noexcept {
  TopicState& service = *server.trigger->topic;
  record(EventType::publish, now, client, client.job.index,
         static_cast<std::int64_t>(service.published), service.shared.id);
  publish(service, &client, client.sampled, now);
  server.clients.back() = &client;
}

// Who has sent the first request goes on, if it waits.
void Partition::answer(TaskState& server, TimePoint now) noexcept {
  TaskState* const first = server.clients.front();
  server.clients.erase(server.clients.begin());
  if (first == nullptr) {
    return;
  }
  TaskState& client = *first;
  client.wakes = os::add_sat(now, client.way_back());
  client.partition->next_ = std::min(client.partition->next_, client.wakes);
}

// Jobs whose waiting is over.
void Partition::wake(TimePoint now) noexcept {
  std::erase_if(waiting_, [&](TaskState* const task) {
    if (task->wakes > now) {
      return false;
    }
    if (on_core_ == nullptr && idle()) {
      busy_since_ = now;
    }
    task->wakes = TimePoint::max();
    state_.resume(*task);
    return true;
  });
}

}  // namespace takt::sim
