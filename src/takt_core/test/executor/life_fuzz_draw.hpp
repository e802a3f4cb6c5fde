// SPDX-License-Identifier: Apache-2.0
//
// What the life-cycle fuzz draws: the kind of a round, and tasks that no executor of that kind
// refuses.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "life_fuzz_subject.hpp"

namespace takt::fuzz {

struct DrawnRound {
  sched::PolicyPtr policy;
  sched::PolicyPtr policy_of_third;  // of the third scenario; null: the executor's
  bool real_time = false;
  bool traced = false;
  bool reported_misses = false;
  bool reported_budgets = false;
  bool reported_skips = false;
};

inline DrawnRound draw_round(Random& random) {
  const std::vector<std::string> policies{"fp", "edf", "np-edf", "np-fp", "dm", "custom"};
  const std::string& name = policies[below(random, policies.size())];
  const auto later = [](const sched::Job& a, const sched::Job& b) {
    return os::sub_sat(a.deadline, a.release) > os::sub_sat(b.deadline, b.release);
  };
  DrawnRound round;
  round.policy = name == "custom" ? sched::custom("latest", later) : sched::parse_policy(name);
  if (one_in(random, 2)) {
    round.policy_of_third = sched::parse_policy(one_in(random, 2) ? "np-fp" : "edf");
  }
  round.real_time = one_in(random, 2) && !sanitized;
  round.traced = one_in(random, 3);
  round.reported_misses = !one_in(random, 4);
  round.reported_budgets = !one_in(random, 4);
  round.reported_skips = !one_in(random, 4);
  return round;
}

// Next to nothing, all there is, or what a job may just keep.
inline nanoseconds draw_time(Random& random, std::chrono::microseconds usual) {
  switch (below(random, 4)) {
    case 0:
      return nanoseconds{1 + below(random, 1000)};
    case 1:
      return sched::longest_time;
    default:
      return nanoseconds{1 + below(random, static_cast<std::uint64_t>(nanoseconds{usual}.count()))};
  }
}

inline void draw_deadline(Random& random, const DrawnRound& round, sched::Task& task) {
  sched::TaskParameters& parameters = task.parameters;
  parameters.deadline = std::chrono::milliseconds{1 + below(random, 20)};
  parameters.period = parameters.deadline + std::chrono::milliseconds{below(random, 9)};
  if (one_in(random, 2)) {
    return;
  }
  const bool monotonic = round.policy->name() == "dm";
  if (!monotonic && task.kind == sched::TaskKind::message && one_in(random, 2)) {
    parameters.deadline = parameters.period = {};  // none
  } else {
    parameters.deadline = draw_time(random, 200us);
    if (monotonic) {
      parameters.deadline = std::min(parameters.deadline, parameters.period);
    }
  }
}

inline std::unique_ptr<Guest> draw_guest(Random& random, const DrawnRound& round, std::string name,
                                         const std::vector<int>& cpus) {
  auto guest = std::make_unique<Guest>();
  sched::Task& task = guest->task;
  task.name = std::move(name);
  task.parameters.priority = static_cast<int>(1 + below(random, 40));
  task.parameters.overrun = static_cast<sched::Overrun>(below(random, 3));
  task.cpu = cpus[below(random, cpus.size())];
  if (one_in(random, 2)) {
    task.kind = sched::TaskKind::message;
    task.trigger = "outside";
    guest->queue = 1 + below(random, 64);
  } else if (one_in(random, 3)) {
    task.parameters.offset = std::chrono::microseconds{below(random, 5000)};
  }
  draw_deadline(random, round, task);
  if (one_in(random, 2)) {
    task.parameters.budget = draw_time(random, 100us);
  }
  guest->is_source = one_in(random, 2);
  const bool may_wait = round.policy->fixed_priority() && round.policy->preemptive() &&
                        round.policy_of_third == nullptr;
  if (one_in(random, 3)) {  // its members have to be on one core
    task.group = "group";
    task.cpu = cpus.front();
  } else if (may_wait && one_in(random, 4)) {
    task.waits = true;
  }
  guest->work = std::chrono::microseconds{below(random, 60)};
  return guest;
}

}  // namespace takt::fuzz
