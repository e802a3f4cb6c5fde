// SPDX-License-Identifier: Apache-2.0
//
// Levels of locks in a scenario.
#pragma once

#include <vector>

#include "takt/application/application.hpp"
#include "takt/sched/srp.hpp"

namespace takt::application {

// Of each lock the highest level of the callbacks that take it.
std::vector<sched::Level> lock_ceilings(const Application& application,
                                        const sched::Ceilings& levels);

}  // namespace takt::application
