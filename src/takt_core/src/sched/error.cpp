// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/error.hpp"

namespace takt {

// Not inline, so that the type is defined here alone, and not once more in each library that uses
// it.
Error::~Error() = default;

}  // namespace takt

namespace takt::sched {

ScheduleError::~ScheduleError() = default;

}  // namespace takt::sched
