// SPDX-License-Identifier: Apache-2.0
//
// What the life-cycle fuzz expects of an executor: before the stop that everybody goes on, after it
// that its counters add up and agree with the books.
#pragma once

#include <string>
#include <vector>

#include "life_fuzz_draw.hpp"
#include "life_fuzz_ledger.hpp"
#include "life_fuzz_subject.hpp"

namespace takt::fuzz {

template <typename Condition>
bool comes_about(Condition condition) {
  const auto give_up = os::now() + patience;
  while (!condition()) {
    if (os::now() >= give_up) {
      return false;
    }
    os::sleep_until(os::now() + 100us);
  }
  return true;
}

// Every accepted message ends as a job or as a skipped one, and every timer goes on.
inline void expect_alive(Subject& subject, const std::vector<Guest*>& everybody) {
  for (Guest* const guest : everybody) {
    if (!guest->present || !guest->always_active || !guest->undisturbed) {
      continue;
    }
    const std::uint64_t runs = guest->runs;
    const auto done = [&] {
      const auto statistics = subject.statistics(*guest);
      return guest->by_messages() ? statistics.completed + statistics.skipped == guest->accepted
                                  : guest->runs > runs;
    };
    if (comes_about(done)) {
      continue;
    }
    // On a machine that is too busy for all of them somebody starves by right; alone, nobody
    // does.
    for (Guest* const other : everybody) {
      if (other != guest && other->present && !other->by_messages()) {
        subject.pause(*other, true);
      }
    }
    if (!comes_about(done)) {
      const auto counted = subject.statistics(*guest);
      fail("task '" + guest->task.name + "' is forgotten: " +
           (guest->by_messages() ? std::to_string(guest->accepted) + " messages accepted, "
                                 : "a timer, ") +
           std::to_string(counted.completed) + " completed, " + std::to_string(counted.skipped) +
           " skipped, " + std::to_string(counted.releases) + " released, " + std::to_string(runs) +
           " runs before");
    }
  }
}

// By what the counters of a round are judged.
struct Counted {
  const Subject& subject;
  const Ledger& ledger;
  const DrawnRound& drawn;
  bool orderly = true;  // stopped at the end only
  std::uint64_t starts = 0;
};

inline void expect_counted(const Guest& guest, const Counted& by) {
  const auto statistics = by.subject.statistics(guest);
  const std::string& name = guest.task.name;
  check(!guest.running, name, "runs after the stop");
  check(guest.ran_as == -1 || guest.ran_as == guest.added.index, name, "runs as another one");
  check(statistics.completed == guest.runs, name, "counts other jobs than it had");
  const std::uint64_t over = statistics.completed + statistics.skipped;
  check(over <= statistics.releases, name, "completed and skipped more than was released");
  check(statistics.releases <= over + (by.orderly ? 1 : by.starts + 1), name,
        "has more than one job of each start that has not ended");
  if (guest.by_messages()) {
    check(statistics.lost_arrivals == guest.refused, name, "counts other losses than it had");
    check(over <= guest.accepted, name, "has had more jobs than messages");
    const bool catches_up = guest.task.parameters.overrun == sched::Overrun::catch_up;
    check(statistics.skipped == 0 || !catches_up || !by.orderly || !guest.undisturbed ||
              !guest.always_active,
          name, "skips messages that it should catch up with");
  }
  if (by.drawn.reported_misses) {
    check(statistics.deadline_misses == by.ledger.misses_of(name), name,
          "counts other misses than were told");
  }
  check(statistics.budget_overruns >= by.ledger.overruns_of(name), name,
        "counts fewer overruns of its budget than it had");
  if (by.drawn.reported_skips) {
    check(guest.skipped <= statistics.skipped, name, "counts fewer skips than were told");
  }
}

}  // namespace takt::fuzz
