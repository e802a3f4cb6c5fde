// SPDX-License-Identifier: Apache-2.0
//
// Reports that a job missed its deadline or used up its budget: once, by the thread that notices it
// first, either the job's own thread at its end or another one while the job is running. It is
// decided, counted and recorded under the crew's mutex, while the job cannot vanish; the handlers
// are called without the mutex, with the values of that moment.
#pragma once

#include <optional>

#include "shared.hpp"
#include "takt/trace/recorder.hpp"

namespace takt::executor {

// The state of a job when it was checked.
struct Sighting {
  os::TimePoint time;  // of its end, or while it runs
  std::chrono::nanoseconds used{0};
  bool running = false;
};

// The reports for the handlers that are set.
struct Overdue {
  std::optional<Miss> miss;
  std::optional<BudgetOverrun> budget_overrun;

  [[nodiscard]] bool any() const noexcept { return miss || budget_overrun; }
};

// Determines what has not been reported about the job. `budget`: 0 for none. Under the mutex of its
// crew.
Overdue take_overdue(const Handlers& handlers, TaskState& task, const Job& job,
                     std::chrono::nanoseconds budget, const Sighting& sighting,
                     trace::Recorder& recorder) noexcept;

// Calls the handlers, without the mutex.
void notify(const Handlers& handlers, const Overdue& overdue) noexcept;

}  // namespace takt::executor
