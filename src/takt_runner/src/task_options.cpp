// SPDX-License-Identifier: Apache-2.0
#include "task_options.hpp"

namespace takt::runner {

TaskOptions options_of(const Member& member) {
  const sched::Task& task = member.description->task;
  const sched::TaskParameters& parameters = task.parameters;
  TaskOptions options{.name = task.name,
                      .priority = parameters.priority,
                      .deadline = parameters.deadline,
                      .group = task.group,
                      .locks = task.locks,
                      .waits = task.waits,
                      .expected_execution = parameters.expected_execution,
                      .budget = parameters.budget,
                      .overrun = parameters.overrun,
                      .cpu = task.cpu,
                      .active = parameters.active};
  for (std::size_t i = 0; i < member.reads.size(); ++i) {
    options.reads.emplace_back(member.reads[i].subscription(), task.reads[i].max_age);
  }
  for (const Outlet& outlet : member.writes) {
    options.writes.push_back(outlet.publisher());
  }
  for (const std::optional<MemberCall>& call : member.calls) {
    if (call) {
      options.writes.push_back(call->request.publisher());
    }
  }
  if (member.trigger) {
    options.period = parameters.period;
  } else {
    options.offset = parameters.offset;
  }
  return options;
}

}  // namespace takt::runner
