// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace takt {

// Adds the parser of quantities to a module.
void bind_quantities(nanobind::module_& module);

}  // namespace takt
