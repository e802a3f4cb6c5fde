// SPDX-License-Identifier: Apache-2.0
//
// When the core learns of jobs, also at the moment at which another one only has to end.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "analysis/exhaustive_costs.hpp"
#include "analysis/exhaustive_order.hpp"
#include "analysis/exhaustive_situation.hpp"

namespace takt::analysis {

class Notices {
 public:
  Notices(const Tasks& tasks, const Order& order, const Charges& charges)
      : tasks_(tasks), order_(order), charges_(charges) {}

  void notice(Situation& now, std::size_t task, std::uint8_t scenario) const {
    TaskNow& own = now.tasks[task];
    own.noticed = 1;
    own.under = scenario;
    own.since = tasks_.options().switches ? own.ages[0] : no_age;
    charges_.notice(now);
  }

  [[nodiscard]] bool releases_others(std::size_t writer) const {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const std::vector<std::size_t>& writers = tasks_[i].trigger.writers;
      if (std::ranges::find(writers, writer) != writers.end()) {
        return true;
      }
    }
    return false;
  }

  // What may be noticed before those end that only have to: messages of this moment, which were
  // published before, and what was released earlier, as the next job of one that ends now. Of those
  // that may also be noticed later any can be. Only where a job that is noticed comes first.
  [[nodiscard]] std::vector<Situation> before_the_end(const Situation& now) const {
    std::vector<Situation> result;
    before_the_end_from(now, 0, {}, result);
    return result;
  }

 private:
  void before_the_end_from(Situation now, std::size_t task, std::array<bool, most_tasks> noticed,
                           std::vector<Situation>& result) const {
    for (; task < tasks_.size(); ++task) {
      const TaskNow& own = now.tasks[task];
      if (own.waiting == 0 || own.noticed != 0 || (tasks_.is_timer(task) && own.ages[0] == 0)) {
        continue;
      }
      if (own.ages[0] < tasks_[task].task.lag) {
        before_the_end_from(now, task + 1, noticed, result);  // not yet
      }
      notice(now, task, now.scenario);
      noticed[task] = true;
    }
    if (std::ranges::any_of(order_.choose(now), [&](std::size_t i) { return noticed[i]; })) {
      result.push_back(now);
    }
  }

  const Tasks& tasks_;
  const Order& order_;
  const Charges& charges_;
};

}  // namespace takt::analysis
