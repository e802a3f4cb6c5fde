// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace takt::sim {

// takt_core.simulate(), simulate_many(), hyperperiod().
void bind(nanobind::module_& module);

}  // namespace takt::sim
