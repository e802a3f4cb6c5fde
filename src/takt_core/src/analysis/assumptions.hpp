// SPDX-License-Identifier: Apache-2.0
//
// What the bounds of a core are proved for, in words.
#pragma once

#include <string>

#include "takt/application/core.hpp"

namespace takt::analysis {

// Empty: nothing is declared of the core. A measured supply has a rate and a delay, so up to two of
// its windows decide: its confidence is that of a share of windows of which one was below.
std::string assumption_of(const application::Core& core);

}  // namespace takt::analysis
