// SPDX-License-Identifier: Apache-2.0
//
// What every refusal of a task set, a policy or a scenario looks like. All of them come before the
// executor spins: nothing in the loop throws.
#pragma once

#include "takt/error.hpp"

namespace takt::sched {

class ScheduleError : public Error {
 public:
  using Error::Error;
};

}  // namespace takt::sched
