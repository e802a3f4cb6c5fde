// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace takt::analysis {

// Adds the analysis to the module.
void bind(nanobind::module_& module);

}  // namespace takt::analysis
