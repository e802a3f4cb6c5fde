// SPDX-License-Identifier: Apache-2.0
//
// Timers whose offsets are unknown: a run with drawn times also draws these.
#pragma once

#include <cstdint>

#include "takt/application/application.hpp"

namespace takt::sim {

bool has_any_offset(const application::Application& application) noexcept;

// Each of these timers has an offset from 0 to its period; those of one callback's lanes (at_once)
// keep their distances. A trace of the run still says that nobody knows them.
application::Application with_drawn_offsets(const application::Application& application,
                                            std::uint64_t seed);

}  // namespace takt::sim
