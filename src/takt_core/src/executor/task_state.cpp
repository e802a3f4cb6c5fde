// SPDX-License-Identifier: Apache-2.0
#include "task_state.hpp"

#include <utility>

namespace takt::executor {

void TaskState::reset(TaskIndex task_index, const sched::Task& task, Binding task_binding) {
  index = task_index;
  kind = task.kind;
  name = task.name;
  binding = std::move(task_binding);
  own_crew = binding.kernel_deadline || task.waits;
  input_topics.clear();
  given.assign(binding.inputs.size(), Topic::no_sample);
  keys.assign(binding.inputs.size(), Topic::no_sample);
  writes.clear();
  trigger = nullptr;
  locks = task.locks;
  counters.clear();
  watched = nullptr;
  skips_watched = 0;
  losses_watched = 0;
  queue.store(static_cast<std::uint32_t>(binding.queue));
  rewind();
}

void TaskState::rewind() {
  waiting.fetch_sub(static_cast<std::uint32_t>(messages.waiting()));
  messages = sched::MessageReleases{kind == sched::TaskKind::message ? binding.queue : 0};
  timer = {};
  sampled = os::TimePoint::min();
  boosted = false;
  if (binding.first_release == os::TimePoint::max()) {
    static_cast<void>(timer.disarm());
  } else if (binding.first_release) {
    timer.release_at(*binding.first_release);
  }
  phase = Phase::absent;
  leaves = false;
  under = nullptr;
  alarm = os::TimePoint::max();
}

}  // namespace takt::executor
