// SPDX-License-Identifier: Apache-2.0
//
// Telling that a job missed its deadline or used up its budget: once, by whoever finds out first,
// the job's own thread at its end or another one while it still runs. It is decided, counted and
// recorded under the crew's mutex, where the job cannot have gone; the handlers are called without
// it, with what was true then.
#pragma once

#include <optional>

#include "shared.hpp"
#include "takt/trace/recorder.hpp"

namespace takt::executor {

// What was seen of a job.
struct Sighting {
  os::TimePoint time;  // of its end, or while it runs
  std::chrono::nanoseconds used{0};
  bool running = false;
};

// What the handlers, where there are any, are to be told.
struct Overdue {
  std::optional<Miss> miss;
  std::optional<BudgetOverrun> budget_overrun;

  [[nodiscard]] bool any() const noexcept { return miss || budget_overrun; }
};

// What of the job nobody has told yet. `budget`: 0 for none. Under the mutex of its crew.
Overdue take_overdue(const Handlers& handlers, TaskState& task, const Job& job,
                     std::chrono::nanoseconds budget, const Sighting& seen,
                     trace::Recorder& recorder) noexcept;

// Without the mutex.
void tell(const Handlers& handlers, const Overdue& overdue) noexcept;

}  // namespace takt::executor
