// SPDX-License-Identifier: Apache-2.0
//
// What a change of the scenario makes of what there is.
#pragma once

#include <algorithm>
#include <cstdint>

#include "analysis/exhaustive_notices.hpp"

namespace takt::analysis {

// Jobs that were released before keep their parameters. A new period counts from the release of
// the last one, and releases that wait for the job before are forgotten.
[[nodiscard]] inline Situation in_other_scenario(const Tasks& tasks, const Notices& notices,
                                                 const Situation& before) {
  Situation now = before;
  now.scenario = before.scenario == 0 ? 1 : 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    TaskNow& own = now.tasks[i];
    if (own.waiting > 0 && own.noticed == 0 && own.ages[0] > 0) {
      notices.notice(now, i, before.scenario);
    }
    const std::int64_t period = tasks.of_next(now, i).period;
    if (!tasks.is_timer(i) || period == tasks.of_next(before, i).period || own.since == no_age) {
      continue;
    }
    own.next = static_cast<std::uint8_t>(std::max<std::int64_t>(0, period - own.since));
    for (const std::uint8_t kept = own.noticed; own.waiting > kept;) {
      own.ages[--own.waiting] = 0;
    }
  }
  return now;
}

}  // namespace takt::analysis
