// SPDX-License-Identifier: Apache-2.0
#include "edf.hpp"

#include "preparation.hpp"
#include "takt/sched/policies.hpp"

namespace takt::sched {

void EarliestDeadlineFirst::prepare(std::vector<Task>& tasks) const {
  inherit_priorities(tasks);
  inherit_deadlines(tasks);
}

PolicyPtr edf() {
  return std::make_shared<EarliestDeadlineFirst>("edf", true);
}

PolicyPtr non_preemptive_edf() {
  return std::make_shared<EarliestDeadlineFirst>("np-edf", false);
}

}  // namespace takt::sched
