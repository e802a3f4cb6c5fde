// SPDX-License-Identifier: Apache-2.0
//
// How long a process waits for a message of another one, at most: what a join waits for may come
// from there (docs/reference/analysis.md, eq. 21).
#pragma once

#include <vector>

#include "takt/application/application.hpp"

namespace takt::analysis {

// Sets Topic::external_gap wherever it is known. `views`: the processes of the robot, each with
// all that the others do to it, once nothing changes any more.
void add_gaps(const application::Application& robot, std::vector<application::Application>& views);

}  // namespace takt::analysis
